/// Sends another request when a response says that something has to be done first: by default, on 401 and 403.
///
/// ```swift
/// AltRequestValidator(
///     request: { _, result in
///         // Another host may answer 401, too. It must not get a token.
///         guard try result.get().request.origin == api else { return nil }
///         return HTTPRequest(method: .post, url: tokenURL)
///     },
///     onResponse: { original, answer in
///         let token = try JSONDecoder().decode(Token.self, from: try await answer.body.data())
///         original.headers.setSecret("Bearer \(token.value)", for: .authorization)
///     })
/// ```
///
/// A header that `onResponse` sets is sent wherever the original goes. Decline, as the example does, for origins that must
/// not get it.
///
/// Choose it when one request makes another one possible; for tokens as such, an ``HTTPAuthentication`` is the better
/// way. Put it before ``DefaultValidator``. The retry counts, so there must be one (`maximumRetries`); it is sent
/// whatever the method is, if the body can be had again, since a server that answers 401 or 403 has done nothing.
///
/// Loads that need it at the same time share one alternate request: it is sent once, and `onResponse` runs for each of
/// them with its own original. An attempt that began before that request was answered uses its answer, too. Loads share
/// only when their originals have the same origin and identity: every secret header and query item, the authentication and
/// the environment. Where the user is named by something else, such as an option, tell users apart by `key`.
public struct AltRequestValidator: HTTPValidator {
    /// Makes the alternate request, of the original and how its attempt ended; nil declines.
    public typealias Provider =
        @Sendable (_ original: HTTPRequest, _ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPRequest?
    /// Hears the answer, and may change the original for its next attempts.
    public typealias OnResponse =
        @Sendable (_ original: inout HTTPRequest, _ answer: HTTPResponse) async throws -> Void

    private let statuses: Set<HTTPStatus>
    private let includesFailures: Bool
    private let delay: Duration
    private let sharing: HTTPRetryStrategy.Sharing
    private let key: @Sendable (HTTPRequest) -> String
    private let provider: Provider
    private let onResponse: OnResponse
    private let onError: @Sendable (any Error) async -> Void

    /// Makes the validator.
    ///
    /// - Parameters:
    ///   - statuses: after which it is sent. Default: 401 and 403.
    ///   - includesFailures: whether it is sent after a failure without a response, too. Default: false.
    ///   - maximum: how many one load may take part in; behind them the load fails with `.retriesExhausted` and the
    ///     response. Default: 1; less than zero is none.
    ///   - delay: the wait between it and the original. Default: zero; a negative one is zero.
    ///   - key: which loads share one, among those of the same origin and identity. Default: all of these.
    ///   - request: makes it; with nil, or when it throws, the next validator judges. It is asked for each load, also for
    ///     those that then share another's.
    ///   - onResponse: hears its response, whatever its status.
    ///   - onError: hears what goes wrong with it, and what a closure throws. Default: nobody does.
    public init(
        statuses: Set<HTTPStatus> = [.unauthorized, .forbidden], includesFailures: Bool = false, maximum: Int = 1,
        delay: Duration = .zero, key: @escaping @Sendable (HTTPRequest) -> String = { _ in "" },
        request: @escaping Provider, onResponse: @escaping OnResponse,
        onError: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) {
        self.statuses = statuses
        self.includesFailures = includesFailures
        self.delay = delay
        self.sharing = HTTPRetryStrategy.Sharing(maximum: maximum)
        self.key = key
        self.provider = request
        self.onResponse = onResponse
        self.onError = onError
    }

    /// Asks for the alternate request after one of the statuses.
    public func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        statuses.contains(response.status) ? try await verdict(on: .success(response), of: request) : .nextValidator
    }

    /// Asks for it after a failure, if failures are included.
    public func validate(failure: HTTPError, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        includesFailures ? try await verdict(on: .failure(failure), of: request) : .nextValidator
    }

    private func verdict(
        on result: Result<HTTPResponse, HTTPError>, of request: HTTPRequest
    ) async throws -> HTTPValidatorResult {
        do {
            guard let alternate = try await provider(request, result) else { return .nextValidator }
            return .retry(
                .after(
                    { _ in alternate }, delay: delay, sharing: sharing.forKey(key(request)), onResponse: onResponse,
                    onError: onError))
        } catch let error as CancellationError {
            throw error
        } catch {
            await onError(error)
            return .nextValidator
        }
    }
}
