extension HTTPRequest {
    /// The rule of transports that a well-formed request violates; nil if it can be sent.
    var brokenTransportRule: String? {
        if method == .connect { return "CONNECT is reserved for proxies; set a proxy in the TransportConfiguration" }
        if (method == .head || method == .trace) && !body.isEmpty { return "\(method) cannot carry a body" }
        if let timeout, timeout <= .zero { return "the timeout is zero or less; use nil for no limit" }
        if let connectTimeout, connectTimeout <= .zero {
            return "the connectTimeout is zero or less; use nil for the limit of the transport"
        }
        if responseLimit < 0 { return "the responseLimit is less than zero" }
        return nil
    }
}

extension HTTPRequest {
    /// The request with the headers of its body.
    var framed: HTTPRequest {
        var framed = self
        framed.headers = framedHeaders()
        return framed
    }
}

extension HTTPMethod {
    /// Whether a server expects a length even without a body (RFC 9110, 8.6).
    var expectsBody: Bool { self == .post || self == .put || self == .patch }
}
