// SPDX-License-Identifier: MIT

/// One load in the retry link: the request of the next attempt, the attempts so far, and how the load ends.
struct RetryLoad {
    var request: HTTPRequest
    private(set) var attempts: [HTTPRequest.Attempt] = []
    /// The number of alternate requests that the load has sent, of those that have a maximum.
    var alternates = 0
    /// The cost of the last retry that took tokens from the budget; nil before the first one.
    var cost: Double?
    /// Whether a byte of any attempt may have been sent.
    private var mayHaveBeenSent = false
    let maximum: Int
    private let start: Duration
    private let timeline: Timeline

    /// One idempotency key is used for all attempts.
    ///
    /// - Throws: `.invalidRequest` if a maximum is negative.
    init(_ request: HTTPRequest, standardMaximum: Int, timeline: Timeline) throws(HTTPError) {
        maximum = request.maximumRetries ?? standardMaximum
        guard maximum >= 0 else {
            throw HTTPError(
                .invalidRequest, request: request, message: "maximumRetries is negative; use 0 for no retries")
        }
        self.request = request
        self.timeline = timeline
        start = maximum > 0 ? timeline.now : .zero
        if !request.headers.contains(.idempotencyKey), let key = request.idempotency?.value {
            self.request.headers[.idempotencyKey] = key
        }
    }

    private var mayRetry: Bool { request.attemptNumber == nil && maximum > 0 }

    /// The request for the next attempt. It has a number if this link may retry it.
    var attempt: HTTPRequest {
        guard mayRetry else { return request }
        var attempt = request
        attempt.attemptNumber = attempts.count + 1
        // A retry link further down would call the validators of the client for each attempt, too.
        if let settings = attempt.context.settings, !settings.additions.isEmpty {
            attempt.context.settings = ClientSettings(
                additions: HTTPRequestOptions(), headers: settings.headers, query: settings.query,
                apply: settings.apply)
        }
        return attempt
    }

    /// The error of a load that was cancelled, or whose client was reset; nil otherwise.
    var cancellation: HTTPError? {
        if request.wasReset { return request.resetError() }
        return Task.isCancelled ? HTTPError(.cancelled, request: request) : nil
    }

    /// - Throws: `.cancelled` if the load was cancelled or its client was reset.
    func check() throws(HTTPError) {
        if let cancellation { throw ended(by: cancellation) }
    }

    /// The attempt number is removed from the request of the result, because the caller may send that request again.
    @inline(__always)
    func send(to next: any HTTPLoader) async -> Result<HTTPResponse, HTTPError> {
        do throws(HTTPError) {
            var response = try await next.attempt(attempt)
            if mayRetry { response.request.attemptNumber = nil }
            return .success(response)
        } catch {
            guard mayRetry else { return .failure(error) }
            var request = error.request
            request.attemptNumber = nil
            return .failure(error.with(request: request))
        }
    }

    /// Applies the transformers to the response of an attempt, those of the client first.
    ///
    /// - Returns: false if a transformer threw. The result is then that failure, and validators are not called.
    @inline(__always)
    func transform(_ result: inout Result<HTTPResponse, HTTPError>, by common: [ModifyResponse]) async -> Bool {
        let own =
            request.context.additions.responseTransformers
            + (request.attemptNumber == nil ? request.responseTransformers : [])
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

    /// With a strategy, the retry has been decided and its attempt recorded.
    func context(
        after result: Result<HTTPResponse, HTTPError>, strategy: HTTPRetryStrategy? = nil, delay: Duration? = nil
    ) -> Retry.Context {
        Retry.Context(
            request: request, result: result, retry: attempts.count + (strategy == nil ? 1 : 0),
            elapsed: maximum > 0 ? timeline.now - start : .zero, attempts: attempts, strategy: strategy, delay: delay)
    }

    mutating func record(_ result: Result<HTTPResponse, HTTPError>, _ decision: RetryRules.Decision) {
        var attempt = HTTPRequest.Attempt(number: attempts.count + 1, reason: decision.reason)
        if case .retry(_, let delay, _) = decision { attempt.delay = delay }
        switch result {
        case .success(let response):
            mayHaveBeenSent = true
            attempt.status = response.status
        case .failure(let failure):
            mayHaveBeenSent = mayHaveBeenSent || failure.mayHaveBeenSent
            attempt.errorCode = failure.code
        }
        attempts.append(attempt)
    }
}

// MARK: The end

extension RetryLoad {
    /// - Parameter refusal: why a retry that applies was not made. If the server asked for a longer wait, the error of its
    ///   status contains the reason, because only the settings of the client explain why the request was not retried.
    func ended(
        with result: Result<HTTPResponse, HTTPError>, because refusal: RetryRules.Refusal? = nil
    ) throws(HTTPError) -> HTTPResponse {
        switch result {
        case .success(var response):
            response.attempts = attempts
            if case .serverDelay = refusal { response.statusReason = refusal?.description }
            return response
        case .failure(let failure): throw ended(by: failure)
        }
    }

    /// ``HTTPError/mayHaveBeenSent`` is set if it is true for any attempt.
    func ended(by error: HTTPError) -> HTTPError {
        error.with(attempts: attempts, mayHaveBeenSent: mayHaveBeenSent)
    }

    /// The error for a retry that a validator requested or whose wait would pass the deadline (`.timedOut`). Without an
    /// earlier retry, a response has not exhausted the retries.
    func exhausted(
        by refusal: RetryRules.Refusal?, _ result: Result<HTTPResponse, HTTPError>
    ) async -> HTTPError {
        let phase = "waiting to retry"
        switch result {
        case .success(let response):
            let kept = await kept(response)
            if refusal == .deadline { return ended(by: request.deadlinePassed(while: phase, response: kept)) }
            let code = request.accepts(kept.status) ? HTTPError.Code.validationFailed : .unacceptableStatus
            return ended(
                by: HTTPError(
                    attempts.count > 1 ? .retriesExhausted : code, request: kept.request, response: kept,
                    message: "a validator requested a retry" + (refusal.map { "; \($0)" } ?? "")))
        case .failure(let failure):
            guard refusal == .deadline, failure.code != .timedOut else { return ended(by: failure) }
            return ended(
                by: HTTPError(
                    .timedOut, request: failure.request, response: failure.response, underlying: failure,
                    message: "the deadline passed while \(phase)"))
        }
    }

    /// See ``HTTPValidatorResult/failChain(_:)``.
    func failed(with error: any Error, _ result: Result<HTTPResponse, HTTPError>) async -> HTTPError {
        let response: HTTPResponse? = if case .success(let response) = result { await kept(response) } else { nil }
        if error is HTTPError || error is CancellationError {
            var failure = HTTPError(error, request: request, response: response)
            // A validator does not see a streamed body. The error carries the part of it that can be read.
            if let own = failure.response, own.body.buffered == nil { failure = failure.with(response: response) }
            return ended(by: failure)
        }
        return ended(
            by: HTTPError(
                .validationFailed, request: response?.request ?? request,
                response: response ?? result.failure?.response, underlying: error,
                message: "a validator failed the request: \(HTTPError.summary(of: error))"))
    }

    private func kept(_ response: HTTPResponse) async -> HTTPResponse {
        var response = await response.keptInMemory()
        response.attempts = attempts
        return response
    }
}
