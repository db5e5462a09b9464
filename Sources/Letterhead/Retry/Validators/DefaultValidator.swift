/// A validator that suggests a retry after temporary problems: after statuses and failures that are not caused by the
/// request itself.
///
/// ```swift
/// var validator = DefaultValidator()
/// validator.retriableStatuses[.notFound] = .delayed(.seconds(1))   // a resource that is about to appear
/// validator.retriableStatuses[.internalServerError] = nil          // not after a 500
/// ```
///
/// If an error response contains `X-Should-Retry`, this header field decides whether a retry is suggested.
///
/// The suggestion is a fallback (``HTTPRetryStrategy/asFallback()``): a `Retry-After` of the server and the strategies
/// of the request and of the settings take precedence. If no retry is left (by default, `maximumRetries` is 0) or the
/// request must not be sent twice, the next validator judges the result. This validator does not refuse a response
/// because of its status; the client checks the status of the final response.
public struct DefaultValidator: HTTPValidator {
    /// The statuses after which a retry is suggested, each with its strategy.
    ///
    /// Default: 429 after 3 seconds; 408, 425, 500, 502, 503, 504 and 529 with exponential back-off from one second.
    public var retriableStatuses: [HTTPStatus: HTTPRetryStrategy]

    /// The failures after which a retry is suggested. Default: `.cannotConnect`, `.connectionLost` and `.timedOut`.
    public var retriableFailures: Set<HTTPError.Code>

    /// The strategy after a failure in ``retriableFailures``, and after an `X-Should-Retry: true` with a status that is
    /// not in ``retriableStatuses``. Default: exponential back-off from one second.
    public var failureStrategy: HTTPRetryStrategy

    /// Whether a response may have an empty body. Default: true.
    ///
    /// If false, a response with a 2xx status and an empty body fails with `.emptyResponse`. Responses that never have
    /// a body (204, 205 and responses to HEAD) and responses whose body is still arriving are exempt. A download is
    /// empty if nothing was saved.
    public var allowsEmptyResponses: Bool

    /// Creates the validator; see its properties for the defaults.
    public init(
        retriableStatuses: [HTTPStatus: HTTPRetryStrategy] = DefaultValidator.standardStatuses,
        retriableFailures: Set<HTTPError.Code> = RetryCondition.standardFailures,
        failureStrategy: HTTPRetryStrategy = .exponential(base: .seconds(1)), allowsEmptyResponses: Bool = true
    ) {
        self.retriableStatuses = retriableStatuses
        self.retriableFailures = retriableFailures
        self.failureStrategy = failureStrategy
        self.allowsEmptyResponses = allowsEmptyResponses
    }

    /// The default of ``retriableStatuses``.
    public static let standardStatuses: [HTTPStatus: HTTPRetryStrategy] = {
        var statuses = RetryCondition.standardStatuses.reduce(into: [:]) { statuses, status in
            statuses[status] = HTTPRetryStrategy.exponential(base: .seconds(1))
        }
        statuses[.tooManyRequests] = .delayed(.seconds(3))
        return statuses
    }()

    /// Suggests a retry after a retriable status; otherwise checks for an empty body.
    public func validate(response: HTTPResponse, forRequest request: HTTPRequest) -> HTTPValidatorResult {
        if let strategy = suggestion(for: response, request) { return .retry(strategy.asFallback()) }
        guard !allowsEmptyResponses, response.status.isSuccess, response.body.buffered != nil,
            response.contentCount == 0,
            ![.noContent, .resetContent].contains(response.status), request.method != .head
        else { return .nextValidator }
        return .failChain(
            HTTPError(.emptyResponse, request: request, response: response, message: "the response has no body"))
    }

    private func suggestion(for response: HTTPResponse, _ request: HTTPRequest) -> HTTPRetryStrategy? {
        let strategy = retriableStatuses[response.status]
        guard !request.accepts(response.status), let shouldRetry = response.headers.shouldRetry else { return strategy }
        return shouldRetry ? strategy ?? failureStrategy : nil
    }

    /// Suggests a retry after a retriable failure.
    public func validate(failure: HTTPError, forRequest request: HTTPRequest) -> HTTPValidatorResult {
        retriableFailures.contains(failure.code) ? .retry(failureStrategy.asFallback()) : .nextValidator
    }
}
