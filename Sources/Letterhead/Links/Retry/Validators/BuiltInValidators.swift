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
/// of the request and of the settings take precedence, and if no retry is possible, the next validator judges the
/// result. The status of the final response is not checked here, but by the client.
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
    /// If false, a response with a 2xx status and an empty body, or a download of zero bytes, fails with
    /// `.emptyResponse`. The statuses 204 and 205, responses to HEAD and streams are exempt.
    public var allowsEmptyResponses: Bool

    /// Creates the validator; see its properties for the defaults.
    public init(
        retriableStatuses: [HTTPStatus: HTTPRetryStrategy] = DefaultValidator.standardStatuses,
        retriableFailures: Set<HTTPError.Code> = Retry.Condition.standardFailures,
        failureStrategy: HTTPRetryStrategy = .exponential(base: .seconds(1)), allowsEmptyResponses: Bool = true
    ) {
        (self.retriableStatuses, self.retriableFailures) = (retriableStatuses, retriableFailures)
        (self.failureStrategy, self.allowsEmptyResponses) = (failureStrategy, allowsEmptyResponses)
    }

    /// The default of ``retriableStatuses``.
    public static let standardStatuses = Retry.Condition.standardStatuses.reduce(into: [:]) { statuses, status in
        statuses[status] = status == .tooManyRequests ? HTTPRetryStrategy.delayed(.seconds(3)) : .exponential
    }

    /// Suggests a retry after a retriable status; otherwise checks for an empty body.
    public func validate(response: HTTPResponse, forRequest request: HTTPRequest) -> HTTPValidatorResult {
        if let strategy = suggestion(for: response, request) { return .retry(strategy.asFallback()) }
        guard !allowsEmptyResponses, response.status.isSuccess, response.body.buffered != nil,
            response.contentCount == 0,
            ![.noContent, .resetContent].contains(response.status), request.method != .head
        else { return .nextValidator }
        return .failChain(
            HTTPError(
                .emptyResponse, request: response.request, response: response, message: "the response has no body"))
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

/// A validator that refuses responses with an unexpected media type, such as the HTML page of a proxy instead of JSON.
///
/// ```swift
/// ContentTypeValidator(["application/json", "application/*+json"])
/// ```
///
/// Only responses that have an accepted status and a body are checked; an error response may have any type. The body of
/// a download is the saved file. The failure is `.validationFailed`, and its message names the received and the
/// expected types.
public struct ContentTypeValidator: HTTPValidator {
    private let types: [String]
    private let allowsMissing: Bool

    /// Creates the validator.
    ///
    /// - Parameters:
    ///   - types: the expected types, without parameters: `application/json`, `text/*`, `application/*+json`, `*/*`.
    ///   - allowsMissing: whether a response may omit its media type. Default: false.
    public init(_ types: [String], allowsMissing: Bool = false) {
        self.types = types.map { ASCII.lowercased(ASCII.trimmed($0)) }
        self.allowsMissing = allowsMissing
    }

    /// Fails an accepted response whose media type is not expected.
    public func validate(response: HTTPResponse, forRequest request: HTTPRequest) -> HTTPValidatorResult {
        guard request.accepts(response.status), request.method != .head, response.contentCount != 0 else {
            return .nextValidator
        }
        let type = response.headers.mediaType?.essence
        if let type { if types.contains(where: { Self.pattern($0, matches: type) }) { return .nextValidator } }
        if type == nil, allowsMissing, !response.headers.contains(.contentType) { return .nextValidator }
        let message = "the media type of the body is \(type ?? "missing or malformed"), expected "
        return .failChain(
            HTTPError(
                .validationFailed, request: response.request, response: response,
                message: message + types.joined(separator: " or ")))
    }

    /// A star matches a whole type, a whole subtype, or the part of a subtype before its suffix.
    private static func pattern(_ pattern: String, matches type: String) -> Bool {
        guard let wanted = pattern.cut(at: "/"), let given = type.cut(at: "/") else { return false }
        guard wanted.head == "*" || wanted.head == given.head else { return false }
        if wanted.tail == "*" || wanted.tail == given.tail { return true }
        return wanted.tail.begins(with: "*+") && given.tail.ends(with: wanted.tail.dropFirst())
            && given.tail.count > wanted.tail.count - 1
    }
}

/// A validator that calls closures.
///
/// ```swift
/// ClosureValidator { response, _ in response.headers["X-Partial"] == nil ? .nextValidator : .retry(.immediate) }
/// ```
public struct ClosureValidator: HTTPValidator {
    private let response: @Sendable (HTTPResponse, HTTPRequest) async throws -> HTTPValidatorResult
    private let failure: @Sendable (HTTPError, HTTPRequest) async throws -> HTTPValidatorResult

    /// Creates a validator.
    ///
    /// - Parameters:
    ///   - response: judges responses.
    ///   - failure: judges failures. Default: continues with the next validator.
    public init(
        response: @escaping @Sendable (HTTPResponse, HTTPRequest) async throws -> HTTPValidatorResult,
        failure: @escaping @Sendable (HTTPError, HTTPRequest) async throws -> HTTPValidatorResult = { _, _ in
            .nextValidator
        }
    ) {
        (self.response, self.failure) = (response, failure)
    }

    /// Calls the closure for responses.
    public func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        try await self.response(response, request)
    }

    /// Calls the closure for failures.
    public func validate(failure: HTTPError, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        try await self.failure(failure, request)
    }
}
