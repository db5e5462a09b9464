// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// Determines whether and how a stream of events or values reconnects after its connection has ended. Use
/// ``whenClosed`` to follow a stream for longer than one connection lasts.
///
/// ```swift
/// client.events(of: News(), reconnecting: .whenClosed)
/// client.events(of: News(), reconnecting: .whenClosed(maximumAttempts: 10, deadline: .seconds(3_600)))
/// ```
///
/// A stream reconnects in three cases: its connection ends or is lost, the request exceeds a limit such as
/// `idleTimeout`, or a new connection fails for a reason that ``Retry/Condition/standard`` accepts. If the first
/// connection cannot be opened, the error is thrown. To retry that request, use
/// ``RequestConfigurable/retry(_:maximumRetries:)``. A 204 and any other error end the stream. A reconnection sends the
/// last identifier in `Last-Event-ID`.
///
/// If the server has set a reconnection time (`retry`), the first attempt after an event waits for this time, and each
/// further attempt also for the strategy's next wait. Otherwise, each attempt waits for the strategy's next wait. If a
/// response that refuses the connection has a longer `Retry-After`, the attempt waits for that time, up to
/// ``longestServerDelay``.
///
/// A request with a method that isn't idempotent is sent again only if it is marked
/// ``RequestTemplate/idempotent(key:)`` or `allowsAnyMethod` is set. A request with a one-shot body is never sent
/// again. If the request cannot be sent again, the stream ends with its first connection.
public struct Reconnection: Sendable {
    let isEnabled: Bool
    /// The waits between attempts. Default: ``HTTPRetryStrategy/exponential``, up to 30 seconds with full jitter.
    public var strategy: HTTPRetryStrategy
    /// The maximum number of consecutive attempts without a delivered event or value. Default: nil (no limit).
    public var maximumAttempts: Int?
    /// How long the stream may reconnect, counted from the first request. A reconnection that would begin later is
    /// `.timedOut`. An open connection isn't ended. Default: nil (no limit).
    public var deadline: Duration?
    /// The longest wait that the server may set. Longer ones are shortened to it. Default: 120 seconds.
    public var longestServerDelay: Duration
    /// Whether a request with a method that isn't idempotent is sent again. Default: false.
    public var allowsAnyMethod: Bool
    /// The clock for waits and the deadline. Default: the continuous clock.
    public var clock: any Clock<Duration>
    /// Returns the current date, for comparison with a `Retry-After` date. Default: the system's date.
    public var now: @Sendable () -> Date
    /// Returns random numbers from 0 to 1, for jitter. 1 results in the longest wait. Default: the system's random
    /// source.
    public var random: @Sendable () -> Double

    /// The stream ends with its first connection.
    public static let never = Reconnection(isEnabled: false)

    /// The stream reconnects with the defaults of
    /// ``whenClosed(strategy:maximumAttempts:deadline:longestServerDelay:allowsAnyMethod:clock:now:random:)``.
    public static let whenClosed = Reconnection(isEnabled: true)

    /// The stream reconnects. See the properties for the defaults.
    ///
    /// A negative `maximumAttempts` or `longestServerDelay`, a deadline of zero or less, and a strategy that sends
    /// another request or runs a task are `.invalidRequest`.
    public static func whenClosed(
        strategy: HTTPRetryStrategy = .exponential, maximumAttempts: Int? = nil, deadline: Duration? = nil,
        longestServerDelay: Duration = .seconds(120), allowsAnyMethod: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() },
        random: @escaping @Sendable () -> Double = { .random(in: 0...1) }
    ) -> Reconnection {
        Reconnection(
            isEnabled: true, strategy: strategy, maximumAttempts: maximumAttempts, deadline: deadline,
            longestServerDelay: longestServerDelay, allowsAnyMethod: allowsAnyMethod, clock: clock, now: now,
            random: random)
    }

    private init(
        isEnabled: Bool, strategy: HTTPRetryStrategy = .exponential, maximumAttempts: Int? = nil,
        deadline: Duration? = nil, longestServerDelay: Duration = .seconds(120), allowsAnyMethod: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() },
        random: @escaping @Sendable () -> Double = { .random(in: 0...1) }
    ) {
        (self.isEnabled, self.strategy, self.maximumAttempts) = (isEnabled, strategy, maximumAttempts)
        (self.deadline, self.longestServerDelay) = (deadline, longestServerDelay)
        (self.allowsAnyMethod, self.clock, self.now, self.random) = (allowsAnyMethod, clock, now, random)
    }

    /// Nil if the settings are valid.
    var brokenRule: String? {
        if let maximumAttempts, maximumAttempts < 0 {
            return "maximumAttempts of Reconnection is negative (use 0 or more)"
        }
        if let deadline, deadline <= .zero {
            return "the deadline of Reconnection is zero or less (use nil for no limit)"
        }
        if longestServerDelay < .zero { return "longestServerDelay of Reconnection is negative (use zero or more)" }
        return strategy.alternate == nil
            ? nil : "a strategy of Reconnection cannot send another request or run a task"
    }

    /// Whether a request may be sent again for another connection.
    func allowsRepeating(_ request: HTTPRequest) -> Bool {
        guard request.body.isReplayable else { return false }
        return request.method.isIdempotent || request.isMarkedIdempotent || allowsAnyMethod
    }

    /// Whether to send a request again after an error.
    func acceptsFailure(_ error: HTTPError) -> Bool { isEnabled && accepts(error, isReading: false) }

    /// Whether to reconnect after an error.
    ///
    /// - Parameter isReading: whether the error ended a connection. Otherwise, it ended an attempt to connect.
    func accepts(_ error: HTTPError, isReading: Bool) -> Bool {
        if let status = error.response?.status, error.code == .unacceptableStatus || error.code == .retriesExhausted {
            return Retry.Condition.standardStatuses.contains(status)
        }
        // A connection that is lost inside a body results in an incomplete response.
        return Retry.Condition.standardFailures.contains(error.code)
            || (isReading && error.code == .invalidResponse)
    }

    /// Returns the wait before an attempt, counted from 1 after each event. Nil ends the stream.
    func wait(before attempt: Int, reconnectionTime: Duration?, after error: HTTPError?) -> Duration? {
        if let maximumAttempts, attempt > maximumAttempts { return nil }
        let result = error.map { Result<HTTPResponse, HTTPError>.failure($0) }
        let serverTime = reconnectionTime.map { min($0, longestServerDelay) }
        let step = serverTime == nil ? attempt : attempt - 1
        var wait = serverTime ?? .zero
        if step > 0 {
            guard let next = strategy.delay(before: step, after: result, random: random) else { return nil }
            wait += next
        }
        let requested = error?.response?.headers.retryAfter(now: now()) ?? .zero
        return max(wait, min(requested, longestServerDelay))
    }
}
