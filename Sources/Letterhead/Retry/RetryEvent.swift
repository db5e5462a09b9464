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
