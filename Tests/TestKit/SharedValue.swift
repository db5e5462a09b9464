// SPDX-License-Identifier: MIT
import Synchronization

/// A value that closures share.
package final class SharedValue<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    package init(_ value: Value) { state = Mutex(value) }

    package func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        state.withLock { value in
            var copy = value
            defer { value = copy }
            return body(&copy)
        }
    }
}

/// Waits until a number stays the same. A peer that is blocked in a write reports nothing, so real time has to pass.
package func settled(_ number: @Sendable () -> Int) async {
    var last = -1
    while number() != last, !Task.isCancelled {
        last = number()
        try? await Task.sleep(for: .milliseconds(300))
    }
}

/// Waits until a condition holds, for what reports no change. Where a loader, a clock or a value can tell, wait for
/// that instead. A test that would wait for ever ends with the time limit of its suite.
package func until(_ condition: @Sendable () -> Bool) async {
    // Yielding would keep a processor busy, which the other tests need.
    while !condition(), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
}
