/// Calls validators in order, until one returns a verdict that can be followed.
struct ValidatorRun {
    /// The combined verdict of all validators.
    enum Verdict {
        /// No validator objects. `refusal` is the reason if a suggested retry is not possible.
        case passed(Result<HTTPResponse, HTTPError>, refusal: RetryRefusal?)
        /// The request is retried.
        case again(Repetition)
        /// A validator requested a retry that is not possible.
        case refused(Result<HTTPResponse, HTTPError>, RetryRefusal)
        /// A validator fails the load.
        case failed(any Error, Result<HTTPResponse, HTTPError>)
    }

    /// The first verdict other than `nextValidator`, and the index of its validator.
    struct Heard {
        let place: Int
        let result: HTTPValidatorResult
    }

    let validators: [any HTTPValidator]
    /// The request as validators see it.
    let request: HTTPRequest
    /// Decides whether a retry that a validator requests is possible.
    let decide: (HTTPRetryStrategy, Result<HTTPResponse, HTTPError>) -> RetryDecision

    /// Judges the result of an attempt. A body that is still arriving is withheld from validators.
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
