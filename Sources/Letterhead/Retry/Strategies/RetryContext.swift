/// The state of a load after an attempt that may be retried.
///
/// A ``RetryCondition`` receives it before a retry is decided. ``RetrySettings/onRetry`` and
/// ``RequestSettings/onRetry`` receive it only if a retry follows, with the strategy and the wait.
public struct RetryContext: Sendable, CustomStringConvertible {
    /// The request of the load, with the changes of earlier alternates.
    public let request: HTTPRequest
    /// The result of the last attempt.
    public let result: Result<HTTPResponse, HTTPError>
    /// The number of the possible retry: 1 after the first attempt.
    public let retry: Int
    /// The time since the start of the load.
    public let elapsed: Duration
    /// The earlier attempts. Once a retry has been decided, the last attempt is included, with the reason for its
    /// retry.
    public let attempts: [HTTPAttempt]
    /// The strategy of the retry; nil before the decision.
    public let strategy: HTTPRetryStrategy?
    /// The wait before the retry; nil before the decision.
    public let delay: Duration?

    /// Creates a context, for tests of custom conditions and of code that observes retries.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - result: the result of the last attempt.
    ///   - retry: the number of the possible retry. Default: 1.
    ///   - elapsed: the time since the start of the load. Default: zero.
    ///   - attempts: the earlier attempts. Default: empty.
    ///   - strategy: the strategy of the retry. Default: nil.
    ///   - delay: the wait before the retry. Default: nil.
    public init(
        request: HTTPRequest, result: Result<HTTPResponse, HTTPError>, retry: Int = 1, elapsed: Duration = .zero,
        attempts: [HTTPAttempt] = [], strategy: HTTPRetryStrategy? = nil, delay: Duration? = nil
    ) {
        (self.request, self.result, self.retry, self.elapsed) = (request, result, retry, elapsed)
        (self.attempts, self.strategy, self.delay) = (attempts, strategy, delay)
    }

    /// The response; nil if the attempt failed.
    public var response: HTTPResponse? { try? result.get() }

    /// The failure; nil if there is a response.
    public var failure: HTTPError? {
        if case .failure(let failure) = result { failure } else { nil }
    }

    /// The request and the last of ``attempts``, or the state of the retry if there are none. It contains no secrets.
    public var description: String {
        "\(request.method.printable) \(request.redaction.outline(of: request)): "
            + (attempts.last?.description ?? delay.map { "retried after \($0)" } ?? "retry \(retry) is not decided")
    }
}
