// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// Choose the wait between attempts, and the work before a retry. Pass a strategy to a template, or return it from a
/// validator.
///
/// ```swift
/// GetUser(login: "ada").retry(.exponential(base: .seconds(1)), maximumRetries: 3)
/// ```
///
/// Negative waits count as zero. Each load counts its retries from 1, and `maximumRetries` limits their number with
/// every strategy; ``delays(_:)`` and ``times(_:)`` end them earlier. ``when(_:)`` selects the outcomes after which it
/// retries, and ``then(_:)`` appends another strategy.
public struct HTTPRetryStrategy: Sendable {
    /// A wait, and the share of it that is random, 0...1.
    struct Wait: Sendable, Equatable {
        var duration: Duration
        var jitter = 0.0

        /// Shortens the wait by a random part of its random share. The number 1 results in the full wait.
        func varied(by random: () -> Double) -> Duration {
            guard jitter > 0, duration > .zero else { return duration }
            let drawn = random()
            let chance = drawn.isNaN ? 1 : min(max(drawn, 0), 1)
            return chance == 1 ? duration : duration * (1 - jitter + jitter * chance)
        }
    }

    /// nil ends the retries.
    typealias Plan = @Sendable (Int, Result<HTTPResponse, HTTPError>?) -> Wait?

    private var name: String
    private(set) var plan: Plan
    /// nil if it is unlimited.
    private(set) var count: Int?
    var alternate: RetryAlternate?
    /// nil if ``Retry/Condition/standard`` applies, or what a validator decides.
    private(set) var condition: Retry.Condition?
    /// Whether a `Retry-After` of the server and the strategy of the request take precedence.
    private(set) var isFallback = false
    /// Whether requests with any method are retried if the server refused them without processing them.
    private(set) var retriesRefusals = false

    init(_ name: String, count: Int? = nil, alternate: RetryAlternate? = nil, plan: @escaping Plan) {
        (self.name, self.count, self.alternate, self.plan) = (name, count, alternate, plan)
    }

    /// The wait, from zero to one year; nil if the request is not retried. Retries count from 1. Only ``custom(_:)`` uses
    /// the result of the attempt before. Pass a random source from 0 to 1 for jitter; without one, the wait is the
    /// longest.
    public func delay(
        before retry: Int, after result: Result<HTTPResponse, HTTPError>? = nil, random: () -> Double = { 1 }
    ) -> Duration? {
        wait(before: retry, after: result)?.varied(by: random)
    }

    func wait(before retry: Int, after result: Result<HTTPResponse, HTTPError>?) -> Wait? {
        guard var wait = plan(max(retry, 1), result) else { return nil }
        wait.duration = Self.clamped(wait.duration)
        return wait
    }

    func replacingPlan(_ name: String? = nil, count: Int? = nil, with plan: @escaping Plan) -> HTTPRetryStrategy {
        var copy = self
        (copy.name, copy.count, copy.plan) = (name ?? self.name, name == nil ? self.count : count, plan)
        return copy
    }

    /// Retries after the outcomes for which a condition holds, instead of ``Retry/Condition/standard``. The last
    /// condition counts. The strategy of a validator applies if the condition holds.
    public func when(_ condition: Retry.Condition) -> HTTPRetryStrategy {
        var copy = self
        copy.condition = condition
        return copy
    }

    /// Also retries requests of any method that the server refused without processing them: after a 429 or 529, and after
    /// a 503 or 403 with a valid `Retry-After`. These retries are in addition to those that ``when(_:)`` selects.
    ///
    /// HTTP does not guarantee that such a request was not processed, so by default, a POST is not retried. Use this
    /// for a server that documents this guarantee, such as one with a rate limit. A request whose method was changed by
    /// a redirect is not retried, because the server has processed it.
    public func retryingRefusals() -> HTTPRetryStrategy {
        var copy = self
        copy.retriesRefusals = true
        return copy
    }

    /// Makes the strategy of a validator a suggestion: a `Retry-After` of the server and the strategy of the request
    /// take precedence. If the request cannot be retried, the next validator judges the result.
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

// MARK: Waits

extension HTTPRetryStrategy {
    public static let immediate = HTTPRetryStrategy("immediate") { _, _ in Wait(duration: .zero) }

    public static func delayed(_ delay: Duration) -> HTTPRetryStrategy {
        HTTPRetryStrategy("delayed by \(delay)") { _, _ in Wait(duration: delay) }
    }

    /// Multiplies the wait by a factor for each further retry, up to the cap, with full jitter (``jitter(_:)``). A
    /// factor below 1 or NaN counts as 1.
    public static func exponential(
        base: Duration, factor: Double = 2, cap: Duration = .seconds(30)
    ) -> HTTPRetryStrategy {
        let factor = factor > 1 ? factor : 1
        return HTTPRetryStrategy("exponential from \(base)") { retry, _ in
            Wait(duration: product(pow(factor, Double(retry - 1)), base, cap: cap), jitter: 1)
        }
    }

    /// Exponential back-off from one second: ``exponential(base:factor:cap:)`` with its defaults.
    public static let exponential = exponential(base: .seconds(1))

    /// Waits for 1, 1, 2, 3, 5 … seconds: ``fibonacci(unit:cap:)`` with its defaults.
    public static let fibonacci = fibonacci(unit: .seconds(1))

    /// Waits for 1, 1, 2, 3, 5 … units up to the cap, with full jitter (``jitter(_:)``).
    public static func fibonacci(unit: Duration, cap: Duration = .seconds(30)) -> HTTPRetryStrategy {
        HTTPRetryStrategy("fibonacci by \(unit)") { retry, _ in
            // Later numbers are infinite.
            var (last, current) = (0.0, 1.0)
            for _ in 1..<min(retry, 1_500) { (last, current) = (current, last + current) }
            return Wait(duration: product(current, unit, cap: cap), jitter: 1)
        }
    }

    /// Waits for these times in order, and ends the retries after the last one.
    public static func delays(_ delays: [Duration]) -> HTTPRetryStrategy {
        HTTPRetryStrategy("\(delays.count) delays", count: delays.count) { retry, _ in
            retry <= delays.count ? Wait(duration: delays[retry - 1]) : nil
        }
    }

    /// Waits for the time that a closure returns; nil ends the retries. The number of the retry starts at 1.
    ///
    /// ```swift
    /// .custom { _, result in  // a service that sends the time in seconds since 1970
    ///     let reset = (try? result.get())?.headers["X-RateLimit-Reset"].flatMap { UInt32($0) }
    ///     return reset.map { .seconds(Double($0) - Date().timeIntervalSince1970) }
    /// }
    /// ```
    public static func custom(
        _ delay: @escaping @Sendable (_ retry: Int, _ result: Result<HTTPResponse, HTTPError>) -> Duration?
    ) -> HTTPRetryStrategy {
        HTTPRetryStrategy("custom") { retry, result in
            result.flatMap { delay(retry, $0) }.map { Wait(duration: $0) }
        }
    }

    /// Varies the waits at random, so that clients that failed at the same time do not retry at the same time. With a
    /// share of 0.2, a wait takes 80 to 100 % of its time; with 1 (full jitter), any time from zero to the whole. NaN
    /// counts as 0.
    public func jitter(_ share: Double) -> HTTPRetryStrategy {
        let share = share.isNaN ? 0 : min(max(share, 0), 1)
        return replacingPlan(with: { [plan] retry, result in
            plan(retry, result).map { Wait(duration: $0.duration, jitter: share) }
        })
    }

    /// Limits the strategy to this number of waits; a negative count is zero.
    public func times(_ count: Int) -> HTTPRetryStrategy {
        let count = min(max(count, 0), self.count ?? .max)
        return replacingPlan("\(self), \(count) times", count: count) { [plan] retry, result in
            retry <= count ? plan(retry, result) : nil
        }
    }

    /// Continues with the waits of another strategy, whose retries are counted from 1.
    ///
    /// ```swift
    /// HTTPRetryStrategy.immediate.times(1).then(.exponential(base: .seconds(1)))  // 0, 1, 2, 4 … s, before jitter
    /// ```
    ///
    /// An unlimited strategy never reaches the next one: limit it with ``times(_:)``. The alternate and the condition of
    /// `next` are ignored.
    public func then(_ next: HTTPRetryStrategy) -> HTTPRetryStrategy {
        guard let count else { return self }
        let sum = next.count.map { count.addingReportingOverflow($0) }.map { $0.overflow ? .max : $0.partialValue }
        return replacingPlan("\(self), then \(next)", count: sum) { [plan] retry, result in
            retry <= count ? plan(retry, result) : next.plan(retry - count, result)
        }
    }

    private static func clamped(_ wait: Duration, cap: Duration = .seconds(31_536_000)) -> Duration {
        min(max(wait, .zero), max(min(cap, .seconds(31_536_000)), .zero))
    }

    /// Returns a multiple of a wait. The comparison uses floating point, because a product of durations would overflow.
    private static func product(_ multiple: Double, _ unit: Duration, cap: Duration) -> Duration {
        let (unit, cap) = (clamped(unit), clamped(cap))
        guard unit > .zero else { return .zero }
        return multiple >= cap / unit ? cap : unit * multiple
    }
}
