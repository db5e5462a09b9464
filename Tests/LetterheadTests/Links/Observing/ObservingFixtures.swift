// SPDX-License-Identifier: MIT
import Synchronization

/// A value that closures share.
final class SharedValue<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        state.withLock { value in
            var copy = value
            defer { value = copy }
            return body(&copy)
        }
    }
}
