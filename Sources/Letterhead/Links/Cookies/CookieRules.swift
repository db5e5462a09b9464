// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// The rules for cookies (RFC 6265bis, 5.1 and 5.7). All functions are pure.
enum CookieRules {
    /// The longest lifetime of a cookie: 400 days, in seconds.
    static let longestLife: Int64 = 400 * 86_400

    enum Refusal: String, Error, Sendable {
        case malformed = "the field is malformed, or its name and value have more than 4096 bytes"
        case otherDomain = "the domain of the cookie does not include the host of the request"
        case publicSuffix = "the domain of the cookie is a public suffix, a single label or an IP address"
        case insecure = "a cookie with Secure must be set over https or by this machine"
        case overlaysSecure = "a cookie with Secure and the same name exists, and the request is not https"
        case prefix = "the cookie does not fulfill the conditions of its __Host- or __Secure- prefix"
    }

    /// Name prefixes that promise a property of the cookie, in any case.
    enum Prefix {
        case host, secure

        init?(_ name: String) {
            let start = name.utf8.prefix(9).map { ASCII.lowercased($0) }
            if start.starts(with: "__host-".utf8) {
                self = .host
            } else if start == Array("__secure-".utf8) {
                self = .secure
            } else {
                return nil
            }
        }
    }

    static func cookie(
        _ field: SetCookie, from target: CookieTarget, now: Date, isPublicSuffix: (String) -> Bool
    ) throws(Refusal) -> CookieJar.Cookie {
        let scope = try scope(field.domain, host: target.host, isPublicSuffix: isPublicSuffix)
        if field.isSecure, !target.isSecure { throw .insecure }
        switch Prefix(field.name) {
        case .secure where !field.isSecure: throw .prefix
        case .host where !field.isSecure || !scope.isHostOnly || field.path?.isSame(as: "/") != true: throw .prefix
        default: break
        }
        return CookieJar.Cookie(
            name: field.name, value: field.value, domain: scope.domain, isHostOnly: scope.isHostOnly,
            path: field.path ?? defaultPath(of: target.path), expires: expiry(of: field, now: now),
            isSecure: field.isSecure, isHTTPOnly: field.isHTTPOnly, sameSite: field.sameSite, now: now)
    }

    private static func scope(
        _ domain: String?, host: String, isPublicSuffix: (String) -> Bool
    ) throws(Refusal) -> (domain: String, isHostOnly: Bool) {
        guard let domain, !domain.isEmpty else { return (host, true) }
        // A cookie for such a domain would be sent to hosts of other owners. If the domain equals the host of the
        // request, the cookie is accepted only for that host.
        if !domain.utf8.contains(UInt8(ascii: ".")) || isAddress(domain) || isPublicSuffix(domain) {
            guard domain.isSame(as: host) else { throw .publicSuffix }
            return (host, true)
        }
        guard domainMatches(host, domain) else { throw .otherDomain }
        return (domain, false)
    }

    /// Returns when a cookie expires, or nil for a session cookie. `Max-Age` takes precedence over `Expires`.
    private static func expiry(of field: SetCookie, now: Date) -> Date? {
        let present = Int64(now.timeIntervalSince1970)
        let end: Int64
        if let maxAge = field.maxAge {
            end = maxAge <= 0 ? 0 : present + min(maxAge, longestLife)
        } else if let expires = field.expires {
            end = min(expires, present + longestLife)
        } else {
            return nil
        }
        return Date(timeIntervalSince1970: Double(end))
    }

    /// Whether a host is a domain or one of its subdomains (RFC 6265bis, 5.1.3).
    static func domainMatches(_ host: String, _ domain: String) -> Bool {
        if host.isSame(as: domain) { return true }
        return host.utf8.count > domain.utf8.count && host.ends(with: domain) && !isAddress(host)
            && host.utf8.dropLast(domain.utf8.count).last == UInt8(ascii: ".")
    }

    /// Whether a request path equals a cookie path or is below it (RFC 6265bis, 5.1.4).
    static func pathMatches(_ path: String, _ cookiePath: String) -> Bool {
        guard path.utf8.starts(with: cookiePath.utf8) else { return false }
        return path.utf8.count == cookiePath.utf8.count || cookiePath.ends(with: "/")
            || path.utf8.dropFirst(cookiePath.utf8.count).first == UInt8(ascii: "/")
    }

    static func defaultPath(of path: String) -> String {
        guard path.begins(with: "/"), let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex
        else { return "/" }
        return String(path[..<slash])
    }

    static func canonical(domain: String) -> String {
        ASCII.lowercased(domain.begins(with: ".") ? String(Substring(domain.utf8.dropFirst())) : domain)
    }

    /// Whether a host is an IPv4 address, or an IPv6 address in brackets.
    static func isAddress(_ host: String) -> Bool {
        if host.begins(with: "[") { return true }
        // The last label of a host name is not a number (WHATWG URL, 3.5).
        guard let last = host.split(at: ".").last else { return false }
        return last.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}

/// The parts of a request that determine its cookies.
struct CookieTarget: Sendable {
    let host: String
    /// The request path, which begins with a slash.
    let path: String
    /// Whether cookies with `Secure` can be set and sent: over https, and to this machine.
    let isSecure: Bool

    /// Returns nil if the request has no host.
    init?(_ request: HTTPRequest) {
        guard let host = request.host, !host.isEmpty else { return nil }
        let path = request.path.string
        self.init(
            host: host, path: path.begins(with: "/") ? path : "/" + path,
            isSecure: request.origin?.isSecure ?? false)
    }

    init(host: String, path: String, isSecure: Bool) {
        // A dot at the end of a host name belongs only to its DNS notation.
        let name = ASCII.lowercased(host)
        self.host = name.ends(with: ".") ? String(Substring(name.utf8.dropLast())) : name
        (self.path, self.isSecure) = (path, isSecure)
    }
}
