import Synchronization

/// The properties of a response that are known only after its end. It is a class, because the caller receives a
/// streamed response before its end.
final class TransportFacts: Sendable {
    /// The facts that only observers read. A transport records them only for observed requests.
    struct Details: Sendable {
        /// How long the transfer waited for a connection.
        var queued = Duration.zero
        /// The time until the last byte of the request was sent; zero if it is not known.
        var sent = Duration.zero
        /// The heads of interim responses, unparsed.
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
        var metrics = TransportMetrics()
        var trailers = HTTPHeaders()
        var details = Details()
    }

    var details: Details { state.withLock { $0.details } }

    func note(_ change: (inout Details) -> Void) { state.withLock { change(&$0.details) } }

    var metrics: TransportMetrics {
        get { state.withLock { $0.metrics } }
        set { state.withLock { $0.metrics = newValue } }
    }

    var trailers: HTTPHeaders {
        get { state.withLock { $0.trailers } }
        set { state.withLock { $0.trailers = newValue } }
    }
}
