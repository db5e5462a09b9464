// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// The value of a dictionary's member (RFC 9651, 3.2), as signature and digest fields use them: an inner list or an
/// item, with its parameters.
struct StructuredValue {
    /// The decoded string, or the text of any other item. Empty for a list.
    var value = ""
    /// A list's items.
    var items: [StructuredValue] = []
    var parameters: [String: String] = [:]
    /// The serialization (RFC 9651, 4.1), which signatures cover.
    var text = ""

    static let yes = StructuredValue(value: "?1", text: "?1")

    /// The bytes of a byte sequence, or nil for another value.
    var bytes: [UInt8]? {
        guard text.begins(with: ":"), value.utf8.count > 1 else { return nil }
        return Data(base64Encoded: String(value.dropFirst().dropLast())).map { Array($0) }
    }

    /// Returns a dictionary's members, or nil if it is malformed or longer than 16 KiB. It may span several fields, and
    /// the last member with a key counts.
    static func dictionary(_ fields: [String]) -> [String: StructuredValue]? {
        let text = fields.joined(separator: ", ")
        guard text.utf8.count <= 16_384 else { return nil }
        var reader = StructuredReader(bytes: Array(text.utf8))
        return fields.isEmpty ? [:] : reader.dictionary()
    }
}

private struct StructuredReader {
    let bytes: [UInt8]
    var place = 0

    mutating func dictionary() -> [String: StructuredValue]? {
        var members: [String: StructuredValue] = [:]
        repeat {
            skipBlanks()
            let key = word()
            guard !key.isEmpty, let value = take("=") ? value() : withParameters(.yes) else { return nil }
            members[key] = value
            skipBlanks()
        } while take(",")
        return place == bytes.count ? members : nil
    }

    private mutating func value() -> StructuredValue? {
        guard take("(") else { return withParameters(bareItem()) }
        var items: [StructuredValue] = []
        skipBlanks()
        while !take(")") {
            guard let item = withParameters(bareItem()) else { return nil }
            items.append(item)
            skipBlanks()
        }
        let text = "(" + items.map(\.text).joined(separator: " ") + ")"
        return withParameters(StructuredValue(items: items, text: text))
    }

    private mutating func withParameters(_ bare: StructuredValue?) -> StructuredValue? {
        guard var value = bare else { return nil }
        while take(";") {
            skipBlanks()
            let name = word()
            guard !name.isEmpty, let parameter = take("=") ? bareItem() : .yes else { return nil }
            value.parameters[name] = parameter.value
            value.text += ";" + name + (parameter.text.isSame(as: "?1") ? "" : "=" + parameter.text)
        }
        return value
    }

    private mutating func bareItem() -> StructuredValue? {
        guard take("\"") else {
            let isBinary = take(":")
            let text = isBinary ? ":" + read { $0 < 0x80 && $0 != UInt8(ascii: ":") } + ":" : word()
            return text.isEmpty || isBinary && !take(":") ? nil : StructuredValue(value: text, text: text)
        }
        var decoded: [UInt8] = []
        while !take("\"") {
            let isEscape = take("\\")
            guard let byte = next, (0x20...0x7E).contains(byte), !isEscape || "\"\\".utf8.contains(byte) else {
                return nil
            }
            decoded.append(byte)
            place += 1
        }
        let value = String(decoding: decoded, as: UTF8.self)
        return StructuredValue(value: value, text: ASCII.quoted(value))
    }

    /// A key, a token, a number or a Boolean.
    private mutating func word() -> String { read { ASCII.isTokenCharacter($0) || "?/".utf8.contains($0) } }

    private mutating func skipBlanks() { _ = read { $0 == 0x20 || $0 == 0x09 } }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func take(_ mark: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: mark) else { return false }
        place += 1
        return true
    }

    private mutating func read(while fits: (UInt8) -> Bool) -> String {
        let start = place
        while let byte = next, fits(byte) { place += 1 }
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }
}
