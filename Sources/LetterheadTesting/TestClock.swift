// SPDX-License-Identifier: MIT
/// A clock that advances only when a test moves it, so that tests never sleep.
///
/// Pass it to any API that takes a clock, and advance the time yourself:
///
/// ```swift
/// // The mock responds with 429 once; the default wait after a 429 is 3 seconds.
/// let clock = TestClock()
/// let chain = Retry(Retry.Settings(maximumRetries: 1, clock: clock)) --> mock
/// async let response = chain.load(request)
/// await clock.waitForSleepers(1)           // the retry waits for its delay
/// clock.advance(by: .seconds(3))           // and continues
/// _ = try await response
/// #expect(clock.sleeps == [.seconds(3)])
/// ```
///
/// ``runUntilIdle()`` moves the clock from one sleep to the next, so that a test of many sleeps does not need to
/// advance the clock itself.
///
/// If a test checks only the durations, use `TestClock(isAutomatic: true)`, which advances itself: each sleep ends
/// immediately and moves the clock to its deadline. A sleep whose task is cancelled throws `CancellationError`
/// immediately, as with any clock.
public final class TestClock: Clock {
    // This type is a class because all references share one time.

    /// A point in time, measured from the creation of the clock.
    public struct Instant: InstantProtocol {
        /// The duration since the clock was created.
        public let offset: Duration

        /// Returns a later instant.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// Returns the duration until another instant.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Returns whether an instant is earlier than another.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleeps: [Duration] = []
        var line = TestClockLine()
        /// The number of tasks that have been woken but have not run yet.
        var woken = 0

        /// Removes the sleeps that end now.
        mutating func wake() -> [TestClockLine.Continuation] {
            let continuations = line.wake(at: now)
            woken += continuations.count
            return continuations
        }
    }

    private let isAutomatic: Bool
    private let state = Watched(State())

    /// Creates a clock at zero.
    ///
    /// - Parameter isAutomatic: whether each sleep ends immediately and moves the clock to its deadline. Default:
    ///   false.
    public init(isAutomatic: Bool = false) { self.isAutomatic = isAutomatic }

    /// The current time: the duration by which the clock has been moved since it was created.
    public var now: Instant { state.value.now }

    /// Returns zero.
    public var minimumResolution: Duration { .zero }

    /// The number of tasks that are sleeping.
    public var sleepers: Int { state.value.line.count }

    /// The requested duration of each sleep, in the order in which the sleeps began.
    public var sleeps: [Duration] { state.value.sleeps }

    /// Sleeps until the clock has been moved to the deadline. If the deadline is not in the future, it returns
    /// immediately.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let number = state.change { state in
            state.sleeps.append(state.now.duration(to: deadline))
            if isAutomatic { state.now = max(state.now, deadline) }
            return state.line.nextNumber()
        }
        let isWoken = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: TestClockLine.Continuation) in
                let woken = state.change { state -> TestClockLine.Woken in
                    state.now >= deadline ? .awake : state.line.join(number, until: deadline, continuation)
                }
                woken.resume(continuation)
            }
        } onCancel: {
            state.change { $0.line.cancel(number) }?.resume(throwing: CancellationError())
        }
        if isWoken { state.change { $0.woken -= 1 } }
        try Task.checkCancellation()
    }

    /// Moves the clock, and resumes the tasks whose deadlines have passed, the earliest first. Negative durations have
    /// no effect.
    ///
    /// Resumed tasks run when the system schedules them. If a task sleeps again, its sleep starts at the new time.
    public func advance(by duration: Duration) {
        let woken = state.change { state in
            state.now = state.now.advanced(by: max(duration, .zero))
            return state.wake()
        }
        for sleeper in woken { sleeper.resume(returning: true) }
    }

    /// Moves the clock to the earliest deadline of a sleeping task. Returns false if no task sleeps.
    @discardableResult
    func advanceToNextSleeper() -> Bool {
        let woken = state.change { state -> [TestClockLine.Continuation]? in
            guard let next = state.line.nextDeadline else { return nil }
            state.now = max(state.now, next)
            return state.wake()
        }
        for sleeper in woken ?? [] { sleeper.resume(returning: true) }
        return woken != nil
    }

    /// A number that changes whenever a sleep begins or ends.
    var activity: Int { state.value.line.changes }

    /// Whether a task has been woken by the clock but has not run yet.
    var hasWokenSleepers: Bool { state.value.woken > 0 }

    /// Waits until at least `count` tasks are sleeping. Use it to wait until the code under test has started its sleep.
    ///
    /// It also returns when its task is cancelled. If a test could hang here, give it a time limit, which cancels the
    /// task.
    public func waitForSleepers(_ count: Int) async {
        let start = state.value.line.counts.count
        // Tasks whose sleep has already ended when this task runs count as well.
        _ = await state.value { state in
            state.line.count >= count || state.line.counts[start...].contains { $0 >= count }
        }
    }
}
