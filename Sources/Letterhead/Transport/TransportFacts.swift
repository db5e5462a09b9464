import Synchronization

/// The properties of a response that are known only after its end. It is a class, because the caller receives a
/// streamed response earlier.
final class TransportFacts: Sendable {
    /// What only observers read. A transport notes it for observed requests.
    struct Details: Sendable {
        /// How long the transfer waited for a connection.
        var queued = Duration.zero
        /// The time until the last byte of the request was sent; zero if it is not known.
        var sent = Duration.zero
        /// The heads of interim responses, unparsed.
        var interim: [[UInt8]] = []
        var tlsVersion: String?
        var tlsCipher: String?
    }

    private let state = Mutex(State())

    private struct State {
        var metrics = TransportMetrics()
        var trailers = HTTPHeaders()
        var interim: [HTTPResponse] = []
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

    var interim: [HTTPResponse] {
        get { state.withLock { $0.interim } }
        set { state.withLock { $0.interim = newValue } }
    }
}

/// The transport facts of a response.
enum TransportFactsValue: HTTPRequestOption {
    static let defaultOptionValue: TransportFacts? = nil
}
