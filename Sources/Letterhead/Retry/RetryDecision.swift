import Foundation

/// The decision whether to retry a request, and the wait before the retry. It does not change a budget.
enum RetryDecision {
    case retry(PlannedRetry)
    case no(RetryRefusal)
}

/// A retry that the rules allow.
struct PlannedRetry {
    let strategy: HTTPRetryStrategy
    let delay: Duration
    let reason: String
    /// The tokens that it takes from the budget; nil if the budget was not consulted.
    var cost: Double?
}

/// The limits and standards by which a retry is decided, for one load.
struct RetryRules {
    var maximumRetries: Int
    /// The strategy for requests without a custom one.
    var standardStrategy: HTTPRetryStrategy?
    var isNested = false
    var longestServerDelay: Duration = .seconds(120)
    var timeLeft: Duration?
    /// The number of alternate requests that the load took part in, by sharing key.
    var alternates: [HTTPRetryStrategy.Sharing.Key: Int] = [:]
    var now: () -> Date = { Date() }
    var random: () -> Double = { 1 }

    /// Decides whether to retry.
    ///
    /// - Parameters:
    ///   - asked: the strategy that a validator returned; nil if the strategy of the request or of the settings
    ///     decides.
    ///   - context: the last attempt and the history of the load.
    func decision(asked: HTTPRetryStrategy?, in context: RetryContext) -> RetryDecision {
        if asked?.isFallback ?? true, context.serverWantsRetry == false { return .no(.notWorthIt) }
        guard let strategy = strategy(asked: asked, in: context) else { return .no(.notWorthIt) }
        if let refusal = refusal(of: strategy, in: context) { return .no(refusal) }
        let yields = asked?.isFallback ?? true
        return waiting(strategy, yields: yields, in: context)
    }

    /// Returns the strategy that applies: the strategy of a validator unless it is a suggestion, else the strategy of
    /// the request, else that of the settings, else the suggestion of a validator.
    private func strategy(asked: HTTPRetryStrategy?, in context: RetryContext) -> HTTPRetryStrategy? {
        if let asked, !asked.isFallback { return asked.condition?.holds(in: context) == false ? nil : asked }
        guard let strategy = context.request.retryStrategy ?? standardStrategy ?? asked else { return nil }
        if strategy.retriesRefusals, context.isRefusal, strategy.condition?.holds(in: context) != false {
            return strategy
        }
        let condition = strategy.condition ?? .always
        if context.serverWantsRetry == true, condition.permitsRequestedRetry(in: context) { return strategy }
        return condition.applies(in: context, isSuggested: asked != nil) ? strategy : nil
    }

    private func refusal(of strategy: HTTPRetryStrategy, in context: RetryContext) -> RetryRefusal? {
        if context.failure?.isEndOfLoad == true { return .cancelled }
        if isNested { return .nested }
        if context.retry > maximumRetries { return .noneLeft(maximum: maximumRetries) }
        if !context.request.body.isEmpty, !context.request.body.isReplayable { return .oneTimeBody }
        if !isSafe(strategy, in: context) { return .unsafeMethod }
        if let sharing = strategy.alternate?.sharing, alternates[sharing.key, default: 0] >= sharing.maximum {
            return .alternatesUsedUp
        }
        return nil
    }

    /// A server that responds with 401 or 403 did not process the request, so after an alternate any method may be
    /// retried.
    private func isSafe(_ strategy: HTTPRetryStrategy, in context: RetryContext) -> Bool {
        if context.isIdempotent || context.failure?.mayHaveBeenSent == false { return true }
        if strategy.retriesRefusals, context.isRefusal { return true }
        guard strategy.alternate != nil, let status = context.response?.status else { return false }
        return status == .unauthorized || status == .forbidden
    }

    private func waiting(_ strategy: HTTPRetryStrategy, yields: Bool, in context: RetryContext) -> RetryDecision {
        guard let wait = strategy.wait(before: context.retry, after: context.result) else { return .no(.strategyEnded) }
        var (delay, reason) = (Duration.zero, "\(strategy)")
        if yields, let asked = context.response?.headers.retryAfter(now: now()) {
            guard asked <= longestServerDelay else { return .no(.serverDelay(asked, longest: longestServerDelay)) }
            (delay, reason) = (asked, "the server requires a wait")
        } else {
            delay = wait.jitter.applied(to: wait.duration, random: random)
        }
        if let timeLeft, delay >= timeLeft { return .no(.deadline) }
        return .retry(PlannedRetry(strategy: strategy, delay: delay, reason: reason))
    }
}

extension RetryContext {
    /// Whether the request may be sent twice: its method is idempotent (RFC 9110, 9.2.2), or it is marked as
    /// idempotent.
    ///
    /// The environment below may have set the method, and a redirect may have changed it. Therefore the method that was
    /// sent first counts as well.
    fileprivate var isIdempotent: Bool {
        if request.isMarkedIdempotent { return true }
        let sent = response.map { $0.redirects.first?.request ?? $0.request } ?? failure?.request ?? request
        return request.method.isIdempotent && sent.method.isIdempotent
    }
}

extension RetryContext {
    /// The value of `X-Should-Retry` in a response whose status is not accepted; nil if there is no such value.
    fileprivate var serverWantsRetry: Bool? {
        response.flatMap { request.accepts($0.status) ? nil : $0.headers.shouldRetry }
    }

    /// Whether the server refused the request without processing it: 429 or 529, or 503 or 403 with `Retry-After`.
    ///
    /// A redirect that changed the method shows that the first request was processed.
    fileprivate var isRefusal: Bool {
        guard let response, !request.accepts(response.status),
            response.redirects.allSatisfy({ $0.request.method == $0.target.method })
        else { return false }
        switch response.status {
        case .tooManyRequests, .overloaded: return true
        case .serviceUnavailable, .forbidden: return response.headers.retryAfter() != nil
        default: return false
        }
    }
}

extension Result where Success == HTTPResponse, Failure == HTTPError {
    /// Whether the attempt shows that the server is in trouble: a failure, a 5xx, 408, 425 or 429. Only a retry after
    /// such an attempt takes tokens from the budget of its host, so that the budget does not stop polling.
    var showsTrouble: Bool {
        guard case .success(let response) = self else { return true }
        let status = response.status
        return status.code >= 500 || [.requestTimeout, .tooEarly, .tooManyRequests].contains(status)
    }
}

extension RetryAlternate {
    var sharing: HTTPRetryStrategy.Sharing? {
        if case .request(let alternate) = self { alternate.sharing } else { nil }
    }
}

extension HTTPError {
    /// Whether the load was cancelled, or a reset is in progress.
    var isEndOfLoad: Bool { code == .cancelled || code == .resetInProgress }
}
