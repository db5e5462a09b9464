/// The reason why a request is not retried. The last attempt carries it.
enum RetryRefusal: Equatable, CustomStringConvertible {
    /// The load was cancelled, or a reset is in progress.
    case cancelled
    /// A response transformer threw.
    case transformerFailed
    /// All allowed retries were made.
    case noneLeft(maximum: Int)
    /// Another retry link further up retries the request.
    case nested
    /// No retry was requested, or the condition of the strategy does not hold.
    case notWorthIt
    /// The body is a one-shot body.
    case oneTimeBody
    /// The method is not idempotent, and a part of the request may have been sent.
    case unsafeMethod
    /// The strategy returns no wait for another retry.
    case strategyEnded
    /// The load took part in as many alternate requests as allowed.
    case alternatesUsedUp
    /// The server asks for a longer wait than allowed.
    case serverDelay(Duration, longest: Duration)
    /// The wait would pass the deadline.
    case deadline
    /// The budget of the host is used up.
    case budget

    /// Whether the refusal counts as a failure of the origin: the attempt deserved a retry, but a limit, the deadline,
    /// the strategy, the method or the body prevented it. A used-up budget and used-up alternate requests do not count.
    var isOfFailure: Bool {
        switch self {
        case .noneLeft, .oneTimeBody, .unsafeMethod, .strategyEnded, .serverDelay, .deadline: true
        case .cancelled, .transformerFailed, .nested, .notWorthIt, .alternatesUsedUp, .budget: false
        }
    }

    var description: String {
        switch self {
        case .cancelled: "not retried: the request was cancelled or reset"
        case .transformerFailed: "not retried: a response transformer failed the request"
        case .noneLeft(0): "not retried: no retry is allowed; set maximumRetries"
        case .noneLeft(1): "not retried: the one allowed retry was made"
        case .noneLeft(let maximum): "not retried: all \(maximum) allowed retries were made"
        case .nested: "not retried here: another Retry further up the chain retries the request"
        case .notWorthIt: ""
        case .oneTimeBody: "not retried: the body can be sent only once"
        case .unsafeMethod: "not retried: the method is not idempotent; use idempotent() if it may be sent twice"
        case .strategyEnded: "not retried: the strategy allows no further retry"
        case .alternatesUsedUp: "not retried: the maximum number of alternate requests for one request was reached"
        case .serverDelay(let delay, let longest):
            "not retried: the server asks for a wait of \(delay), and longestServerDelay is \(longest)"
        case .deadline: "not retried: the wait would pass the deadline"
        case .budget: "not retried: the retry budget of the host is used up"
        }
    }
}
