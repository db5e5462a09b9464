// SPDX-License-Identifier: MIT
/// Suggests a retry after statuses and failures that are probably temporary. Change the two lists to suit your server:
///
/// ```swift
/// var validator = DefaultValidator()
/// validator.retriableStatuses[.notFound] = .delayed(.seconds(1))   // a resource that is about to appear
/// ```
///
/// In an error response, `X-Should-Retry` decides instead. The suggestion is a fallback
/// (``HTTPRetryStrategy/asFallback()``): a `Retry-After` of the server and the strategies of the request and of the
/// settings take precedence, and if no retry is possible, the next validator judges the result. The client checks the
/// status of the final response, not this validator.
public struct DefaultValidator: HTTPValidator {
    /// The waits by status. Default: 429 after 3 seconds; 408, 425, 500, 502, 503, 504 and 529 with exponential
    /// back-off from one second.
    public var retriableStatuses: [HTTPStatus: HTTPRetryStrategy]

    public var retriableFailures: Set<HTTPError.Code>

    /// The strategy after a failure in ``retriableFailures``, and after an `X-Should-Retry: true` with a status that is
    /// not in ``retriableStatuses``.
    public var failureStrategy: HTTPRetryStrategy

    /// If false, a 2xx response with an empty body, or a download of zero bytes, fails with `.emptyResponse`. The
    /// statuses 204 and 205, responses to HEAD and streams are exempt.
    public var allowsEmptyResponses: Bool

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

    public func validate(failure: HTTPError, forRequest request: HTTPRequest) -> HTTPValidatorResult {
        retriableFailures.contains(failure.code) ? .retry(failureStrategy.asFallback()) : .nextValidator
    }
}

/// Refuses responses with an unexpected media type, such as the HTML page of a proxy instead of JSON.
///
/// ```swift
/// ContentTypeValidator(["application/json", "application/*+json"])
/// ```
///
/// Only responses that have an accepted status and a body are checked; the body of a download is the saved file. The
/// failure is `.validationFailed`, and its message names the received and the expected types.
public struct ContentTypeValidator: HTTPValidator {
    private let types: [String]
    private let allowsMissing: Bool

    /// Write the types without parameters: `application/json`, `text/*`, `application/*+json`, `*/*`. With
    /// `allowsMissing`, a response may omit its type.
    public init(_ types: [String], allowsMissing: Bool = false) {
        self.types = types.map { ASCII.lowercased(ASCII.trimmed($0)) }
        self.allowsMissing = allowsMissing
    }

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

/// Validates with closures. Without one for failures, the next validator judges them.
///
/// ```swift
/// ClosureValidator { response, _ in response.headers["X-Partial"] == nil ? .nextValidator : .retry(.immediate) }
/// ```
public struct ClosureValidator: HTTPValidator {
    private let response: @Sendable (HTTPResponse, HTTPRequest) async throws -> HTTPValidatorResult
    private let failure: @Sendable (HTTPError, HTTPRequest) async throws -> HTTPValidatorResult

    public init(
        response: @escaping @Sendable (HTTPResponse, HTTPRequest) async throws -> HTTPValidatorResult,
        failure: @escaping @Sendable (HTTPError, HTTPRequest) async throws -> HTTPValidatorResult = { _, _ in
            .nextValidator
        }
    ) {
        (self.response, self.failure) = (response, failure)
    }

    public func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        try await self.response(response, request)
    }

    public func validate(failure: HTTPError, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        try await self.failure(failure, request)
    }
}
