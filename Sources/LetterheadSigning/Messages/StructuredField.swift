// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// A dictionary member value (RFC 9651, 3.2), as signature and digest fields use them: an inner list or an item, with
/// its parameters.
struct StructuredValue: Sendable {
    /// The decoded string, or the text of any other item. Empty for a list.
    var value = ""
    /// The items, if the value is a list.
    var items: [StructuredValue] = []
    var parameters: [String: StructuredValue] = [:]
    /// The serialization (RFC 9651, 4.1), which signatures cover.
    var text = ""

    static let yes = StructuredValue(value: "?1", text: "?1")

    var isString: Bool { text.begins(with: "\"") }

    /// The decoded byte sequence, or nil for other types.
    var bytes: [UInt8]? {
        guard text.begins(with: ":"), value.utf8.count > 1 else { return nil }
        return Data(base64Encoded: String(value.dropFirst().dropLast())).map { Array($0) }
    }

    /// Returns the dictionary members, or nil if the fields are malformed.
    static func dictionary(_ fields: [String]) -> [String: StructuredValue]? {
        guard !fields.isEmpty else { return [:] }
        return members(fields).flatMap(entries).map { Dictionary(uniqueKeysWithValues: $0.map { ($0.key, $0.value) }) }
    }

    /// Serializes a field that is a list, a dictionary or an item. Returns nil if it is malformed.
    static func strict(_ fields: [String]) -> String? {
        guard let members = members(fields) else { return nil }
        let isDictionary = members.contains { $0.key != nil }
        guard isDictionary else { return members.map(\.value.text).joined(separator: ", ") }
        return entries(members)?.map { key, value in
            key + (value.text.begins(with: "?1") ? value.text.dropFirst(2) : "=" + value.text)
        }.joined(separator: ", ")
    }

    /// Returns the dictionary members in order, or nil if one has no key. If a key occurs twice, its last value counts,
    /// but it stays at the first position (RFC 9651, 4.2.2).
    private static func entries(
        _ members: [(key: String?, value: StructuredValue)]
    ) -> [(key: String, value: StructuredValue)]? {
        var entries: [(key: String, value: StructuredValue)] = []
        var places: [String: Int] = [:]
        for var (key, value) in members {
            // A key without a value is true, and its parameters follow it.
            if key == nil, StructuredReader.isKey(value.value), value.text.begins(with: value.value) {
                (key, value.text) = (value.value, "?1" + value.text.dropFirst(value.value.utf8.count))
            }
            guard let key else { return nil }
            if let place = places[key] {
                entries[place].value = value
            } else {
                places[key] = entries.count
                entries.append((key, value))
            }
        }
        return entries
    }

    /// Returns the members with their keys. They may span several field lines. Returns nil if there are no members, if
    /// one is malformed, or if all lines together are longer than 16 KiB.
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
            let name = read(while: Self.isKeyByte)
            let key = Self.isKey(name) && take("=") ? name : nil
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
            guard let item = withParameters(bareItem()), next == 0x20 || next == UInt8(ascii: ")") else { return nil }
            items.append(item)
            skipBlanks()
        }
        let text = "(" + items.map(\.text).joined(separator: " ") + ")"
        return withParameters(StructuredValue(items: items, text: text))
    }

    private mutating func withParameters(_ bare: StructuredValue?) -> StructuredValue? {
        guard var value = bare else { return nil }
        var texts: [String: (place: Int, text: String)] = [:]
        while take(";") {
            skipBlanks()
            let name = read(while: Self.isKeyByte)
            guard Self.isKey(name), let parameter = take("=") ? bareItem() : .yes else { return nil }
            value.parameters[name] = parameter
            let text = ";" + name + (parameter.text.isSame(as: "?1") ? "" : "=" + parameter.text)
            texts[name] = (texts[name]?.place ?? texts.count, text)
        }
        for (_, text) in texts.values.sorted(by: { $0.place < $1.place }) { value.text += text }
        return value
    }

    private mutating func bareItem() -> StructuredValue? {
        guard take("\"") else {
            if take(":") {
                let text = read { $0 != UInt8(ascii: ":") }
                guard take(":"), Data(base64Encoded: text) != nil else { return nil }
                return StructuredValue(value: ":\(text):", text: ":\(text):")
            }
            let text = read { ASCII.isTokenCharacter($0) || "?/:@".utf8.contains($0) }
            return Self.form(of: text).map { StructuredValue(value: text, text: $0) }
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

    /// Serializes a number, a boolean, a date or a token. Returns nil for anything else.
    private static func form(of text: String) -> String? {
        guard let first = text.utf8.first else { return nil }
        switch first {
        case UInt8(ascii: "?"): return ["?0", "?1"].contains { text.isSame(as: $0) } ? text : nil
        case UInt8(ascii: "@"): return number(String(text.dropFirst())).flatMap { Int64($0) }.map { "@\($0)" }
        case UInt8(ascii: "-"), 0x30...0x39: return number(text)
        case UInt8(ascii: "*"), 0x41...0x5A, 0x61...0x7A:
            return "?@".utf8.contains(where: text.utf8.contains) ? nil : text
        default: return nil
        }
    }

    /// Serializes a number. An integer has at most 15 digits, and a decimal at most 12 before the point and 3 after it.
    private static func number(_ text: String) -> String? {
        let parts = text.utf8.drop { $0 == UInt8(ascii: "-") }.split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let most = parts.count == 1 ? [15] : [12, 3]
        guard parts.count == most.count, zip(parts, most).allSatisfy({ (1...$1).contains($0.count) }),
            parts.joined().allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(text)?.description ?? Double(text)?.description
    }

    static func isKey(_ text: String) -> Bool {
        text.utf8.first.map { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "*") } == true
            && text.utf8.allSatisfy(isKeyByte)
    }

    private static func isKeyByte(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "_-.*".utf8.contains(byte)
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
