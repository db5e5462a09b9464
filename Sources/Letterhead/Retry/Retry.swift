/// Changes each response with transformers, judges each attempt with validators, and retries the request if a validator
/// or the request's own strategy asks for it.
///
/// ```swift
/// Retry()                                                        // validates, and retries when the request allows it
/// Retry(validators: [EnvelopeValidator(), DefaultValidator()], RetrySettings(maximumRetries: 2))
/// GetUser(login: "ada").retry(.exponential(base: .seconds(1)), maximumRetries: 3)
/// ```
///
/// One maximum limits all retries of a load. By default, it is 0: requests are not retried unless the request or the
/// settings raise it. The first of these determines the wait: the strategy of a validator other than
/// ``DefaultValidator``, the `Retry-After` of the server, the strategy of the request, the strategy of the settings,
/// the suggestion of ``DefaultValidator``.
///
/// These are never retried:
///
/// - A load that was cancelled or reset.
/// - A request with a one-shot body.
/// - A request whose method is not idempotent. There are four exceptions: the request is marked
///   ``RequestTemplate/idempotent(key:)``; nothing of it was sent; an alternate follows a 401 or 403; or the strategy
///   has ``HTTPRetryStrategy/retryingRefusals()`` and the server refused the request.
/// - A request whose deadline would pass during the wait.
/// - A request for which the server asks for too long a wait, or whose host has no retry budget left.
/// - A response that was already returned to the caller.
///
/// The response and the error list every attempt: ``HTTPResponse/attempts``, ``HTTPError/attempts``. When no retry is
/// left, the last failure is thrown and the last response is returned, unchanged. If a validator asked for the retry, a
/// response is thrown inside of an error instead: `.retriesExhausted` after at least one retry, else
/// `.unacceptableStatus`, or `.validationFailed` if the status counts as success. A retry that would pass the deadline
/// is `.timedOut`.
///
/// Put the link above redirects, so that validators see the final response, and above the environment and
/// authentication, so that they apply to each attempt. If a chain contains two retry links, their retries do not
/// multiply: only the upper one retries a load that may be retried.
public struct Retry: LoaderLink {
    let transformers: [ModifyResponse]
    let validators: [any HTTPValidator]
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
    ///   - settings: the limits, the clock and the random source. Default: requests are not retried unless they ask for
    ///     it.
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
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await request.holdingDownload { (request) throws(HTTPError) in
            if isPlain(request) { return try await loadOnce(request, next: next) }
            return try await loadRepeatedly(request, next: next)
        }
    }

    /// Runs attempts until the load ends. `first` is an attempt that has already completed.
    func loadRepeatedly(
        _ request: HTTPRequest, next: any HTTPLoader, behind first: JudgedAttempt? = nil
    ) async throws(HTTPError) -> HTTPResponse {
        var load = try RetryLoad(request, standardMaximum: settings.maximumRetries, timeline: timeline)
        var first = first
        while true {
            if first == nil, Task.isCancelled { throw load.cancelled }
            let mark = flights.begin()
            defer { flights.end(mark) }
            var result: Result<HTTPResponse, HTTPError>
            if let first {
                result = first.result
            } else {
                load.request.heldDownload?.forget()
                result = await load.send(to: next)
            }
            defer { first = nil }
            switch await verdict(on: &result, of: load, heard: first?.heard) {
            case .again(let repetition):
                load.record(result, repeatedBy: repetition)
                await announce(repetition, after: result, of: load)
                try await prepare(&load, for: repetition, next: next, mark: mark)
            case .passed(let final, let refusal):
                load.record(result, reason: refusal?.description ?? "")
                noteFailure(final, refusal)
                if refusal == .deadline { throw await load.exhausted(by: .deadline, final) }
                if refusal == nil, let response = try? final.get() {
                    ledger.succeed(to: response.request.origin, cost: load.cost)
                }
                return try load.ended(with: final)
            case .refused(let final, let refusal):
                load.record(result, reason: refusal.description)
                noteFailure(final, refusal)
                throw await load.exhausted(by: refusal, final)
            case .failed(let error, let final):
                load.record(result, reason: "a validator failed the request")
                throw await load.failed(with: error, final)
            }
        }
    }

    /// Ends the waits for alternate requests, removes the retry budgets, and resets the links below.
    public func reset(next: any HTTPLoader) async {
        await flights.reset()
        ledger.wipe()
        await next.reset()
    }
}

extension Retry {
    /// Returns the verdict of the validators on the transformed response. If they have none, the request's own strategy
    /// decides.
    private func verdict(
        on result: inout Result<HTTPResponse, HTTPError>, of load: RetryLoad, heard: ValidatorRun.Heard?
    ) async -> ValidatorRun.Verdict {
        guard await load.transform(&result, by: transformers) else {
            return .passed(result, refusal: .transformerFailed)
        }
        if result.failure?.isEndOfLoad == true { return .passed(result, refusal: .cancelled) }
        let own = load.isNested ? [] : load.request.validators
        let run = ValidatorRun(validators: own.isEmpty ? validators : own + validators, request: load.attempt) {
            strategy, result in
            decision(asked: strategy, after: result, of: load)
        }
        let verdict = await run.verdict(on: result, heard: heard)
        guard case .passed(let judged, refusal: nil) = verdict,
            load.request.retryStrategy != nil || settings.strategy != nil
        else { return verdict }
        return switch decision(asked: nil, after: judged, of: load) {
        case .again(let repetition): .again(repetition)
        case .no(.notWorthIt): verdict
        case .no(let refusal): .passed(judged, refusal: refusal)
        }
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
        guard case .again(var repetition) = decision, result.showsTrouble else { return decision }
        let isTimeout = result.failure?.code == .timedOut
        guard let cost = ledger.takeRetry(to: origin(of: result), afterTimeout: isTimeout) else { return .no(.budget) }
        repetition.cost = cost
        return .again(repetition)
    }

    /// Counts a failure that deserved a retry but is not retried.
    private func noteFailure(_ result: Result<HTTPResponse, HTTPError>, _ refusal: RetryRefusal?) {
        if refusal?.isOfFailure == true, result.showsTrouble { ledger.fail(at: origin(of: result)) }
    }

    /// The origin whose budget applies.
    private func origin(of result: Result<HTTPResponse, HTTPError>) -> HTTPOrigin? {
        switch result {
        case .success(let response): response.request.origin
        case .failure(let failure): failure.request.origin
        }
    }

    private func announce(
        _ repetition: Repetition, after result: Result<HTTPResponse, HTTPError>, of load: RetryLoad
    ) async {
        let event = RetryEvent(
            request: load.request, retry: load.attempts.count, result: result, strategy: repetition.strategy,
            delay: repetition.delay, attempts: load.attempts)
        await settings.onRetry(event)
        await load.request.onRetry?(event)
    }

    /// Runs the alternate, if there is one, and then waits.
    private func prepare(
        _ load: inout RetryLoad, for repetition: Repetition, next: any HTTPLoader,
        mark: AlternateAnswers.Mark
    ) async throws(HTTPError) {
        do throws(HTTPError) {
            if let alternate = repetition.strategy.alternate {
                if let sharing = alternate.sharing { load.count(sharing) }
                let run = AlternateRun(next: next, flights: flights, mark: mark)
                load.request = try await run.request(after: alternate, of: load.request)
            }
            try await wait(repetition.delay, for: load.request)
        } catch {
            throw load.ended(by: error)
        }
    }

    private func wait(_ delay: Duration, for request: HTTPRequest) async throws(HTTPError) {
        if let left = request.timeLeft, left <= delay { throw request.deadlinePassed(while: "waiting to retry") }
        guard delay > .zero else { return }
        do { try await settings.clock.pause(for: delay) } catch { throw HTTPError(error, request: request) }
    }
}
