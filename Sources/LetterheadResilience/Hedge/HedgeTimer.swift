// SPDX-License-Identifier: MIT
import Synchronization

/// Tells the requests of a ``Hedge`` when to send their hedges. All requests share one sleeping task, because a task
/// for each request would cost more than everything else in the link.
///
/// The task ends when no hedge is due any more, or when the timer is dropped.
final class HedgeTimer: Sendable {
    private struct Entry {
        var due: Duration
        var remaining: Int
        let race: HedgeRace
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var last = 0
        var task: Task<Void, Never>?
        /// When the task wakes up, or nil if no task sleeps.
        var wakeUp: Duration?
        /// The number of the current task. A task with an older number was replaced, and does nothing.
        var shift = 0
    }

    private let state = Mutex(State())
    private let clock: any Clock<Duration>
    private let stopwatch: Stopwatch
    private let executor: (any TaskExecutor)?

    init(clock: any Clock<Duration>, _ stopwatch: Stopwatch, executor: (any TaskExecutor)?) {
        (self.clock, self.stopwatch, self.executor) = (clock, stopwatch, executor)
    }

    deinit { state.withLock { $0.task }?.cancel() }

    /// Lets a race send a hedge after each delay, up to a number of times or until ``remove(_:)``.
    ///
    /// - Returns: the entry number.
    func add(_ race: HedgeRace, at now: Duration, times: Int) -> Int {
        let due = now + race.delay
        return state.withLock { state in
            state.last += 1
            state.entries[state.last] = Entry(due: due, remaining: times, race: race)
            if state.wakeUp.map({ $0 > due }) ?? true { start(&state, until: due, after: race.delay) }
            return state.last
        }
    }

    func remove(_ number: Int) { state.withLock { _ = $0.entries.removeValue(forKey: number) } }

    private func start(_ state: inout State, until due: Duration, after delay: Duration) {
        state.task?.cancel()
        state.shift += 1
        state.wakeUp = due
        state.task = Task(executorPreference: executor) { [clock, weak self, shift = state.shift] in
            var wait = delay
            while (try? await clock.sleep(for: wait)) != nil, let next = self?.wake(shift) { wait = next }
        }
    }

    /// Sends the hedges that are due. Returns the time until the next hedge, if any.
    private func wake(_ shift: Int) -> Duration? {
        let now = stopwatch.now
        let (races, wait) = state.withLock { state -> ([HedgeRace], Duration?) in
            guard state.shift == shift else { return ([], nil) }
            var races: [HedgeRace] = []
            let due = state.entries.filter { $0.value.due <= now }.sorted { $0.key < $1.key }
            for (number, entry) in due {
                races.append(entry.race)
                state.entries[number]?.due += entry.race.delay
                state.entries[number]?.remaining -= 1
                if entry.remaining <= 1 { state.entries[number] = nil }
            }
            state.wakeUp = state.entries.values.map(\.due).min()
            if state.wakeUp == nil { state.task = nil }
            // Each wake-up examines all entries, so there is at least a millisecond between two of them.
            return (races, state.wakeUp.map { max($0 - now, .milliseconds(1)) })
        }
        for race in races { race.sendHedge() }
        return wait
    }
}
