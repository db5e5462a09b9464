enum ConnectTimeoutOption: HTTPRequestOption {
    /// The limit of the transport's configuration.
    static let defaultOptionValue: Duration? = nil
}

extension RequestSettings {
    /// The time limit for the name lookup, the connection and the TLS handshake of this request together, with a
    /// precision of one millisecond. Default: nil (the ``TransportConfiguration/connectTimeout`` of the transport).
    ///
    /// Waiting for a free connection does not count. A request that exceeds the limit fails with `.timedOut`. If the
    /// limit is zero or less, the request fails with `.invalidRequest`. `URLSession` does not support this limit: with
    /// that transport, a request that sets the limit fails with `.invalidRequest`.
    public var connectTimeout: Duration? {
        get { self[option: ConnectTimeoutOption.self] }
        set { self[option: ConnectTimeoutOption.self] = newValue }
    }
}

extension HTTPRequest {
    /// The rule that the limit violates; nil if the request can be sent.
    var brokenConnectTimeout: String? {
        guard let connectTimeout, connectTimeout <= .zero else { return nil }
        return "the connectTimeout is zero or less; use nil for the limit of the transport"
    }
}

extension RequestTemplate {
    /// Limits the time for the name lookup, the connection and the TLS handshake together. A request that exceeds the
    /// limit fails with `.timedOut`. If the limit is nil, the limit of the transport applies. See
    /// ``RequestSettings/connectTimeout``.
    public func connectTimeout(_ limit: Duration?) -> Modified<Self> { settings { $0.connectTimeout = limit } }
}
