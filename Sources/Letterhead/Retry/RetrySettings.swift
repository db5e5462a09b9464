public import Foundation

/// How ``Retry`` works for a client: its limits, its time and its luck.
public struct RetrySettings: Sendable {
    /// How many retries a request may have that says nothing itself. Default: 0; less than zero is `.invalidRequest`.
    public var maximumRetries: Int

    /// The strategy of requests that have none, for the outcomes that it selects.
    ///
    /// Default: nil, only validators suggest retries. It replaces the waits that ``DefaultValidator`` suggests, and has no
    /// effect while `maximumRetries` is 0.
    public var strategy: HTTPRetryStrategy?

    /// The longest wait that a server may ask for with `Retry-After`. Default: 2 minutes.
    ///
    /// When it asks for more, the request is not sent again: it would come before its time.
    public var longestServerDelay: Duration

    /// How many retries there may be to one host. Default: ``RetryBudget/standard``.
    public var budget: RetryBudget

    /// The time, for waits. Default: the continuous clock.
    public var clock: any Clock<Duration>

    /// The calendar, for a `Retry-After` that is a date. Default: the system's.
    public var now: @Sendable () -> Date

    /// Gives random numbers from 0 to 1, for jitter; 1 is the longest wait. Default: the system's.
    public var random: @Sendable () -> Double

    /// Hears of each retry before its wait begins. Default: nobody does.
    public var onRetry: @Sendable (RetryEvent) async -> Void

    /// Makes settings; see the properties for the defaults.
    public init(
        maximumRetries: Int = 0, strategy: HTTPRetryStrategy? = nil, longestServerDelay: Duration = .seconds(120),
        budget: RetryBudget = .standard, clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() },
        random: @escaping @Sendable () -> Double = { .random(in: 0...1) },
        onRetry: @escaping @Sendable (RetryEvent) async -> Void = { _ in }
    ) {
        self.maximumRetries = maximumRetries
        self.strategy = strategy
        self.longestServerDelay = longestServerDelay
        self.budget = budget
        self.clock = clock
        self.now = now
        self.random = random
        self.onRetry = onRetry
    }
}
