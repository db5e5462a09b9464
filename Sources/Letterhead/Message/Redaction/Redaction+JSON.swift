import Foundation

extension Redaction {
    /// Redacts the JSON value of any kind that follows a secret `"name":`. The document may be truncated or malformed.
    package func redactJSON(_ text: String) -> String {
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
            output += rest[..<value.startIndex] + "\"\(Self.placeholder)\"".utf8
            rest = rest[JSONBytes.endOfValue(value)...]
        }
        return String(decoding: output + rest, as: UTF8.self)
    }
}

/// The part of the JSON grammar (RFC 8259) that is needed to find the end of a value. It works on bytes, because a
/// combining mark could hide a quotation mark.
private enum JSONBytes {
    static let quote = UInt8(ascii: "\"")
    static let colon = UInt8(ascii: ":")

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// Returns a string with its quotation marks, up to the end if the closing one is missing.
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

    /// Returns the content of a quoted string.
    static func text(_ string: ArraySlice<UInt8>) -> String {
        if string.contains(UInt8(ascii: "\\")), let text = try? JSONDecoder().decode(String.self, from: Data(string)) {
            return text
        }
        return String(decoding: string.dropFirst().dropLast(), as: UTF8.self)
    }

    /// Returns the end of a value: a string, a complete object or array, a number, `true`, `false` or `null`.
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
