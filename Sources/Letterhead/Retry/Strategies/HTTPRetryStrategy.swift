/// The way in which a request is retried: the wait, and the work before the retry.
///
/// ```swift
/// GetUser(login: "ada").retry(.exponential(base: .seconds(1)), maximumRetries: 3)
/// ```
///
/// Pass a strategy to `retry(_:maximumRetries:)` on a template, or return it as the verdict of a validator:
///
/// | strategy | waits |
/// |---|---|
/// | ``immediate`` | 0, 0, 0 |
/// | ``delayed(_:)`` | t, t, t |
/// | ``exponential(base:factor:cap:)`` | b, 2b, 4b, up to a cap, with full jitter |
/// | ``fibonacci(unit:cap:)`` | u, u, 2u, 3u, 5u, up to a cap, with full jitter |
/// | ``delays(_:)`` | those listed, and then no retry |
/// | ``after(_:delay:sharing:onResponse:onError:)`` | sends another request first |
/// | ``afterTask(delay:task:onError:)`` | runs a closure first |
/// | ``custom(_:)`` | those that a closure returns |
///
/// A strategy is a value without state: each load counts its retries from 1 and passes the number to the strategy.
/// `maximumRetries` limits the number of retries with every strategy. A strategy can also end the retries earlier, as
/// ``delays(_:)`` and ``times(_:)`` do. ``when(_:)`` restricts a strategy, and ``then(_:)`` appends another one.
public struct HTTPRetryStrategy: Sendable {
    /// A wait, and how it is varied at random.
    struct Wait: Sendable {
        var duration: Duration
        var jitter: RetryJitter
    }

    /// Returns the wait before a retry, from its number and the last result; nil ends the retries.
    typealias Plan = @Sendable (Int, Result<HTTPResponse, HTTPError>?) -> Wait?

    private var name: String
    private(set) var plan: Plan
    /// The number of waits; nil if it is unlimited.
    private(set) var count: Int?
    /// The work before the request is retried.
    private(set) var alternate: RetryAlternate?
    /// The condition under which the strategy applies; nil if the caller decides.
    private(set) var condition: RetryCondition?
    /// Whether a `Retry-After` of the server and the strategy of the request take precedence.
    private(set) var isFallback = false
    /// Whether requests with any method are retried if the server refused them without processing them.
    private(set) var retriesRefusals = false

    init(_ name: String, count: Int? = nil, alternate: RetryAlternate? = nil, plan: @escaping Plan) {
        self.name = name
        self.count = count.map { max($0, 0) }
        self.alternate = alternate
        self.plan = plan
    }

    /// Returns the wait before a retry, without jitter.
    ///
    /// - Parameters:
    ///   - retry: the number of the retry, 1 for the first.
    ///   - result: the result of the attempt before it. Default: nil; only ``custom(_:)`` uses it.
    /// - Returns: a duration between zero and one year; nil if the request is not retried.
    public func delay(before retry: Int, after result: Result<HTTPResponse, HTTPError>? = nil) -> Duration? {
        wait(before: retry, after: result)?.duration
    }

    func wait(before retry: Int, after result: Result<HTTPResponse, HTTPError>?) -> Wait? {
        guard var wait = plan(max(retry, 1), result) else { return nil }
        wait.duration = BackOff.clamped(wait.duration)
        return wait
    }

    /// Returns the strategy with other waits.
    func replacingPlan(_ name: String? = nil, count: Int? = nil, with plan: @escaping Plan) -> HTTPRetryStrategy {
        var copy = self
        (copy.name, copy.count, copy.plan) = (name ?? self.name, name == nil ? self.count : count, plan)
        return copy
    }

    /// Returns the strategy, restricted by a condition.
    ///
    /// For the strategy of a request or of ``RetrySettings``, a condition that is a selection replaces
    /// ``RetryCondition/standard``, and a condition that is a limit narrows it. The strategy of a validator applies if
    /// the condition holds.
    public func when(_ condition: RetryCondition) -> HTTPRetryStrategy {
        var copy = self
        copy.condition = self.condition.map { $0 && condition } ?? condition
        return copy
    }

    /// Returns the strategy, extended to retry requests of any method that the server refused without processing them.
    ///
    /// ```swift
    /// CreateOrder().retry(.exponential(base: .seconds(1)).retryingRefusals())
    /// ```
    ///
    /// A refusal is a 429 or 529, or a 503 or 403 with a valid `Retry-After`. By default, a POST is not retried after
    /// any of them, because HTTP does not guarantee that the request was not processed. Use this strategy for a server
    /// that documents this guarantee, such as one with a rate limit. A 403 with `Retry-After` is then retried as well.
    /// All other limits of a retry apply (``Retry``): for example, a one-shot body is not sent again. A request whose
    /// method was changed by a redirect is not retried either, because the server has processed it.
    public func retryingRefusals() -> HTTPRetryStrategy {
        var copy = self
        copy.retriesRefusals = true
        return copy
    }

    /// Returns the strategy as a suggestion of a validator. A `Retry-After` of the server and the strategy of the
    /// request take precedence over a suggestion. If the request cannot be retried, the next validator judges the
    /// result.
    public func asFallback() -> HTTPRetryStrategy {
        var copy = self
        copy.isFallback = true
        return copy
    }
}

extension HTTPRetryStrategy: CustomStringConvertible {
    /// The name of the strategy, for events and logs. Of the modifiers, it shows only ``times(_:)`` and ``then(_:)``.
    public var description: String { name }
}
