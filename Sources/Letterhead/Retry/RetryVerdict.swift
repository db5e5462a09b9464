/// The combined verdict of the validators and the strategy of a request on an attempt.
struct RetryVerdict {
    enum Step {
        /// No validator fails the load or requires a retry. The refusal is the reason why a retry that applies is not
        /// made; nil if no retry applies.
        case pass(RetryRefusal?)
        /// The request is retried.
        case retry(PlannedRetry)
        /// A validator requested a retry that is not possible.
        case refuse(RetryRefusal)
        /// A validator fails the load.
        case fail(any Error)

        /// The reason that is recorded in the attempt; empty if there is none.
        var reason: String {
            switch self {
            case .pass(let refusal): refusal?.description ?? ""
            case .retry(let retry): retry.reason
            case .refuse(let refusal): refusal.description
            case .fail: "a validator failed the request"
            }
        }
    }

    var step: Step
    /// The response that a validator returned in place of that of the attempt.
    var replacement: HTTPResponse?

    init(_ step: Step) { self.step = step }
}

extension HTTPValidator {
    /// Returns the verdict on the result of an attempt. A body that is still arriving is withheld from the validator.
    @inline(__always)
    func result(
        of result: Result<HTTPResponse, HTTPError>, for request: HTTPRequest
    ) async -> HTTPValidatorResult {
        do {
            switch result {
            case .success(let response) where response.body.buffered != nil:
                return try await validate(response: response, forRequest: request)
            case .success(var response):
                response.body = response.body.withheld()
                return try await validate(response: response, forRequest: request)
            case .failure(let failure):
                return try await validate(failure: failure, forRequest: request)
            }
        } catch {
            return .failChain(error)
        }
    }
}
