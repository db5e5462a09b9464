// SPDX-License-Identifier: MIT
/// A request that may never end, with a limited wait for its result.
///
/// This type is a class because its task and its waiters share one result. Dropping the last reference cancels the
/// task.
final class Attempt<Value: Sendable>: Sendable {
    private let task: Task<Void, Never>
    private let outcome = Watched<Result<Value, any Error>?>(nil)

    init(_ operation: @escaping @Sendable () async throws -> Value) {
        task = Task { [outcome] in
            let result: Result<Value, any Error>
            do { result = .success(try await operation()) } catch { result = .failure(error) }
            outcome.change { $0 = result }
        }
    }

    deinit { task.cancel() }

    func cancel() { task.cancel() }

    /// Returns the result, or nil if the request doesn't end in time.
    func result(within patience: Duration) async -> Result<Value, any Error>? {
        await outcome.value(within: patience) { $0 != nil } ?? nil
    }
}
