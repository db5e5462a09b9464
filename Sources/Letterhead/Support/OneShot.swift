import Synchronization

/// A value that is set once and awaited by any number; whoever sets it first wins.
///
/// A class, because those who set and those who wait share it. It knows nothing of cancellation: whoever must not wait
/// for ever sees to it that it is set.
package final class OneShot<Value: Sendable>: Sendable {
    private enum State: Sendable {
        case open([CheckedContinuation<Value, Never>])
        case set(Value)
    }

    private let state = Mutex(State.open([]))

    package init() {}

    /// Sets the value and wakes who waits; false when it was set before.
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

    /// The value, if it is set.
    package var valueNow: Value? {
        state.withLock { if case .set(let value) = $0 { value } else { nil } }
    }

    /// The value, as soon as it is set.
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

    /// The value, with closures that see to it that it is set: at the latest after a time, and when the task is cancelled.
    ///
    /// - Parameters:
    ///   - limit: how long to wait for another value; nil for as long as it takes.
    ///   - onTimeout: called when the time is up, unless the value was there before.
    ///   - onCancel: called when the task is cancelled, at once, or when it was before.
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
