// SPDX-License-Identifier: MIT
import Letterhead
import Synchronization

/// A value that several tasks share. A task can wait until the value fulfills a condition.
final class Watched<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        /// Is set by the next change. Nil if no task waits.
        var changed: OneShot<Void>?
    }

    private let state: Mutex<State>

    init(_ value: Value) { state = Mutex(State(value: value)) }

    var value: Value { state.withLock { $0.value } }

    /// Changes the value, and lets the waiting tasks read it.
    @discardableResult
    func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        let (result, changed) = state.withLock { (body(&$0.value), $0.changed.take()) }
        changed?.set(())
        return result
    }

    /// Waits until the value fulfills a condition, and returns the value.
    ///
    /// Returns nil if the time limit passes in real time, or if the task is cancelled first. The condition may be test
    /// code, so it runs outside the lock.
    func value(within limit: Duration? = nil, where fits: (Value) throws -> Bool) async rethrows -> Value? {
        let clock = ContinuousClock()
        let end = limit.map { clock.now + $0 }
        while true {
            let (value, changed) = state.withLock { state in
                let changed = state.changed ?? OneShot()
                state.changed = changed
                return (state.value, changed)
            }
            if try fits(value) { return value }
            let left = end.map { clock.now.duration(to: $0) }
            if Task.isCancelled || left.map({ $0 <= .zero }) ?? false { return nil }
            // The change only wakes the waiting tasks, which then check their conditions again.
            await changed.value(within: left, on: clock) {
                self.change { _ in }
            } onCancel: {
                self.change { _ in }
            }
        }
    }
}
