/// A scheme, a host and a port (RFC 6454). Credentials, the cookies that a request sets itself, and environments belong
/// to an origin.
///
/// Scheme and host are compared in lower case. An origin without a port equals one with the default port of its scheme.
public struct HTTPOrigin: Hashable, Sendable, CustomStringConvertible {
    /// `http` or `https`, in lower case.
    public let scheme: String
    /// The host in lower case.
    public let host: String
    /// The port. Default: the default port of the scheme.
    public let port: Int

    /// Creates an origin. A port of nil is the default port of the scheme.
    public init(scheme: String, host: String, port: Int? = nil) {
        self.scheme = ASCII.lowercased(scheme)
        self.host = ASCII.lowercased(host)
        self.port = port ?? (self.scheme == "http" ? 80 : 443)
    }

    /// Returns nil if there is no host, or if it is not ASCII: no request is sent to such a host.
    init?(_ parts: URLParts) {
        guard let (host, port) = parts.hostAndPort, !host.isEmpty, ASCII.isASCII(host) else { return nil }
        self.init(scheme: parts.scheme ?? "https", host: host, port: port)
    }

    init?(_ base: BaseURL) {
        guard let host = base.host else { return nil }
        self.init(scheme: base.scheme ?? "https", host: host, port: base.port)
    }

    /// The origin as `https://example.com`, with the port if it is not the default. Control characters are escaped.
    public var description: String {
        // A link from a server can contain any host.
        let shown = "\(Redaction.visible(scheme))://\(Redaction.visible(host))"
        return port == (scheme == "http" ? 80 : 443) ? shown : "\(shown):\(port)"
    }
}
