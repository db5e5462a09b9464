// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// Decides whether a request is retried, how long to wait, and why. It changes nothing, so it doesn't decide about the
/// budget, from which a retry takes tokens.
struct RetryRules {
    enum Decision {
        case retry(HTTPRetryStrategy, after: Duration, reason: String)
        /// The result is final. The refusal is the reason why a strategy that applies isn't followed. Nil if none
        /// applies.
        case pass(Refusal?)
        /// The result is final, although a validator requires a retry.
        case refuse(Refusal?)
        case fail(any Error)

        /// Returns the decision against a retry. A suggestion (``HTTPRetryStrategy/asFallback()``) isn't required.
        static func no(_ refusal: Refusal?, asked: HTTPRetryStrategy?) -> Decision {
            asked?.isFallback == false ? .refuse(refusal) : .pass(refusal)
        }

        var reason: String {
            switch self {
            case .retry(_, _, let reason): reason
            case .pass(let refusal), .refuse(let refusal): refusal?.description ?? ""
            case .fail: "a validator failed the request"
            }
        }
    }

    let backoff: Backoff
    var maximumRetries: Int
    /// How many alternate requests with a maximum the load has sent.
    var alternates = 0

    /// Decides about a retry after an attempt.
    ///
    /// - Parameters:
    ///   - asked: the strategy that a validator returned. Default: nil (the request strategy, or else the client
    ///     strategy).
    ///   - context: the attempt and the load.
    func decision(asked: HTTPRetryStrategy? = nil, in context: Retry.Context) -> Decision {
        let isRequired = asked?.isFallback == false
        guard isRequired || context.serverWantsRetry != false, let strategy = strategy(asked: asked, in: context) else {
            return .no(nil, asked: asked)
        }
        if let refusal = refusal(of: strategy, in: context) { return .no(refusal, asked: asked) }
        let server = isRequired ? nil : backoff.requestedDelay(in: context.response, for: strategy)
        // If the server asks for a wait, the wait has no jitter.
        let random = server == nil ? backoff.random : { 1 }
        guard let wait = strategy.delay(before: context.retry, after: context.result, random: random) else {
            return .no(.strategyEnded, asked: asked)
        }
        let (delay, longest) = (server ?? wait, backoff.longestServerDelay)
        if let server, server > longest { return .no(.serverDelay(server, longest: longest), asked: asked) }
        guard context.request.hasTime(for: delay) else { return .no(.deadline, asked: asked) }
        return .retry(strategy, after: delay, reason: server == nil ? "\(strategy)" : "the server requires a wait")
    }

    /// Returns the strategy that decides about the outcome, or nil if it doesn't apply to the outcome.
    ///
    /// It is the first of these: the strategy that a validator requires, the request strategy, the client strategy, and
    /// the strategy that a validator suggests.
    private func strategy(asked: HTTPRetryStrategy?, in context: Retry.Context) -> HTTPRetryStrategy? {
        if let asked, !asked.isFallback { return asked.condition?.holds(in: context) == false ? nil : asked }
        guard let strategy = context.request.retryStrategy ?? backoff.strategy ?? asked else { return nil }
        if strategy.retriesRefusals, context.isRefusal { return strategy }
        if strategy.honorsRateLimits, context.response?.isLimited == true { return strategy }
        if strategy.condition == nil {
            if context.serverWantsRetry == true { return strategy }
            // A validator has judged the outcome already.
            if asked != nil { return context.isRepeatedTimeout ? nil : strategy }
        }
        let condition = strategy.condition ?? .standard
        if asked == nil, let status = context.response?.status, context.request.accepts(status) {
            guard condition.statuses.contains(status) else { return nil }
        }
        return condition.holds(in: context) ? strategy : nil
    }

    private func refusal(of strategy: HTTPRetryStrategy, in context: Retry.Context) -> Refusal? {
        let request = context.request
        if request.attemptNumber != nil { return .nested }
        if context.retry > maximumRetries { return .noneLeft(maximum: maximumRetries) }
        if !request.body.isEmpty, !request.body.isReplayable { return .oneTimeBody }
        if !isSafe(strategy, in: context) { return .unsafeMethod }
        if request.isSignedOnce, context.failure?.mayHaveBeenSent != false { return .signedOnce }
        if let maximum = strategy.maximumAlternates, alternates >= maximum { return .alternatesUsedUp }
        return nil
    }

    /// Whether sending the request again can't repeat its effect. A server that responds with 401 or 403 did not
    /// process the request. So after an alternate request, a request with any method may be retried, unless a redirect
    /// changed the method.
    private func isSafe(_ strategy: HTTPRetryStrategy, in context: Retry.Context) -> Bool {
        if context.isIdempotent || context.failure?.mayHaveBeenSent == false { return true }
        if strategy.retriesRefusals {
            if context.isRefusal { return true }
            if strategy.honorsRateLimits, context.response?.isLimited == true, context.hasKeptMethod { return true }
        }
        guard strategy.alternate != nil, context.hasKeptMethod else { return false }
        return [.unauthorized, .forbidden].contains(context.response?.status)
    }
}

extension RetryRules {
    enum Refusal: Equatable, CustomStringConvertible {
        case cancelled, transformerFailed, nested, oneTimeBody, unsafeMethod, signedOnce, strategyEnded
        case alternatesUsedUp, deadline, budget
        case noneLeft(maximum: Int)
        case serverDelay(Duration, longest: Duration)

        /// Whether the attempt deserved a retry and counts as a failure of the origin.
        var isOfFailure: Bool { ![.cancelled, .transformerFailed, .nested, .alternatesUsedUp, .budget].contains(self) }

        var description: String {
            switch self {
            case .cancelled: "not retried: the request was cancelled or reset"
            case .transformerFailed: "not retried: a response transformer failed the request"
            case .noneLeft(0): "not retried: maximumRetries is 0 (use retry(_:maximumRetries:))"
            case .noneLeft(1): "not retried: the one allowed retry was made"
            case .noneLeft(let maximum): "not retried: all \(maximum) allowed retries were made"
            case .signedOnce: "not retried by a Retry below the authentication: the signature can be used only once"
            case .nested: "not retried by this Retry: a Retry above it in the chain retries the request"
            case .oneTimeBody: "not retried: the body can be sent only once"
            case .unsafeMethod: "not retried: the method is not idempotent (use idempotent() if it may be sent twice)"
            case .strategyEnded: "not retried: the strategy allows no further retry"
            case .alternatesUsedUp: "not retried: the maximum number of alternate requests for one request was reached"
            case .serverDelay(let delay, let longest):
                "not retried: the server asks for a wait of \(delay.shown), and longestServerDelay is \(longest.shown)"
            case .deadline: "not retried: the wait would pass the deadline"
            case .budget: "not retried: the retry budget of the host is used up"
            }
        }
    }
}

// MARK: The facts

extension Retry.Context {
    /// Whether the request may be sent twice. The environment below may have set the method, and a redirect may have
    /// changed it, so the first method counts as well.
    fileprivate var isIdempotent: Bool {
        request.isMarkedIdempotent || (request.method.isIdempotent && result.firstRequest.method.isIdempotent)
    }

    /// The `X-Should-Retry` of a response with a status that isn't accepted. Nil if the response doesn't have it.
    fileprivate var serverWantsRetry: Bool? {
        response.flatMap { request.accepts($0.status) ? nil : $0.headers.shouldRetry }
    }

    /// Whether the response is a second 408. A server that has timed out twice while it waited for the request doesn't
    /// wait longer the next time (RFC 9110, 15.5.9).
    fileprivate var isRepeatedTimeout: Bool {
        response?.status == .requestTimeout && attempts.contains { $0.status == .requestTimeout }
    }

    /// Whether no redirect changed the method, which would show that the first request was processed.
    fileprivate var hasKeptMethod: Bool {
        response?.redirects.allSatisfy { $0.request.method == $0.target.method } ?? true
    }

    /// Whether the server refused the request without processing it. It does so with 429 or 529, with 503 or 403 and
    /// `Retry-After`, or with a failure instead of the first value in a stream.
    fileprivate var isRefusal: Bool {
        guard let response, hasKeptMethod else { return false }
        let status = response.status
        if request.accepts(status) { return response.reportsFailure }
        if [.tooManyRequests, .overloaded].contains(status) { return true }
        return [.serviceUnavailable, .forbidden].contains(status) && response.headers.retryAfter() != nil
    }
}

extension Retry.Outcome {
    var response: HTTPResponse? { if case .success(let response) = self { response } else { nil } }

    var failure: HTTPError? { if case .failure(let failure) = self { failure } else { nil } }

    var request: HTTPRequest {
        switch self {
        case .success(let response): response.request
        case .failure(let failure): failure.request
        }
    }

    var firstRequest: HTTPRequest { (response ?? failure?.response)?.redirects.first?.request ?? request }

    var origin: HTTPOrigin? { request.origin }

    /// Whether the attempt shows that the server is in trouble: a failure, also inside a stream, a 5xx, 408, 425 or
    /// 429. Only a retry after such an attempt takes tokens from the budget of the host, so that the budget doesn't
    /// stop polling.
    var showsTrouble: Bool {
        guard case .success(let response) = self, !response.reportsFailure else { return true }
        let status = response.status
        return status.code >= 500 || [.requestTimeout, .tooEarly, .tooManyRequests].contains(status)
    }
}

// MARK: What callers write

extension Retry {
    typealias Outcome = Result<HTTPResponse, HTTPError>

    /// Decides which outcomes a strategy retries after. A condition replaces ``standard``.
    ///
    /// ```swift
    /// let polling = HTTPRetryStrategy.exponential.when(.statuses([202, 503]) || .failures([.timedOut]))
    /// let brief = HTTPRetryStrategy.exponential.when(
    ///     Retry.Condition { Retry.Condition.standard.holds(in: $0) && $0.elapsed < .seconds(30) })
    /// ```
    ///
    /// A response with a status that counts as success is retried only if ``statuses(_:)`` lists that status. ``Retry``
    /// lists what is never retried, regardless of conditions.
    public struct Condition: Sendable {
        private let predicate: @Sendable (Retry.Context) -> Bool
        /// The statuses to retry after even if they count as success.
        let statuses: Set<HTTPStatus>

        /// Creates a condition from a closure, which must not block. To narrow the default choice, use ``standard`` in
        /// the closure.
        public init(_ holds: @escaping @Sendable (Retry.Context) -> Bool) { self.init([], holds) }

        private init(_ statuses: Set<HTTPStatus>, _ predicate: @escaping @Sendable (Retry.Context) -> Bool) {
            (self.statuses, self.predicate) = (statuses, predicate)
        }

        /// Returns whether this condition holds. ``Retry`` applies further rules.
        public func holds(in context: Retry.Context) -> Bool { predicate(context) }

        /// Holds if one of the conditions holds.
        public static func || (left: Retry.Condition, right: Retry.Condition) -> Retry.Condition {
            Retry.Condition(left.statuses.union(right.statuses)) { left.holds(in: $0) || right.holds(in: $0) }
        }

        /// The statuses of a temporary state: 408, 425, 429, 500, 502, 503, 504 and 529.
        public static let standardStatuses: Set<HTTPStatus> = [408, 425, 429, 500, 502, 503, 504, 529]

        /// `.cannotConnect`, `.connectionLost` and `.timedOut`, which may be temporary.
        public static let standardFailures: Set<HTTPError.Code> = [.cannotConnect, .connectionLost, .timedOut]

        /// The default condition of a strategy: ``standardStatuses`` and ``standardFailures``. A 408 is retried only
        /// once.
        public static let standard =
            Retry.Condition(standardStatuses) { context in
                context.response.map { standardStatuses.contains($0.status) } == true && !context.isRepeatedTimeout
            } || .failures(standardFailures)

        /// Holds for responses with one of these statuses, even if a status counts as success.
        public static func statuses(_ statuses: Set<HTTPStatus>) -> Retry.Condition {
            Retry.Condition(statuses) { $0.response.map { statuses.contains($0.status) } ?? false }
        }

        /// Holds for failures with one of these codes.
        public static func failures(_ codes: Set<HTTPError.Code>) -> Retry.Condition {
            Retry.Condition { $0.failure.map { codes.contains($0.code) } ?? false }
        }
    }

    /// The state of a load after an attempt that may be retried.
    ///
    /// A ``Retry/Condition`` receives it before a retry is decided. ``RequestSettings/onRetry`` receives it only if a
    /// retry follows, with the strategy and the wait.
    public struct Context: Sendable, CustomStringConvertible {
        /// The request that would be retried. It contains what alternate requests, such as a renewed token, have changed
        /// before earlier retries.
        public let request: HTTPRequest
        /// The result of the attempt before the possible retry.
        public let result: Result<HTTPResponse, HTTPError>
        /// The number of the possible retry: 1 after the first attempt.
        public let retry: Int
        /// The time since the load began.
        public let elapsed: Duration
        /// The earlier attempts. After the decision, they include the last attempt and the reason for its retry.
        public let attempts: [HTTPRequest.Attempt]
        /// The strategy that the retry follows. Nil before the decision.
        public let strategy: HTTPRetryStrategy?
        /// The wait before the retry. Nil before the decision.
        public let delay: Duration?

        /// Creates a context for tests of conditions and of code that observes retries. By default, it is a first retry
        /// that isn't decided yet.
        public init(
            request: HTTPRequest, result: Result<HTTPResponse, HTTPError>, retry: Int = 1, elapsed: Duration = .zero,
            attempts: [HTTPRequest.Attempt] = [], strategy: HTTPRetryStrategy? = nil, delay: Duration? = nil
        ) {
            (self.request, self.result, self.retry, self.elapsed) = (request, result, retry, elapsed)
            (self.attempts, self.strategy, self.delay) = (attempts, strategy, delay)
        }

        /// The response of ``result``, or nil if it is a failure.
        public var response: HTTPResponse? { result.response }

        /// The error of ``result``, or nil if it is a response.
        public var failure: HTTPError? { result.failure }

        /// The request and the last attempt, or else the state of the retry. It contains no secrets.
        public var description: String {
            "\(request.method.printable) \(request.redaction.outline(of: request)): "
                + (attempts.last?.description ?? delay.map { "retried after \($0.shown)" }
                    ?? "retry \(retry) has not been decided yet")
        }
    }
}

extension HTTPRequest {
    /// Tells observers about a retry in a custom link, and calls the `onRetry` closures of the request and its client.
    ///
    /// Call it before the wait, with a context that contains the strategy, the wait and the attempts. Observers receive
    /// the reason in the last attempt.
    public func reportRetry(_ context: Retry.Context) async {
        record(.retryDecided) { event in
            event[.isRetried] = true
            event[.reason] = context.attempts.last.map { Redaction.visible($0.reason) }
            event[.wait] = context.delay
            event[.status] = (context.response ?? context.failure?.response)?.status.code
            event[.errorType] = context.failure?.code.rawValue
            event[.origin] = context.result.origin?.description
        }
        await additions.onRetry?(context)
        await onRetry?(context)
    }
}

// MARK: Idempotent requests

enum IdempotencyOption: HTTPRequestOption { static let defaultOptionValue: HTTPRequest.IdempotencyKey? = nil }

extension HTTPRequest {
    /// The `Idempotency-Key` of a request that may be sent twice (draft-ietf-httpapi-idempotency-key-header). A server
    /// recognizes a retry by this key.
    ///
    /// Pass `.random`, `.none`, or the text of a key.
    public struct IdempotencyKey: Sendable, Hashable, ExpressibleByStringLiteral {
        /// A random key for each load, shared by all of its attempts.
        public static let random = Self(nil, isSent: true)
        /// No key, for a POST that only reads.
        public static let none = Self(nil, isSent: false)

        /// The key. Nil for a random key.
        private let text: String?
        private let isSent: Bool

        private init(_ text: String?, isSent: Bool) { (self.text, self.isSent) = (text, isSent) }

        /// Creates a key, such as one that is stored across launches.
        public init(_ text: String) { self.init(text, isSent: true) }

        public init(stringLiteral text: String) { self.init(text) }

        /// The text to send. Nil if no key is sent.
        var value: String? { isSent ? text ?? ASCII.lowercased(UUID().uuidString) : nil }
    }

    /// Whether sending the request twice has the effect of sending it once.
    ///
    /// This is so if its method is idempotent (RFC 9110, 9.2.2), if it was marked with
    /// ``RequestSettings/markIdempotent(key:)``, or if it has an `Idempotency-Key`.
    public var isIdempotent: Bool { method.isIdempotent || isMarkedIdempotent }

    var isMarkedIdempotent: Bool { idempotency != nil || headers.contains(.idempotencyKey) }
}

extension RequestSettings {
    /// Allows retries with any method. All attempts of a load have the same `Idempotency-Key`, so that the server can
    /// recognize a retry. With `.none`, they have no key: use it for a POST that only reads.
    public mutating func markIdempotent(key: HTTPRequest.IdempotencyKey = .random) { idempotency = key }

    var idempotency: HTTPRequest.IdempotencyKey? {
        get { self[option: IdempotencyOption.self] }
        set { self[option: IdempotencyOption.self] = newValue }
    }
}

extension RequestTemplate {
    /// Allows retries with any method. All attempts have the same `Idempotency-Key`.
    ///
    /// ```swift
    /// try await client.send(CreateOrder(order).idempotent().retry(.exponential))
    /// try await client.send(Search(text).idempotent(key: .none).retry(.exponential))
    /// ```
    ///
    /// Mark only requests to servers that recognize the key, or, with `.none`, requests that change nothing.
    public func idempotent(key: HTTPRequest.IdempotencyKey = .random) -> Modified<Self> {
        configured { $0.markIdempotent(key: key) }
    }
}
