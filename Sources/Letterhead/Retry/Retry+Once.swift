/// A completed attempt, and the verdict of a validator on it.
struct JudgedAttempt {
    let result: Result<HTTPResponse, HTTPError>
    /// The first verdict other than `nextValidator`; nil if no validator has run yet.
    var heard: ValidatorRun.Heard?
}

extension Retry {
    /// Returns whether the request cannot be retried, and only the client's validators apply to it. Most requests are
    /// plain and succeed, so they skip the bookkeeping that only retries need.
    func isPlain(_ request: HTTPRequest) -> Bool {
        let options = request.options
        return settings.maximumRetries == 0 && transformers.isEmpty && !options.contains(MaximumRetriesOption.self)
            && !options.contains(ValidatorsOption.self) && !options.contains(ResponseTransformersOption.self)
            && !options.contains(RetryStrategyOption.self) && !options.contains(IdempotencyOption.self)
            && !Task.isCancelled
    }

    /// Sends a plain request. If a validator has a verdict on the result, the load continues as any other.
    func loadOnce(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var response: HTTPResponse
        do throws(HTTPError) {
            response = try await next.load(request)
        } catch {
            return try await loadRepeatedly(request, next: next, behind: JudgedAttempt(result: .failure(error)))
        }
        for place in validators.indices {
            let said = await verdict(of: validators[place], on: response, of: request)
            if case .nextValidator = said { continue }
            let heard = ValidatorRun.Heard(place: place, result: said)
            return try await loadRepeatedly(
                request, next: next, behind: JudgedAttempt(result: .success(response), heard: heard))
        }
        ledger.succeed(to: response.request.origin, cost: nil)
        response.attempts = [HTTPAttempt(number: 1, status: response.status)]
        return response
    }

    private func verdict(
        of validator: any HTTPValidator, on response: HTTPResponse, of request: HTTPRequest
    ) async -> HTTPValidatorResult {
        do {
            guard response.body.isStreamed else {
                return try await validator.validate(response: response, forRequest: request)
            }
            var head = response
            head.body = response.body.withheld()
            return try await validator.validate(response: head, forRequest: request)
        } catch {
            return .failChain(error)
        }
    }
}
