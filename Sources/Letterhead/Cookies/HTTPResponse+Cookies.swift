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

extension HTTPRequest {
    /// Returns the cookies of a jar that the request does not set itself.
    func missing(_ cookies: [CookieJar.Cookie]) -> [CookieJar.Cookie] {
        guard !cookies.isEmpty, let own = headers[.cookie] else { return cookies }
        let names = Set(own.split(at: ";").compactMap { $0.cut(at: "=").map { Array(ASCII.trimmed($0.head).utf8) } })
        return cookies.filter { !names.contains(Array($0.name.utf8)) }
    }

    /// Returns the request with the cookies of a jar, followed by the request's own cookies.
    func adding(_ cookies: [CookieJar.Cookie]) -> HTTPRequest {
        var request = self
        let texts = cookies.map { $0.name.isEmpty ? $0.value : "\($0.name)=\($0.value)" }
        let all = texts + (headers[.cookie].map { [$0] } ?? [])
        request.headers.setSecret(all.joined(separator: "; "), for: .cookie)
        return request
    }
}
