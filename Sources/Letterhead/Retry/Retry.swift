/// A link that changes each response with transformers, judges each attempt with validators, and retries the request if
/// a validator or the strategy of the request asks for a retry.
///
/// ```swift
/// Retry()                                                        // validates, and retries when the request allows it
/// Retry(validators: [EnvelopeValidator(), DefaultValidator()], RetrySettings(maximumRetries: 2))
/// GetUser(login: "ada").retry(.exponential(base: .seconds(1)), maximumRetries: 3)
/// ```
///
/// One maximum limits all retries of a load. By default, it is 0: requests are not retried unless the request or the
/// settings raise it. The wait is determined by the first of these that is available: the strategy of a validator other
/// than ``DefaultValidator``, the `Retry-After` of the server, the strategy of the request, the strategy of the
/// settings, and the suggestion of ``DefaultValidator``.
///
/// These are never retried:
///
/// - A load that was cancelled or reset.
/// - A request with a one-shot body.
/// - A request whose method is not idempotent. There are four exceptions: the request is marked
///   ``RequestTemplate/idempotent(key:)``; no byte of it was sent; the strategy sends an alternate request after a 401
///   or 403; or the strategy has ``HTTPRetryStrategy/retryingRefusals()`` and the server refused the request.
/// - A request whose deadline would pass during the wait.
/// - A request for which the server requests a wait over the limit, or whose host has no retry budget left.
/// - A response that was already returned to the caller.
///
/// The response and the error list every attempt: ``HTTPResponse/attempts``, ``HTTPError/attempts``. When no retry is
/// left, the result of the last attempt is returned or thrown unchanged. If a validator requested another retry after a
/// response, an error that contains the response is thrown instead. After at least one retry, its code is
/// `.retriesExhausted`. Otherwise, it is `.validationFailed` if the status counts as success, and `.unacceptableStatus`
/// if it does not. If the wait for a retry would pass the deadline, the load fails with `.timedOut`.
///
/// Put the link above redirects, so that validators see the final response, and above the environment and
/// authentication, so that they apply to each attempt. If a chain contains two retry links, their retries do not
/// multiply: the lower one does not retry a load that the upper one may retry.
public struct Retry: LoaderLink {
    let transformers: [ModifyResponse]
    private let validators: [any HTTPValidator]
    let settings: RetrySettings
    private let timeline: Timeline
    let ledger: RetryLedger
    let flights: AlternateFlights

    /// Creates the link.
    ///
    /// - Parameters:
    ///   - transformers: change each response before validators run, in order, before those of the request. Default:
    ///     none.
    ///   - validators: judge each attempt, in order, after those of the request. Default: ``DefaultValidator``.
    ///   - settings: the limits, the clock and the random source. Default: a request is not retried unless it sets a
    ///     maximum itself.
    public init(
        transformers: [ModifyResponse] = [], validators: [any HTTPValidator] = [DefaultValidator()],
        _ settings: RetrySettings = RetrySettings()
    ) {
        self.transformers = transformers
        self.validators = validators
        self.settings = settings
        timeline = Timeline(settings.clock)
        ledger = RetryLedger(settings.budget)
        flights = AlternateFlights(clock: settings.clock)
    }

    /// Sends the request and retries it as necessary.
    @inline(__always)
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var load = try RetryLoad(request, standardMaximum: settings.maximumRetries, timeline: timeline)
        while true {
            if Task.isCancelled || request.wasReset { throw load.cancelled }
            let mark = load.mayRetry ? flights.begin() : .withoutRetry
            defer { flights.end(mark) }
            var result = await load.send(to: next)
            let verdict = await verdict(on: &result, of: load)
            guard case .retry(let retry) = verdict.step else {
                return try await end(&load, with: verdict, on: &result)
            }
            load.record(result, retriedBy: retry)
            if request.observation != nil { record(result, of: load) }
            await announce(retry, after: result, of: load)
            try await prepare(&load, for: retry, next: next, mark: mark)
        }
    }

    /// Ends a load after an attempt that is not retried.
    private func end(
        _ load: inout RetryLoad, with verdict: RetryVerdict, on result: inout Result<HTTPResponse, HTTPError>
    ) async throws(HTTPError) -> HTTPResponse {
        load.record(result, reason: verdict.step.reason)
        if load.request.observation != nil { record(result, of: load) }
        if let replacement = verdict.replacement { result = .success(replacement) }
        switch verdict.step {
        case .pass(nil):
            if case .success = result { ledger.succeed(to: origin(of: result), cost: load.cost) }
        case .pass(let refusal?):
            noteFailure(result, refusal)
            if refusal == .deadline { throw await load.exhausted(by: .deadline, result) }
        case .refuse(let refusal):
            noteFailure(result, refusal)
            throw await load.exhausted(by: refusal, result)
        case .fail(let error): throw await load.failed(with: error, result)
        case .retry: break
        }
        return try load.ended(with: result)
    }

    /// Ends the waits for alternate requests, removes the retry budgets, and resets the links below.
    public func reset(next: any HTTPLoader) async {
        await flights.reset()
        ledger.wipe()
        await next.reset()
    }
}

extension Retry {
    /// Returns the verdict of the validators on the transformed response. If they have no verdict, the strategy of the
    /// request or of the settings decides.
    @inline(__always)
    private func verdict(
        on result: inout Result<HTTPResponse, HTTPError>, of load: RetryLoad
    ) async -> RetryVerdict {
        guard await load.transform(&result, by: transformers) else { return RetryVerdict(.pass(.transformerFailed)) }
        if case .failure(let failure) = result, failure.isEndOfLoad { return RetryVerdict(.pass(.cancelled)) }
        var verdict = await validators(verdictOn: result, of: load, for: load.attempt)
        guard case .pass(nil) = verdict.step, load.request.retryStrategy != nil || settings.strategy != nil else {
            return verdict
        }
        switch decision(asked: nil, after: verdict.replacement.map { .success($0) } ?? result, of: load) {
        case .retry(let retry): verdict.step = .retry(retry)
        case .no(.notWorthIt): break
        case .no(let refusal): verdict.step = .pass(refusal)
        }
        return verdict
    }

    /// Calls validators in order, until one fails the load or requests a retry. A suggestion that cannot be followed
    /// does not end the calls.
    @inline(__always)
    private func validators(
        verdictOn result: Result<HTTPResponse, HTTPError>, of load: RetryLoad, for request: HTTPRequest
    ) async -> RetryVerdict {
        var verdict = RetryVerdict(.pass(nil))
        let own = (load.isNested ? [] : load.request.validators) + load.request.context.additions.validators
        for validator in own.isEmpty ? validators : own + validators {
            let judged = await validator.result(of: verdict.replacement.map { .success($0) } ?? result, for: request)
            if let observation = request.observation { observation.judge(validator, judged) }
            switch judged {
            case .nextValidator: break
            case .nextValidatorWithResponse(var response):
                response.body = response.body.released()
                verdict.replacement = response
            case .failChain(let error):
                verdict.step = .fail(error)
                return verdict
            case .retry(let strategy):
                let judged = verdict.replacement.map { .success($0) } ?? result
                switch decision(asked: strategy, after: judged, of: load) {
                case .retry(let retry): verdict.step = .retry(retry)
                case .no(let reason) where strategy.isFallback:
                    if case .pass(nil) = verdict.step { verdict.step = .pass(reason) }
                    continue
                case .no(let reason): verdict.step = .refuse(reason)
                }
                return verdict
            }
        }
        return verdict
    }

    /// Returns the decision of the rules. If they allow a retry, the budget decides.
    private func decision(
        asked: HTTPRetryStrategy?, after result: Result<HTTPResponse, HTTPError>, of load: RetryLoad
    ) -> RetryDecision {
        let rules = RetryRules(
            maximumRetries: load.maximum, standardStrategy: settings.strategy, isNested: load.isNested,
            longestServerDelay: settings.longestServerDelay, timeLeft: load.request.timeLeft,
            alternates: load.alternates, now: settings.now, random: settings.random)
        let decision = rules.decision(asked: asked, in: load.context(after: result))
        guard case .retry(var retry) = decision, result.showsTrouble else { return decision }
        let isTimeout = result.failure?.code == .timedOut
        guard let cost = ledger.takeRetry(to: origin(of: result), afterTimeout: isTimeout) else { return .no(.budget) }
        retry.cost = cost
        return .retry(retry)
    }

    /// Counts a failure that deserved a retry but is not retried.
    private func noteFailure(_ result: Result<HTTPResponse, HTTPError>, _ refusal: RetryRefusal?) {
        if refusal?.isOfFailure == true, result.showsTrouble { ledger.fail(at: origin(of: result)) }
    }

    /// The origin whose budget applies.
    func origin(of result: Result<HTTPResponse, HTTPError>) -> HTTPOrigin? {
        switch result {
        case .success(let response): response.request.origin
        case .failure(let failure): failure.request.origin
        }
    }

    private func announce(
        _ retry: PlannedRetry, after result: Result<HTTPResponse, HTTPError>, of load: RetryLoad
    ) async {
        let context = load.context(of: retry, after: result)
        await settings.onRetry(context)
        await load.request.context.additions.onRetry?(context)
        await load.request.onRetry?(context)
    }

    /// Runs the alternate, if there is one, and then waits.
    private func prepare(
        _ load: inout RetryLoad, for retry: PlannedRetry, next: any HTTPLoader,
        mark: AlternateAnswers.Mark
    ) async throws(HTTPError) {
        do throws(HTTPError) {
            if let alternate = retry.strategy.alternate {
                if let sharing = alternate.sharing { load.count(sharing) }
                let run = AlternateRun(next: next, flights: flights, mark: mark)
                load.request = try await run.request(after: alternate, of: load.request)
            }
            try await wait(retry.delay, for: load.request)
        } catch {
            throw load.ended(by: error)
        }
    }

    private func wait(_ delay: Duration, for request: HTTPRequest) async throws(HTTPError) {
        if let left = request.timeLeft, left <= delay { throw request.deadlinePassed(while: "waiting to retry") }
        guard delay > .zero else { return }
        try await request.pause(for: delay, on: settings.clock)
    }
}
