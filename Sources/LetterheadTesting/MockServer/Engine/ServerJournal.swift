// SPDX-License-Identifier: MIT
import Synchronization

/// The record of a server, and the tasks that wait for a change of it.
final class ServerJournal: Sendable {
    // This type is a class because the loop's thread writes what tests read.
    private struct State {
        var record = MockServer.Record()
        var version = 0
        var hasEnded = false
        var nextWaiter = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]

        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            defer { waiters = [:] }
            return Array(waiters.values)
        }
    }

    private let state = Mutex(State())

    var record: MockServer.Record { state.withLock { $0.record } }

    func change(_ body: (inout MockServer.Record) -> Void) {
        let waiters = state.withLock { state in
            body(&state.record)
            state.version += 1
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Marks the record as final.
    func end() {
        let waiters = state.withLock { state in
            state.hasEnded = true
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until the record fulfills a condition. The condition is user code, so it runs outside the lock.
    func wait(until fits: @Sendable (MockServer.Record) -> Bool) async throws -> MockServer.Record {
        while true {
            let (record, version, hasEnded) = state.withLock { ($0.record, $0.version, $0.hasEnded) }
            if fits(record) { return record }
            try Task.checkCancellation()
            if hasEnded { throw MockServer.HasStopped() }
            await change(after: version)
        }
    }

    private func change(after version: Int) async {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // A task is marked as cancelled before its cancellation handler runs. Therefore either this check
                    // sees the cancellation, or the handler finds the waiter.
                    guard state.version == version, !state.hasEnded, !Task.isCancelled else { return true }
                    state.waiters[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
    }
}
