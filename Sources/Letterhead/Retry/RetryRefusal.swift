/// Why a request is not sent again; it stands as the reason on the last attempt.
enum RetryRefusal: Equatable, CustomStringConvertible {
    /// The load was cancelled, or a reset is under way.
    case cancelled
    /// A response transformer threw.
    case transformerFailed
    /// All retries were made; so many were allowed.
    case noneLeft(maximum: Int)
    /// Another retry further up retries.
    case nested
    /// Nothing asks for it, or the condition of the strategy does not hold.
    case notWorthIt
    /// The body cannot be had again.
    case oneTimeBody
    /// The method is not idempotent, and something may have been sent.
    case unsafeMethod
    /// The strategy gives no wait.
    case strategyEnded
    /// The alternate request was sent as often as one load may.
    case alternatesUsedUp
    /// The server asks for more time than it is given.
    case serverDelay(Duration, longest: Duration)
    /// The wait would pass the deadline.
    case deadline
    /// The budget of the host is used up.
    case budget

    /// Whether the attempt was worth a retry, and the budget would have paid for it.
    var isOfFailure: Bool {
        switch self {
        case .noneLeft, .oneTimeBody, .unsafeMethod, .strategyEnded, .serverDelay, .deadline: true
        case .cancelled, .transformerFailed, .nested, .notWorthIt, .alternatesUsedUp, .budget: false
        }
    }

    var description: String {
        switch self {
        case .cancelled: "not retried: the load was ended"
        case .transformerFailed: "not retried: a response transformer failed the load"
        case .noneLeft(0): "not retried: no retry is allowed; set maximumRetries"
        case .noneLeft(1): "not retried: the one allowed retry was made"
        case .noneLeft(let maximum): "not retried: all \(maximum) allowed retries were made"
        case .nested: "not retried here: another retry further up the chain retries"
        case .notWorthIt: ""
        case .oneTimeBody: "not retried: the body can be sent only once"
        case .unsafeMethod: "not retried: the method is not idempotent; mark it idempotent() if it may be sent twice"
        case .strategyEnded: "not retried: the strategy has no wait left"
        case .alternatesUsedUp: "not retried: the alternate request was sent as often as one load may"
        case .serverDelay(let delay, let longest):
            "not retried: the server asks for a wait of \(delay), and \(longest) is the longest allowed"
        case .deadline: "not retried: the wait would pass the deadline"
        case .budget: "not retried: the retry budget of the host is used up"
        }
    }
}
