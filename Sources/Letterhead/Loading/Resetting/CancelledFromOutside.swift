/// A link or a transport whose requests end when ``OwnedWork/cancel()`` is called, without cancelling a task.
///
/// A request needs no separate task if all parts of its chain conform. A part conforms if it suspends only in the next
/// loader, or registers each suspension with ``OwnedWork/onDirectCancel(_:)``. Code of the caller, such as a closure that
/// is async, can do neither.
protocol CancelledFromOutside: Sendable {
    /// The requests that can be cancelled without a separate task. Default: all.
    var cancelledFromOutside: CancelledRequests { get }
}

extension CancelledFromOutside {
    var cancelledFromOutside: CancelledRequests { .all }
}

/// The requests that a part of a chain can cancel without a separate task.
enum CancelledRequests: Sendable {
    case all
    case noRequest
    /// The requests for which the closure returns true. The others may wait, or run code of the caller.
    case matching(@Sendable (HTTPRequest) -> Bool)
}

/// The parts of a chain that decide whether a request needs a separate task.
struct CancellableChain: Sendable {
    private let conditions: [@Sendable (HTTPRequest) -> Bool]

    /// Returns nil if each request needs a separate task.
    init?(_ chain: any HTTPLoader) {
        let linked = chain as? any LinkedLoader
        let parts: [any Sendable] = (linked?.links ?? []) + [linked?.end ?? chain]
        var conditions: [@Sendable (HTTPRequest) -> Bool] = []
        for part in parts {
            switch (part as? any CancelledFromOutside)?.cancelledFromOutside {
            case .all?: break
            case .matching(let condition)?: conditions.append(condition)
            case .noRequest?, nil: return nil
            }
        }
        self.conditions = conditions
    }

    func isCancelledFromOutside(_ request: HTTPRequest) -> Bool { conditions.allSatisfy { $0(request) } }
}
