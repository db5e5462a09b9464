// SPDX-License-Identifier: MIT
import Synchronization

extension HTTPResponse {
    /// Times, byte counts and connection facts for a response. Times are measured from the request start.
    ///
    /// ```swift
    /// let response = try await client.sendWithResponse(GetUser(login: "ada")).response
    /// print(response.metrics.total, response.metrics.isReusedConnection)
    /// ```
    public struct Metrics: Sendable, Hashable, CustomStringConvertible {
        /// The time until the name lookup ended. Zero for a reused connection.
        public var nameLookup: Duration = .zero
        /// The time until the connection was established. Zero for a reused connection.
        public var connect: Duration = .zero
        /// The time until the TLS handshake ended. Zero without TLS, and for a reused connection.
        public var secureConnect: Duration = .zero
        /// The time until the first response byte. Zero if no response was received.
        public var firstByte: Duration = .zero
        /// The time until the last response byte.
        public var total: Duration = .zero
        /// The number of sent bytes, head and body.
        public var bytesSent = 0
        /// The number of received bytes, head and body, before decompression.
        public var bytesReceived = 0
        /// The version of HTTP, such as `HTTP/1.1` or `HTTP/2`, or nil if it isn't known.
        public var httpVersion: String?
        /// The remote address and port, such as `127.0.0.1:8080`, or nil if it isn't known. With a proxy, it is the
        /// proxy address.
        public var remoteAddress: String?
        /// Whether the connection was established for an earlier request.
        public var isReusedConnection = false
        /// Whether a third party may have truncated an https response body without an error. Default: false.
        ///
        /// It is true if both conditions are met:
        /// - The response has neither a length nor chunks, so its body ended with the connection.
        /// - The libcurl on the system uses a TLS library that doesn't report whether the server sent close_notify (RFC
        ///   8446, 6.1).
        ///
        /// OpenSSL, its derivatives and GnuTLS report it, and a missing close_notify is then an error.
        public var hasUnauthenticatedEnd = false

        /// Creates metrics in which everything is zero or unknown, for a custom transport or a test.
        public init() {}

        /// One line with the times that aren't zero, the byte counts, and what is known of the connection.
        public var description: String {
            let times = [
                ("total", total), ("first byte", firstByte), ("name", nameLookup), ("connect", connect),
                ("TLS", secureConnect),
            ]
            // Zero means that it didn't happen.
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
    /// Times, byte counts and connection facts for this response. A streamed response has its totals after its body has
    /// ended. All values are zero if the response wasn't received over the network.
    ///
    /// A transport sets them, or calls ``provide(metrics:trailers:)`` for a streamed response.
    public var metrics: HTTPResponse.Metrics {
        get { self[option: LateValues.self]?.metrics() ?? HTTPResponse.Metrics() }
        set {
            let trailers = self[option: LateValues.self]?.trailers
            provide(metrics: { newValue }, trailers: trailers ?? { [:] })
        }
    }

    /// The trailer fields that follow the body (RFC 9110, 6.5), in order. Empty until a streamed body has ended.
    ///
    /// A transport sets them, or calls ``provide(metrics:trailers:)`` for a streamed response.
    public var trailers: HTTPHeaders {
        get { self[option: LateValues.self]?.trailers() ?? [:] }
        set {
            let metrics = self[option: LateValues.self]?.metrics
            provide(metrics: metrics ?? { HTTPResponse.Metrics() }, trailers: { newValue })
        }
    }

    /// The first 16 interim responses that preceded the response (RFC 9110, 15.2), in order, without bodies. They count
    /// toward ``TransportConfiguration/maximumHeadSize``.
    ///
    /// ```swift
    /// let hints = response.interimResponses.filter { $0.status == 103 }.compactMap { $0.headers["Link"] }
    /// ```
    ///
    /// In 103 Early Hints (RFC 8297), a server names the resources that the response will probably refer to. The array
    /// is empty on Apple platforms, and if the response wasn't received over the network.
    public var interimResponses: [HTTPResponse] {
        get { self[option: InterimResponses.self] }
        set { self[option: InterimResponses.self] = newValue }
    }

    /// Sets closures that return the metrics and the trailers. Call it if your transport returns a streamed response
    /// before they are complete.
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

    /// Provides metrics and trailers from a built-in transport, and keeps the facts for observers.
    mutating func provide(_ facts: TransportFacts) {
        self[option: LateValues.self] = LateValues(
            metrics: { facts.metrics }, trailers: { facts.trailers }, facts: facts)
    }

    var facts: TransportFacts? { self[option: LateValues.self]?.facts }
}

private enum InterimResponses: HTTPRequestOption {
    static let defaultOptionValue: [HTTPResponse] = []
}

/// Values that are complete only when the response has ended.
private struct LateValues: HTTPRequestOption {
    static let defaultOptionValue: LateValues? = nil

    let metrics: @Sendable () -> HTTPResponse.Metrics
    let trailers: @Sendable () -> HTTPHeaders
    var facts: TransportFacts?
}

/// What a transport knows about a response only after its end. It is a class, because the caller receives a streamed
/// response earlier.
final class TransportFacts: Sendable {
    /// Facts that only observers receive. A transport records them only for observed requests.
    struct Details: Sendable {
        /// The time that the request waited for a connection.
        var queued = Duration.zero
        /// The requests that held the connections, if waiting reached a time limit.
        var holders: [String] = []
        /// The time until the last request byte was sent, or zero if it isn't known.
        var sent = Duration.zero
        var interim: [[UInt8]] = []
        var tlsVersion: String?
        var tlsCipher: String?
        /// Whether the transport has closed the connection, as far as it knows.
        var isClosed = false
        /// Whether the body ends with the connection.
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
