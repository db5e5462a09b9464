/// A URI reference, split as RFC 3986, appendix B splits it, byte for byte: nothing is decoded, repaired or normalised, and a
/// combining mark hides no separator.
package struct URLParts: Hashable, Sendable {
    package var scheme: String?
    package var authority: String?
    package var path: String
    package var query: String?
    package var fragment: String?

    package init(_ text: String) {
        var text = text
        self = text.withUTF8 { URLParts($0[...]) }
    }

    private init(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) {
        var rest = bytes
        (rest, fragment) = Self.cut(rest, at: UInt8(ascii: "#"))
        (rest, query) = Self.cut(rest, at: UInt8(ascii: "?"))
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
            scheme = String(decoding: rest[..<colon], as: UTF8.self)
            rest = rest[(colon + 1)...]
        }
        if rest.starts(with: Self.slashes) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[end...]
        }
        path = String(decoding: rest, as: UTF8.self)
    }

    /// What stands before the last `@` of the authority: user and password.
    package var userInfo: String? {
        guard let authority, let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) else { return nil }
        return String(authority[..<at])
    }

    /// Host and port; a port that is no number stays part of the host, where it is refused.
    package var hostAndPort: (host: String, port: Int?)? {
        guard let authority else { return nil }
        let bytes = authority.utf8
        let start = bytes.lastIndex(of: UInt8(ascii: "@")).map { bytes.index(after: $0) } ?? bytes.startIndex
        let text = authority[start...]
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
            !text.utf8[colon...].contains(UInt8(ascii: "]"))
        else { return (String(text), nil) }
        let digits = text.utf8[text.utf8.index(after: colon)...]
        if digits.isEmpty { return (String(text[..<colon]), nil) }
        guard digits.allSatisfy({ (48...57).contains($0) }), let port = Int(Substring(digits)) else {
            return (String(text), nil)
        }
        return (String(text[..<colon]), port)
    }

    /// Whether a text begins with a scheme and `://`, or with `//`: it names a host.
    package static func namesHost(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            if bytes.starts(with: slashes) { return true }
            guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), isScheme(bytes[..<colon]) else { return false }
            return bytes[(colon + 1)...].starts(with: slashes)
        }
    }

    private static let slashes = repeatElement(UInt8(ascii: "/"), count: 2)

    private static func cut(
        _ text: Slice<UnsafeBufferPointer<UInt8>>, at mark: UInt8
    ) -> (Slice<UnsafeBufferPointer<UInt8>>, String?) {
        guard let index = text.firstIndex(of: mark) else { return (text, nil) }
        return (text[..<index], String(decoding: text[(index + 1)...], as: UTF8.self))
    }

    private static func isScheme(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard let first = text.first, isLetter(first) else { return false }
        return text.allSatisfy { isLetter($0) || (48...57).contains($0) || $0 == 43 || $0 == 45 || $0 == 46 }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }
}
