/// What it took to get a response: times from the start of the request, bytes, and the connection.
///
/// ```swift
/// let response = try await client.sendWithResponse(GetUser(login: "ada")).1
/// print(response.metrics.total, response.metrics.isReusedConnection)
/// ```
public struct TransportMetrics: Sendable, Hashable, CustomStringConvertible {
    /// Until the host's name was looked up; zero on a connection that was there.
    public var nameLookup: Duration = .zero
    /// Until the connection was made; zero on one that was there.
    public var connect: Duration = .zero
    /// Until TLS was agreed on; zero without TLS, and on a connection that was there.
    public var secureConnect: Duration = .zero
    /// Until the first byte of the answer; zero when none came.
    public var firstByte: Duration = .zero
    /// Until the last byte of the answer.
    public var total: Duration = .zero
    /// The bytes of the request, head and body, as they went out.
    public var bytesSent = 0
    /// The bytes of the response, head and body, as they came: before a content coding is undone.
    public var bytesReceived = 0
    /// `HTTP/1.1`, `HTTP/2` and so on; nil when it is not known.
    public var httpVersion: String?
    /// Address and port that answered, `127.0.0.1:8080`; nil when it is not known.
    public var remoteAddress: String?
    /// Whether the connection was made for an earlier request.
    public var isReusedConnection = false

    /// Nothing known.
    public init() {}

    /// Everything on one line.
    public var description: String {
        var parts = ["total \(total)", "first byte \(firstByte)"]
        if isReusedConnection {
            parts.append("reused connection")
        } else {
            parts += ["name \(nameLookup)", "connect \(connect)", "TLS \(secureConnect)"]
        }
        parts += ["sent \(bytesSent)", "received \(bytesReceived)"]
        return (parts + [httpVersion, remoteAddress].compactMap { $0 }).joined(separator: ", ")
    }
}

extension HTTPResponse {
    /// What it took to get the response. On a streamed one the totals are there when its body has ended. All zero when
    /// the response did not come from the network.
    public var metrics: TransportMetrics { self[option: TransportFactsValue.self]?.metrics ?? TransportMetrics() }

    /// The fields behind the body (RFC 9110, 6.5), in order; none before a streamed body has ended.
    public var trailers: HTTPHeaders { self[option: TransportFactsValue.self]?.trailers ?? [:] }
}
