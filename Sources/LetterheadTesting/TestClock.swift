// SPDX-License-Identifier: MIT
import Letterhead

/// A clock that advances only when a test moves it, so that tests never sleep.
///
/// Pass it to any API that takes a clock, and advance the time yourself:
///
/// ```swift
/// // The mock responds with 429 once. The default wait after a 429 is 3 seconds.
/// let clock = TestClock()
/// let chain = Retry(Backoff(maximumRetries: 1, clock: clock)) --> mock
/// async let response = chain.load(request)
/// await clock.waitForSleepers(1)           // the retry waits for its delay
/// clock.advance(by: .seconds(3))           // and continues
/// _ = try await response
/// #expect(clock.sleeps == [.seconds(3)])
/// ```
///
/// ## Let the clock run
///
/// If a test has many sleeps, use ``runUntilIdle()``, which moves the clock from one sleep to the next, or ``run(_:)``,
/// which does so while an operation runs.
///
/// If a test checks only the durations, use `TestClock(isAutomatic: true)`. As soon as a task sleeps, this clock
/// advances itself to the earliest deadline.
///
/// As with any clock, a cancelled sleep throws `CancellationError` immediately.
public final class TestClock: Clock {
    // This type is a class because all references share one time.

    /// A point in time, measured since the clock was created.
    public struct Instant: InstantProtocol {
        /// The duration since the clock was created.
        public let offset: Duration

        /// Returns a later instant.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// Returns the duration from this instant to the other one.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Returns whether the left instant is earlier than the right one.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper: Sendable {
        let deadline: Instant
        /// Is set to true when the clock has reached the deadline.
        let end: OneShot<Bool>
    }

    private struct State: Sendable {
        var now = Instant(offset: .zero)
        var sleeps: [Duration] = []
        var sleepers: [Sleeper] = []
        /// How many tasks were sleeping, noted each time that a task fell asleep.
        var counts: [Int] = []
        /// How many sleeps have begun or ended.
        var changes = 0
        /// How many tasks have been woken but haven't run yet.
        var woken = 0

        mutating func join(_ sleeper: Sleeper) {
            sleepers.append(sleeper)
            counts.append(sleepers.count)
            changes += 1
        }

        /// Removes a sleep because its task was cancelled. Returns false if the sleep has already ended.
        mutating func leave(_ end: OneShot<Bool>) -> Bool {
            guard let place = sleepers.firstIndex(where: { $0.end === end }) else { return false }
            sleepers.remove(at: place)
            changes += 1
            return true
        }

        /// Moves the clock. Returns the sleeps that end, the earliest deadline first.
        mutating func move(to instant: Instant) -> [Sleeper] {
            now = max(now, instant)
            let ended = sleepers.filter { $0.deadline <= now }.sorted { $0.deadline < $1.deadline }
            sleepers.removeAll { $0.deadline <= now }
            changes += ended.count
            woken += ended.count
            return ended
        }
    }

    private let isAutomatic: Bool
    private let state = Watched(State())

    /// Creates a clock at zero.
    ///
    /// - Parameter isAutomatic: whether the clock advances itself. Before each step, running tasks have time to reach
    ///   their next sleep. Then the clock moves to the earliest deadline. Default: false.
    public init(isAutomatic: Bool = false) { self.isAutomatic = isAutomatic }

    /// The current time: how far the clock has moved since it was created.
    public var now: Instant { state.value.now }

    /// The smallest difference between two times, which is zero.
    public var minimumResolution: Duration { .zero }

    /// How many tasks are sleeping.
    public var sleepers: Int { state.value.sleepers.count }

    /// The requested durations of all sleeps, in the order in which they began.
    public var sleeps: [Duration] { state.value.sleeps }

    /// Sleeps until the clock has reached the deadline. Returns immediately if the deadline isn't in the future.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let end = OneShot<Bool>()
        state.change { state in
            state.sleeps.append(state.now.duration(to: deadline))
            if state.now >= deadline || Task.isCancelled {
                end.set(false)
            } else {
                state.join(Sleeper(deadline: deadline, end: end))
            }
        }
        while isAutomatic, end.valueNow == nil, !Task.isCancelled {
            if let activity = await settle(while: { end.valueNow == nil }) {
                advanceToNextSleeper(ifQuietSince: activity)
            }
        }
        let isWoken = await end.value(within: nil, on: self, onTimeout: {}) {
            if self.state.change({ $0.leave(end) }) { end.set(false) }
        }
        if isWoken { state.change { $0.woken -= 1 } }
        try Task.checkCancellation()
    }

    /// Moves the clock, and resumes the tasks that have reached their deadlines, the earliest deadline first.
    ///
    /// Negative durations have no effect. Resumed tasks run when the system schedules them. If a task sleeps again, its
    /// sleep starts at the new time.
    public func advance(by duration: Duration) {
        let ended = state.change { $0.move(to: $0.now.advanced(by: max(duration, .zero))) }
        for sleeper in ended { sleeper.end.set(true) }
    }

    /// Moves the clock to the earliest deadline of a sleeping task. Returns false if no task sleeps.
    ///
    /// - Parameter activity: a value of ``activity``. If a sleep has begun or ended since, the clock doesn't move.
    ///   Default: nil (no condition).
    @discardableResult
    func advanceToNextSleeper(ifQuietSince activity: Int? = nil) -> Bool {
        let ended = state.change { state in
            guard activity ?? state.changes == state.changes else { return [Sleeper]() }
            return state.sleepers.map(\.deadline).min().map { state.move(to: $0) } ?? []
        }
        for sleeper in ended { sleeper.end.set(true) }
        return !ended.isEmpty
    }

    /// A number that changes whenever a sleep begins or ends.
    var activity: Int { state.value.changes }

    /// Whether a task has been woken by the clock but has not run yet.
    var hasWokenSleepers: Bool { state.value.woken > 0 }

    /// Waits until at least `count` tasks are sleeping, so that the code under test has started its sleep.
    ///
    /// It also returns when the calling task is cancelled. If a test could hang here, give it a time limit, which
    /// cancels the task.
    public func waitForSleepers(_ count: Int) async {
        let start = state.value.counts.count
        // A task may have stopped sleeping before this one runs. Its sleep counts, too.
        _ = await state.value { state in
            state.sleepers.count >= count || state.counts[start...].contains { $0 >= count }
        }
    }
}

extension TestClock {
    /// Moves the clock from one sleep to the next until no task sleeps on it.
    ///
    /// ```swift
    /// async let user = client.send(GetUser(login: "ada").retry(.exponential))
    /// await clock.runUntilIdle()         // all waits of the retries pass
    /// _ = try await user
    /// ```
    ///
    /// Before each step, running tasks have time to reach their next sleep. The clock can't observe work that doesn't
    /// sleep on it, such as work on a socket, so this method may return before such work is done. In this case, use
    /// ``run(_:)``, which returns only when its operation ends.
    ///
    /// This method also returns when the calling task is cancelled.
    public func runUntilIdle() async {
        while await settle() != nil, advanceToNextSleeper() {}
    }

    /// Runs an operation, and moves the clock from one sleep to the next until the operation ends.
    ///
    /// ```swift
    /// let user = try await clock.run { try await client.send(GetUser(login: "ada").retry(.exponential)) }
    /// ```
    ///
    /// - Returns: what the operation returns.
    /// - Throws: what the operation throws.
    public func run<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                await self.runUntilCancelled()
                return nil
            }
            defer { group.cancelAll() }
            while let value = try await group.next() {
                if let value { return value }
            }
            throw CancellationError()
        }
    }

    /// Moves the clock from one sleep to the next until the calling task is cancelled.
    package func runUntilCancelled() async {
        while !Task.isCancelled {
            await waitForSleepers(1)
            if await settle() != nil { advanceToNextSleeper() }
        }
    }

    /// Lets running tasks continue until no sleep has begun or ended for five real milliseconds, and every woken task
    /// runs.
    ///
    /// No API reports whether other tasks can run, so waiting in real time is the only way to let them continue.
    ///
    /// - Parameter isAsleep: whether the calling task still waits. Default: always true.
    /// - Returns: the ``activity`` when the quiet time began. Nil if the calling task is cancelled or no longer waits:
    ///   nothing is known about the other tasks then, and the clock must not move.
    func settle(while isAsleep: () -> Bool = { true }) async -> Int? {
        var quiet = 0
        var seen = activity
        while quiet < 5 {
            for _ in 0..<10 { await Task.yield() }
            try? await Task.sleep(for: .milliseconds(1))
            let now = activity
            quiet = now == seen && !hasWokenSleepers ? quiet + 1 : 0
            seen = now
            if Task.isCancelled || !isAsleep() { return nil }
        }
        return seen
    }
}
