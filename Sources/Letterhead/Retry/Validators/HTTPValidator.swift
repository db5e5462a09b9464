/// Judges how an attempt ended: a response, or a failure without one.
///
/// Use: give a list to a client, or to one endpoint with `validated(by:)`; they are asked in order, once for each attempt,
/// until one gives a verdict. Choose: ``DefaultValidator``, ``ContentTypeValidator``, ``AltRequestValidator``, or
/// ``ClosureValidator`` for a closure. Write one for what only your API knows, such as an envelope around every answer:
///
/// ```swift
/// struct Envelope: Decodable { var code: Int; var message: String? }
///
/// struct EnvelopeValidator: HTTPValidator {
///     func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
///         let envelope = try JSONDecoder().decode(Envelope.self, from: try await response.body.data())
///         switch envelope.code {
///         case 0: return .nextValidator
///         case 1: return .retry(.fibonacci(unit: .seconds(1)))
///         default: return .failChain(ServiceError(message: envelope.message ?? ""))
///         }
///     }
/// }
/// ```
///
/// What a validator learns it hands to the caller as a typed value of the response (``HTTPResponse/subscript(option:)``): it changes its
/// copy and answers ``HTTPValidatorResult/nextValidatorWithResponse(_:)``.
///
/// Laws: it keeps no state of a load, since one validator serves many at once; which attempt it is stands in
/// ``HTTPRequest/attemptNumber``. An error that it throws is the same as ``HTTPValidatorResult/failChain(_:)``. On a
/// streamed response it sees the head; asking for the body throws ``HTTPBodyError/withheld``, and takes nothing from the caller.
public protocol HTTPValidator: Sendable {
    /// Judges a response of any status, behind all redirects. Default: asks the next validator.
    ///
    /// - Parameters:
    ///   - response: how the server answered; what validators before this one put in its place.
    ///   - request: the request as it came to the validators, with the number of the attempt.
    func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult

    /// Judges a failure, when there is no response. Default: asks the next validator.
    ///
    /// - Parameters:
    ///   - failure: why there is none.
    ///   - request: the request as it came to the validators, with the number of the attempt.
    func validate(failure: HTTPError, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult
}

extension HTTPValidator {
    /// Asks the next validator.
    public func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        .nextValidator
    }

    /// Asks the next validator.
    public func validate(failure: HTTPError, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        .nextValidator
    }
}

/// Which attempt a request is.
enum AttemptNumberOption: HTTPRequestOption {
    static let defaultOptionValue: Int? = nil
}

extension HTTPRequest {
    /// Which attempt of its load it is, for validators and for links behind the retry: 1 for the first.
    public var attemptNumber: Int { self[option: AttemptNumberOption.self] ?? 1 }
}

/// What a validator says of an attempt.
public enum HTTPValidatorResult: Sendable {
    /// Nothing: the next validator judges; behind the last one, the attempt stands as it is.
    case nextValidator

    /// The next validator judges this response instead, and the caller gets it; of a failure, it makes a response.
    case nextValidatorWithResponse(HTTPResponse)

    /// The load fails, and no other validator is asked.
    ///
    /// An ``HTTPError`` reaches the caller as it is; any other is inside one, unchanged, with the code
    /// `.validationFailed`.
    case failChain(any Error)

    /// The request is sent again, as the strategy says, and no other validator is asked.
    ///
    /// It counts as a retry and is bound to the same limits as any other (``Retry``). When the request cannot be retried, a
    /// failure stays what it is. A response becomes an error that carries it: `.retriesExhausted` after at least one retry,
    /// else `.unacceptableStatus`, or `.validationFailed` when its status counts as success.
    case retry(HTTPRetryStrategy)
}

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
