import Synchronization

/// A clock that stands still until a test moves it, so that no test ever sleeps.
///
/// Give it to whatever takes a clock, and tell the time yourself:
///
/// ```swift
/// let clock = TestClock()
/// let chain = Retry(RetrySettings(clock: clock)) --> mock
/// async let response = chain.load(request)
/// await clock.waitForSleepers(1)           // the retry waits for its repeat
/// clock.advance(by: .seconds(3))           // and goes on
/// _ = try await response
/// #expect(clock.sleeps == [.seconds(3)])
/// ```
///
/// Where only the waits are of interest, `TestClock(isAutomatic: true)` moves itself: each sleep ends at once, having moved
/// the clock to its end. A sleep whose task is cancelled ends at once with `CancellationError`, as with any clock.
public final class TestClock: Clock {
    // A class, because all who hold it see one time.

    /// A point in time: so long after the clock was made.
    public struct Instant: InstantProtocol {
        /// How long after the clock was made.
        public let offset: Duration

        /// A later instant.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// How long it is until another.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Whether one is earlier.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleeps: [Duration] = []
        var line = TestClockLine()
    }

    private let isAutomatic: Bool
    private let state = Mutex(State())

    /// Makes a clock at zero.
    ///
    /// - Parameter isAutomatic: whether a sleep moves the clock to its own end, at once. Default: false.
    public init(isAutomatic: Bool = false) { self.isAutomatic = isAutomatic }

    /// The time: what it was moved by so far.
    public var now: Instant { state.withLock { $0.now } }

    /// Always zero.
    public var minimumResolution: Duration { .zero }

    /// How many sleep now.
    public var sleepers: Int { state.withLock { $0.line.count } }

    /// How long each sleep was to last, in the order in which they began.
    public var sleeps: [Duration] { state.withLock { $0.sleeps } }

    /// Sleeps until the clock is moved there; one that is not in the future ends at once.
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

    /// Moves the clock, and wakes whoever has slept long enough, the earliest first. Less than zero moves nothing.
    ///
    /// Who is woken runs when the system lets it: one who then sleeps again does so from the new time.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: max(duration, .zero))
            return state.line.wake(at: state.now)
        }
        for sleeper in woken { sleeper.resume() }
    }

    /// Waits until at least so many sleep; it is how a test knows that what it tests has come to its wait.
    ///
    /// It ends, too, when its task is cancelled: give a test that might hang a time limit.
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
