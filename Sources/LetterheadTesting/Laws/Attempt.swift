// SPDX-License-Identifier: MIT
import Synchronization

/// A request that may never end, with a limited wait for its result.
///
/// This type is a class because its task and its waiters share one result. The task is cancelled when the last
/// reference is dropped.
final class Attempt<Value: Sendable>: Sendable {
    private let task: Task<Void, Never>
    private let outcome: Outcome

    private final class Outcome: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    init(_ operation: @escaping @Sendable () async throws -> Value) {
        let outcome = Outcome()
        self.outcome = outcome
        task = Task {
            let result: Result<Value, any Error>
            do { result = .success(try await operation()) } catch { result = .failure(error) }
            outcome.result.withLock { $0 = result }
        }
    }

    deinit { task.cancel() }

    func cancel() { task.cancel() }

    /// Returns the result; nil if the request does not end in time.
    func result(within patience: Duration) async -> Result<Value, any Error>? {
        let clock = ContinuousClock()
        let end = clock.now + patience
        while true {
            if let result = outcome.result.withLock({ $0 }) { return result }
            guard clock.now < end else { return nil }
            try? await clock.sleep(for: .milliseconds(1))
        }
    }
}
