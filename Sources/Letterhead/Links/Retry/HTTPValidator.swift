// SPDX-License-Identifier: MIT
/// Judges each attempt by the rules of your API, for example if each response contains an envelope with an error code.
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
/// Pass validators to a client, or to one endpoint with `validated(by:)`. They are called in order until one fails the
/// load or requests a retry.
///
/// - If a validator throws an error, the effect is the same as that of ``HTTPValidatorResult/failChain(_:)``.
/// - Many loads call a validator at the same time, so don't store the state of a load in it. The request has an
///   ``HTTPRequest/attemptNumber``.
/// - To pass a value to the caller, set a typed option on a copy of the response (``HTTPResponse/subscript(option:)``),
///   and return the copy with ``HTTPValidatorResult/nextValidatorWithResponse(_:)``.
/// - A validator receives only the head of a streamed response: reading the body throws ``HTTPBodyError/withheld`` and
///   consumes no bytes.
public protocol HTTPValidator: Sendable {
    /// Judges the response of an attempt, after all redirects. Default: continues with the next validator.
    ///
    /// - Parameters:
    ///   - response: the response, which may have any status. If an earlier validator has replaced it, this is the
    ///     replacement.
    ///   - request: the request that the retry link received, with the number of the attempt and the changes of
    ///     alternate requests.
    func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult

    /// Judges an attempt that failed without a response. Default: continues with the next validator.
    func validate(failure: HTTPError, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult
}

extension HTTPValidator {
    public func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        .nextValidator
    }

    public func validate(failure: HTTPError, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        .nextValidator
    }

    /// Calls the validator, and withholds a body that is still arriving.
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

/// What happens after a validator has judged an attempt.
public enum HTTPValidatorResult: Sendable {
    /// Continues with the next validator. After the last one, the result of the attempt is returned or thrown.
    case nextValidator

    /// Continues with the next validator, and replaces the result with this response, even if the attempt failed.
    case nextValidatorWithResponse(HTTPResponse)

    /// Fails the load. No further validator is called, and the request isn't retried.
    ///
    /// To prevent a retry by ``DefaultValidator``, return it from an earlier validator. An ``HTTPError`` is thrown
    /// unchanged. A `CancellationError` becomes `.cancelled`. Any other error becomes `.validationFailed`, with that
    /// error as the underlying error.
    case failChain(any Error)

    /// Retries the request, within the limits of ``Retry``. No further validator is called.
    ///
    /// If a retry isn't possible after a failure, the failure is thrown unchanged. After a response, an error is thrown
    /// that contains the response. Its code is:
    ///
    /// - `.retriesExhausted` after at least one retry
    /// - otherwise `.unacceptableStatus`, or `.validationFailed` if the status counts as success
    case retry(HTTPRetryStrategy)

    /// Fails the load with a code and a message. The message names the cause and the remedy, without secrets.
    ///
    /// ```swift
    /// response.headers["X-Version"] == "2" ? .nextValidator : .failChain(.invalidResponse, "version 2 is required")
    /// ```
    ///
    /// The error contains the judged request and response. If the attempt failed without a response, that failure is
    /// the underlying error.
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
/// - If an error response has an `X-Should-Retry` header, this header decides instead of the lists.
/// - The suggestion is a fallback (``HTTPRetryStrategy/asFallback()``). A `Retry-After`, the request strategy and the
///   client strategy take precedence. If no retry is possible, the next validator judges the result.
/// - The client, not this validator, checks the status of the final response.
public struct DefaultValidator: HTTPValidator {
    /// The waits for each status. Default: 3 seconds for a 429, and exponential back-off from one second for 408, 425,
    /// 500, 502, 503, 504 and 529.
    public var retriableStatuses: [HTTPStatus: HTTPRetryStrategy]

    /// After these failures, the validator suggests a retry. Default: ``Retry/Condition/standardFailures``.
    public var retriableFailures: Set<HTTPError.Code>

    /// The strategy after a failure in ``retriableFailures``. It also applies after an `X-Should-Retry: true` with a
    /// status that isn't in ``retriableStatuses``. Default: exponential back-off from one second.
    public var failureStrategy: HTTPRetryStrategy

    /// Whether a 2xx response may have an empty body. Default: true.
    ///
    /// If false, such a response, or a download of zero bytes, fails with `.emptyResponse`. The statuses 204 and 205,
    /// responses to HEAD, and streams are exempt.
    public var allowsEmptyResponses: Bool

    /// Creates a validator. The properties describe the parameters and their defaults.
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
/// Only responses with an accepted status and a body are checked. For a download, the saved file is the body. A refused
/// response fails with `.validationFailed`, and the message names the received and the expected types.
public struct ContentTypeValidator: HTTPValidator {
    private let types: [String]
    private let allowsMissing: Bool

    /// Creates a validator.
    ///
    /// - Parameters:
    ///   - types: the accepted types, without parameters: `application/json`, `text/*`, `application/*+json`, `*/*`.
    ///   - allowsMissing: whether a response without a type is accepted. Default: false.
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

    /// Whether a type matches a pattern. A star matches a whole type, a whole subtype, or the part of a subtype before
    /// the suffix.
    private static func pattern(_ pattern: String, matches type: String) -> Bool {
        guard let wanted = pattern.cut(at: "/"), let given = type.cut(at: "/") else { return false }
        guard wanted.head == "*" || wanted.head == given.head else { return false }
        if wanted.tail == "*" || wanted.tail == given.tail { return true }
        return wanted.tail.begins(with: "*+") && given.tail.ends(with: wanted.tail.dropFirst())
            && given.tail.count > wanted.tail.count - 1
    }
}

/// Judges attempts with closures, or sends a different request, such as one for a token, before a retry.
///
/// ```swift
/// ClosureValidator { response, _ in response.headers["X-Partial"] == nil ? .nextValidator : .retry(.immediate) }
/// ```
///
/// If you pass no `failure` closure, the next validator judges failures.
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

// MARK: A different request first

extension ClosureValidator {
    /// Creates a validator that sends a template after certain responses, by default a 401 or 403, and then retries the
    /// original request.
    ///
    /// ```swift
    /// let refreshing = ClosureValidator(sending: RefreshToken()) { original, token in
    ///     original.headers.setSecret("Bearer \(token.value)", for: .authorization)
    /// }
    /// ```
    ///
    /// Each request sends its own alternate request. For a token that many requests share, use a ``CredentialProvider``
    /// (``HTTPAuthentication/bearer(allowedOrigins:limit:per:clock:asking:)``).
    ///
    /// Put the validator before ``DefaultValidator``.
    ///
    /// **When the original is retried.** The retry counts toward the maximum, so `maximumRetries` must be at least 1.
    /// After a 401 or 403, the original is retried regardless of its method, because the server didn't process it.
    /// After any other result, or if a redirect changed the method, the usual conditions apply. A request with a
    /// one-shot body isn't retried.
    ///
    /// **How the template is sent.** The client of the original sends it, with its own settings and decoder. It passes
    /// through the links below the retry. It isn't validated or retried, and doesn't count as an attempt. It must meet
    /// its own deadline, and that of the original.
    ///
    /// **Where the template is sent.** Only a response from the client server (``HTTPRequest/homeOrigin``) causes the
    /// template. After a response from a different server, the next validator judges. So a request in a different
    /// environment neither causes the template nor receives its token. The template is sent in its own environment or
    /// else the environment of the client. Without a client, the environment of the original counts as home. Without
    /// any environment, the server of the template does.
    ///
    /// - Parameters:
    ///   - template: the template to send. If it cannot be built, the next validator judges.
    ///   - statuses: the statuses that require the template. Default: 401 and 403.
    ///   - maximum: how many alternate requests one load sends, for all such validators together. After the last one,
    ///     the load fails with `.retriesExhausted` and the response. A negative number counts as zero. Default: 1.
    ///   - delay: the wait before retrying the original. A negative wait counts as zero. Default: zero.
    ///   - onValue: receives the decoded response, and may change the original for its next attempts.
    ///   - onError: receives an error of the template or of `onValue`, such as a status that isn't accepted. The caller
    ///     doesn't receive it, and the original is retried unchanged. Default: ignores the error.
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

    /// Creates a validator that sends a plain request after certain responses, and then retries the original request.
    /// <doc:Retrying> has an example.
    ///
    /// The same rules apply as in ``init(sending:after:maximum:delay:onValue:onError:)``, except that `request` decides
    /// which origins the request is sent for.
    ///
    /// - Parameters:
    ///   - request: returns the request to send. If it returns nil or throws, the next validator judges.
    ///   - statuses: the statuses that require the request. Default: 401 and 403.
    ///   - includesFailures: whether to send the request after a failure without a response, too. Default: false.
    ///   - maximum: how many alternate requests one load sends, for all such validators together. Default: 1.
    ///   - delay: the wait before retrying the original. Default: zero.
    ///   - onResponse: receives the response, which may have any status, and may change the original. What it adds is
    ///     sent with the original, regardless of the origin. For origins that must not receive it, return nil from
    ///     `request`.
    ///   - onError: receives an error of `request`, of the request that it returned, or of `onResponse`. The caller
    ///     doesn't receive it. Default: ignores the error.
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
    /// Validators for this request. They run before the validators of the client. Default: none.
    public var validators: [any HTTPValidator] {
        get { self[option: ValidatorsOption.self] }
        set { self[option: ValidatorsOption.self] = newValue }
    }

    /// Response transformers for this request. They run after the transformers of the client. Default: none.
    public var responseTransformers: [ModifyResponse] {
        get { self[option: ResponseTransformersOption.self] }
        set { self[option: ResponseTransformersOption.self] = newValue }
    }
}

extension RequestTemplate {
    /// Adds validators to this endpoint. They run in the order written, before the validators of the client.
    public func validated(by validators: any HTTPValidator...) -> Modified<Self> {
        configured { $0.validators = options.validators + validators }
    }

    /// Adds transformers to this endpoint. They run in the order written, after the transformers of the client and
    /// before all validators.
    public func transformed(by transformers: ModifyResponse...) -> Modified<Self> {
        configured { $0.responseTransformers = options.responseTransformers + transformers }
    }
}
