/// Suggests to try again what usually passes: statuses and failures that are about the moment, not about the request.
///
/// ```swift
/// var validator = DefaultValidator()
/// validator.retriableStatuses[.notFound] = .delayed(.seconds(1))   // a resource that is about to appear
/// validator.retriableStatuses[.internalServerError] = nil          // not those
/// ```
///
/// A server that sends `X-Should-Retry` with an error decides itself whether a retry is suggested.
///
/// What it suggests is a fallback (``HTTPRetryStrategy/asFallback()``): a `Retry-After` of the server counts more, and so
/// does the request's own strategy; and when it cannot be followed, because no retry is left (there is none unless the
/// request or the client says so) or the request must not be sent twice, the next validator judges. It never fails a
/// status: that is judged at the front door.
public struct DefaultValidator: HTTPValidator {
    /// The statuses that are worth a retry, each with its strategy.
    ///
    /// Default: 429 after 3 seconds; 408, 425, 500, 502, 503, 504 and 529 by exponential back-off from a second.
    public var retriableStatuses: [HTTPStatus: HTTPRetryStrategy]

    /// The failures that are worth a retry. Default: `.cannotConnect`, `.connectionLost` and `.timedOut`.
    public var retriableFailures: Set<HTTPError.Code>

    /// How to retry after such a failure. Default: exponential back-off from a second.
    public var failureStrategy: HTTPRetryStrategy

    /// Whether a response may be empty. Default: true.
    ///
    /// If not, one with a 2xx status and no body is `.emptyResponse`; 204, 205 and 304 and the answer to a HEAD, which
    /// never have one, may be empty all the same (RFC 9110, 6.4.1), and so may a body that is still arriving. A download is empty when nothing was
    /// saved.
    public var allowsEmptyResponses: Bool

    /// Makes the validator; see its properties for the defaults.
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

    /// The strategies of ``retriableStatuses`` that it starts with.
    public static let standardStatuses: [HTTPStatus: HTTPRetryStrategy] = {
        var statuses = RetryCondition.standardStatuses.reduce(into: [:]) { statuses, status in
            statuses[status] = HTTPRetryStrategy.exponential(base: .seconds(1))
        }
        statuses[.tooManyRequests] = .delayed(.seconds(3))
        return statuses
    }()

    /// Suggests a retry, else judges whether it may be empty.
    public func validate(response: HTTPResponse, forRequest request: HTTPRequest) -> HTTPValidatorResult {
        if let strategy = suggestion(for: response, request) { return .retry(strategy.asFallback()) }
        guard !allowsEmptyResponses, response.status.isSuccess, response.body.buffered != nil,
            response.contentCount == 0,
            ![.noContent, .resetContent].contains(response.status), request.method != .head
        else { return .nextValidator }
        return .failChain(
            HTTPError(.emptyResponse, request: request, response: response, message: "a body was expected"))
    }

    private func suggestion(for response: HTTPResponse, _ request: HTTPRequest) -> HTTPRetryStrategy? {
        let strategy = retriableStatuses[response.status]
        guard !request.accepts(response.status), let shouldRetry = response.headers.shouldRetry else { return strategy }
        return shouldRetry ? strategy ?? failureStrategy : nil
    }

    /// Suggests a retry.
    public func validate(failure: HTTPError, forRequest request: HTTPRequest) -> HTTPValidatorResult {
        retriableFailures.contains(failure.code) ? .retry(failureStrategy.asFallback()) : .nextValidator
    }
}
