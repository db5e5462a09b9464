import Synchronization

/// Counts the resets of a client, and ends pauses at a reset. This type is a class because copies of the client share
/// it.
final class ResetCount: Sendable {
    private typealias Sleep = Task<Void, any Error>

    private struct State {
        var count = 0
        var lastNumber = 0
        var sleeps: [Int: Sleep] = [:]
    }

    private let state = Mutex(State())

    var value: Int { state.withLock { $0.count } }

    /// Counts a reset and ends all pauses.
    func increment() {
        let sleeps = state.withLock { state in
            state.count += 1
            defer { state.sleeps = [:] }
            return state.sleeps
        }
        for sleep in sleeps.values { sleep.cancel() }
    }

    /// Pauses for a duration. The pause ends early if the client is reset or the calling task is cancelled.
    ///
    /// - Parameter count: the count at the start of the caller's operation. If the count has changed, the function
    ///   returns at once.
    /// - Throws: `CancellationError` if the calling task was cancelled.
    func pause(for duration: Duration, on clock: any Clock<Duration>, since count: Int) async throws {
        let sleep = Sleep { try await clock.pause(for: duration) }
        let number = state.withLock { state -> Int? in
            guard state.count == count else { return nil }
            state.lastNumber += 1
            state.sleeps[state.lastNumber] = sleep
            return state.lastNumber
        }
        if number == nil { sleep.cancel() }
        _ = await withTaskCancellationHandler {
            await sleep.result
        } onCancel: {
            sleep.cancel()
        }
        if let number { _ = state.withLock { $0.sleeps.removeValue(forKey: number) } }
        try Task.checkCancellation()
    }
}
