import Synchronization

/// The exchanges of one loader that are in progress. It is a class, because the delegates of the sessions and the
/// loader share it.
final class URLSessionExchanges: Sendable {
    private struct State {
        var running: [ObjectIdentifier: URLSessionExchange] = [:]
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func add(_ exchange: URLSessionExchange) {
        state.withLock { $0.running[ObjectIdentifier(exchange)] = exchange }
    }

    func remove(_ exchange: URLSessionExchange) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.running[ObjectIdentifier(exchange)] = nil
            guard state.running.isEmpty else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Cancels all exchanges, and returns when they have ended.
    func cancelAll() async {
        for exchange in state.withLock({ Array($0.running.values) }) { exchange.cancel() }
        await withCheckedContinuation { waiter in
            let isIdle = state.withLock { state in
                if !state.running.isEmpty { state.waiters.append(waiter) }
                return state.running.isEmpty
            }
            if isIdle { waiter.resume() }
        }
    }
}
