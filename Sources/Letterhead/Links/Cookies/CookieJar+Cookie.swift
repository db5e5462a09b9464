// SPDX-License-Identifier: MIT
public import LetterheadFoundation

extension CookieJar {
    /// A cookie from a server (RFC 6265bis, 5.7). No description contains its value.
    public struct Cookie: Hashable, Sendable {
        /// The `SameSite` attribute, which tells browsers whether requests from other sites contain the cookie. The jar
        /// stores the attribute but doesn't apply it, because only in a browser can one site send requests to a
        /// different one.
        public enum SameSite: String, Hashable, Sendable {
            /// Only requests from the site itself contain the cookie.
            case strict = "Strict"
            /// The cookie is also sent when a link on a different site leads to its site.
            case lax = "Lax"
            /// The cookie is sent with requests from any site (`SameSite=None`).
            case unrestricted = "None"
        }

        /// The name, which can be empty.
        public let name: String
        /// The value. Do not write it to logs.
        public internal(set) var value: String
        /// The domain, in lower case and without a leading dot.
        public let domain: String
        /// Whether only ``domain`` itself receives the cookie, and not its subdomains.
        public let isHostOnly: Bool
        /// The path. Requests for this path and for paths below it receive the cookie.
        public let path: String
        /// When the cookie expires. Nil for a session cookie.
        public internal(set) var expires: Date?
        /// Whether the cookie is sent only over https, or to this machine.
        public let isSecure: Bool
        /// Whether the cookie is hidden from scripts in a browser (`HttpOnly`).
        public let isHTTPOnly: Bool
        /// The attribute `SameSite`, or nil if it is missing or unknown.
        public let sameSite: SameSite?
        /// When the cookie was first set.
        public internal(set) var created: Date
        var lastUsed: Date
        /// Orders cookies that were created at the same time.
        var order: UInt64 = 0
        /// The expiry of the cookie in the file of the jar. Nil if the file doesn't contain the cookie.
        var savedExpiry: Date?

        /// Creates a cookie. Without an expiry, it is a session cookie. A leading dot of the domain is removed.
        public init(
            _ name: String, _ value: String, domain: String, isHostOnly: Bool = true, path: String = "/",
            expires: Date? = nil, isSecure: Bool = true, isHTTPOnly: Bool = true, sameSite: SameSite? = nil
        ) {
            self.init(
                name: name, value: value, domain: CookieRules.canonical(domain: domain), isHostOnly: isHostOnly,
                path: path, expires: expires, isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: sameSite,
                now: Date(timeIntervalSince1970: 0))
        }

        init(
            name: String, value: String, domain: String, isHostOnly: Bool, path: String, expires: Date?,
            isSecure: Bool, isHTTPOnly: Bool, sameSite: SameSite?, now: Date
        ) {
            (self.name, self.value, self.domain, self.isHostOnly) = (name, value, domain, isHostOnly)
            (self.path, self.expires, self.isSecure, self.isHTTPOnly) = (path, expires, isSecure, isHTTPOnly)
            (self.sameSite, created, lastUsed) = (sameSite, now, now)
        }

        /// The size of the name and the value together, in bytes, at most 4096.
        var size: Int { name.utf8.count + value.utf8.count }

        func hasExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

        /// The cookie as it is stored in the jar: with its expiry as the one that the file will contain.
        var saved: Cookie { changed(self) { $0.savedExpiry = expires } }

        /// Returns whether the file contains this cookie, apart from a small change of its expiry.
        func isSaved(as old: Cookie, at now: Date) -> Bool {
            guard let expires, let saved = old.savedExpiry, !hasExpired(at: now) else { return false }
            let lifetime = expires.timeIntervalSince(now)
            return abs(expires.timeIntervalSince(saved)) < min(3600, lifetime / 100) && value.isSame(as: old.value)
                && isSecure == old.isSecure && isHTTPOnly == old.isHTTPOnly
        }

        func hasSameKey(as other: Cookie) -> Bool {
            name.isSame(as: other.name) && domain.isSame(as: other.domain) && path.isSame(as: other.path)
                && isHostOnly == other.isHostOnly
        }
    }
}

extension CookieJar.Cookie: CustomStringConvertible, CustomReflectable {
    public var description: String {
        "\(Redaction.visible(name))=\(Redaction.placeholder) (\(Redaction.visible(domain))\(Redaction.visible(path)))"
    }
    /// Contains only the description, so that `dump` doesn't print the value.
    public var customMirror: Mirror { Mirror(describing: self) }
}

/// A parsed `Set-Cookie` field (RFC 6265bis, 5.6), before it is compared with the request.
struct SetCookie: Equatable {
    var name: String
    var value: String
    /// The domain in lower case, without a leading dot. Nil or empty for the host of the request.
    var domain: String?
    /// Nil for the directory of the request path.
    var path: String?
    var expires: Int64?
    /// The lifetime in seconds. It takes precedence over ``expires``.
    var maxAge: Int64?
    var isSecure = false
    var isHTTPOnly = false
    var sameSite: CookieJar.Cookie.SameSite?

    /// The maximum size of the name and the value together, and of an attribute, in bytes.
    static let longest = (pair: 4096, attribute: 1024)

    /// Parses a field. Returns nil if the standard requires ignoring it.
    init?(_ text: String) {
        // Tabs are allowed, but no other control characters.
        guard text.utf8.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        var parts = text.split(at: ";", omittingEmpty: false).makeIterator()
        guard let pair = parts.next() else { return nil }
        (name, value) = Self.pair(pair) ?? ("", ASCII.trimmed(pair))
        guard name.utf8.count + value.utf8.count <= Self.longest.pair, !name.isEmpty || !value.isEmpty else {
            return nil
        }
        // In a `Cookie` header, a value without a name would look like a name with that prefix.
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

    /// Parses a number of seconds. A number that is too large counts as the largest number.
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
