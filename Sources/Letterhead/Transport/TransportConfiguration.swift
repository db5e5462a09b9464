/// How a transport connects: a value, read once when the transport is made. No environment variable changes it, but for
/// those that name proxies.
///
/// ```swift
/// var configuration = TransportConfiguration()
/// configuration.connectTimeout = .seconds(3)
/// let loader = CurlLoader(configuration)
/// ```
public struct TransportConfiguration: Sendable, Hashable {
    /// How many connections to one host there may be at a time; further requests wait for one. Default: 64.
    ///
    /// Requests over HTTP/2 share connections and are not counted.
    public var maximumConnectionsPerHost = 64

    /// How many connections there may be in all; further requests wait for one. Default: 512.
    public var maximumConnections = 512

    /// How long looking up the name, connecting and agreeing on TLS may take together, to the millisecond; nil is no
    /// limit. Default: 10 s. Waiting for a free connection does not count.
    public var connectTimeout: Duration? = .seconds(10)

    /// How long the server may take from the end of the request to the first byte of its answer; nil is no limit but
    /// ``idleTimeout``. Default: nil.
    public var firstByteTimeout: Duration?

    /// How long nothing may move on the connection, in either direction, while a request is under way; nil is no limit.
    /// Default: 60 s. Time in which the reader of a streamed body does not ask for more does not count.
    public var idleTimeout: Duration? = .seconds(60)

    /// How large the head of a response may be, trailers included, in bytes. Default: 256 KiB.
    public var maximumHeadSize = 256 << 10

    /// Through whom to connect. Default: whom the process's environment names.
    public var proxy = TransportProxy.environment

    /// Whom to trust over TLS, and as whom to introduce oneself.
    public var security = TransportSecurity()

    /// The path of a Unix-domain socket to connect to in place of every host; the host's name still stands in the
    /// request. Default: nil, none.
    public var unixSocketPath: String?

    /// Whether responses may come in gzip or deflate, and are handed over as if they had not: `Accept-Encoding` is sent
    /// with every request that says nothing of it and asks for no range, and a coding is undone whoever asked for it.
    /// The body of a 206 is handed over as it came, with its headers, because a range counts coded bytes (RFC 9110, 14.1.2).
    /// Default: true.
    public var decodesContent = true

    /// How many times larger than its coded bytes a body may be, once it has more than 16 MiB; one that is larger is
    /// `.responseTooLarge`. The bytes that came over the connection count, however many codings the body has. Default: 200.
    public var maximumDecodingRatio = 200

    /// The defaults.
    public init() {}

    /// Which setting is out of its range; nil when all are in theirs.
    var brokenRule: String? {
        if maximumConnectionsPerHost < 1 { return "maximumConnectionsPerHost is less than 1" }
        if maximumConnections < 1 { return "maximumConnections is less than 1" }
        if let rule = proxy.brokenRule ?? security.brokenRule { return rule }
        if let unixSocketPath, unixSocketPath.isEmpty || unixSocketPath.utf8.count > 107 {
            return "unixSocketPath is empty or longer than the 107 bytes that the system allows"
        }
        if maximumDecodingRatio < 1 { return "maximumDecodingRatio is less than 1" }
        if maximumHeadSize < 1 { return "maximumHeadSize is less than 1" }
        for (name, limit) in [
            ("connectTimeout", connectTimeout), ("firstByteTimeout", firstByteTimeout), ("idleTimeout", idleTimeout),
        ] {
            if let limit, limit <= .zero { return "\(name) is zero or less; nil is no limit" }
        }
        return nil
    }
}
