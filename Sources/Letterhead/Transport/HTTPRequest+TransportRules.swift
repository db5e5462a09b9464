extension HTTPRequest {
    /// What no transport can do with a request that is otherwise well formed.
    var brokenTransportRule: String? {
        if method == .connect { return "CONNECT makes a tunnel, which a request cannot; set a proxy instead" }
        if (method == .head || method == .trace) && !body.isEmpty { return "\(method) cannot carry a body" }
        if let timeout, timeout <= .zero { return "the timeout is zero or less; nil is no limit" }
        if let connectTimeout, connectTimeout <= .zero { return "the connectTimeout is not above zero" }
        if responseLimit < 0 { return "the responseLimit is less than zero" }
        return nil
    }
}

extension HTTPRequest {
    /// The request with the headers that its body brings.
    var framed: HTTPRequest {
        var framed = self
        framed.headers = framedHeaders()
        return framed
    }
}

extension HTTPMethod {
    /// Whether a server expects a length even when there is no body (RFC 9110, 8.6).
    var expectsBody: Bool { self == .post || self == .put || self == .patch }
}
