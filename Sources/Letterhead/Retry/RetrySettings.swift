public import Foundation

/// The settings of ``Retry`` for a client: limits, clocks and the random source.
public struct RetrySettings: Sendable {
    /// The maximum number of retries for requests that do not set their own. Default: 0; a negative number is
    /// `.invalidRequest`.
    public var maximumRetries: Int

    /// The strategy for requests that have none. It applies to the outcomes that its condition selects.
    ///
    /// Default: nil (only validators suggest retries). A strategy replaces the waits that ``DefaultValidator``
    /// suggests. It has no effect on requests whose maximum number of retries is 0. A request can set its own maximum
    /// with ``RequestSettings/maximumRetries``.
    public var strategy: HTTPRetryStrategy?

    /// The longest wait that is accepted from a server (`Retry-After`). Default: 2 minutes.
    ///
    /// If the server requests a longer wait, the request is not retried, because a retry after a shorter wait would be
    /// too early.
    public var longestServerDelay: Duration

    /// The limit on retries to each host. Default: ``RetryBudget/standard``.
    public var budget: RetryBudget

    /// The clock for waits, and for the deadlines of a client. Default: the continuous clock.
    public var clock: any Clock<Duration>

    /// Returns the current date, for a `Retry-After` that is a date. Default: the date of the system.
    public var now: @Sendable () -> Date

    /// Returns random numbers from 0 to 1, for jitter. 1 results in the longest wait. Default: the random source of the
    /// system.
    public var random: @Sendable () -> Double

    /// Observes each retry before its wait begins. Default: does nothing.
    public var onRetry: @Sendable (RetryContext) async -> Void

    /// Creates settings; see the properties for the defaults.
    public init(
        maximumRetries: Int = 0, strategy: HTTPRetryStrategy? = nil, longestServerDelay: Duration = .seconds(120),
        budget: RetryBudget = .standard, clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() },
        random: @escaping @Sendable () -> Double = { .random(in: 0...1) },
        onRetry: @escaping @Sendable (RetryContext) async -> Void = { _ in }
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
