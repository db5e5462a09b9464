import Synchronization

/// The resources that a leak check counts: tasks, streamed bodies, slots, hidden files and transports.
///
/// It is a class, because the resources and the check share it. Without a check, the only cost of a resource is one
/// read of a task-local value.
package final class ResourceLedger: Sendable {
    /// The ledger of the check that runs in this task; nil without one.
    @TaskLocal package static var current: ResourceLedger?

    private struct State {
        var last = 0
        var resources: [Int: String] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// The resources that have not been released, in the order of their creation.
    package var resources: [String] { state.withLock { $0.resources.sorted { $0.key < $1.key }.map(\.value) } }

    /// Registers a resource with the current check. Returns nil without a check.
    ///
    /// - Parameter resource: describes the resource and its owner, without secrets.
    static func lease(_ resource: @autoclosure () -> String) -> ResourceLease? {
        guard let ledger = current else { return nil }
        let text = resource()
        let number = ledger.state.withLock { state in
            state.last += 1
            state.resources[state.last] = text
            return state.last
        }
        return ResourceLease(ledger, number)
    }

    fileprivate func release(_ number: Int) { state.withLock { $0.resources[number] = nil } }
}

/// The registration of one resource. It ends with ``release()``, or when the last reference is dropped.
final class ResourceLease: Sendable {
    private let ledger: ResourceLedger
    private let number: Int

    fileprivate init(_ ledger: ResourceLedger, _ number: Int) { (self.ledger, self.number) = (ledger, number) }

    deinit { release() }

    /// Ends the registration. Later calls have no effect.
    func release() { ledger.release(number) }
}
