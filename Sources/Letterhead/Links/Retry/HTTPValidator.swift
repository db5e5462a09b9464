// SPDX-License-Identifier: MIT
/// Judge each attempt by your API's rules, such as an envelope around every response. Pass validators to a client, or
/// to one endpoint with `validated(by:)`. They are called in order until one fails the load or requests a retry.
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
/// Don't store a load's state in a validator, because many loads call it at the same time. The request has its
/// ``HTTPRequest/attemptNumber``. If a validator throws an error, it has the effect of
/// ``HTTPValidatorResult/failChain(_:)``. A validator receives only the head of a streamed response: reading the body
/// throws ``HTTPBodyError/withheld`` and consumes no bytes.
public protocol HTTPValidator: Sendable {
    /// Judges a response of any status, after all redirects, or an earlier validator's replacement. The request is what
    /// the retry link received, with the attempt's number and the changes of alternate requests. Default: continues
    /// with the next validator.
    func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult

    /// Judges the error of an attempt without a response. Default: continues with the next validator.
    func validate(failure: HTTPError, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult
}

extension HTTPValidator {
    public func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        .nextValidator
    }

    public func validate(failure: HTTPError, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        .nextValidator
    }

    /// Withholds a body that is still arriving from the validator.
    @inline(__always)
    func result(of result: Retry.Outcome, for request: HTTPRequest) async -> HTTPValidatorResult {
        do {
            let verdict: HTTPValidatorResult
            switch result {
            case .success(var response):
                if response.body.isStreamed { response.body = response.body.withheld() }
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

/// What follows a validator's judgment of an attempt.
public enum HTTPValidatorResult: Sendable {
    /// Continues with the next validator. After the last one, the attempt's result is returned or thrown.
    case nextValidator

    /// Continues with the next validator and with this response instead of the result, even if the attempt failed.
    case nextValidatorWithResponse(HTTPResponse)

    /// Fails the load. No other validator is called, and the request isn't retried. To prevent a retry by
    /// ``DefaultValidator``, return it from an earlier validator. An ``HTTPError`` is thrown unchanged. A
    /// `CancellationError` becomes a `.cancelled`, and any other error a `.validationFailed`, with it as the underlying
    /// error.
    case failChain(any Error)

    /// Retries the request, within the limits of ``Retry``. No other validator is called.
    ///
    /// If a retry isn't possible, a failure is thrown unchanged. For a response, the error contains it, and its code
    /// is:
    ///
    /// - `.retriesExhausted` after at least one retry
    /// - otherwise `.unacceptableStatus`, or `.validationFailed` if the status counts as success
    case retry(HTTPRetryStrategy)

    /// Fails the load with a code and a message that names the cause and the remedy, without secrets. The error
    /// contains the judged request and response. A judged failure is its underlying error.
    ///
    /// ```swift
    /// response.headers["X-Version"] == "2" ? .nextValidator : .failChain(.invalidResponse, "version 2 is required")
    /// ```
    public static func failChain(_ code: HTTPError.Code, _ message: String) -> HTTPValidatorResult {
        .failChain(ChainFailure(code: code, message: message))
    }
}

// MARK: The built-in validators

/// Suggests a retry after statuses and failures that are probably temporary. Change the two lists to suit your server:
///
/// ```swift
/// var validator = DefaultValidator()
/// validator.retriableStatuses[.notFound] = .delayed(.seconds(1))   // a resource that is about to appear
/// ```
///
/// In an error response, `X-Should-Retry` decides instead. The suggestion is a fallback
/// (``HTTPRetryStrategy/asFallback()``): the server's `Retry-After`, the request's strategy and the client's strategy
/// take precedence, and if no retry is possible, the next validator judges the result. The client, not this validator,
/// checks the final response's status.
public struct DefaultValidator: HTTPValidator {
    /// The waits by status. Default: 429 after 3 seconds, and 408, 425, 500, 502, 503, 504 and 529 with exponential
    /// back-off from one second.
    public var retriableStatuses: [HTTPStatus: HTTPRetryStrategy]

    /// The failures to retry after. Default: ``Retry/Condition/standardFailures``.
    public var retriableFailures: Set<HTTPError.Code>

    /// The strategy after a failure in ``retriableFailures``, and after an `X-Should-Retry: true` with a status that
    /// isn't in ``retriableStatuses``.
    public var failureStrategy: HTTPRetryStrategy

    /// If false, a 2xx response with an empty body, or a download of zero bytes, fails with `.emptyResponse`. Exempt
    /// are the statuses 204 and 205, responses to HEAD, and streams. Default: true.
    public var allowsEmptyResponses: Bool

    public init(
        retriableStatuses: [HTTPStatus: HTTPRetryStrategy] = DefaultValidator.standardStatuses,
        retriableFailures: Set<HTTPError.Code> = Retry.Condition.standardFailures,
        failureStrategy: HTTPRetryStrategy = .exponential(base: .seconds(1)), allowsEmptyResponses: Bool = true
    ) {
        (self.retriableStatuses, self.retriableFailures) = (retriableStatuses, retriableFailures)
        (self.failureStrategy, self.allowsEmptyResponses) = (failureStrategy, allowsEmptyResponses)
    }

    /// The statuses that are retried by default, each with its strategy.
    public static let standardStatuses = Retry.Condition.standardStatuses.reduce(into: [:]) { statuses, status in
        statuses[status] = status == .tooManyRequests ? HTTPRetryStrategy.delayed(.seconds(3)) : .exponential
    }

    public func validate(response: HTTPResponse, forRequest request: HTTPRequest) -> HTTPValidatorResult {
        let requested = request.accepts(response.status) ? nil : response.headers.shouldRetry
        let strategy = retriableStatuses[response.status] ?? (requested == true ? failureStrategy : nil)
        if requested != false, let strategy { return .retry(strategy.asFallback()) }
        guard !allowsEmptyResponses, response.status.isSuccess, response.body.buffered != nil,
            response.contentCount == 0, request.method != .head,
            ![.noContent, .resetContent].contains(response.status)
        else { return .nextValidator }
        return .failChain(.emptyResponse, "the response has no body")
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
/// Only responses with an accepted status and a body are checked. For a download, the saved file is the body. The
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
        return .failChain(.validationFailed, message + types.joined(separator: " or "))
    }

    /// A star matches a whole type, a whole subtype, or the part before a subtype's suffix.
    private static func pattern(_ pattern: String, matches type: String) -> Bool {
        guard let wanted = pattern.cut(at: "/"), let given = type.cut(at: "/") else { return false }
        guard wanted.head == "*" || wanted.head == given.head else { return false }
        if wanted.tail == "*" || wanted.tail == given.tail { return true }
        return wanted.tail.begins(with: "*+") && given.tail.ends(with: wanted.tail.dropFirst())
            && given.tail.count > wanted.tail.count - 1
    }
}

/// Validates with closures, or sends a different request first. Without a `failure` closure, the next validator judges
/// failures.
///
/// ```swift
/// ClosureValidator { response, _ in response.headers["X-Partial"] == nil ? .nextValidator : .retry(.immediate) }
/// ```
public struct ClosureValidator: HTTPValidator {
    private let response: @Sendable (HTTPResponse, HTTPRequest) async throws -> HTTPValidatorResult
    private let failure: @Sendable (HTTPError, HTTPRequest) async throws -> HTTPValidatorResult

    /// Creates a validator from a closure that judges responses and, optionally, one that judges failures.
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

// MARK: Another request first

extension ClosureValidator {
    /// Creates a validator that sends a template after certain responses, by default a 401 or 403, and then retries the
    /// original.
    ///
    /// Each request sends its own alternate. For a token that many requests share, use a ``CredentialProvider``
    /// (``HTTPAuthentication/bearer(allowedOrigins:limit:per:clock:asking:)``).
    ///
    /// ```swift
    /// let refreshing = ClosureValidator(sending: RefreshToken()) { original, token in
    ///     original.headers.setSecret("Bearer \(token.value)", for: .authorization)
    /// }
    /// ```
    ///
    /// Put it before ``DefaultValidator``. The retry counts toward the maximum, so `maximumRetries` must be at least 1.
    /// After a 401 or 403, the original is retried regardless of its method, because the server didn't process it.
    /// After another result, or if a redirect changed the method, the usual conditions apply. A request with a one-shot
    /// body isn't retried.
    ///
    /// The original's client sends the template with its own settings, and decodes the response with its own decoder.
    /// The template's request passes through the links below the retry. It isn't validated or retried, and doesn't
    /// count as an attempt. It must meet its own deadline and the original's.
    ///
    /// Only a response of the client's own server (``HTTPRequest/homeOrigin``) causes the template. After any other,
    /// the next validator judges. So a request in a different environment neither causes the template nor receives its
    /// token. The template is sent in its own environment or else the client's. Without a client, the original's
    /// environment counts as home, and without any, the template's server does.
    ///
    /// - Parameters:
    ///   - template: if it cannot be built, the next validator judges.
    ///   - statuses: the statuses that require the template.
    ///   - maximum: how many alternate requests one load sends, for all such validators together. After the last one,
    ///     the load fails with `.retriesExhausted` and the response. A negative number counts as zero.
    ///   - delay: the wait before retrying the original. A negative wait counts as zero.
    ///   - onValue: receives the decoded response, and may change the original for its next attempts.
    ///   - onError: receives an error of the template or of `onValue`, such as a status that isn't accepted. The caller
    ///     doesn't get it. The original is then retried unchanged.
    public init<Template: RequestTemplate>(
        sending template: Template, after statuses: Set<HTTPStatus> = [.unauthorized, .forbidden], maximum: Int = 1,
        delay: Duration = .zero,
        onValue: @escaping @Sendable (_ original: inout HTTPRequest, Template.Response) async throws -> Void,
        onError: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) {
        self.init(
            sending: template.request(onBehalfOf:after:), after: statuses, maximum: maximum, delay: delay,
            onResponse: { try await onValue(&$0, try await template.value(of: $1)) }, onError: onError)
    }

    /// Creates a validator that sends a plain request, with the other parameters of
    /// ``init(sending:after:maximum:delay:onValue:onError:)``. <doc:Retrying> has an example.
    ///
    /// With `includesFailures`, it is also sent after a failure without a response. If `request` returns nil or throws,
    /// the next validator judges. `onResponse` receives a response of any status. What it adds is sent with the
    /// original, regardless of its origin: for origins that must not receive it, return nil from `request`.
    public init(
        sending request:
            @escaping @Sendable (
                _ original: HTTPRequest, _ result: Result<HTTPResponse, HTTPError>
            ) async throws -> HTTPRequest?,
        after statuses: Set<HTTPStatus> = [.unauthorized, .forbidden], includesFailures: Bool = false,
        maximum: Int = 1, delay: Duration = .zero,
        onResponse: @escaping @Sendable (_ original: inout HTTPRequest, _ answer: HTTPResponse) async throws -> Void,
        onError: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) {
        @Sendable func judge(_ original: HTTPRequest, _ result: Retry.Outcome) async throws -> HTTPValidatorResult {
            do {
                guard let alternate = try await request(original, result) else { return .nextValidator }
                return .retry(
                    .after(
                        alternate, maximum: max(maximum, 0), delay: delay, onResponse: onResponse, onError: onError))
            } catch let error where !(error is CancellationError) {
                await onError(error)
                return .nextValidator
            }
        }
        self.init { response, original in
            statuses.contains(response.status) ? try await judge(original, .success(response)) : .nextValidator
        } failure: { failure, original in
            includesFailures ? try await judge(original, .failure(failure)) : .nextValidator
        }
    }
}

// MARK: A request

enum ValidatorsOption: HTTPRequestOption { static let defaultOptionValue: [any HTTPValidator] = [] }
enum ResponseTransformersOption: HTTPRequestOption { static let defaultOptionValue: [ModifyResponse] = [] }

extension RequestSettings {
    /// Validators for this request. They run before the client's. Default: none.
    public var validators: [any HTTPValidator] {
        get { self[option: ValidatorsOption.self] }
        set { self[option: ValidatorsOption.self] = newValue }
    }

    /// Response transformers for this request. They run after the client's. Default: none.
    public var responseTransformers: [ModifyResponse] {
        get { self[option: ResponseTransformersOption.self] }
        set { self[option: ResponseTransformersOption.self] = newValue }
    }
}

extension RequestTemplate {
    /// Adds validators to this endpoint. They run in the order written, before the client's.
    public func validated(by validators: any HTTPValidator...) -> Modified<Self> {
        configured { $0.validators = options.validators + validators }
    }

    /// Adds transformers. They run in the order written, after the client's and before validators.
    public func transformed(by transformers: ModifyResponse...) -> Modified<Self> {
        configured { $0.responseTransformers = options.responseTransformers + transformers }
    }
}
