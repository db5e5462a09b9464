import Foundation

/// The parts of a `Set-Cookie` field (RFC 6265bis, 5.6), before they are compared with the request.
struct SetCookie: Equatable {
    var name: String
    var value: String
    /// The domain in lower case, without a leading dot; nil or empty for the host of the request.
    var domain: String?
    /// The path; nil for the default path of the request.
    var path: String?
    var expires: Int64?
    /// Seconds; it takes precedence over ``expires``.
    var maxAge: Int64?
    var isSecure = false
    var isHTTPOnly = false
    var sameSite: CookieJar.Cookie.SameSite?

    /// The largest number of bytes of the name and the value together, and of one attribute.
    static let longest = (pair: 4096, attribute: 1024)

    /// Parses a field. Returns nil if the standard requires that the field is ignored.
    init?(_ text: String) {
        // Tabs are allowed, other control characters are not.
        guard text.utf8.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        var parts = text.split(at: ";", omittingEmpty: false).makeIterator()
        guard let pair = parts.next() else { return nil }
        (name, value) = Self.pair(pair) ?? ("", ASCII.trimmed(pair))
        guard name.utf8.count + value.utf8.count <= Self.longest.pair, !name.isEmpty || !value.isEmpty else {
            return nil
        }
        // A cookie without a name must not pretend to be one with a prefix.
        if name.isEmpty, CookieRules.Prefix(value) != nil { return nil }
        while let attribute = parts.next() { read(attribute) }
    }

    private mutating func read(_ text: Substring) {
        let (name, value) = Self.pair(text) ?? (ASCII.trimmed(text), "")
        guard value.utf8.count <= Self.longest.attribute else { return }
        switch ASCII.keyword(name) {
        case "expires": if let date = CookieDate.seconds(of: value) { expires = date }
        case "max-age": if let seconds = Self.seconds(value) { maxAge = seconds }
        case "domain": domain = CookieRules.canonical(domain: value)
        case "path": path = value.begins(with: "/") ? value : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite": sameSite = Self.sameSite(value)
        default: break
        }
    }

    private static func pair(_ text: Substring) -> (String, String)? {
        text.cut(at: "=").map { (ASCII.trimmed($0.head), ASCII.trimmed($0.tail)) }
    }

    /// Reads the value of `Max-Age`. Numbers that are too large count as the largest number.
    private static func seconds(_ text: String) -> Int64? {
        let digits = text.begins(with: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text) ?? (text.begins(with: "-") ? .min : .max)
    }

    private static func sameSite(_ text: String) -> CookieJar.Cookie.SameSite? {
        switch ASCII.keyword(text) {
        case "strict": .strict
        case "lax": .lax
        case "none": .unrestricted
        default: nil
        }
    }
}
