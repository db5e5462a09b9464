/// The state of a load after an attempt, on which the decision about a retry depends.
public struct RetryContext: Sendable {
    /// The request as the retry link received it, including the changes of an alternate.
    public let request: HTTPRequest
    /// The result of the last attempt.
    public let result: Result<HTTPResponse, HTTPError>
    /// The number of the possible retry: 1 after the first attempt.
    public let retry: Int
    /// The time since the start of the load.
    public let elapsed: Duration
    /// The attempts before the last one.
    public let earlier: [HTTPAttempt]

    /// Creates a context, for tests of custom conditions.
    public init(
        request: HTTPRequest, result: Result<HTTPResponse, HTTPError>, retry: Int = 1, elapsed: Duration = .zero,
        earlier: [HTTPAttempt] = []
    ) {
        self.request = request
        self.result = result
        self.retry = retry
        self.elapsed = elapsed
        self.earlier = earlier
    }

    /// The response; nil if the attempt failed.
    public var response: HTTPResponse? { try? result.get() }

    /// The failure; nil if there is a response.
    public var failure: HTTPError? {
        if case .failure(let failure) = result { failure } else { nil }
    }
}

/// A retry that is about to happen.
public struct RetryEvent: Sendable, CustomStringConvertible {
    /// The request that will be retried. An alternate may still change it.
    public let request: HTTPRequest
    /// The number of the retry, 1 for the first.
    public let retry: Int
    /// The result of the attempt before the retry.
    public let result: Result<HTTPResponse, HTTPError>
    /// The strategy that determines the wait.
    public let strategy: HTTPRetryStrategy
    /// The wait before the retry.
    public let delay: Duration
    /// All attempts so far. The last one contains the reason for the retry.
    public let attempts: [HTTPAttempt]

    /// Creates an event, for tests of code that observes retries.
    ///
    /// - Parameters:
    ///   - request: the request that will be retried.
    ///   - retry: the number of the retry. Default: 1.
    ///   - result: the result of the attempt before the retry.
    ///   - strategy: the strategy that determines the wait.
    ///   - delay: the wait before the retry. Default: zero.
    ///   - attempts: all attempts so far. Default: empty.
    public init(
        request: HTTPRequest, retry: Int = 1, result: Result<HTTPResponse, HTTPError>, strategy: HTTPRetryStrategy,
        delay: Duration = .zero, attempts: [HTTPAttempt] = []
    ) {
        (self.request, self.retry, self.result) = (request, retry, result)
        (self.strategy, self.delay, self.attempts) = (strategy, delay, attempts)
    }

    /// The last attempt and the retry, without secrets.
    public var description: String {
        "\(request.method.shown) \(request.redaction.outline(of: request)): "
            + (attempts.last?.description ?? "retried after \(delay)")
    }
}
