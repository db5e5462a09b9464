// SPDX-License-Identifier: MIT
import Synchronization

/// Registers resources with a leak check: tasks, streamed bodies, slots, hidden files and transports.
///
/// Until the first check in the process, a resource costs one atomic read.
package enum ResourceLedger {
    private static let hasRegister = Atomic(false)
    private static let hook = Mutex<Hook?>(nil)

    // A closure that is in the mutex by itself would be wrapped again by each read.
    private struct Hook { let register: @Sendable (_ resource: () -> String) -> (@Sendable () -> Void)? }

    /// Sets the function that registers later resources with the leak check that runs in the calling task.
    ///
    /// The function returns a closure that ends the registration, or nil if no check is running. Its argument describes
    /// the resource and its owner, without secrets.
    package static func use(_ new: @escaping @Sendable (_ resource: () -> String) -> (@Sendable () -> Void)?) {
        hook.withLock { $0 = Hook(register: new) }
        hasRegister.store(true, ordering: .releasing)
    }

    static func lease(_ resource: @autoclosure () -> String) -> ResourceLease? {
        guard hasRegister.load(ordering: .acquiring), let hook = hook.withLock({ $0 }) else { return nil }
        return hook.register(resource).map { ResourceLease($0) }
    }
}

/// The registration of one resource. It ends with ``release()``, or when the last reference is dropped.
final class ResourceLease: Sendable {
    private let end: @Sendable () -> Void

    fileprivate init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }

    /// Ends the registration. Later calls have no effect.
    func release() { end() }
}
