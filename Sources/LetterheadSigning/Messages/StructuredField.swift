// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// A member of a dictionary (RFC 9651, 3.2), as signature and digest fields use them.
struct StructuredMember {
    /// A string, a number, a token, or a byte sequence, with its parameters.
    struct Item {
        /// The decoded string, or the text of any other value.
        let value: String
        let parameters: [(name: String, value: String)]
        /// The text with its parameters.
        let text: String
    }

    let key: String
    /// The value's text with its parameters, which is what signatures cover.
    let text: String
    /// The items of an inner list, or else one item.
    let items: [Item]
    let parameters: [(name: String, value: String)]

    func parameter(_ name: String) -> String? { parameters.last { $0.name.isSame(as: name) }?.value }

    /// The bytes of a byte sequence, or nil for another value.
    var bytes: [UInt8]? {
        guard let text = items.first?.value, text.begins(with: ":"), text.utf8.count > 1 else { return nil }
        return Data(base64Encoded: String(text.dropFirst().dropLast())).map { Array($0) }
    }

    /// Returns a dictionary's members, or nil if it is malformed or longer than 16 KiB. It may span several fields.
    static func members(of fields: [String]) -> [StructuredMember]? {
        var reader = StructuredReader(fields.joined(separator: ", "))
        return reader.dictionary()
    }
}

private struct StructuredReader {
    private let bytes: [UInt8]
    private var place = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private func text(from start: Int) -> String { String(decoding: bytes[start..<place], as: UTF8.self) }

    private mutating func take(_ mark: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: mark) else { return false }
        place += 1
        return true
    }

    private mutating func skipBlanks() { while next == 0x20 || next == 0x09 { place += 1 } }

    mutating func dictionary() -> [StructuredMember]? {
        guard bytes.count <= 16_384 else { return nil }
        var members: [StructuredMember] = []
        repeat {
            skipBlanks()
            let key = word()
            guard !key.isEmpty, take("=") else { return nil }
            let start = place
            var items: [StructuredMember.Item] = []
            let isList = take("(")
            repeat {
                if isList { skipBlanks() }
                if isList, take(")") { break }
                guard let item = item() else { return nil }
                items.append(item)
            } while isList
            guard let parameters = isList ? parameters() : items[0].parameters else { return nil }
            members.append(
                StructuredMember(key: key, text: text(from: start), items: items, parameters: parameters))
            skipBlanks()
        } while take(",")
        return place == bytes.count ? members : nil
    }

    private mutating func item() -> StructuredMember.Item? {
        let start = place
        guard let value = value(), let parameters = parameters() else { return nil }
        return StructuredMember.Item(value: value, parameters: parameters, text: text(from: start))
    }

    private mutating func parameters() -> [(name: String, value: String)]? {
        var found: [(name: String, value: String)] = []
        while take(";") {
            skipBlanks()
            let name = word()
            guard !name.isEmpty, let value = take("=") ? value() : "?1" else { return nil }
            found.append((name, value))
        }
        return found
    }

    private mutating func value() -> String? {
        let start = place
        if take(":") {
            while let byte = next, byte != UInt8(ascii: ":") { place += byte < 0x80 ? 1 : bytes.count }
            return take(":") ? text(from: start) : nil
        }
        guard take("\"") else {
            let word = word()
            return word.isEmpty ? nil : word
        }
        var decoded: [UInt8] = []
        while let byte = next, (0x20...0x7E).contains(byte) {
            place += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: decoded, as: UTF8.self) }
            guard byte == UInt8(ascii: "\\") else {
                decoded.append(byte)
                continue
            }
            guard let escaped = next, escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") else { return nil }
            decoded.append(escaped)
            place += 1
        }
        return nil
    }

    /// A key, a token, a number or a Boolean.
    private mutating func word() -> String {
        let start = place
        while let byte = next, ASCII.isTokenCharacter(byte) || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "/") {
            place += 1
        }
        return text(from: start)
    }
}
