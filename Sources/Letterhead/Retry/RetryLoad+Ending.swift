extension RetryLoad {
    /// The error of a load that was cancelled between two attempts.
    var cancelled: HTTPError { ended(by: HTTPError(.cancelled, request: request)) }

    /// Returns or throws the result, with all attempts attached.
    func ended(with result: Result<HTTPResponse, HTTPError>) throws(HTTPError) -> HTTPResponse {
        do throws(HTTPError) {
            var response = try result.get()
            response.attempts = attempts
            return response
        } catch {
            throw ended(by: error)
        }
    }

    /// Returns the error with all attempts attached, and with ``HTTPError/mayHaveBeenSent`` set if it is
    /// true for any attempt.
    func ended(by error: HTTPError) -> HTTPError {
        error.with(attempts: attempts, mayHaveBeenSent: mayHaveBeenSent)
    }

    /// Returns the error of a load that needs a retry which is not possible: a validator requested it, or its wait
    /// would pass the deadline.
    ///
    /// If the wait would pass the deadline, the error is `.timedOut`, and a failure with another code is its
    /// underlying error. In all other cases, a failure is returned with all attempts attached.
    func exhausted(by refusal: RetryRefusal, _ result: Result<HTTPResponse, HTTPError>) async -> HTTPError {
        let phase = "waiting to retry"
        switch result {
        case .success(let response):
            let kept = await kept(response)
            if refusal == .deadline { return ended(by: request.deadlinePassed(while: phase, response: kept)) }
            return ended(
                by: HTTPError(
                    codeWithoutRetry(kept.status), request: kept.request, response: kept,
                    message: "a validator requested a retry"
                        + (refusal == .notWorthIt ? "" : "; \(refusal.description)")))
        case .failure(let failure):
            guard refusal == .deadline, failure.code != .timedOut else { return ended(by: failure) }
            return ended(
                by: HTTPError(
                    .timedOut, request: failure.request, response: failure.response, underlying: failure,
                    message: "the deadline passed while \(phase)"))
        }
    }

    /// The code of a response for which a retry was requested but is not possible. Without an earlier retry, nothing
    /// was exhausted.
    private func codeWithoutRetry(_ status: HTTPStatus) -> HTTPError.Code {
        if attempts.count > 1 { return .retriesExhausted }
        return request.accepts(status) ? .validationFailed : .unacceptableStatus
    }

    /// Returns the error of a load that a validator failed.
    ///
    /// An ``HTTPError`` receives the response if it has none. A `CancellationError` becomes `.cancelled`. Any other
    /// error is the underlying error of `.validationFailed`.
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
