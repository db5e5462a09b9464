extension Observation {
    /// Records the verdict of a validator.
    func judge(_ validator: any HTTPValidator, _ result: HTTPValidatorResult) {
        record(.validatorVerdict) { event in
            event[.type] = String(describing: Swift.type(of: validator))
            switch result {
            case .nextValidator: event[.verdict] = "next"
            case .nextValidatorWithResponse: event[.verdict] = "replaced"
            case .retry: event[.verdict] = "retry"
            case .failChain(let error):
                event[.verdict] = "failed"
                event.describe(error)
            }
        }
    }
}

extension Retry {
    /// Records whether the last attempt of a load is retried. If it is not retried and there is no reason, nothing is
    /// recorded.
    func record(_ result: Result<HTTPResponse, HTTPError>, of load: RetryLoad) {
        guard let observation = load.request.observation, let attempt = load.attempts.last,
            attempt.delay != nil || !attempt.reason.isEmpty
        else { return }
        let origin = origin(of: result)
        observation.record(.retryDecided) { event in
            event[.isRetried] = attempt.delay != nil
            event[.reason] = attempt.reason.isEmpty ? nil : Redaction.visible(attempt.reason)
            event[.wait] = attempt.delay
            event[.status] = attempt.status?.code
            event[.errorType] = attempt.errorCode?.rawValue
            event[.origin] = origin?.description
            event[.budgetLeft] = ledger.tokensLeft(for: origin)
        }
    }
}
