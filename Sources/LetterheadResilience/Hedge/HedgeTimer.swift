// SPDX-License-Identifier: MIT
import Synchronization

/// Calls closures after a delay. All requests of a ``Hedge`` share one sleeping task, because a task for each of them would
/// cost more than the rest of the link.
///
/// The task ends at the first due time without a pending closure, and with the timer.
final class HedgeTimer: Sendable {
    private struct Entry {
        var due: Duration
        var remaining: Int
        let delay: Duration
        let action: @Sendable () -> Void
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var last = 0
        var task: Task<Void, Never>?
        /// When the task wakes up; nil if no task sleeps.
        var wakeUp: Duration?
        /// The number of the task. A task that was replaced does nothing.
        var shift = 0
    }

    private let state = Mutex(State())
    private let clock: any Clock<Duration>
    private let stopwatch: Stopwatch
    private let executor: (any TaskExecutor)?

    init(clock: any Clock<Duration>, executor: (any TaskExecutor)?) {
        (self.clock, self.executor) = (clock, executor)
        stopwatch = Stopwatch(clock)
    }

    deinit { state.withLock { $0.task }?.cancel() }

    /// Calls a closure after a delay, a number of times, until ``remove(_:)``.
    ///
    /// - Returns: the number of the entry.
    func add(after delay: Duration, times: Int, _ action: @escaping @Sendable () -> Void) -> Int {
        let now = stopwatch.now
        return state.withLock { state in
            state.last += 1
            state.entries[state.last] = Entry(due: now + delay, remaining: times, delay: delay, action: action)
            if state.wakeUp.map({ $0 > now + delay }) ?? true { start(&state, at: now, after: delay) }
            return state.last
        }
    }

    func remove(_ number: Int) { state.withLock { _ = $0.entries.removeValue(forKey: number) } }

    private func start(_ state: inout State, at now: Duration, after delay: Duration) {
        state.task?.cancel()
        state.shift += 1
        state.wakeUp = now + delay
        state.task = Task(executorPreference: executor) { [clock, weak self, shift = state.shift] in
            var wait = delay
            while (try? await clock.sleep(for: wait)) != nil, let next = self?.wake(shift) { wait = next }
        }
    }

    /// Calls the closures that are due. Returns the time until the next one; nil if there is none.
    private func wake(_ shift: Int) -> Duration? {
        let now = stopwatch.now
        let (actions, wait) = state.withLock { state -> ([@Sendable () -> Void], Duration?) in
            guard state.shift == shift else { return ([], nil) }
            var actions: [@Sendable () -> Void] = []
            let due = state.entries.filter { $0.value.due <= now }.sorted { $0.key < $1.key }
            for (number, entry) in due {
                actions.append(entry.action)
                state.entries[number]?.due += entry.delay
                state.entries[number]?.remaining -= 1
                if entry.remaining <= 1 { state.entries[number] = nil }
            }
            state.wakeUp = state.entries.values.map(\.due).min()
            if state.wakeUp == nil { state.task = nil }
            // Each wake-up examines all entries, so there are at most a thousand of them in a second.
            return (actions, state.wakeUp.map { max($0 - now, .milliseconds(1)) })
        }
        for action in actions { action() }
        return wait
    }
}
