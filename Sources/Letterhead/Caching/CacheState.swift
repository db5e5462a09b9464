import Foundation

/// The state that all requests of a cache share. Callers hold a lock.
struct CacheState {
    /// The number of resets. A response whose request began before the last reset is not stored.
    var generation = 0
    var flights = CacheFlights()
    /// The validations in the background, by entry.
    var background: [UInt64: OwnedWork] = [:]
    /// Whether the values of a header are credentials.
    var secretNames: [HTTPHeaders.Name: Bool] = [:]

    private var loads = 0
    private var clock = 0
    private var invalidated: [String: Int] = [:]

    /// A request that may store its response.
    struct Ticket: Sendable {
        let url: String
        let generation: Int
        let time: Int
    }

    /// Begins a request whose response may be stored.
    mutating func begin(_ url: String) -> Ticket {
        loads += 1
        return Ticket(url: url, generation: generation, time: clock)
    }

    /// Whether the response of a request may still be stored.
    func isCurrent(_ ticket: Ticket) -> Bool {
        generation == ticket.generation && (invalidated[ticket.url] ?? -1) <= ticket.time
    }

    /// Ends a request.
    ///
    /// - Returns: whether its response may be stored: no reset and no invalidation of its URL have occurred since
    ///   ``begin(_:)``.
    mutating func end(_ ticket: Ticket) -> Bool {
        loads -= 1
        defer { if loads == 0 { invalidated = [:] } }
        return isCurrent(ticket)
    }

    /// Notes that the responses of a URL have become invalid.
    mutating func invalidate(_ url: String) {
        guard loads > 0 else { return }
        clock += 1
        invalidated[url] = clock
    }
}
