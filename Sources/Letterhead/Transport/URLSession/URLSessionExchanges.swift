import Synchronization

/// The exchanges of one loader that are in progress. It is a class, because the delegates of the sessions and the
/// loader share it.
final class URLSessionExchanges: Sendable {
    private let running = Mutex<[ObjectIdentifier: URLSessionExchange]>([:])

    func add(_ exchange: URLSessionExchange) { running.withLock { $0[ObjectIdentifier(exchange)] = exchange } }

    func remove(_ exchange: URLSessionExchange) {
        running.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(exchange)) }
        exchange.ended.set(())
    }

    /// Cancels exchanges, and returns when they have ended.
    func cancel(where isReset: (HTTPRequest) -> Bool) async {
        let exchanges = running.withLock { $0.values.filter { isReset($0.request) } }
        for exchange in exchanges { exchange.cancel() }
        for exchange in exchanges { await exchange.ended.value }
    }
}
