/// The settings of a transport. They are read once, when the transport is created. Environment variables have no
/// effect, except for those that specify proxies.
///
/// ```swift
/// var configuration = TransportConfiguration()
/// configuration.connectTimeout = .seconds(3)
/// let loader = CurlLoader(configuration)
/// ```
public struct TransportConfiguration: Sendable, Hashable {
    /// The largest number of simultaneous connections to one host. Further requests wait for a connection. Default: 64.
    ///
    /// Requests over HTTP/2 share connections and are not counted.
    public var maximumConnectionsPerHost = 64

    /// The largest number of simultaneous connections in total. Further requests wait for a connection. Default: 512.
    public var maximumConnections = 512

    /// The time limit for the name lookup, the connection and the TLS handshake together, with a precision of one
    /// millisecond; nil for no limit. Waiting for a free connection does not count. Default: 10 seconds.
    public var connectTimeout: Duration? = .seconds(10)

    /// The time limit from the end of the request to the first byte of the response; nil for no limit except
    /// ``idleTimeout``. Default: nil.
    public var firstByteTimeout: Duration?

    /// The time during which no byte may be sent or received on the connection while a request is in progress; nil for
    /// no limit. Time during which the reader of a streamed body requests no bytes is not counted. Default: 60 seconds.
    public var idleTimeout: Duration? = .seconds(60)

    /// The largest size of the head of a response, including trailers, in bytes. Default: 256 KiB.
    public var maximumHeadSize = 256 << 10

    /// The proxy. Default: the one in the environment variables of the process.
    public var proxy = TransportProxy.environment

    /// The trusted certificates, and the certificate of the client, for TLS.
    public var security = TransportSecurity()

    /// The path of a Unix-domain socket that replaces the connection to every host. The request still contains the name
    /// of the host. Default: nil (no socket).
    public var unixSocketPath: String?

    /// Whether responses are decompressed (gzip and deflate). `Accept-Encoding` is added to every request that neither
    /// sets it nor requests a range. A compressed response is decompressed even if the request has set
    /// `Accept-Encoding`. The body of a 206 and its headers are left unchanged, because a range counts compressed bytes
    /// (RFC 9110, 14.1.2). Default: true.
    public var decodesContent = true

    /// The largest ratio of decompressed to compressed bytes for a body of more than 16 MiB. A body with a larger ratio
    /// is `.responseTooLarge`. The bytes that were received over the connection count, regardless of the number of
    /// codings. Default: 200.
    public var maximumDecodingRatio = 200

    /// Creates the default settings.
    public init() {}

    /// The setting that is out of range; nil if all settings are valid.
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
            if let limit, limit <= .zero { return "\(name) is zero or less; use nil for no limit" }
        }
        return nil
    }
}
