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

    /// Returns a dictionary's members, or nil if it is malformed. The last member with a key counts.
    static func dictionary(_ fields: [String]) -> [String: StructuredValue]? {
        guard !fields.isEmpty else { return [:] }
        guard let all = self.members(fields) else { return nil }
        var members: [String: StructuredValue] = [:]
        for var (key, value) in all {
            // A key without a value is true, and its parameters follow it.
            if key == nil, value.text.begins(with: value.value) {
                (key, value.text) = (value.value, "?1" + value.text.dropFirst(value.value.utf8.count))
            }
            guard let key, !key.isEmpty else { return nil }
            members[key] = value
        }
        return members
    }

    /// Returns the serialization of a field that is a list, a dictionary or an item, or nil if it is malformed.
    static func strict(_ fields: [String]) -> String? {
        members(fields)?.map { key, value in
            guard let key else { return value.text }
            return key + (value.text.begins(with: "?1") ? value.text.dropFirst(2) : "=" + value.text)
        }.joined(separator: ", ")
    }

    /// Returns the members with their keys, or nil if there is none, one is malformed, or all are longer than 16 KiB.
    /// They may span several fields.
    private static func members(_ fields: [String]) -> [(key: String?, value: StructuredValue)]? {
        let text = fields.joined(separator: ", ")
        var reader = StructuredReader(bytes: Array(text.utf8))
        return text.utf8.count <= 16_384 ? reader.members() : nil
    }
}

private struct StructuredReader {
    let bytes: [UInt8]
    var place = 0

    mutating func members() -> [(key: String?, value: StructuredValue)]? {
        var members: [(key: String?, value: StructuredValue)] = []
        repeat {
            skipBlanks()
            let start = place
            let name = read(while: ASCII.isTokenCharacter)
            let isKey = name.utf8.first.map { (97...122).contains($0) || $0 == UInt8(ascii: "*") } ?? false
            let key = isKey && take("=") ? name : nil
            if key == nil { place = start }
            guard let value = value() else { return nil }
            members.append((key, value))
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
            let name = read(while: ASCII.isTokenCharacter)
            guard !name.isEmpty, let parameter = take("=") ? bareItem() : .yes else { return nil }
            value.parameters[name] = parameter.value
            value.text += ";" + name + (parameter.text.isSame(as: "?1") ? "" : "=" + parameter.text)
        }
        return value
    }

    private mutating func bareItem() -> StructuredValue? {
        guard take("\"") else {
            if take(":") {
                let text = ":" + read { $0 < 0x80 && $0 != UInt8(ascii: ":") } + ":"
                return take(":") ? StructuredValue(value: text, text: text) : nil
            }
            let text = read { ASCII.isTokenCharacter($0) || "?/:@".utf8.contains($0) }
            let isMalformed = text.isEmpty || text.begins(with: "?") && text.utf8.count != 2
            return isMalformed ? nil : StructuredValue(value: text, text: Self.number(text) ?? text)
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

    /// Returns the shortest form of a number, or nil for anything else.
    private static func number(_ text: String) -> String? {
        guard let first = text.utf8.first, "-0123456789".utf8.contains(first) else { return nil }
        return Int64(text)?.description ?? Double(text)?.description
    }

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
