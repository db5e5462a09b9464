// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// Chooses the waits between attempts, and the work before a retry. Pass a strategy to a template or to a ``Backoff``,
/// or return it from a validator.
///
/// ```swift
/// GetUser(login: "ada").retry(.exponential(base: .seconds(1)), maximumRetries: 3)
/// ```
///
/// Prefer ``exponential`` or ``fibonacci`` waits: they are random, so that clients that failed together don't retry
/// together.
///
/// - ``when(_:)`` selects the outcomes to retry after.
/// - ``then(_:)`` appends the waits of a second strategy.
/// - ``delays(_:)`` and ``times(_:)`` limit the number of retries. `maximumRetries` limits it as well, with every
///   strategy. Each load counts its retries from 1.
/// - A negative wait counts as zero.
public struct HTTPRetryStrategy: Sendable, CustomStringConvertible {
    /// A wait, and the share of it that is random, from 0 to 1.
    typealias Wait = (duration: Duration, jitter: Double)

    /// Returns the wait before a retry. Nil ends the retries.
    typealias Plan = @Sendable (Int, Retry.Outcome?) -> Wait?

    /// Does the work before a retry, and returns the request for the next attempts. If the work fails, this is the
    /// original request.
    ///
    /// - Throws: `.cancelled` if the load was cancelled or reset.
    typealias Alternate =
        @Sendable (HTTPRequest, any HTTPLoader, Timeline) async throws(HTTPError) -> HTTPRequest

    /// The name of the strategy, for events and logs. It shows only the modifiers ``times(_:)`` and ``then(_:)``.
    public private(set) var description: String
    private var plan: Plan
    /// How many waits the strategy has. Nil if the number is unlimited.
    private var count: Int?
    /// The outcomes to retry after. Nil for ``Retry/Condition/standard``, or if a validator decides.
    private(set) var condition: Retry.Condition?
    /// Whether the strategy is only a suggestion (``asFallback()``).
    private(set) var isFallback = false
    /// Whether requests with any method are retried if the server refused to process them.
    private(set) var retriesRefusals = false
    /// Whether requests are retried when the rate limit of the server resets.
    private(set) var honorsRateLimits = false
    /// Sends an alternate request or runs a task before each retry.
    private(set) var alternate: Alternate?
    /// How many alternate requests one load sends. Nil if only the number of retries limits them.
    var maximumAlternates: Int?

    private init(_ name: String, count: Int? = nil, plan: @escaping Plan) {
        (description, self.count, self.plan) = (name, count, plan)
    }

    /// Returns the wait before a retry, from zero to one year, or nil to stop retrying.
    ///
    /// - Parameters:
    ///   - retry: the number of the retry, from 1.
    ///   - result: the result of the previous attempt. Only ``custom(_:)`` uses it. Default: nil.
    ///   - random: returns numbers from 0 to 1, for jitter. Default: always 1, which results in the longest wait.
    public func delay(
        before retry: Int, after result: Result<HTTPResponse, HTTPError>? = nil, random: () -> Double = { 1 }
    ) -> Duration? {
        guard let (longest, jitter) = plan(max(retry, 1), result) else { return nil }
        let wait = Self.clamped(longest)
        guard jitter > 0, wait > .zero else { return wait }
        let drawn = random()
        let chance = drawn.isNaN ? 1 : min(max(drawn, 0), 1)
        return chance == 1 ? wait : wait * (1 - jitter + jitter * chance)
    }

    /// Replaces the condition for a retry, which is ``Retry/Condition/standard`` by default.
    ///
    /// ```swift
    /// GetJob(id: 7).retry(.delayed(.seconds(2)).when(.statuses([202])), maximumRetries: 30)  // until the job is done
    /// ```
    ///
    /// If you call it several times, the last condition applies. If a validator returns the strategy, its condition
    /// must hold in addition. Otherwise, the request isn't retried, as if no retry were left (see
    /// ``HTTPValidatorResult/retry(_:)``).
    public func when(_ condition: Retry.Condition) -> HTTPRetryStrategy { changed(self) { $0.condition = condition } }

    /// Also retries requests that the server refused to process, even with a method that isn't idempotent.
    ///
    /// These responses count as a refusal, in addition to what ``when(_:)`` selects:
    /// - a 429 or a 529
    /// - a 503 or a 403 with a valid `Retry-After`
    /// - an event stream that reports a failure instead of its first value (`events(of:as:)` of `LetterheadStreaming`)
    ///
    /// By default, a POST isn't retried after a refusal, because HTTP doesn't guarantee that the server didn't process
    /// it. Use this modifier for a server that documents the guarantee, such as one with a rate limit. If a redirect
    /// changed the method, the request isn't retried, because the server has processed it.
    public func retryingRefusals() -> HTTPRetryStrategy { changed(self) { $0.retriesRefusals = true } }

    /// Retries a request that exceeded a rate limit, at the time at which the server resets the limit.
    ///
    /// ```swift
    /// Backoff(.exponential.honoringRateLimits(), maximumRetries: 2, longestServerDelay: .seconds(3_600))
    /// ```
    ///
    /// A request has exceeded the limit if the response is a 429, or a 403 that has a valid `Retry-After` or reports
    /// that no request is left. Such a request is retried in addition to what ``when(_:)`` selects.
    ///
    /// The wait is the first of these:
    /// 1. the wait in `Retry-After`
    /// 2. the time until the limit resets, unless the response reports that requests are left
    /// 3. the wait that the strategy chooses
    ///
    /// If the server asks for a wait over ``Backoff/longestServerDelay``, the request isn't retried.
    ///
    /// The response reports the limit in `RateLimit`, or in `RateLimit-Remaining` and `RateLimit-Reset`, also with the
    /// prefixes `X-RateLimit` and `X-Rate-Limit`, and for requests or tokens as in `X-RateLimit-Reset-Tokens`. A reset
    /// is in seconds, a time since 1970, a date (as in RFC 3339 or in `Retry-After`), or a duration such as `6m0s`.
    /// `LimitRate` of `LetterheadResilience` reads the same fields.
    ///
    /// A request with a method that isn't idempotent, such as a POST, is retried only with ``retryingRefusals()`` as
    /// well.
    public func honoringRateLimits() -> HTTPRetryStrategy { changed(self) { $0.honorsRateLimits = true } }

    /// Makes the strategy a suggestion, for a validator that leaves the decision to the client and the server.
    ///
    /// The strategy that a validator returns is otherwise a requirement: it decides the wait, and the load fails if the
    /// request can't be retried. A suggestion differs in these points:
    /// - A `Retry-After` and the strategy of the request or the client take precedence.
    /// - An `X-Should-Retry: false` in an error response prevents the retry.
    /// - If the request can't be retried, the next validator judges the result.
    ///
    /// Without a validator, the modifier has no effect.
    public func asFallback() -> HTTPRetryStrategy { changed(self) { $0.isFallback = true } }
}

// MARK: Waits

extension HTTPRetryStrategy {
    /// Retries without a wait.
    public static let immediate = HTTPRetryStrategy("immediate") { _, _ in (.zero, 0) }

    /// Waits for the same time before each retry, without jitter.
    public static func delayed(_ delay: Duration) -> HTTPRetryStrategy {
        HTTPRetryStrategy("delayed by \(delay.shown)") { _, _ in (delay, 0) }
    }

    /// Waits for the base before the first retry, and multiplies the wait for each further retry, up to the cap.
    ///
    /// The waits have full jitter (see ``jitter(_:)``). A factor below 1 or NaN counts as 1.
    public static func exponential(
        base: Duration, factor: Double = 2, cap: Duration = .seconds(30)
    ) -> HTTPRetryStrategy {
        let factor = factor > 1 ? factor : 1
        return HTTPRetryStrategy("exponential from \(base)") { retry, _ in
            (product(pow(factor, Double(retry - 1)), base, cap: cap), jitter: 1)
        }
    }

    /// Exponential back-off from one second: ``exponential(base:factor:cap:)`` with its defaults.
    public static let exponential = exponential(base: .seconds(1))

    /// Waits for 1, 1, 2, 3, 5 … seconds: ``fibonacci(unit:cap:)`` with its defaults.
    public static let fibonacci = fibonacci(unit: .seconds(1))

    /// Waits for 1, 1, 2, 3, 5 … units up to the cap. The waits have full jitter (see ``jitter(_:)``).
    public static func fibonacci(unit: Duration, cap: Duration = .seconds(30)) -> HTTPRetryStrategy {
        HTTPRetryStrategy("fibonacci by \(unit)") { retry, _ in
            // Beyond 1,500, the numbers are infinite.
            var (last, current) = (0.0, 1.0)
            for _ in 1..<min(retry, 1_500) { (last, current) = (current, last + current) }
            return (product(current, unit, cap: cap), jitter: 1)
        }
    }

    /// Waits for these times in order, without jitter. The retries end after the last one.
    public static func delays(_ delays: [Duration]) -> HTTPRetryStrategy {
        HTTPRetryStrategy("\(delays.count) delays", count: delays.count) { retry, _ in
            retry <= delays.count ? (delays[retry - 1], 0) : nil
        }
    }

    /// Waits for the time that a closure returns. If it returns nil, the retries end. Retries count from 1.
    ///
    /// ```swift
    /// .custom { _, result in  // a service that sends the wait in a header of its API
    ///     (try? result.get())?.headers["X-Backoff"].flatMap { UInt32($0) }.map { .seconds($0) }
    /// }
    /// ```
    ///
    /// For rate limits, use ``honoringRateLimits()``.
    public static func custom(
        _ delay: @escaping @Sendable (_ retry: Int, _ result: Result<HTTPResponse, HTTPError>) -> Duration?
    ) -> HTTPRetryStrategy {
        HTTPRetryStrategy("custom") { retry, result in result.flatMap { delay(retry, $0) }.map { ($0, 0) } }
    }

    /// Makes a share of each wait random, so that clients that failed together don't retry together.
    ///
    /// It replaces the jitter of the strategy: full jitter for ``exponential`` and ``fibonacci``, and none for the
    /// others. A wait that the server asks for has no jitter.
    ///
    /// - Parameter share: the random share, from 0 to 1. With 0.2, a wait of 10 seconds takes 8 to 10 seconds. With 1
    ///   (full jitter), it takes 0 to 10 seconds. A number outside this range becomes 0 or 1, and NaN counts as 0.
    public func jitter(_ share: Double) -> HTTPRetryStrategy {
        let share = share.isNaN ? 0 : min(max(share, 0), 1)
        return changed(self) { $0.plan = { [plan] in plan($0, $1).map { ($0.duration, share) } } }
    }

    /// Ends the retries after this number of waits, for example before ``then(_:)`` continues with a second strategy.
    ///
    /// A lower maximum of the request or the client applies as well. A strategy that already has fewer waits keeps
    /// their number. A negative count is zero (no retries).
    public func times(_ count: Int) -> HTTPRetryStrategy {
        let count = min(max(count, 0), self.count ?? .max)
        return changed(self) {
            ($0.description, $0.count) = ("\(self), \(count) times", count)
            $0.plan = { [plan] in $0 <= count ? plan($0, $1) : nil }
        }
    }

    /// Continues with the waits of a second strategy, which counts its retries from 1.
    ///
    /// ```swift
    /// HTTPRetryStrategy.immediate.times(1).then(.exponential(base: .seconds(1)))  // 0, 1, 2, 4 … s, before jitter
    /// ```
    ///
    /// An unlimited strategy never reaches the next one: limit it with ``times(_:)``. The condition of `next` is
    /// ignored, and so is the work that `next` would do before a retry.
    public func then(_ next: HTTPRetryStrategy) -> HTTPRetryStrategy {
        guard let count else { return self }
        let sum = next.count.map { count.addingReportingOverflow($0) }.map { $0.overflow ? .max : $0.partialValue }
        return changed(self) {
            ($0.description, $0.count) = ("\(self), then \(next)", sum)
            $0.plan = { [plan] in $0 <= count ? plan($0, $1) : next.plan($0 - count, $1) }
        }
    }

    private static func clamped(_ wait: Duration) -> Duration { min(max(wait, .zero), .seconds(31_536_000)) }

    /// Returns a multiple of a wait, at most the cap. A product of durations would overflow, so the comparison uses
    /// floating point.
    private static func product(_ multiple: Double, _ unit: Duration, cap: Duration) -> Duration {
        let (unit, cap) = (clamped(unit), clamped(cap))
        guard unit > .zero else { return .zero }
        return multiple >= cap / unit ? cap : unit * multiple
    }
}

// MARK: Work before a retry

extension HTTPRetryStrategy {
    /// Sends a request before each retry, and waits. `onResponse` may change the original request before it is retried.
    static func after(
        _ alternate: HTTPRequest, maximum: Int, delay: Duration,
        onResponse: @escaping @Sendable (_ original: inout HTTPRequest, _ answer: HTTPResponse) async throws -> Void,
        onError: @escaping @Sendable (any Error) async -> Void
    ) -> HTTPRetryStrategy {
        var strategy = preparing("after another request", delay: delay, onError: onError) { original, send in
            let answer = try await send(alternate)
            try await onResponse(&original, answer)
        }
        strategy.maximumAlternates = maximum
        return strategy
    }

    /// Runs a task before each retry, then waits, and then sends the request, which the task may have changed.
    ///
    /// ```swift
    /// .retry(.afterTask { request in request.headers["X-Region"] = await regions.next() })  // in a validator
    /// ```
    ///
    /// After a 401 or 403, a request with any method is retried, because the server didn't process it, unless a
    /// redirect changed the method. Use the strategy only for retries: a stream or a transfer with it fails with
    /// `.invalidRequest`.
    ///
    /// - Parameters:
    ///   - delay: the wait after the task. A negative wait counts as zero. Default: zero.
    ///   - task: receives the original request, and may change it for its next attempts.
    ///   - onError: receives the error that the task threw. The original is then retried unchanged. Default: ignores
    ///     the error.
    public static func afterTask(
        delay: Duration = .zero, task: @escaping @Sendable (inout HTTPRequest) async throws -> Void,
        onError: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) -> HTTPRetryStrategy {
        preparing("after a task", delay: delay, onError: onError) { original, _ in try await task(&original) }
    }

    private typealias Send = (HTTPRequest) async throws -> HTTPResponse

    private static func preparing(
        _ name: String, delay: Duration, onError: @escaping @Sendable (any Error) async -> Void,
        _ prepare: @escaping @Sendable (inout HTTPRequest, Send) async throws -> Void
    ) -> HTTPRetryStrategy {
        let alternate: Alternate = { original, next, timeline throws(HTTPError) in
            var prepared = original
            do {
                try await prepare(&prepared) { try await next.load($0, for: original, on: timeline) }
                // The closure may have replaced the original by a different request, such as an attempt.
                (prepared.context, prepared.attemptNumber) = (original.context, nil)
                return prepared
            } catch {
                if let cancellation = original.cancellation() { throw cancellation }
                await onError(error)
                return original
            }
        }
        return changed(HTTPRetryStrategy(name) { _, _ in (delay, 0) }) { $0.alternate = alternate }
    }
}

extension HTTPLoader {
    /// Sends an alternate request, and returns the response with its body in memory. No retry link below retries it.
    fileprivate func load(
        _ request: HTTPRequest, for original: HTTPRequest, on timeline: Timeline
    ) async throws -> HTTPResponse {
        var request = request
        // The alternate may be a copy of the original. Its response must not replace the file of the original.
        if request.responseDelivery != .buffered { request.responseDelivery = .buffered }
        request.join(loadOf: original)
        request.attemptNumber = 1
        request.inheritDeadline(from: original)
        var response = try await request.load(within: request.deadline, on: timeline) {
            (limited) async throws(HTTPError) in
            try await load(limited, onBehalfOf: original, as: "alternate")
        }
        // The closure may send this request again.
        response.request.attemptNumber = nil
        response.request.decoder = request.decoder ?? original.decoder
        if response.body.buffered == nil { response.body = HTTPResponseBody(try await response.body.data()) }
        // A response that arrives after a reset belongs to the previous user.
        if let cancellation = original.cancellation() { throw cancellation }
        return response
    }
}

extension RequestTemplate {
    /// Returns the alternate request. Nil if the result came from a server that the client doesn't belong to,
    /// because only the client server may cause an alternate request.
    func request(onBehalfOf original: HTTPRequest, after result: Retry.Outcome) throws(HTTPError) -> HTTPRequest? {
        var request = try requestWithoutEnvironment()
        let hasEnvironment = request.options.contains(ServerEnvironment.self)
        original.context.defaults?.wrappedValue.apply(to: &request)
        // A derived client may have the environment of a server that must not receive its secrets.
        if !hasEnvironment { request.options.remove(ServerEnvironment.self) }
        var home = result.request.homeOrigin
        if home == nil, original.client == nil, let environment = original.serverEnvironment {
            home = environment.origin
            if !hasEnvironment { request.serverEnvironment = environment }
        }
        let own = home ?? request.origin ?? request.serverEnvironment?.origin
        guard let origin = result.origin, origin == own, result.firstRequest.origin == own else { return nil }
        if ResponseDecoding.usesDecoder(for: Response.self) { request.accept(orElse: JSONDecoder().accept) }
        return request
    }

    func value(of response: HTTPResponse) async throws -> Response {
        var result = Retry.Outcome.success(response)
        do throws(HTTPError) { _ = try await response.accepted(by: response.request) } catch {
            result = .failure(error)
        }
        let finished = try await finish(result)
        do { return try await decode(finished) } catch {
            throw HTTPError(ofDecoding: error, as: Response.self, response: finished)
        }
    }
}

// MARK: A request

enum RetryStrategyOption: HTTPRequestOption { static let defaultOptionValue: HTTPRetryStrategy? = nil }
enum MaximumRetriesOption: HTTPRequestOption { static let defaultOptionValue: Int? = nil }
enum RetryObserverOption: HTTPRequestOption {
    static let defaultOptionValue: (@Sendable (Retry.Context) async -> Void)? = nil
}

extension RequestSettings {
    /// The strategy for this request. Default: nil (the strategy in the client ``Backoff``, if there is one. Otherwise,
    /// only validators request retries).
    public var retryStrategy: HTTPRetryStrategy? {
        get { self[option: RetryStrategyOption.self] }
        set { self[option: RetryStrategyOption.self] = newValue }
    }

    /// The maximum number of retries, for the strategy of the request and for validators together. With 2, there are at
    /// most 3 attempts. Default: nil (the maximum of the client).
    ///
    /// With a negative number, the request fails with `.invalidRequest`.
    public var maximumRetries: Int? {
        get { self[option: MaximumRetriesOption.self] }
        set { self[option: MaximumRetriesOption.self] = newValue }
    }

    /// A closure that is called when a retry of this request was decided, before its wait. Closures of the client are
    /// called as well. Default: nil.
    public var onRetry: (@Sendable (Retry.Context) async -> Void)? {
        get { self[option: RetryObserverOption.self] }
        set { self[option: RetryObserverOption.self] = newValue }
    }
}

extension RequestConfigurable {
    /// Retries the request after a temporary failure (``Retry/Condition/standard``), or after the outcomes that a
    /// condition of the strategy selects.
    ///
    /// ```swift
    /// try await client.send(GetUser(login: "ada").retry(.exponential, maximumRetries: 3))
    /// ```
    ///
    /// A `Retry-After` takes precedence over the wait that the strategy chooses. If a POST may be sent twice, mark it
    /// as ``RequestTemplate/idempotent(key:)``. A negative maximum results in `.invalidRequest`. See ``Retry``.
    public func retry(_ strategy: HTTPRetryStrategy, maximumRetries: Int = 3) -> Configured {
        configured {
            $0.retryStrategy = strategy
            $0.maximumRetries = maximumRetries
        }
    }

    /// Sets ``RequestSettings/maximumRetries``. Pass nil to use the maximum of the client.
    public func maximumRetries(_ count: Int?) -> Configured { configured { $0.maximumRetries = count } }
}

extension RequestTemplate {
    /// Adds a closure that is called before the wait of each retry, after the closures that were added before it.
    public func onRetry(_ observer: @escaping @Sendable (Retry.Context) async -> Void) -> Modified<Self> {
        configured { $0.onRetry = joined(options.onRetry, observer) }
    }
}

func joined(
    _ first: (@Sendable (Retry.Context) async -> Void)?, _ second: @escaping @Sendable (Retry.Context) async -> Void
) -> @Sendable (Retry.Context) async -> Void {
    { context in
        await first?(context)
        await second(context)
    }
}
