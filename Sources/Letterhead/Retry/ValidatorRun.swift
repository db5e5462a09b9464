/// Asks validators in order, until one gives a verdict that can be followed.
struct ValidatorRun {
    /// What it comes to.
    enum Verdict {
        /// Nobody objects; with what a suggestion of a retry was refused for.
        case passed(Result<HTTPResponse, HTTPError>, refusal: RetryRefusal?)
        /// A retry.
        case again(Repetition)
        /// A retry that was called for, and cannot be.
        case refused(Result<HTTPResponse, HTTPError>, RetryRefusal)
        /// A validator fails the load.
        case failed(any Error, Result<HTTPResponse, HTTPError>)
    }

    /// What a validator has said already, and those before it had nothing to say.
    struct Heard {
        let place: Int
        let result: HTTPValidatorResult
    }

    let validators: [any HTTPValidator]
    /// The request as validators see it.
    let request: HTTPRequest
    /// Whether a retry that a validator asks for can be.
    let decide: (HTTPRetryStrategy, Result<HTTPResponse, HTTPError>) -> RetryDecision

    /// Judges how an attempt ended. The body of a response that is still arriving is withheld meanwhile.
    func verdict(on first: Result<HTTPResponse, HTTPError>, heard: Heard?) async -> Verdict {
        var result = first
        var refusal: RetryRefusal?
        for place in validators.indices.dropFirst(heard?.place ?? 0) {
            let judged: HTTPValidatorResult
            if let heard, heard.place == place {
                judged = heard.result
            } else {
                do { judged = try await ask(validators[place], about: result) } catch { return .failed(error, result) }
            }
            switch judged {
            case .nextValidator: break
            case .nextValidatorWithResponse(var response):
                response.body = response.body.released()
                result = .success(response)
            case .failChain(let error): return .failed(error, result)
            case .retry(let strategy):
                switch decide(strategy, result) {
                case .again(let repetition): return .again(repetition)
                case .no(let reason) where strategy.isFallback: refusal = refusal ?? reason
                case .no(let reason): return .refused(result, reason)
                }
            }
        }
        return .passed(result, refusal: refusal)
    }

    private func ask(
        _ validator: any HTTPValidator, about result: Result<HTTPResponse, HTTPError>
    ) async throws -> HTTPValidatorResult {
        switch result {
        case .success(let response) where response.body.buffered != nil:
            return try await validator.validate(response: response, forRequest: request)
        case .success(var response):
            response.body = response.body.withheld()
            return try await validator.validate(response: response, forRequest: request)
        case .failure(let failure):
            return try await validator.validate(failure: failure, forRequest: request)
        }
    }
}
