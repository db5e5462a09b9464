extension HTTPRequest {
    /// Refuses what must not be sent, before anything is.
    ///
    /// Every transport calls it first. Write your own transport: call it too.
    ///
    /// - Throws: `.invalidRequest`, naming the field and the rule, never the value: the method is no token; a header
    ///   name is no token, or its value holds a control character, in the request or in its body; a header that frames
    ///   the message, which is the library's to write; more than one Content-Type or Host; a Host that is no host;
    ///   Proxy-Authorization, which belongs to a proxy and would reach the server; a scheme that is neither http nor https;
    ///   no host, or a character that a host cannot hold; a port outside 1...65535; user or password in the
    ///   URL; a ``RequestPath`` that is refused; a query value that has no form in a query; a ``timeout`` or
    ///   ``idleTimeout`` that is not above zero; a body with a member whose type is not that of the requirement of ``HTTPBody``.
    public func validate() throws(HTTPError) {
        if let rule = brokenRule { throw HTTPError(.invalidRequest, request: self, message: rule) }
    }

    private var brokenRule: String? {
        if !ASCII.isToken(method.rawValue) {
            return "the method is no token of RFC 9110: letters, digits and !#$%&'*+-.^_`|~"
        }
        if let rule = headers.brokenRule { return rule }
        if !body.isEmpty, let rule = body._misfit ?? body.additionalHeaders.brokenBodyRule {
            return "the body is refused: \(rule)"
        }
        if let defect = path.defect { return "the path is refused: \(defect.rawValue)" }
        if let timeout, timeout <= .zero { return "the timeout is not above zero" }
        if let idleTimeout, idleTimeout <= .zero { return "the idleTimeout is not above zero" }
        return brokenAddress
    }

    private var brokenAddress: String? {
        guard let host, !host.isEmpty else { return missingHost.message }
        if !hasHTTPScheme { return "the scheme is neither http nor https" }
        if !Self.isHost(host) {
            return "the host holds a character that no host may have; write international names as xn--"
        }
        if let port, !(1...65535).contains(port) { return "the port is not in 1...65535" }
        if userInfo != nil { return "the URL holds a user or password; use an authentication" }
        if !ASCII.isPrintable(path.string) { return "the path holds a character that must be escaped" }
        return query.brokenRule
    }

    var hasHTTPScheme: Bool {
        scheme == "https" || scheme == "http" || ASCII.equalIgnoringCase(scheme, "https")
            || ASCII.equalIgnoringCase(scheme, "http")
    }

    /// A registered name or IPv4 address, or an IPv6 address in brackets (RFC 3986, 3.2.2); `%` is refused, since what
    /// is behind it would be read differently by different parsers.
    static func isHost(_ text: String) -> Bool {
        text.withBytes { bytes in
            guard bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]") else {
                return PercentEncoding.count(bytes, .unreserved) == 0
            }
            let inside = bytes.dropFirst().dropLast()
            return inside.contains(UInt8(ascii: ":"))
                && inside.allSatisfy { isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
        }
    }

    /// A host, and a port behind a colon.
    fileprivate static func isHostAndPort(_ text: String) -> Bool {
        let parts = URLParts("//" + text)
        guard let (host, port) = parts.hostAndPort, parts.authority == text, parts.userInfo == nil else { return false }
        return !host.isEmpty && isHost(host) && port.map { (1...65535).contains($0) } ?? true
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
    }
}

extension QueryParameters {
    /// Which rule an item breaks; nil when all can be written.
    fileprivate var brokenRule: String? {
        for place in items.indices {
            if let refusal = items[place].refusal {
                return "the query item \(Redaction.visible(items[place].name)) cannot be written: \(refusal)"
            }
            guard let original = items[place].original else { continue }
            if !ASCII.isPrintable(original) || original.utf8.contains(UInt8(ascii: "#")) {
                return "the query holds a character that must be escaped"
            }
        }
        return nil
    }
}

extension HTTPHeaders {
    /// Which rule the headers of a body, or of a part of one, break; nil when all are well formed.
    package var brokenBodyRule: String? {
        if let brokenRule { return brokenRule }
        guard let type = first(where: { $0.name == .contentType })?.value, MediaType(type) == nil else { return nil }
        return "the header Content-Type is no media type of RFC 9110, 8.3.1, such as text/plain"
    }

    /// Which rule of RFC 9110, 5.1 and 5.5 a field breaks; nil when all are well formed.
    package var brokenRule: String? {
        var contentTypes = 0
        var hasHost = false
        for place in fields.indices {
            // Read where they lie: a copy of the field costs as much as checking it.
            guard ASCII.isToken(fields[place].name.rawValue) else {
                return "the name of header \(place + 1) is no token of RFC 9110: letters, digits and !#$%&'*+-.^_`|~"
            }
            guard ASCII.isFieldValue(fields[place].value) else {
                return
                    "the value of the header \(fields[place].name) holds a control character (CR, LF, NUL or another)"
            }
            // The lengths of Host, Content-Type, Content-Length, Transfer-Encoding and Proxy-Authorization: few other names
            // are compared with them.
            switch fields[place].name.rawValue.utf8.count {
            case 4, 12, 14, 17, 19: break
            default: continue
            }
            let name = fields[place].name
            if name == .host {
                if hasHost { return "the header Host stands more than once (RFC 9112, 3.2)" }
                guard HTTPRequest.isHostAndPort(fields[place].value) else {
                    return "the value of the header Host is no host with an optional port"
                }
                hasHost = true
            }
            if name == .proxyAuthorization {
                return "the header Proxy-Authorization could reach the server; give the credentials to the proxy, with "
                    + "TransportProxy.authenticated(user:password:)"
            }
            if name == .contentLength || name == .transferEncoding {
                return "the header \(name) frames the message and is written by the library; set the body instead"
            }
            if name == .contentType { contentTypes += 1 }
            if contentTypes > 1 { return "the header Content-Type stands more than once" }
        }
        return nil
    }
}
