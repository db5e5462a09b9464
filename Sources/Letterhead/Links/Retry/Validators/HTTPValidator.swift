/// A type that judges the result of an attempt: a response, or a failure without a response.
///
/// Pass a list of validators to a client, or to one endpoint with `validated(by:)`. They are called in order, once for
/// each attempt, until one fails the load or requests a retry. Implement the protocol for rules of your API, such as an
/// envelope around every response:
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
/// To pass a value to the caller, a validator sets a typed option on a copy of the response
/// (``HTTPResponse/subscript(option:)``) and returns it with ``HTTPValidatorResult/nextValidatorWithResponse(_:)``.
///
/// Laws:
///
/// - A validator stores no state of a load, because it is called for many loads at the same time.
///   ``HTTPRequest/attemptNumber`` is the number of the attempt.
/// - An error that it throws has the same effect as ``HTTPValidatorResult/failChain(_:)``.
/// - A validator receives only the head of a streamed response. Reading the body throws ``HTTPBodyError/withheld`` and
///   does not consume any bytes.
public protocol HTTPValidator: Sendable {
    /// Judges a response of any status, after all redirects. Default: continues with the next validator.
    ///
    /// - Parameters:
    ///   - response: the response of the server, or the one with which an earlier validator replaced it.
    ///   - request: the request as the retry link received it, with the number of the attempt.
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
    /// The number of this attempt of the load, for validators and for links below the retry link: 1 for the first.
    ///
    /// A custom retry link sets it for each attempt, which also sets ``isAttempt``.
    public var attemptNumber: Int {
        get { self[option: AttemptNumberOption.self] ?? 1 }
        set { self[option: AttemptNumberOption.self] = newValue }
    }

    /// Whether a retry link further up may retry this request, so that the retry links below send it only once.
    /// Default: false.
    ///
    /// If a request is already an attempt, a custom retry link sends it only once. The link sets the property to false
    /// for the request of each result that it returns, because the caller may send that request again. Setting the
    /// property to true begins the first attempt, unless the request is already an attempt.
    public var isAttempt: Bool {
        get { options.contains(AttemptNumberOption.self) }
        set {
            if !newValue { return options.remove(AttemptNumberOption.self) }
            if !isAttempt { attemptNumber = 1 }
        }
    }
}

/// The verdict of a validator on an attempt.
public enum HTTPValidatorResult: Sendable {
    /// Continues with the next validator. After the last one, the result of the attempt is returned or thrown.
    case nextValidator

    /// Continues with the next validator and with this response in place of the result, even if the attempt failed.
    case nextValidatorWithResponse(HTTPResponse)

    /// Fails the load with an error. No other validator is called.
    ///
    /// An ``HTTPError`` is thrown unchanged. A `CancellationError` becomes the underlying error of a `.cancelled`. Any
    /// other error becomes the underlying error of a `.validationFailed`.
    case failChain(any Error)

    /// Retries the request with a strategy. No other validator is called.
    ///
    /// The retry is subject to the same limits as any other (``Retry``). If it is not possible, a failure is thrown
    /// unchanged, and for a response, an error that contains the response is thrown: `.retriesExhausted` after at least
    /// one retry. Otherwise, it is `.validationFailed` if the status counts as success, and `.unacceptableStatus` if it
    /// does not.
    case retry(HTTPRetryStrategy)

    /// Fails the load with a code and a message. No other validator is called.
    ///
    /// ```swift
    /// response.headers["X-Version"] == "2" ? .nextValidator : .failChain(.invalidResponse, "version 2 is required")
    /// ```
    ///
    /// The error contains the request and the response that were judged. If a failure was judged, it is the underlying
    /// error.
    ///
    /// - Parameters:
    ///   - code: the kind of the error.
    ///   - message: the cause and the remedy, without secrets.
    public static func failChain(_ code: HTTPError.Code, _ message: String) -> HTTPValidatorResult {
        .failChain(ChainFailure(code: code, message: message))
    }
}

extension HTTPValidator {
    /// Returns the verdict on the result of an attempt. A body that is still arriving is withheld from the validator.
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
