/// How long connecting may take for one request.
enum ConnectTimeoutOption: HTTPRequestOption {
    /// The limit of the transport's configuration.
    static let defaultOptionValue: Duration? = nil
}

extension HTTPRequest {
    /// How long looking up the name, connecting and agreeing on TLS may take together for this request, to the millisecond.
    ///
    /// Time in which the request waits for a free connection does not count. Default: nil, the
    /// ``TransportConfiguration/connectTimeout`` of the transport. Passing it is `.timedOut`; zero or less is `.invalidRequest`.
    /// The transport over `URLSession` cannot limit connecting: with it, a limit is `.invalidRequest`.
    public var connectTimeout: Duration? {
        get { self[option: ConnectTimeoutOption.self] }
        set { self[option: ConnectTimeoutOption.self] = newValue }
    }
}

extension HTTPRequestOptions {
    /// See ``HTTPRequest/connectTimeout``.
    public var connectTimeout: Duration? {
        get { self[ConnectTimeoutOption.self] }
        set { self[ConnectTimeoutOption.self] = newValue }
    }
}

extension RequestTemplate {
    /// Limits how long looking up the name, connecting and agreeing on TLS may take together; nil is the limit of the transport.
    /// Passing it is `.timedOut`. See ``HTTPRequest/connectTimeout``.
    public func connectTimeout(_ limit: Duration?) -> WithOptions<Self> { option(ConnectTimeoutOption.self, limit) }
}

extension WithOptions {
    /// See ``RequestTemplate/connectTimeout(_:)``.
    public func connectTimeout(_ limit: Duration?) -> Self { option(ConnectTimeoutOption.self, limit) }
}
