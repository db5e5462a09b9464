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
