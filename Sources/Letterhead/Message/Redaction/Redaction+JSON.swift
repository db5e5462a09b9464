import Foundation

extension Redaction {
    /// Redacts what stands behind `"name":`, of any kind; a document that is cut or malformed is no obstacle.
    func redactJSON(_ text: String) -> String {
        var output: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let open = rest.firstIndex(of: JSONBytes.quote) {
            let string = JSONBytes.quoted(rest[open...])
            output += rest[..<string.endIndex]
            rest = rest[string.endIndex...]
            let colon = rest.drop(while: JSONBytes.isBlank)
            guard colon.first == JSONBytes.colon, isSecret(parameter: JSONBytes.text(string)) else { continue }
            let value = colon.dropFirst().drop(while: JSONBytes.isBlank)
            guard !value.isEmpty else { continue }
            output += rest[..<value.startIndex] + "\"\(Self.mark)\"".utf8
            rest = rest[JSONBytes.endOfValue(value)...]
        }
        return String(decoding: output + rest, as: UTF8.self)
    }
}

/// As much of JSON's grammar as is needed to find the end of a value (RFC 8259), over bytes, so that a combining mark
/// hides no quotation mark.
private enum JSONBytes {
    static let quote = UInt8(ascii: "\"")
    static let colon = UInt8(ascii: ":")

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// A text in quotation marks, from its first to its last one or to the end.
    static func quoted(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var index = bytes.startIndex + 1
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "\\"): index += 2
            case quote: return bytes[...index]
            default: index += 1
            }
        }
        return bytes
    }

    /// What a text in quotation marks says.
    static func text(_ string: ArraySlice<UInt8>) -> String {
        if string.contains(UInt8(ascii: "\\")), let text = try? JSONDecoder().decode(String.self, from: Data(string)) {
            return text
        }
        return String(decoding: string.dropFirst().dropLast(), as: UTF8.self)
    }

    /// Where a value ends: a text, an object or an array with all that they hold, or a number.
    static func endOfValue(_ bytes: ArraySlice<UInt8>) -> Int {
        var depth = 0
        var index = bytes.startIndex
        while index < bytes.endIndex {
            switch bytes[index] {
            case quote:
                index = quoted(bytes[index...]).endIndex
                if depth == 0 { return index }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return index }
                depth -= 1
                if depth == 0 { return index + 1 }
            case UInt8(ascii: ","): if depth == 0 { return index }
            default: break
            }
            index += 1
        }
        return bytes.endIndex
    }
}
