import Synchronization

/// A clock that advances only when a test moves it, so that tests never sleep.
///
/// Pass it to any API that takes a clock, and advance the time yourself:
///
/// ```swift
/// let clock = TestClock()
/// let chain = Retry(RetrySettings(clock: clock)) --> mock
/// async let response = chain.load(request)
/// await clock.waitForSleepers(1)           // the retry waits for its delay
/// clock.advance(by: .seconds(3))           // and continues
/// _ = try await response
/// #expect(clock.sleeps == [.seconds(3)])
/// ```
///
/// If only the durations are of interest, `TestClock(isAutomatic: true)` advances itself: each sleep ends immediately
/// and moves the clock to its end. A sleep whose task is cancelled throws `CancellationError` immediately, as with any
/// clock.
public final class TestClock: Clock {
    // A class, because all references share one time.

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
    }

    private let isAutomatic: Bool
    private let state = Mutex(State())

    /// Creates a clock at zero.
    ///
    /// - Parameter isAutomatic: whether each sleep ends immediately and moves the clock to its end. Default: false.
    public init(isAutomatic: Bool = false) { self.isAutomatic = isAutomatic }

    /// The current time: the sum of all movements.
    public var now: Instant { state.withLock { $0.now } }

    /// Returns zero.
    public var minimumResolution: Duration { .zero }

    /// The number of tasks that are sleeping.
    public var sleepers: Int { state.withLock { $0.line.count } }

    /// The duration of each sleep, in the order in which the sleeps began.
    public var sleeps: [Duration] { state.withLock { $0.sleeps } }

    /// Sleeps until the clock has been moved to the deadline. If the deadline is not in the future, it returns
    /// immediately.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let number = state.withLock { state in
            state.sleeps.append(state.now.duration(to: deadline))
            if isAutomatic { state.now = max(state.now, deadline) }
            return state.line.nextNumber()
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (woken, watchers) = state.withLock {
                    state -> (TestClockLine.Woken, [CheckedContinuation<Void, Never>]) in
                    if state.now >= deadline { return (.awake, []) }
                    return state.line.join(number, until: deadline, continuation)
                }
                woken.resume(continuation)
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            state.withLock { $0.line.cancel(number) }?.resume(throwing: CancellationError())
        }
        try Task.checkCancellation()
    }

    /// Moves the clock, and resumes the tasks whose deadlines have passed, the earliest first. Negative durations have
    /// no effect.
    ///
    /// Resumed tasks run when the system schedules them. If one sleeps again, its sleep starts at the new time.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: max(duration, .zero))
            return state.line.wake(at: state.now)
        }
        for sleeper in woken { sleeper.resume() }
    }

    /// Waits until at least `count` tasks are sleeping. Use it to wait until the code under test has started its sleep.
    ///
    /// It also ends when its task is cancelled, so set a time limit for a test that could hang.
    public func waitForSleepers(_ count: Int) async {
        let number = state.withLock { $0.line.nextNumber() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if Task.isCancelled || state.line.count >= count { return true }
                    state.line.watch(number, until: count, continuation)
                    return false
                }
                if isThere { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.line.unwatch(number) }?.resume()
        }
    }
}
