// SPDX-License-Identifier: MIT

/// Retries a request when its strategy or a validator asks for it. A client contains this link, so pass a ``Backoff``
/// to ``HTTPClient``, or set retries for a template:
///
/// ```swift
/// let client = HTTPClient(environment: .production, retrying: Backoff(.exponential, maximumRetries: 2))
/// let user = try await client.send(GetUser(login: "ada").retry(.exponential(base: .seconds(1)), maximumRetries: 3))
/// ```
///
/// By default, a request isn't retried. Retries help against failures that pass by themselves, such as a lost
/// connection, a 503, or a rate limit. <doc:Retrying> shows how to choose the waits and the conditions.
///
/// ## Compose a chain
///
/// In a chain of your own, put the link above redirects, so that validators see the final response. Put it above the
/// environment and authentication, so that each attempt is signed anew:
///
/// ```swift
/// let retry = Retry(validators: [EnvelopeValidator(), DefaultValidator()], Backoff(maximumRetries: 2))
/// ```
///
/// If a chain contains two retry links, the lower one doesn't retry a request that the upper one may retry.
///
/// ## How an attempt is judged
///
/// After each attempt, the transformers change the response: the link transformers first, then the request
/// transformers. The validators then judge it: the request validators first, then the link validators. One maximum
/// limits all retries of a load: ``RequestSettings/maximumRetries``, or else the number in the ``Backoff`` (by default
/// 3 with a strategy, and otherwise 0).
///
/// The wait before a retry is the first of these that applies:
///
/// 1. The strategy that a validator other than ``DefaultValidator`` returns.
/// 2. A `Retry-After`, or with ``HTTPRetryStrategy/honoringRateLimits()`` the reset of a rate limit.
/// 3. The request strategy, and then the strategy in the ``Backoff``.
/// 4. The wait that ``DefaultValidator`` suggests.
///
/// When no retry is left, the last response is returned or the last failure is thrown, unchanged. If a validator
/// requires a further retry after a response, an error with that response is thrown (see
/// ``HTTPValidatorResult/retry(_:)``). ``HTTPResponse/attempts`` and ``HTTPError/attempts`` list every attempt with its
/// reason.
///
/// ## What is never retried
///
/// - A load that was cancelled or reset, and a load with a response that was already returned to the caller.
/// - A request with a one-shot body.
/// - A request with a method that isn't idempotent, with the exceptions below.
/// - A request with a deadline that would pass during the wait: the load fails with `.timedOut`.
/// - A request if the server requests a wait over ``Backoff/longestServerDelay``, or if its host has no retry budget
///   left.
///
/// A POST, or any other request with a method that isn't idempotent, is retried in these cases:
///
/// - It is marked ``RequestTemplate/idempotent(key:)``.
/// - No byte of it was sent, and no redirect was followed.
/// - The strategy sends an alternate request after a 401 or 403, and no redirect changed the method.
/// - The strategy has ``HTTPRetryStrategy/retryingRefusals()``, the server refused the request, and no redirect changed
///   the method.
public struct Retry: LoaderLink {
    private let transformers: [ModifyResponse]
    private let validators: [any HTTPValidator]
    private let backoff: Backoff
    private let timeline: Timeline
    let budgets: Retry.Budget.Accounts

    /// Creates a link for a chain of your own.
    ///
    /// - Parameters:
    ///   - transformers: change the response of each attempt, in order. Default: none.
    ///   - validators: judge the response or failure after the transformers, in order. Default: ``DefaultValidator``.
    ///   - backoff: the waits and the number of retries for requests that don't set their own. Its strategy replaces
    ///     the waits that ``DefaultValidator`` suggests. By default, only validators suggest retries, and only requests
    ///     that set ``RequestSettings/maximumRetries`` are retried.
    ///   - budget: limits the retries to each origin. Default: ``Retry/Budget/standard``.
    public init(
        transformers: [ModifyResponse] = [], validators: [any HTTPValidator] = [DefaultValidator()],
        _ backoff: Backoff = Backoff(), budget: Retry.Budget = .standard
    ) {
        (self.transformers, self.validators, self.backoff) = (transformers, validators, backoff)
        timeline = Timeline(backoff.clock)
        budgets = Retry.Budget.Accounts(budget)
    }

    @inline(__always)
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var load = try RetryLoad(request, backoff, timeline: timeline)
        let longest = backoff.longestServerDelay
        if longest < .seconds(120) { load.request.loadValues[option: ServerDelayLimit.self] = longest }
        while true {
            var result = await load.send(to: next)
            let isTransformed = await load.transform(&result, by: transformers)
            var judged = result
            var decision = isTransformed ? await decision(on: &judged, of: &load) : .pass(.transformerFailed)
            // The load may have been cancelled while a validator judged.
            if case .retry = decision, let cancellation = load.request.cancellation() {
                (decision, judged) = (.pass(.cancelled), .failure(cancellation))
            }
            load.record(result, decision)
            if request.observation != nil { report(result, of: load) }
            guard case .retry(let strategy, let delay, _) = decision else {
                // Without a second reference, the response is changed in place.
                _ = consume result
                return try await end(load, with: decision, on: consume judged)
            }
            load.request.loadValues.replace(with: result.request.loadValues)
            let context = load.context(after: result, strategy: strategy, delay: delay)
            await request.additions.onRetry?(context)
            await load.request.onRetry?(context)
            // During the wait, a streamed response would hold its connection and its place in a throttle.
            for case .success(let response) in [result, judged] { await response.body.discard() }
            do throws(HTTPError) {
                if let alternate = strategy.alternate {
                    if strategy.maximumAlternates != nil { load.alternates += 1 }
                    load.request = try await alternate(load.request, next, timeline)
                }
                try await backoff.pause(load.request, for: delay)
            } catch {
                throw load.ended(by: error)
            }
        }
    }

    /// Forgets the retry budgets, and resets the next loader. If a client contains the link, resetting the client also
    /// ends the waits before retries. In a chain of your own, ``Autocancel`` ends them.
    public func reset(next: any HTTPLoader) async {
        budgets.wipe()
        await next.reset()
    }
}

// MARK: The decision

extension Retry {
    /// Asks the validators, which may replace the result, and then ``RetryRules``.
    ///
    /// If a validator requires a strategy, this strategy decides. A suggestion, such as the one of
    /// ``DefaultValidator``, only means that a retry makes sense: the rules then prefer the strategy of the request or
    /// the link. That strategy also decides if no validator asks for a retry. If a suggestion cannot be followed, the
    /// next validator is called.
    @inline(__always)
    private func decision(on result: inout Outcome, of load: inout RetryLoad) async -> RetryRules.Decision {
        if let code = result.failure?.code, [.cancelled, .resetInProgress].contains(code) { return .pass(.cancelled) }
        let (request, attempt) = (load.request, load.attempt)
        // Why suggestions are not followed. Nil if the strategy does not apply.
        var refusals: [RetryRules.Refusal?] = []
        let own = (request.attemptNumber == nil ? request.validators : []) + request.additions.validators
        for validator in own.isEmpty ? validators : own + validators {
            let verdict = await validator.result(of: result, for: attempt)
            if let observation = attempt.observation { observation.judge(validator, verdict) }
            switch verdict {
            case .nextValidatorWithResponse(var response):
                response.body = response.body.released()
                result = .success(response)
            case .failChain(let error): return .fail(error)
            // One failure takes tokens from a budget only once.
            case .retry(let strategy) where !refusals.contains(.budget):
                let decision = decision(asked: strategy, after: result, of: &load)
                guard case .pass(let refusal) = decision else { return decision }
                refusals.append(refusal)
            case .nextValidator, .retry: break
            }
        }
        guard refusals.isEmpty, request.retryStrategy != nil || backoff.strategy != nil else {
            return .pass(refusals.compactMap(\.self).first)
        }
        return decision(after: result, of: &load)
    }

    /// Decides whether to retry. If the retry is caused by a failing server, its cost is taken from the budget of the
    /// origin, and nothing is retried if the budget is exhausted.
    ///
    /// - Parameter asked: the strategy of a validator that asked for the retry.
    private func decision(
        asked: HTTPRetryStrategy? = nil, after result: Outcome, of load: inout RetryLoad
    ) -> RetryRules.Decision {
        let rules = RetryRules(backoff: backoff, maximumRetries: load.maximum, alternates: load.alternates)
        let decision = rules.decision(asked: asked, in: load.context(after: result))
        guard case .retry = decision, result.showsTrouble else { return decision }
        let isTimeout = result.failure?.code == .timedOut
        guard let cost = budgets.takeRetry(for: load.request, to: result.origin, afterTimeout: isTimeout) else {
            return .no(.budget, asked: asked)
        }
        load.cost = cost
        return decision
    }

    private func end(
        _ load: RetryLoad, with decision: RetryRules.Decision, on result: consuming Outcome
    ) async throws(HTTPError) -> HTTPResponse {
        switch decision {
        case .pass(nil), .retry:
            if !result.showsTrouble { budgets.succeed(for: load.request, to: result.origin, cost: load.cost) }
            return try load.ended(with: consume result)
        case .pass(let refusal), .refuse(let refusal):
            if result.showsTrouble, refusal?.isOfFailure == true { budgets.fail(for: load.request, at: result.origin) }
            if case .pass = decision, refusal != .deadline { return try load.ended(with: result, by: refusal) }
            throw load.ended(by: await load.exhausted(by: refusal, result))
        case .fail(let error): throw load.ended(by: await load.failed(with: error, result))
        }
    }

    /// Tells observers about the decision, unless there was nothing to decide.
    private func report(_ result: Outcome, of load: RetryLoad) {
        guard let attempt = load.attempts.last, attempt.delay != nil || !attempt.reason.isEmpty else { return }
        load.request.observation?.record(.retryDecided) { event in
            event[.isRetried] = attempt.delay != nil
            event[.reason] = attempt.reason.isEmpty ? nil : Redaction.visible(attempt.reason)
            event[.wait] = attempt.delay
            event[.status] = attempt.status?.code
            event[.errorType] = attempt.errorCode?.rawValue
            event[.origin] = result.origin?.description
            event[.budgetLeft] = budgets.tokensLeft(for: result.origin)
        }
    }
}

extension Observation {
    fileprivate func judge(_ validator: any HTTPValidator, _ result: HTTPValidatorResult) {
        record(.validatorVerdict) { event in
            event[.type] = String(describing: Swift.type(of: validator))
            switch result {
            case .nextValidator: event[.verdict] = "next"
            case .nextValidatorWithResponse: event[.verdict] = "replaced"
            case .retry: event[.verdict] = "retry"
            case .failChain(let error):
                event[.verdict] = "failed"
                event.describe(error)
            }
        }
    }
}

// MARK: A load

/// One load in the link: the request for the next attempt, the attempts so far, and how the load ends.
private struct RetryLoad {
    var request: HTTPRequest
    private(set) var attempts: [HTTPRequest.Attempt] = []
    /// How many alternate requests with a maximum the load has sent.
    var alternates = 0
    /// The cost of the last retry that took tokens from the budget. Nil before the first one.
    var cost: Double?
    /// Whether a byte of any attempt may have been sent.
    private var mayHaveBeenSent = false
    let maximum: Int
    private let start: Duration
    private let timeline: Timeline

    /// Prepares the first attempt. All attempts have the same idempotency key.
    ///
    /// - Throws: `.invalidRequest` if a limit is negative.
    init(_ request: HTTPRequest, _ backoff: Backoff, timeline: Timeline) throws(HTTPError) {
        maximum = request.maximumRetries ?? backoff.requestMaximum
        if let rule = backoff.brokenRule(maximumRetries: maximum) {
            throw HTTPError(.invalidRequest, request: request, message: rule)
        }
        (self.request, self.timeline) = (request, timeline)
        start = maximum > 0 ? timeline.now : .zero
        if !request.headers.contains(.idempotencyKey), let key = request.idempotency?.value {
            self.request.headers[.idempotencyKey] = key
        }
    }

    private var mayRetry: Bool { request.attemptNumber == nil && maximum > 0 }

    /// The request for the next attempt. It has an attempt number if this link may retry it.
    var attempt: HTTPRequest {
        guard mayRetry else { return request }
        var attempt = request
        attempt.attemptNumber = attempts.count + 1
        // Otherwise, a retry link further down would also call the validators of the client for each attempt.
        if !attempt.additions.isEmpty { attempt.context.defaults?.wrappedValue.additions = HTTPRequestOptions() }
        return attempt
    }

    /// Sends the next attempt. The request in the result has no attempt number, because the caller may send that
    /// request again.
    @inline(__always)
    func send(to next: any HTTPLoader) async -> Retry.Outcome {
        do throws(HTTPError) {
            var response = try await next.loadAttempt(attempt)
            if mayRetry { response.request.attemptNumber = nil }
            return .success(response)
        } catch {
            guard mayRetry else { return .failure(error) }
            return .failure(error.with(request: changed(error.request) { $0.attemptNumber = nil }))
        }
    }

    /// Applies the transformers to the response, the link transformers first.
    ///
    /// - Returns: false if a transformer threw. The result is then that failure, and validators are not called.
    @inline(__always)
    func transform(_ result: inout Retry.Outcome, by common: [ModifyResponse]) async -> Bool {
        let last = request.attemptNumber == nil ? request.responseTransformers : []
        let own = request.additions.responseTransformers + last
        guard !common.isEmpty || !own.isEmpty, case .success(let received) = result else { return true }
        var response = received
        do {
            for transformer in common + own { try await transformer.transform(&response) }
            result = .success(response)
            return true
        } catch {
            response.request = received.request
            let failure = HTTPError(error, request: received.request, response: await response.keptInMemory())
            result = .failure(failure.with(mayHaveBeenSent: true))
            return false
        }
    }

    /// Returns the context for a decision. If a strategy is passed, the retry is decided and its attempt recorded
    /// already.
    func context(
        after result: Retry.Outcome, strategy: HTTPRetryStrategy? = nil, delay: Duration? = nil
    ) -> Retry.Context {
        Retry.Context(
            request: request, result: result, retry: attempts.count + (strategy == nil ? 1 : 0),
            elapsed: maximum > 0 ? timeline.now - start : .zero, attempts: attempts, strategy: strategy, delay: delay)
    }

    mutating func record(_ result: Retry.Outcome, _ decision: RetryRules.Decision) {
        var attempt = HTTPRequest.Attempt(number: attempts.count + 1, reason: decision.reason)
        switch result {
        case .success(let response): (attempt.status, mayHaveBeenSent) = (response.status, true)
        case .failure(let failure):
            (attempt.errorCode, mayHaveBeenSent) = (failure.code, mayHaveBeenSent || failure.mayHaveBeenSent)
        }
        if case .retry(_, let delay, _) = decision { attempt.delay = delay }
        attempts.append(attempt)
    }

    /// Ends the load with a result. If the server asked for too long a wait, the status error contains that reason,
    /// because only the client settings explain why the request wasn't retried.
    func ended(
        with result: consuming Retry.Outcome, by refusal: RetryRules.Refusal? = nil
    ) throws(HTTPError) -> HTTPResponse {
        switch consume result {
        case .success(var response):
            response.attempts = attempts
            if case .serverDelay = refusal { response.statusReason = refusal?.description }
            return response
        case .failure(let failure): throw ended(by: failure)
        }
    }

    /// Returns the error with all attempts. ``HTTPError/mayHaveBeenSent`` is true if any attempt may have been sent.
    func ended(by error: HTTPError) -> HTTPError {
        error.with(attempts: attempts, mayHaveBeenSent: mayHaveBeenSent)
    }

    /// Returns the error if a validator requires a retry that isn't made, or if the wait would pass the deadline.
    /// Without an earlier retry, a response has not exhausted the retries.
    func exhausted(by refusal: RetryRules.Refusal?, _ result: Retry.Outcome) async -> HTTPError {
        if let failure = result.failure, refusal != .deadline || failure.code == .timedOut { return failure }
        let response = await responseForError(of: result)
        guard let response, refusal != .deadline else {
            return HTTPError(
                .timedOut, request: result.failure?.request ?? request, response: response, underlying: result.failure,
                message: "the deadline passed while waiting to retry")
        }
        let code = request.accepts(response.status) ? HTTPError.Code.validationFailed : .unacceptableStatus
        return HTTPError(
            attempts.count > 1 ? .retriesExhausted : code, request: response.request, response: response,
            message: "a validator requested a retry" + (refusal.map { "; \($0)" } ?? ""))
    }

    /// Returns the error for ``HTTPValidatorResult/failChain(_:)``.
    func failed(with error: any Error, _ result: Retry.Outcome) async -> HTTPError {
        let response = await responseForError(of: result)
        guard error is HTTPError || error is CancellationError else {
            return HTTPError(
                .validationFailed, request: result.response?.request ?? request, response: response, underlying: error,
                message: "a validator failed the request: \(HTTPError.summary(of: error))")
        }
        // A validator doesn't see a streamed body. The error carries the part of it that can be read.
        let failure = HTTPError(error, request: request, response: response)
        return failure.response?.body.buffered == nil ? failure.with(response: response) : failure
    }

    private func responseForError(of result: Retry.Outcome) async -> HTTPResponse? {
        guard var response = await result.response?.keptInMemory() else { return result.failure?.response }
        response.attempts = attempts
        return response
    }
}

enum AttemptNumberOption: HTTPRequestOption { static let defaultOptionValue: Int? = nil }

/// The ``Backoff/longestServerDelay`` of the retry link, for a `LimitRate` below it. It is set only if it is shorter
/// than the default, so that a `LimitRate` can have a longer limit of its own.
package enum ServerDelayLimit: HTTPRequestOption { package static let defaultOptionValue: Duration? = nil }

extension HTTPRequest {
    /// The number of this attempt, 1 for the first. Nil unless a retry link further up may retry the request.
    ///
    /// A retry link sends a request that has a number only once, so that retries don't multiply. The number is an
    /// option, so it is also visible to a client that is used as the transport of a second client. If you write your
    /// own retry link, set the number of each attempt, and remove it from the request in each result, because the
    /// caller may send that request again.
    public var attemptNumber: Int? {
        get { self[option: AttemptNumberOption.self] }
        set {
            guard let newValue else { return options.remove(AttemptNumberOption.self) }
            self[option: AttemptNumberOption.self] = newValue
        }
    }
}
