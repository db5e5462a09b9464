// SPDX-License-Identifier: MIT
/// Retries a request when a validator, or the request's own strategy, asks for it. Put it above redirects, so that
/// validators see the final response, and above the environment and authentication, so that each attempt is signed
/// anew.
///
/// ```swift
/// Retry(validators: [EnvelopeValidator(), DefaultValidator()], Retry.Settings(maximumRetries: 2))
/// GetUser(login: "ada").retry(.exponential(base: .seconds(1)), maximumRetries: 3)
/// ```
///
/// Transformers change the response of each attempt, those of the link before those of the request. Validators then
/// judge it, those of the request first. One maximum limits all retries of a load; it is 0 unless the request or the
/// settings raise it. The wait comes from the first of these: the strategy of a validator other than
/// ``DefaultValidator``, the `Retry-After` of the server, the strategy of the request, that of the settings, and the
/// suggestion of ``DefaultValidator``.
///
/// These are never retried:
///
/// - A load that was cancelled or reset, and a response that was already returned to the caller.
/// - A request with a one-shot body.
/// - A request whose method is not idempotent, unless it is marked ``RequestTemplate/idempotent(key:)``; no byte of it
///   was sent and no redirect was followed; the strategy sends an alternate request after a 401 or 403; or the strategy has
///   ``HTTPRetryStrategy/retryingRefusals()`` and the server refused the request. The last two do not apply after a
///   redirect that changed the method.
/// - A request whose deadline would pass during the wait: the load fails with `.timedOut`.
/// - A request for which the server requests a wait over the limit, or whose host has no retry budget left.
///
/// ``HTTPResponse/attempts`` and ``HTTPError/attempts`` list every attempt with its reason. When no retry is left, the
/// last result is returned or thrown unchanged, unless a validator requires another retry after a response; see
/// ``HTTPValidatorResult/retry(_:)``. If a chain contains two retry links, the lower one does not retry a load that the
/// upper one may retry.
public struct Retry: LoaderLink {
    private let transformers: [ModifyResponse]
    private let validators: [any HTTPValidator]
    let settings: Retry.Settings
    private let timeline: Timeline
    let budgets: Retry.Budget.Accounts

    public init(
        transformers: [ModifyResponse] = [], validators: [any HTTPValidator] = [DefaultValidator()],
        _ settings: Retry.Settings = Retry.Settings()
    ) {
        self.transformers = transformers
        self.validators = validators
        self.settings = settings
        timeline = Timeline(settings.clock)
        budgets = Retry.Budget.Accounts(settings.budget)
    }

    @inline(__always)
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var load = try RetryLoad(request, standardMaximum: settings.maximumRetries, timeline: timeline)
        while true {
            try load.check()
            var result = await load.send(to: next)
            let isTransformed = await load.transform(&result, by: transformers)
            var judged = result
            let decision = isTransformed ? await decision(on: &judged, of: &load) : .pass(.transformerFailed)
            guard case .retry(let strategy, let delay, _) = decision else {
                load.record(result, decision)
                if request.observation != nil { record(result, of: load) }
                return try await end(load, with: decision, on: judged)
            }
            let cancellation = load.cancellation
            load.record(result, cancellation == nil ? decision : .pass(.cancelled))
            if request.observation != nil { record(result, of: load) }
            if let cancellation { throw load.ended(by: cancellation) }
            load.request.loadValues.replace(with: result.request.loadValues)
            await announce(load.context(after: result, strategy: strategy, delay: delay))
            // A streamed response would hold its connection, and its place in a throttle, during the wait.
            for case .success(let response) in [result, judged] { await response.body.discard() }
            (result, judged) = (result.withoutStream, result.withoutStream)
            do throws(HTTPError) {
                if let alternate = strategy.alternate {
                    if alternate.maximum != nil { load.alternates += 1 }
                    load.request = try await alternate.changed(load.request, after: result, over: next, on: timeline)
                }
                try await wait(delay, for: load.request)
            } catch {
                throw load.ended(by: error)
            }
        }
    }

    /// Forgets the budgets, and resets the next loader. The reset of a client ends its waits; in a chain of your own,
    /// ``Autocancel`` does so.
    public func reset(next: any HTTPLoader) async {
        budgets.wipe()
        await next.reset()
    }

    private func announce(_ context: Retry.Context) async {
        await settings.onRetry(context)
        await context.request.context.additions.onRetry?(context)
        await context.request.onRetry?(context)
    }

    private func wait(_ delay: Duration, for request: HTTPRequest) async throws(HTTPError) {
        if let left = request.timeLeft, left <= delay { throw request.deadlinePassed(while: "waiting to retry") }
        guard delay > .zero else { return }
        try await request.pause(for: delay, on: settings.clock)
    }
}

extension Retry {
    /// Asks the validators, which may replace the result; without any, the strategy of the request or of the settings
    /// decides. A suggestion that cannot be followed does not end the calls.
    @inline(__always)
    private func decision(
        on result: inout Result<HTTPResponse, HTTPError>, of load: inout RetryLoad
    ) async -> RetryRules.Decision {
        if case .failure(let failure) = result, failure.isEndOfLoad { return .pass(.cancelled) }
        let attempt = load.attempt
        var (isJudged, refusal) = (false, RetryRules.Refusal?.none)
        // One failure takes tokens from a budget once.
        var isOverBudget = false
        let request = load.request
        let own = (request.attemptNumber == nil ? request.validators : []) + request.context.additions.validators
        for validator in own.isEmpty ? validators : own + validators {
            let judged = await validator.result(of: result, for: attempt)
            if let observation = attempt.observation { observation.judge(validator, judged) }
            switch judged {
            case .nextValidator: break
            case .nextValidatorWithResponse(var response):
                response.body = response.body.released()
                result = .success(response)
            case .failChain(let error): return .fail(error)
            case .retry(let strategy):
                guard !isOverBudget else { break }
                let decision = decision(asked: strategy, after: result, of: &load)
                guard case .pass(let reason) = decision else { return decision }
                (isJudged, refusal) = (true, refusal ?? reason)
                isOverBudget = reason == .budget
            }
        }
        guard !isJudged, load.request.retryStrategy != nil || settings.strategy != nil else {
            return .pass(refusal)
        }
        return decision(asked: nil, after: result, of: &load)
    }

    /// A retry takes tokens from the budget of the origin.
    private func decision(
        asked: HTTPRetryStrategy?, after result: Result<HTTPResponse, HTTPError>, of load: inout RetryLoad
    ) -> RetryRules.Decision {
        let rules = RetryRules(
            maximumRetries: load.maximum, standardStrategy: settings.strategy,
            longestServerDelay: settings.longestServerDelay, timeLeft: load.request.timeLeft,
            alternates: load.alternates, now: settings.now, random: settings.random)
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
        _ load: RetryLoad, with decision: RetryRules.Decision, on result: Result<HTTPResponse, HTTPError>
    ) async throws(HTTPError) -> HTTPResponse {
        switch decision {
        case .pass(nil):
            if !result.showsTrouble { budgets.succeed(for: load.request, to: result.origin, cost: load.cost) }
        case .pass(let refusal), .refuse(let refusal):
            if result.showsTrouble, refusal?.isOfFailure == true { budgets.fail(for: load.request, at: result.origin) }
            if case .pass = decision, refusal != .deadline { return try load.ended(with: result, because: refusal) }
            throw await load.exhausted(by: refusal, result)
        case .fail(let error): throw await load.failed(with: error, result)
        case .retry: break
        }
        return try load.ended(with: result)
    }

    /// Records nothing if the attempt is not retried and there is no reason.
    private func record(_ result: Result<HTTPResponse, HTTPError>, of load: RetryLoad) {
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

extension Result where Success == HTTPResponse, Failure == HTTPError {
    fileprivate var withoutStream: Self { map { $0.body.isStreamed ? $0.withoutBody : $0 } }
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
