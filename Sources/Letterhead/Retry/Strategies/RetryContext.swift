/// What is known when it is decided whether a request is sent again.
public struct RetryContext: Sendable {
    /// The request, as it came to the retry, and as an alternate has changed it since.
    public let request: HTTPRequest
    /// How the last attempt ended.
    public let result: Result<HTTPResponse, HTTPError>
    /// Which retry it would be: 1 behind the first attempt.
    public let retry: Int
    /// How long the load has taken so far.
    public let elapsed: Duration
    /// The attempts before the last one.
    public let earlier: [HTTPAttempt]

    /// Makes a context, for tests of conditions of your own.
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

    /// How the server answered; nil when it did not.
    public var response: HTTPResponse? { try? result.get() }

    /// Why there is no response; nil when there is one.
    public var failure: HTTPError? {
        if case .failure(let failure) = result { failure } else { nil }
    }
}

/// A retry that is about to happen.
public struct RetryEvent: Sendable, CustomStringConvertible {
    /// The request that is sent again, as far as it is known: an alternate may still change it.
    public let request: HTTPRequest
    /// Which retry it is, 1 for the first.
    public let retry: Int
    /// How the attempt before it ended.
    public let result: Result<HTTPResponse, HTTPError>
    /// The strategy that asks for it.
    public let strategy: HTTPRetryStrategy
    /// How long will be waited.
    public let delay: Duration
    /// The attempts so far, with the reason for the retry on the last.
    public let attempts: [HTTPAttempt]

    /// The last attempt and what follows, without secrets.
    public var description: String {
        "\(request.method.shown) \(request.redaction.outline(of: request)): "
            + (attempts.last?.description ?? "retried after \(delay)")
    }
}
