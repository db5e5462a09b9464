import Synchronization

/// The properties of a response that are known only after its end. It is a class, because the caller receives a
/// streamed response earlier.
final class TransportFacts: Sendable {
    /// The facts that only observers read. A transport records them only for observed requests.
    struct Details: Sendable {
        /// How long the transfer waited for a connection.
        var queued = Duration.zero
        /// The time until the last byte of the request was sent; zero if it is not known.
        var sent = Duration.zero
        /// The statuses of interim responses, at most 16.
        var interim: [Int] = []
        var tlsVersion: String?
        var tlsCipher: String?
    }

    private let state = Mutex((metrics: TransportMetrics(), trailers: HTTPHeaders(), details: Details()))

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

/// The transport facts of a response.
enum TransportFactsValue: HTTPRequestOption {
    static let defaultOptionValue: TransportFacts? = nil
}
