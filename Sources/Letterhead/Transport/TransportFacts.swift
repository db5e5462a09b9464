import Synchronization

/// The properties of a response that are known only after its end. It is a class, because the caller receives a
/// streamed response earlier.
final class TransportFacts: Sendable {
    private let state = Mutex((metrics: TransportMetrics(), trailers: HTTPHeaders()))

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
