// SPDX-License-Identifier: MIT
extension RequestTemplate {
    /// Adds a cookie to this request only. It takes precedence over a cookie with the same name in the client jar.
    ///
    /// The cookie isn't sent after a redirect to a different origin, and descriptions and logs redact its value.
    ///
    /// Sending fails with `.invalidRequest` if the name isn't a token, or if the value contains a space, a control
    /// character, a character outside of ASCII, or one of `",;\` (RFC 6265bis, 4.1.1). Percent-encode such a value. The
    /// whole value may be in double quotes.
    public func cookie(_ name: String, _ value: String) -> Modified<Self> {
        option(
            RequestCookies.self,
            options[option: RequestCookies.self] + [RequestCookie(name: name, value: Secret(value))])
    }
}

extension HTTPRequest {
    /// Adds a cookie to this request only. It takes precedence over a cookie with the same name in the client jar.
    ///
    /// - Throws: `.invalidRequest` for a name that isn't a token, and for a value that must be percent-encoded. See
    ///   ``RequestTemplate/cookie(_:_:)``.
    public mutating func addCookie(_ name: String, _ value: String) throws(HTTPError) {
        let cookie = RequestCookie(name: name, value: Secret(value))
        if let rule = cookie.brokenRule { throw HTTPError(.invalidRequest, request: self, message: rule) }
        headers.setSecret(headers[.cookie].map { "\($0); \(cookie.text)" } ?? cookie.text, for: .cookie)
    }

    /// Moves the template cookies to the header.
    mutating func addTemplateCookies() throws(HTTPError) {
        guard options.contains(RequestCookies.self) else { return }
        let cookies = options[option: RequestCookies.self]
        options.remove(RequestCookies.self)
        for cookie in cookies { try addCookie(cookie.name, cookie.value.reveal()) }
    }
}

struct RequestCookie: Sendable {
    let name: String
    let value: Secret

    var text: String { "\(name)=\(value.reveal())" }

    /// The violated rule, or nil if the cookie can be sent.
    var brokenRule: String? {
        if !ASCII.isToken(name) {
            return "the name of a cookie is not a token (RFC 6265, 4.1.1): use letters, digits and !#$%&'*+-.^_`|~"
        }
        let bytes = value.reveal().utf8
        let isQuoted = bytes.count >= 2 && bytes.first == UInt8(ascii: "\"") && bytes.last == UInt8(ascii: "\"")
        let inside = isQuoted ? bytes.dropFirst().dropLast() : bytes[...]
        guard !inside.allSatisfy({ (0x21...0x7E).contains($0) && !"\",;\\".utf8.contains($0) }) else { return nil }
        return "the value of the cookie \(name) contains a character that must be percent-encoded"
    }
}

enum RequestCookies: HTTPRequestOption {
    static let defaultOptionValue: [RequestCookie] = []
}
