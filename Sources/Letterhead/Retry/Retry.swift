/// Has each attempt changed by transformers and judged by validators, and sends the request again when they, or the request
/// itself, ask for it.
///
/// ```swift
/// Retry()                                                        // judges, and retries what asks for it
/// Retry(validators: [EnvelopeValidator(), DefaultValidator()], RetrySettings(maximumRetries: 2))
/// GetUser(login: "ada").retry(.exponential(base: .seconds(1)), maximumRetries: 3)
/// ```
///
/// One maximum bounds all retries of a load, whoever asks for them; it is 0 unless the request or the settings say more,
/// and each load has it anew. The wait is the server's (`Retry-After`), else that of the request's strategy, else that of
/// the settings' strategy, else the one that ``DefaultValidator`` suggests; the strategy of any other validator counts more
/// than all of these.
///
/// These are never retried: a load that was cancelled or reset; a one-shot body; a method that is not idempotent, unless
/// the request is marked ``RequestTemplate/idempotent(key:)``, nothing of it was sent, an alternate follows a 401 or 403, or the strategy has
/// ``HTTPRetryStrategy/retryingRefusals()`` and the server refused the request; past the deadline; when the server asks for
/// too long a wait, or the budget of the host is used up. A response that was handed over is never taken back.
///
/// Every attempt is on the response and on the error: ``HTTPResponse/attempts``, ``HTTPError/attempts``. When no retry is
/// left, a failure and a response stay what they are. If a validator asked for the retry, a response is an error that
/// carries it: `.retriesExhausted` after at least one retry, else `.unacceptableStatus`, or `.validationFailed` when the
/// status counts as success. A retry that would pass the deadline is `.timedOut`.
///
/// Put it above the redirects, so that validators see what they lead to, and above environment and authentication, so that
/// each attempt gets them anew. Two in one chain do not multiply: only the upper retries a load that may be retried.
public struct Retry: LoaderLink {
    let transformers: [ModifyResponse]
    let validators: [any HTTPValidator]
    let settings: RetrySettings
    private let timeline: Timeline
    let ledger: RetryLedger
    let flights: AlternateFlights

    /// Makes the link.
    ///
    /// - Parameters:
    ///   - transformers: change each response before it is judged, in order, before those of the request. Default: none.
    ///   - validators: judge each attempt, in order, behind those of the request. Default: ``DefaultValidator``.
    ///   - settings: limits, time and luck. Default: no retry unless a request says so.
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

    /// Has the request answered, as often as it takes.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await request.holdingDownload { (request) throws(HTTPError) in
            if isPlain(request) { return try await loadOnce(request, next: next) }
            return try await loadRepeatedly(request, next: next)
        }
    }

    /// Has the request answered, as often as it takes, from its first attempt on or from behind it.
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
                load.record(result, reason: "a validator failed the load")
                throw await load.failed(with: error, final)
            }
        }
    }

    /// Sends away who waits for an alternate, forgets the budgets, and resets what is below.
    public func reset(next: any HTTPLoader) async {
        await flights.reset()
        ledger.wipe()
        await next.reset()
    }
}

extension Retry {
    /// What the validators say of the transformed response, and if they say nothing, the request's own policy.
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

    /// What the rules say, and the budget behind them.
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

    /// Counts a failure that was worth a retry and is not retried.
    private func noteFailure(_ result: Result<HTTPResponse, HTTPError>, _ refusal: RetryRefusal?) {
        if refusal?.isOfFailure == true, result.showsTrouble { ledger.fail(at: origin(of: result)) }
    }

    /// Whose budget it is.
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

    /// Does what comes before a retry: the alternate's work, and then the wait.
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
        if let left = request.timeLeft, left <= delay { throw request.deadlinePassed(while: "waiting to try again") }
        guard delay > .zero else { return }
        do { try await settings.clock.pause(for: delay) } catch { throw HTTPError(error, request: request) }
    }
}
