// SPDX-License-Identifier: MIT
/// Judge each attempt by the rules of your API, such as an envelope around every response. Pass validators to a client,
/// or to one endpoint with `validated(by:)`; they are called in order until one fails the load or requests a retry.
///
/// ```swift
/// struct Envelope: Decodable { var code: Int }
///
/// struct EnvelopeValidator: HTTPValidator {
///     func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
///         let envelope = try JSONDecoder().decode(Envelope.self, from: try await response.body.data())
///         return envelope.code == 0 ? .nextValidator : .failChain(.invalidResponse, "code \(envelope.code)")
///     }
/// }
/// ```
///
/// To pass a value to the caller, set a typed option on a copy of the response (``HTTPResponse/subscript(option:)``)
/// and return it with ``HTTPValidatorResult/nextValidatorWithResponse(_:)``.
///
/// Store no state of a load in a validator, because it is called for many loads at the same time; the request has its
/// ``HTTPRequest/attemptNumber``. An error that a validator throws has the effect of
/// ``HTTPValidatorResult/failChain(_:)``. Of a streamed response, it receives only the head: reading the body throws
/// ``HTTPBodyError/withheld`` and consumes no bytes.
public protocol HTTPValidator: Sendable {
    /// Judges a response of any status, after all redirects, or the one with which an earlier validator replaced it.
    /// The request is that of the attempt: what the retry link received, with the number of the attempt and the changes
    /// of alternate requests. Default: continues with the next validator.
    func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult

    /// Judges the error of an attempt without a response. Default: continues with the next validator.
    func validate(failure: HTTPError, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult
}

extension HTTPValidator {
    /// Continues with the next validator.
    public func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        .nextValidator
    }

    /// Continues with the next validator.
    public func validate(failure: HTTPError, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        .nextValidator
    }
}

enum AttemptNumberOption: HTTPRequestOption { static let defaultOptionValue: Int? = nil }

extension HTTPRequest {
    /// The number of this attempt, 1 for the first; nil unless a retry link further up may retry the request.
    ///
    /// A retry link sends a request that has a number only once, also below a client that is the transport of another
    /// one, so that retries do not multiply. Your own retry link sets the number of each attempt, and removes it from the
    /// request of each result, because the caller may send that request again.
    public var attemptNumber: Int? {
        get { self[option: AttemptNumberOption.self] }
        set {
            guard let newValue else { return options.remove(AttemptNumberOption.self) }
            self[option: AttemptNumberOption.self] = newValue
        }
    }
}

/// What follows the attempt that a validator judged.
public enum HTTPValidatorResult: Sendable {
    /// Continues with the next validator. After the last one, the result of the attempt is returned or thrown.
    case nextValidator

    /// Continues with the next validator and with this response in place of the result, even if the attempt failed.
    case nextValidatorWithResponse(HTTPResponse)

    /// Fails the load. No other validator is called, and the request is not retried: return it before
    /// ``DefaultValidator`` judges a response that it would retry. An ``HTTPError`` is thrown unchanged. A `CancellationError`
    /// becomes the underlying error of a `.cancelled`, any other error that of a `.validationFailed`.
    case failChain(any Error)

    /// Retries the request, within the limits of ``Retry``. No other validator is called.
    ///
    /// If a retry is not possible, a failure is thrown unchanged; for a response, the error contains it and is
    /// `.retriesExhausted` after at least one retry, else `.validationFailed` if the status counts as success, and
    /// `.unacceptableStatus` if it does not.
    case retry(HTTPRetryStrategy)

    /// Fails the load with a code, and a message in which you name the cause and the remedy, without secrets. The error
    /// contains the request and the response that were judged; a judged failure is its underlying error.
    ///
    /// ```swift
    /// response.headers["X-Version"] == "2" ? .nextValidator : .failChain(.invalidResponse, "version 2 is required")
    /// ```
    public static func failChain(_ code: HTTPError.Code, _ message: String) -> HTTPValidatorResult {
        .failChain(ChainFailure(code: code, message: message))
    }
}

extension HTTPValidator {
    /// A body that is still arriving is withheld from the validator.
    @inline(__always)
    func result(of result: Result<HTTPResponse, HTTPError>, for request: HTTPRequest) async -> HTTPValidatorResult {
        do {
            let verdict: HTTPValidatorResult
            switch result {
            case .success(var response):
                if response.body.buffered == nil { response.body = response.body.withheld() }
                verdict = try await validate(response: response, forRequest: request)
            case .failure(let failure): verdict = try await validate(failure: failure, forRequest: request)
            }
            guard case .failChain(let failure as ChainFailure) = verdict else { return verdict }
            return .failChain(
                HTTPError(
                    failure.code, request: result.request, response: result.failure?.response,
                    underlying: result.failure, message: failure.message))
        } catch {
            return .failChain(error)
        }
    }
}
