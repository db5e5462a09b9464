import Foundation

/// The serialization of RFC 9651, 4.1. A value that cannot be written results in nil.
extension StructuredField {
    /// Returns the text of a list field.
    package static func text(of list: [Member]) -> String? { joined(list.map { text(of: $0) }, by: ", ") }

    /// Returns the text of a dictionary field.
    package static func text(of dictionary: [Pair<Member>]) -> String? {
        joined(
            dictionary.map { pair in
                guard isKey(pair.key) else { return nil }
                if case .item(let item) = pair.value, item.value == .boolean(true) {
                    return text(of: item.parameters).map { pair.key + $0 }
                }
                return text(of: pair.value).map { "\(pair.key)=\($0)" }
            }, by: ", ")
    }

    /// Returns the text of an item.
    package static func text(of item: Item) -> String? {
        guard let value = text(of: item.value), let parameters = text(of: item.parameters) else { return nil }
        return value + parameters
    }

    private static func text(of member: Member) -> String? {
        switch member {
        case .item(let item): text(of: item)
        case .innerList(let items, let parameters):
            joined(items.map { text(of: $0) }, by: " ").flatMap { list in
                text(of: parameters).map { "(\(list))" + $0 }
            }
        }
    }

    private static func text(of parameters: Parameters) -> String? {
        joined(
            parameters.map { pair in
                guard isKey(pair.key) else { return nil }
                return pair.value == .boolean(true) ? ";\(pair.key)" : text(of: pair.value).map { ";\(pair.key)=\($0)" }
            }, by: "")
    }

    private static func text(of bare: Bare) -> String? {
        switch bare {
        case .integer(let number): number.magnitude <= 999_999_999_999_999 ? "\(number)" : nil
        case .decimal(let thousandths): decimal(thousandths)
        case .string(let text): string(text)
        case .token(let text): isToken(text) ? text : nil
        case .bytes(let bytes): ":\(Data(bytes).base64EncodedString()):"
        case .boolean(let flag): flag ? "?1" : "?0"
        case .date(let seconds): seconds.magnitude <= 999_999_999_999_999 ? "@\(seconds)" : nil
        case .displayString(let text): displayString(text)
        }
    }

    private static func decimal(_ thousandths: Int64) -> String? {
        let size = thousandths.magnitude
        guard size <= 999_999_999_999_999 else { return nil }
        var fraction = String(size % 1000 + 1000).dropFirst()
        while fraction.count > 1, fraction.last == "0" { fraction.removeLast() }
        return "\(thousandths < 0 ? "-" : "")\(size / 1000).\(fraction)"
    }

    private static func string(_ text: String) -> String? {
        guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        return ASCII.quoted(text)
    }

    private static func displayString(_ text: String) -> String {
        var written = "%\""
        let digits = Array("0123456789abcdef")
        for byte in text.utf8 {
            if !(0x20...0x7E).contains(byte) || byte == UInt8(ascii: "%") || byte == UInt8(ascii: "\"") {
                written += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            } else {
                written.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return written + "\""
    }

    private static func isToken(_ text: String) -> Bool {
        guard let first = text.utf8.first else { return false }
        let isStart = (0x41...0x5A).contains(first) || (0x61...0x7A).contains(first) || first == UInt8(ascii: "*")
        return isStart
            && text.utf8.allSatisfy {
                ASCII.isTokenCharacter($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/")
            }
    }

    private static func isKey(_ text: String) -> Bool {
        guard let first = text.utf8.first, (0x61...0x7A).contains(first) || first == UInt8(ascii: "*") else {
            return false
        }
        return text.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "_-.*".utf8.contains($0)
        }
    }

    private static func joined(_ parts: [String?], by separator: String) -> String? {
        parts.contains(nil) ? nil : parts.compactMap(\.self).joined(separator: separator)
    }
}
