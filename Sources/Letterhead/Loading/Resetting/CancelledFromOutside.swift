/// A link or a transport whose requests end when ``OwnedWork/cancel()`` is called, without cancelling a task.
///
/// A request needs no separate task if all parts of its chain conform. A part conforms if it suspends only in the next
/// loader, or registers each suspension with ``OwnedWork/onDirectCancel(_:)``. Code of the caller, such as a closure that
/// is async, can do neither.
protocol CancelledFromOutside: Sendable {
    /// Returns whether a request can be cancelled without a separate task. The answer depends on the request, because
    /// its options may contain closures of the caller.
    func isCancelledFromOutside(_ request: HTTPRequest) -> Bool
}

extension CancelledFromOutside {
    func isCancelledFromOutside(_ request: HTTPRequest) -> Bool { true }
}

/// The parts of a chain that decide whether a request needs a separate task.
struct CancellableChain: Sendable {
    private let parts: [any CancelledFromOutside]

    /// Returns nil if a part of the chain does not conform.
    init?(_ chain: any HTTPLoader) {
        let linked = chain as? any LinkedLoader
        let all: [any Sendable] = (linked?.links ?? []) + [linked?.end ?? chain]
        let parts = all.compactMap { $0 as? any CancelledFromOutside }
        guard parts.count == all.count else { return nil }
        self.parts = parts
    }

    func isCancelledFromOutside(_ request: HTTPRequest) -> Bool {
        parts.allSatisfy { $0.isCancelledFromOutside(request) }
    }
}
