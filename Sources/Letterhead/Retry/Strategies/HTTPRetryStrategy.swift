/// How a request is sent again: after which wait, and after which work.
///
/// ```swift
/// GetUser(login: "ada").retry(.exponential(base: .seconds(1)), maximumRetries: 3)
/// ```
///
/// Use: with `retry(_:maximumRetries:)` on a template, and as the verdict of a validator. Choose:
///
/// | strategy | waits |
/// |---|---|
/// | ``immediate`` | 0, 0, 0 |
/// | ``delayed(_:)`` | t, t, t |
/// | ``exponential(base:factor:cap:)`` | b, 2b, 4b, up to a cap, with full jitter |
/// | ``fibonacci(unit:cap:)`` | u, u, 2u, 3u, 5u, up to a cap, with full jitter |
/// | ``delays(_:)`` | those listed, and then no retry |
/// | ``after(_:delay:sharing:onResponse:onError:)`` | sends another request first |
/// | ``afterTask(delay:task:onError:)`` | does something first |
/// | ``custom(_:)`` | what a closure says |
///
/// A strategy is a value without memory: the retry that it waits for is counted for it, from 1, in each load anew. How
/// many retries there may be is no matter of a strategy, but `maximumRetries`. It narrows with ``when(_:)``, and waits
/// chain with ``then(_:)``.
public struct HTTPRetryStrategy: Sendable {
    /// A wait, and how it may be varied.
    struct Wait: Sendable {
        var duration: Duration
        var jitter: RetryJitter
    }

    /// The wait before a retry, by its number and the last result; nil gives up.
    typealias Plan = @Sendable (Int, Result<HTTPResponse, HTTPError>?) -> Wait?

    private var name: String
    private(set) var plan: Plan
    /// How many waits there are; nil when there is no end to them.
    private(set) var count: Int?
    /// What is done before the request is sent again.
    private(set) var alternate: RetryAlternate?
    /// When it applies; nil leaves it to who asks.
    private(set) var condition: RetryCondition?
    /// Whether a wait that the server names, or the request's own strategy, counts more.
    private(set) var isFallback = false
    /// Whether requests of any method are sent again when the server refused them unprocessed.
    private(set) var retriesRefusals = false

    init(_ name: String, count: Int? = nil, alternate: RetryAlternate? = nil, plan: @escaping Plan) {
        self.name = name
        self.count = count.map { max($0, 0) }
        self.alternate = alternate
        self.plan = plan
    }

    /// The wait before a retry, before it is varied at random.
    ///
    /// - Parameters:
    ///   - retry: which retry, 1 for the first.
    ///   - result: how the attempt before it ended. Default: nil; only ``custom(_:)`` looks at it.
    /// - Returns: never less than zero and never more than a year; nil when there is to be no retry.
    public func delay(before retry: Int, after result: Result<HTTPResponse, HTTPError>? = nil) -> Duration? {
        wait(before: retry, after: result)?.duration
    }

    func wait(before retry: Int, after result: Result<HTTPResponse, HTTPError>?) -> Wait? {
        guard var wait = plan(max(retry, 1), result) else { return nil }
        wait.duration = BackOff.clamped(wait.duration)
        return wait
    }

    /// The same strategy with other waits.
    func replacingPlan(_ name: String? = nil, count: Int? = nil, with plan: @escaping Plan) -> HTTPRetryStrategy {
        var copy = self
        (copy.name, copy.count, copy.plan) = (name ?? self.name, name == nil ? self.count : count, plan)
        return copy
    }

    /// The same strategy, limited by a condition.
    ///
    /// On the strategy of a request or of ``RetrySettings``, a condition that selects outcomes replaces
    /// ``RetryCondition/standard``, and one that only limits narrows it. The strategy of a validator applies when the
    /// condition holds.
    public func when(_ condition: RetryCondition) -> HTTPRetryStrategy {
        var copy = self
        copy.condition = self.condition.map { $0 && condition } ?? condition
        return copy
    }

    /// The same strategy, which also retries requests of any method that the server refused without having processed them.
    ///
    /// ```swift
    /// CreateOrder().retry(.exponential(base: .seconds(1)).retryingRefusals())
    /// ```
    ///
    /// A refusal is a 429 or 529, or a 503 or 403 with a valid `Retry-After`. By default, a POST is not retried after any of them,
    /// because HTTP does not promise that nothing was done; use it for a server that documents it, such as one with a rate
    /// limit. It makes a 403 with `Retry-After` worth a retry. All other limits of a retry hold (``Retry``): a one-shot body
    /// is not sent again, and neither is a request that was redirected to a GET.
    public func retryingRefusals() -> HTTPRetryStrategy {
        var copy = self
        copy.retriesRefusals = true
        return copy
    }

    /// The same strategy as a mere suggestion of a validator: a wait that the server names (`Retry-After`) and the
    /// request's own strategy count more, and when it cannot be followed, the next validator judges.
    public func asFallback() -> HTTPRetryStrategy {
        var copy = self
        copy.isFallback = true
        return copy
    }
}

extension HTTPRetryStrategy: CustomStringConvertible {
    /// What it is, for events and logs.
    public var description: String { name }
}
