// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// Whether a request is retried, after which wait, and why: a pure function of the facts of the attempt. Only the
/// budget of the origin comes on top of it, because a retry takes tokens from it.
struct RetryRules {
    enum Decision {
        case retry(HTTPRetryStrategy, after: Duration, reason: String)
        /// The result is final. If a retry applies but is not made, the refusal is the reason.
        case pass(Refusal?)
        /// A validator requires a retry that is not made.
        case refuse(Refusal?)
        case fail(any Error)

        /// A suggestion (``HTTPRetryStrategy/asFallback()``) is not required.
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

    var maximumRetries: Int
    var standardStrategy: HTTPRetryStrategy?
    var longestServerDelay: Duration = .seconds(120)
    var timeLeft: Duration?
    /// The number of alternate requests that the load has sent.
    var alternates = 0
    var now: () -> Date = { Date() }
    var random: () -> Double = { 1 }

    /// Decides with the strategy that a validator returned; with nil, with that of the request or of the settings.
    func decision(asked: HTTPRetryStrategy? = nil, in context: Retry.Context) -> Decision {
        let isRequired = asked?.isFallback == false
        guard isRequired || context.serverWantsRetry != false, let strategy = strategy(asked: asked, in: context) else {
            return .no(nil, asked: asked)
        }
        if let refusal = refusal(of: strategy, in: context) { return .no(refusal, asked: asked) }
        guard let wait = strategy.wait(before: context.retry, after: context.result) else {
            return .no(.strategyEnded, asked: asked)
        }
        var (delay, reason) = (Duration.zero, "\(strategy)")
        if !isRequired, let server = context.response?.headers.retryAfter(now: now()) {
            guard server <= longestServerDelay else {
                return .no(.serverDelay(server, longest: longestServerDelay), asked: asked)
            }
            (delay, reason) = (server, "the server requires a wait")
        } else {
            delay = wait.varied(by: random)
        }
        if let timeLeft, delay >= timeLeft { return .no(.deadline, asked: asked) }
        return .retry(strategy, after: delay, reason: reason)
    }

    /// The strategy of a validator unless it is a suggestion, else that of the request, else that of the settings, else
    /// the suggestion. nil if its condition does not hold.
    private func strategy(asked: HTTPRetryStrategy?, in context: Retry.Context) -> HTTPRetryStrategy? {
        if let asked, !asked.isFallback { return asked.condition?.holds(in: context) == false ? nil : asked }
        guard let strategy = context.request.retryStrategy ?? standardStrategy ?? asked else { return nil }
        if strategy.retriesRefusals, context.isRefusal { return strategy }
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
        if context.failure?.isEndOfLoad == true { return .cancelled }
        if context.request.attemptNumber != nil { return .nested }
        if context.retry > maximumRetries { return .noneLeft(maximum: maximumRetries) }
        if !context.request.body.isEmpty, !context.request.body.isReplayable { return .oneTimeBody }
        if !isSafe(strategy, in: context) { return .unsafeMethod }
        if context.request.isSignedOnce, context.failure?.mayHaveBeenSent != false { return .signedOnce }
        if let maximum = strategy.alternate?.maximum, alternates >= maximum { return .alternatesUsedUp }
        return nil
    }

    /// A server that responds with 401 or 403 did not process the request, so after an alternate any method may be
    /// retried, unless a redirect changed it.
    private func isSafe(_ strategy: HTTPRetryStrategy, in context: Retry.Context) -> Bool {
        if context.isIdempotent || context.failure?.mayHaveBeenSent == false { return true }
        if strategy.retriesRefusals, context.isRefusal { return true }
        guard strategy.alternate != nil, context.hasKeptMethod else { return false }
        return [.unauthorized, .forbidden].contains(context.response?.status)
    }
}

extension RetryRules {
    enum Refusal: Equatable, CustomStringConvertible {
        case cancelled, transformerFailed, nested, oneTimeBody, unsafeMethod, signedOnce, strategyEnded
        case alternatesUsedUp, deadline
        case budget
        case noneLeft(maximum: Int)
        case serverDelay(Duration, longest: Duration)

        /// Whether the refusal counts as a failure of the origin: the attempt deserved a retry that something other
        /// than the budget or the number of alternates prevented.
        var isOfFailure: Bool {
            switch self {
            case .noneLeft, .oneTimeBody, .unsafeMethod, .signedOnce, .strategyEnded, .serverDelay, .deadline: true
            case .cancelled, .transformerFailed, .nested, .alternatesUsedUp, .budget: false
            }
        }

        var description: String {
            switch self {
            case .cancelled: "not retried: the request was cancelled or reset"
            case .transformerFailed: "not retried: a response transformer failed the request"
            case .noneLeft(0): "not retried: maximumRetries is 0; use retry(_:maximumRetries:)"
            case .noneLeft(1): "not retried: the one allowed retry was made"
            case .noneLeft(let maximum): "not retried: all \(maximum) allowed retries were made"
            case .signedOnce: "not retried below the authentication: the signature can be used only once"
            case .nested: "not retried here: another Retry further up the chain retries the request"
            case .oneTimeBody: "not retried: the body can be sent only once"
            case .unsafeMethod: "not retried: the method is not idempotent; use idempotent() if it may be sent twice"
            case .strategyEnded: "not retried: the strategy allows no further retry"
            case .alternatesUsedUp: "not retried: the maximum number of alternate requests for one request was reached"
            case .serverDelay(let delay, let longest):
                "not retried: the server asks for a wait of \(delay), and longestServerDelay is \(longest)"
            case .deadline: "not retried: the wait would pass the deadline"
            case .budget: "not retried: the retry budget of the host is used up"
            }
        }
    }
}

// MARK: The facts

extension Retry.Context {
    /// Whether the request may be sent twice. The environment below may have set the method, and a redirect may have
    /// changed it, so the method that was sent first counts as well.
    fileprivate var isIdempotent: Bool {
        if request.isMarkedIdempotent { return true }
        let sent = response.map { $0.redirects.first?.request ?? $0.request } ?? failure?.request ?? request
        return request.method.isIdempotent && sent.method.isIdempotent
    }

    /// The value of `X-Should-Retry` in a response whose status is not accepted; nil if there is no such value.
    fileprivate var serverWantsRetry: Bool? {
        response.flatMap { request.accepts($0.status) ? nil : $0.headers.shouldRetry }
    }

    /// Whether the response is a second 408. A server that has timed out twice while it waited for the request does not
    /// wait longer the next time (RFC 9110, 15.5.9).
    var isRepeatedTimeout: Bool {
        response?.status == .requestTimeout && attempts.contains { $0.status == .requestTimeout }
    }

    /// Whether no redirect changed the method, which would show that the first request was processed.
    fileprivate var hasKeptMethod: Bool {
        response?.redirects.allSatisfy { $0.request.method == $0.target.method } ?? true
    }

    /// Whether the server refused the request without processing it: 429 or 529, or 503 or 403 with `Retry-After`.
    var isRefusal: Bool {
        guard let response, !request.accepts(response.status), hasKeptMethod else { return false }
        switch response.status {
        case .tooManyRequests, .overloaded: return true
        case .serviceUnavailable, .forbidden: return response.headers.retryAfter() != nil
        default: return false
        }
    }
}

extension Result where Success == HTTPResponse, Failure == HTTPError {
    var failure: HTTPError? {
        if case .failure(let failure) = self { failure } else { nil }
    }

    var request: HTTPRequest {
        switch self {
        case .success(let response): response.request
        case .failure(let failure): failure.request
        }
    }

    var origin: HTTPOrigin? { request.origin }

    var firstOrigin: HTTPOrigin? {
        let response: HTTPResponse? = if case .success(let response) = self { response } else { failure?.response }
        return (response?.redirects.first?.request ?? request).origin
    }

    /// Whether the attempt shows that the server is in trouble: a failure, a 5xx, 408, 425 or 429. Only a retry after
    /// such an attempt takes tokens from the budget of its host, so that the budget does not stop polling.
    var showsTrouble: Bool {
        guard case .success(let response) = self else { return true }
        let status = response.status
        return status.code >= 500 || [.requestTimeout, .tooEarly, .tooManyRequests].contains(status)
    }
}

extension HTTPError {
    var isEndOfLoad: Bool { code == .cancelled || code == .resetInProgress }
}
