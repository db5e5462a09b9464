// SPDX-License-Identifier: MIT
import Synchronization

/// A value that tests change, read and wait on. A class, because all of them share it.
package final class Observed<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var watchers: [(fits: @Sendable (Value) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state: Mutex<State>

    package init(_ value: Value) { state = Mutex(State(value: value)) }

    package var value: Value { state.withLock { $0.value } }

    /// Changes the value, and resumes the tasks that wait for a condition that holds now.
    package func change(_ change: (inout Value) -> Void) {
        let awakened = state.withLock { state in
            change(&state.value)
            let value = state.value
            let ready = state.watchers.filter { $0.fits(value) }
            state.watchers.removeAll { $0.fits(value) }
            return ready
        }
        awakened.forEach { $0.continuation.resume() }
    }

    /// Returns as soon as the value fits.
    package func wait(until fits: @escaping @Sendable (Value) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isNow = state.withLock { state in
                if fits(state.value) { return true }
                state.watchers.append((fits, continuation))
                return false
            }
            if isNow { continuation.resume() }
        }
    }
}
