import Synchronization

/// The validations in progress, so that concurrent requests share one. Callers hold a lock.
struct CacheFlights {
    /// The result of a validation for the requests that wait for it.
    enum Outcome: Sendable {
        /// The stored entry, which the server has confirmed, or the new entry that has replaced it.
        case entry(CachedEntry, CacheDecision)
        case failed(HTTPError)
        /// The request that validated was cancelled, or its response cannot be shared. Another request must validate.
        case again
        case tooLate
        case cancelled
    }

    typealias Waiter = OneShot<Outcome>

    private var waiters: [UInt64: [Waiter]] = [:]

    /// The number of requests that wait.
    var waiting: Int { waiters.values.reduce(0) { $0 + $1.count } }

    /// Joins the validation of an entry. Returns nil if there is none; the caller then starts one.
    mutating func join(_ id: UInt64) -> Waiter? {
        guard waiters[id] != nil else {
            waiters[id] = []
            return nil
        }
        let waiter = Waiter()
        waiters[id]?.append(waiter)
        return waiter
    }

    /// Ends the validation of an entry, and returns the waiters, which the caller must notify.
    mutating func end(_ id: UInt64) -> [Waiter] { waiters.removeValue(forKey: id) ?? [] }
}
