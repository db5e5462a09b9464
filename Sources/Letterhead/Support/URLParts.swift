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
        guard var authority else { return nil }
        return authority.withUTF8 { bytes in
            let text = Self.hostAndPort(bytes)
            guard let colon = text.lastIndex(of: UInt8(ascii: ":")), !text[colon...].contains(UInt8(ascii: "]")) else {
                return (String(decoding: text, as: UTF8.self), nil)
            }
            let digits = text[(colon + 1)...]
            let isNumber = digits.allSatisfy { (48...57).contains($0) }
            let port = isNumber ? Int(String(decoding: digits, as: UTF8.self)) : nil
            guard port != nil || digits.isEmpty else { return (String(decoding: text, as: UTF8.self), nil) }
            return (String(decoding: text[..<colon], as: UTF8.self), port)
        }
    }

    /// Whether there is a host.
    package var hasHost: Bool {
        guard var authority else { return false }
        return authority.withUTF8 { bytes in Self.hostAndPort(bytes).first.map { $0 != UInt8(ascii: ":") } ?? false }
    }

    private static func hostAndPort(_ authority: UnsafeBufferPointer<UInt8>) -> Slice<UnsafeBufferPointer<UInt8>> {
        authority[(authority.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? 0)...]
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
