import Foundation

extension HTTPResponse {
    /// The cookies that the response sets, in order. Cookies that a client must ignore or refuse according to
    /// RFC 6265bis are left out, such as those for a foreign domain. A cookie that the server deletes is included, with
    /// an expiry in the past.
    public var cookies: [CookieJar.Cookie] {
        guard headers.contains(.setCookie), let target = CookieTarget(request) else { return [] }
        return headers.values(for: .setCookie).compactMap { field in
            SetCookie(field).flatMap {
                try? CookieRules.cookie($0, from: target, now: Date(), isPublicSuffix: { _ in false })
            }
        }
    }
}
