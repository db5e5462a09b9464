/// Scheme, host and port, by which it is decided what belongs together (RFC 6454): credentials, cookies, environments.
///
/// Scheme and host are compared in lower case, and a port that is the scheme's default is the same as none.
public struct HTTPOrigin: Hashable, Sendable, CustomStringConvertible {
    /// `http` or `https`, in lower case.
    public let scheme: String
    /// The host in lower case.
    public let host: String
    /// The port, the scheme's default when none was given.
    public let port: Int

    /// Makes an origin; a port of nil is the scheme's default.
    public init(scheme: String, host: String, port: Int? = nil) {
        self.scheme = ASCII.lowercased(scheme)
        self.host = ASCII.lowercased(host)
        self.port = port ?? (self.scheme == "http" ? 80 : 443)
    }

    init?(_ parts: URLParts) {
        guard let (host, port) = parts.hostAndPort, !host.isEmpty else { return nil }
        self.init(scheme: parts.scheme ?? "https", host: host, port: port)
    }

    init?(_ base: BaseURL) {
        guard let host = base.host else { return nil }
        self.init(scheme: base.scheme ?? "https", host: host, port: base.port)
    }

    /// `https://example.com`, with the port when it is not the default. Control characters are escaped.
    public var description: String {
        // A link of a server may name any host.
        let shown = "\(Redaction.visible(scheme))://\(Redaction.visible(host))"
        return port == (scheme == "http" ? 80 : 443) ? shown : "\(shown):\(port)"
    }
}
