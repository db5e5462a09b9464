/// The times, the byte counts and the connection of a response. Times are measured from the start of the request.
///
/// ```swift
/// let response = try await client.sendWithResponse(GetUser(login: "ada")).1
/// print(response.metrics.total, response.metrics.isReusedConnection)
/// ```
public struct TransportMetrics: Sendable, Hashable, CustomStringConvertible {
    /// The time until the end of the name lookup; zero for a reused connection.
    public var nameLookup: Duration = .zero
    /// The time until the connection was established; zero for a reused connection.
    public var connect: Duration = .zero
    /// The time until the end of the TLS handshake; zero without TLS, and for a reused connection.
    public var secureConnect: Duration = .zero
    /// The time until the first byte of the response; zero if no response was received.
    public var firstByte: Duration = .zero
    /// The time until the last byte of the response.
    public var total: Duration = .zero
    /// The number of sent bytes, head and body.
    public var bytesSent = 0
    /// The number of received bytes, head and body, before decompression.
    public var bytesReceived = 0
    /// The version of HTTP, such as `HTTP/1.1` or `HTTP/2`; nil if it is not known.
    public var httpVersion: String?
    /// The address and port of the server, such as `127.0.0.1:8080`; nil if it is not known.
    public var remoteAddress: String?
    /// Whether the connection was established for an earlier request.
    public var isReusedConnection = false
    /// Whether the body of an https response may have been truncated by a third party without an error.
    ///
    /// The value is true under two conditions. First, the response has neither a length nor chunks, so the end of the
    /// connection ended its body. Second, the system's libcurl uses a TLS library that does not report whether the
    /// server's close_notify was received (RFC 8446, 6.1). OpenSSL, its derivatives and GnuTLS report it, and a missing
    /// close_notify is then an error. Default: false.
    public var hasUnauthenticatedEnd = false

    /// Creates metrics with the default values.
    public init() {}

    /// All metrics on one line.
    public var description: String {
        var parts = ["total \(total)", "first byte \(firstByte)"]
        if isReusedConnection {
            parts.append("reused connection")
        } else {
            parts += ["name \(nameLookup)", "connect \(connect)", "TLS \(secureConnect)"]
        }
        parts += ["sent \(bytesSent)", "received \(bytesReceived)"]
        if hasUnauthenticatedEnd { parts.append("unauthenticated end") }
        return (parts + [httpVersion, remoteAddress].compactMap { $0 }).joined(separator: ", ")
    }
}

extension HTTPResponse {
    /// The metrics of the response. For a streamed response, the totals are available after its body has ended. All
    /// values are zero if the response was not received over the network.
    public var metrics: TransportMetrics { self[option: TransportFactsValue.self]?.metrics ?? TransportMetrics() }

    /// The trailer fields, which follow the body (RFC 9110, 6.5), in order; empty until a streamed body has ended.
    public var trailers: HTTPHeaders { self[option: TransportFactsValue.self]?.trailers ?? [:] }
}
