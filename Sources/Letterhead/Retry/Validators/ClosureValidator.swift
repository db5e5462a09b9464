/// Closures as a validator.
///
/// ```swift
/// ClosureValidator { response, _ in response.headers["X-Partial"] == nil ? .nextValidator : .retry(.immediate) }
/// ```
public struct ClosureValidator: HTTPValidator {
    /// Judges a response.
    public typealias JudgeResponse = @Sendable (HTTPResponse, HTTPRequest) async throws -> HTTPValidatorResult
    /// Judges a failure.
    public typealias JudgeFailure = @Sendable (HTTPError, HTTPRequest) async throws -> HTTPValidatorResult

    private let judgeResponse: JudgeResponse
    private let judgeFailure: JudgeFailure

    /// Makes a validator.
    ///
    /// - Parameters:
    ///   - response: judges responses.
    ///   - failure: judges failures. Default: asks the next validator.
    public init(
        response: @escaping JudgeResponse, failure: @escaping JudgeFailure = { _, _ in .nextValidator }
    ) {
        judgeResponse = response
        judgeFailure = failure
    }

    /// Asks the closure for responses.
    public func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        try await judgeResponse(response, request)
    }

    /// Asks the closure for failures.
    public func validate(failure: HTTPError, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        try await judgeFailure(failure, request)
    }
}
