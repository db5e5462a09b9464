// SPDX-License-Identifier: MIT
import Synchronization

extension HTTPResponse {
    /// The times, the byte counts and the connection of a response. Times are measured from the start of the request.
    ///
    /// ```swift
    /// let response = try await client.sendWithResponse(GetUser(login: "ada")).1
    /// print(response.metrics.total, response.metrics.isReusedConnection)
    /// ```
    public struct Metrics: Sendable, Hashable, CustomStringConvertible {
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
        /// The address and port to which the connection leads, such as `127.0.0.1:8080`; nil if it is not known. If a proxy
        /// is used, it is the address of the proxy.
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

        public init() {}

        public var description: String {
            let times = [
                ("total", total), ("first byte", firstByte), ("name", nameLookup), ("connect", connect),
                ("TLS", secureConnect),
            ]
            // A time of zero belongs to something that did not happen.
            var parts = times.filter { $0.1 > .zero }.map { name, time in
                "\(name) \((time / .microseconds(10)).rounded() / 100) ms"
            }
            if isReusedConnection { parts.append("reused connection") }
            parts += ["sent \(bytesSent) bytes", "received \(bytesReceived) bytes"]
            if hasUnauthenticatedEnd { parts.append("unauthenticated end") }
            return (parts + [httpVersion, remoteAddress].compactMap { $0 }).joined(separator: ", ")
        }
    }
}

extension HTTPResponse {
    /// The metrics of the response. For a streamed response, the totals are available after its body has ended. All
    /// values are zero if the response was not received over the network.
    ///
    /// A transport sets them, or calls ``provide(metrics:trailers:)`` for a streamed response.
    public var metrics: HTTPResponse.Metrics {
        get { self[option: LateValues.self]?.metrics() ?? HTTPResponse.Metrics() }
        set {
            let trailers = self[option: LateValues.self]?.trailers
            provide(metrics: { newValue }, trailers: trailers ?? { [:] })
        }
    }

    /// The trailer fields, which follow the body (RFC 9110, 6.5), in order; empty until a streamed body has ended.
    ///
    /// A transport sets them, or calls ``provide(metrics:trailers:)`` for a streamed response.
    public var trailers: HTTPHeaders {
        get { self[option: LateValues.self]?.trailers() ?? [:] }
        set {
            let metrics = self[option: LateValues.self]?.metrics
            provide(metrics: metrics ?? { HTTPResponse.Metrics() }, trailers: { newValue })
        }
    }

    /// The interim responses that preceded the response (RFC 9110, 15.2), in order, without bodies: the first 16 of
    /// them. They count toward ``TransportConfiguration/maximumHeadSize``.
    ///
    /// ```swift
    /// let hints = response.interimResponses.filter { $0.status == 103 }.compactMap { $0.headers["Link"] }
    /// ```
    ///
    /// 103 Early Hints (RFC 8297) names what the response will probably refer to. The array is empty on Apple
    /// platforms, and if the response was not received over the network.
    public var interimResponses: [HTTPResponse] {
        get { self[option: InterimResponses.self] }
        set { self[option: InterimResponses.self] = newValue }
    }

    /// Sets closures that return the metrics and the trailers. Call it if you write a transport that returns a streamed
    /// response before they are complete.
    ///
    /// ```swift
    /// response.provide(metrics: { exchange.metrics }, trailers: { exchange.trailers })
    /// ```
    ///
    /// - Parameters:
    ///   - metrics: called each time that ``metrics`` is read, on any thread.
    ///   - trailers: called each time that ``trailers`` is read, on any thread. Default: returns no fields.
    public mutating func provide(
        metrics: @escaping @Sendable () -> HTTPResponse.Metrics,
        trailers: @escaping @Sendable () -> HTTPHeaders = { [:] }
    ) {
        self[option: LateValues.self] = LateValues(metrics: metrics, trailers: trailers)
    }

    /// Provides the metrics and the trailers of a transport of the library, and keeps the facts for observers.
    mutating func provide(_ facts: TransportFacts) {
        self[option: LateValues.self] = LateValues(
            metrics: { facts.metrics }, trailers: { facts.trailers }, facts: facts)
    }

    var facts: TransportFacts? { self[option: LateValues.self]?.facts }
}

private enum InterimResponses: HTTPRequestOption {
    static let defaultOptionValue: [HTTPResponse] = []
}

/// The values of a response that are complete only after its end.
private struct LateValues: HTTPRequestOption {
    static let defaultOptionValue: LateValues? = nil

    let metrics: @Sendable () -> HTTPResponse.Metrics
    let trailers: @Sendable () -> HTTPHeaders
    var facts: TransportFacts?
}

/// The properties of a response that are known only after its end. It is a class, because the caller receives a
/// streamed response before its end.
final class TransportFacts: Sendable {
    /// The facts that only observers read. A transport records them only for observed requests.
    struct Details: Sendable {
        var queued = Duration.zero
        /// The requests that held the connections, if the wait has reached a time limit.
        var holders: [String] = []
        /// The time until the last byte of the request was sent; zero if it is not known.
        var sent = Duration.zero
        var interim: [[UInt8]] = []
        var tlsVersion: String?
        var tlsCipher: String?
        /// Whether the transport knows that it has closed the connection.
        var isClosed = false
        /// Whether the end of the connection marks the end of the body.
        var endsBody = false
    }

    private let state = Mutex(State())

    private struct State {
        var metrics = HTTPResponse.Metrics()
        var trailers = HTTPHeaders()
        var details = Details()
    }

    var details: Details { state.withLock { $0.details } }

    func note(_ change: (inout Details) -> Void) { state.withLock { change(&$0.details) } }

    var metrics: HTTPResponse.Metrics {
        get { state.withLock { $0.metrics } }
        set { state.withLock { $0.metrics = newValue } }
    }

    var trailers: HTTPHeaders {
        get { state.withLock { $0.trailers } }
        set { state.withLock { $0.trailers = newValue } }
    }
}
