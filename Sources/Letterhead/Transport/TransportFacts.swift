import Synchronization

/// What a transport knows of a response only when all of it is there. A class, since a streamed response is in the
/// caller's hands before.
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

/// The facts on a response.
enum TransportFactsValue: HTTPRequestOption {
    static let defaultOptionValue: TransportFacts? = nil
}
