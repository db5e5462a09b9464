import Foundation

/// The state that all requests of a cache share. Callers hold a lock.
struct CacheState {
    /// The number of resets. A response whose request began before the last reset is not stored.
    var generation = 0
    /// Whether the values of a header are credentials.
    var secretNames: [HTTPHeaders.Name: Bool] = [:]

    /// The requests of one URL whose responses may be stored.
    struct Loads {
        var count = 0
        /// The time of the last invalidation of the URL.
        var invalidated = -1
    }

    private(set) var loads: [String: Loads] = [:]
    private var clock = 0

    /// A request that may store its response.
    struct Ticket: Sendable {
        let url: String
        let generation: Int
        let time: Int
    }

    /// Begins a request whose response may be stored.
    mutating func begin(_ url: String) -> Ticket {
        loads[url, default: Loads()].count += 1
        return Ticket(url: url, generation: generation, time: clock)
    }

    /// Whether the response of a request may still be stored.
    func isCurrent(_ ticket: Ticket) -> Bool {
        generation == ticket.generation && (loads[ticket.url]?.invalidated ?? -1) <= ticket.time
    }

    /// Ends a request.
    ///
    /// - Returns: whether its response may be stored: no reset and no invalidation of its URL have occurred since
    ///   ``begin(_:)``.
    mutating func end(_ ticket: Ticket) -> Bool {
        defer {
            loads[ticket.url]?.count -= 1
            if loads[ticket.url]?.count == 0 { loads[ticket.url] = nil }
        }
        return isCurrent(ticket)
    }

    /// Notes that the responses of a URL have become invalid. Only requests of this URL that have begun need to know it.
    mutating func invalidate(_ url: String) {
        clock += 1
        loads[url]?.invalidated = clock
    }
}
