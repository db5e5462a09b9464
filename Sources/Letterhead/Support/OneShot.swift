// SPDX-License-Identifier: MIT
import Synchronization

/// A value that is set once. Any number of tasks can await it. Only the first call sets it.
///
/// It doesn't observe cancellation. A task that must not wait forever has to ensure that the value is set.
package final class OneShot<Value: Sendable>: Sendable {
    private enum State: Sendable {
        case open([CheckedContinuation<Value, Never>])
        case set(Value)
    }

    private let state = Mutex(State.open([]))

    package init() {}

    /// Sets the value and resumes the waiting tasks. Returns false if it has already been set.
    @discardableResult
    package func set(_ value: Value) -> Bool {
        let waiting = state.withLock { state -> [CheckedContinuation<Value, Never>]? in
            guard case .open(let waiting) = state else { return nil }
            state = .set(value)
            return waiting
        }
        waiting?.forEach { $0.resume(returning: value) }
        return waiting != nil
    }

    package var valueNow: Value? {
        state.withLock { if case .set(let value) = $0 { value } else { nil } }
    }

    /// The value. Reading it waits until it is set.
    package var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let value = state.withLock { state -> Value? in
                    switch state {
                    case .set(let value): return value
                    case .open(let waiting):
                        state = .open(waiting + CollectionOfOne(continuation))
                        return nil
                    }
                }
                if let value { continuation.resume(returning: value) }
            }
        }
    }

    /// Returns the value. The closures must ensure that it is set when the time limit is exceeded and when the task is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - onTimeout: called when the limit is exceeded, unless the value is already set.
    ///   - onCancel: called when the task is cancelled, or immediately if it has already been cancelled.
    package func value(
        within limit: Duration?, on clock: any Clock<Duration>, onTimeout: @escaping @Sendable () -> Void,
        onCancel: @escaping @Sendable () -> Void
    ) async -> Value {
        if let valueNow { return valueNow }
        return await withTaskCancellationHandler {
            guard let limit else { return await value }
            return await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    guard (try? await clock.pause(for: limit)) != nil else { return }
                    onTimeout()
                }
                let value = await value
                group.cancelAll()
                return value
            }
        } onCancel: {
            onCancel()
        }
    }
}
