extension RetryLoad {
    /// The error of a load that was cancelled between two attempts.
    var cancelled: HTTPError { ended(by: HTTPError(.cancelled, request: request)) }

    /// The result with all attempts on it.
    func ended(with result: Result<HTTPResponse, HTTPError>) throws(HTTPError) -> HTTPResponse {
        do throws(HTTPError) {
            var response = try result.get()
            response.attempts = attempts
            return response
        } catch {
            throw ended(by: error)
        }
    }

    /// An error with all attempts on it, which tells of all of them whether something was sent.
    func ended(by error: HTTPError) -> HTTPError {
        error.with(attempts: attempts, mayHaveBeenSent: mayHaveBeenSent)
    }

    /// The error of a load whose retry was called for, and cannot be: a failure stays what it is.
    func exhausted(by refusal: RetryRefusal, _ result: Result<HTTPResponse, HTTPError>) async -> HTTPError {
        let phase = "waiting to try again"
        switch result {
        case .success(let response):
            let kept = await kept(response)
            if refusal == .deadline { return ended(by: request.deadlinePassed(while: phase, response: kept)) }
            return ended(
                by: HTTPError(
                    codeWithoutRetry(kept.status), request: kept.request, response: kept,
                    message: "a validator asked for a retry"
                        + (refusal == .notWorthIt ? "" : "; \(refusal.description)")))
        case .failure(let failure):
            guard refusal == .deadline, failure.code != .timedOut else { return ended(by: failure) }
            return ended(
                by: HTTPError(
                    .timedOut, request: failure.request, response: failure.response, underlying: failure,
                    message: "the deadline passed while \(phase)"))
        }
    }

    /// The code of a response that was to be retried and cannot be: nothing is exhausted when nothing was retried.
    private func codeWithoutRetry(_ status: HTTPStatus) -> HTTPError.Code {
        if attempts.count > 1 { return .retriesExhausted }
        return request.accepts(status) ? .validationFailed : .unacceptableStatus
    }

    /// The error of a load that a validator failed: an ``HTTPError`` as it is, any other inside one.
    func failed(with error: any Error, _ result: Result<HTTPResponse, HTTPError>) async -> HTTPError {
        let response: HTTPResponse? = if case .success(let response) = result { await kept(response) } else { nil }
        if error is HTTPError || error is CancellationError {
            var failure = HTTPError(error, request: request, response: response)
            // A validator sees no body that is streamed; the error carries what can be read of it.
            if let own = failure.response, own.body.buffered == nil { failure = failure.with(response: response) }
            return ended(by: failure)
        }
        return ended(
            by: HTTPError(
                .validationFailed, request: response?.request ?? request,
                response: response ?? result.failure?.response, underlying: error,
                message: "a validator failed it: \(HTTPError.summary(of: error))"))
    }

    private func kept(_ response: HTTPResponse) async -> HTTPResponse {
        var response = await response.keptInMemory()
        response.attempts = attempts
        return response
    }
}
