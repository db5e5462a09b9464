/// A validator that sends another request after certain responses, by default after a 401 or 403, and then retries the
/// original request.
///
/// ```swift
/// AltRequestValidator(RefreshToken()) { original, token in
///     original.headers.setSecret("Bearer \(token.value)", for: .authorization)
/// }
/// ```
///
/// The template is sent with the client of the original, and only for the server in the environment. To decide for which
/// origins a request is sent, or to send a plain one, pass closures. A header that `onResponse` sets is sent with the
/// original, regardless of its origin, so return nil for origins that must not receive it:
///
/// ```swift
/// AltRequestValidator(
///     request: { _, result in
///         guard try result.get().request.origin == api else { return nil }
///         return HTTPRequest(method: .post, url: tokenURL)
///     },
///     onResponse: { original, answer in
///         original.headers.setSecret("Bearer \(try await answer.decode(Token.self).value)", for: .authorization)
///     })
/// ```
///
/// Use this validator if one request must be sent before another one can succeed, and put it before
/// ``DefaultValidator``. For tokens, prefer an ``HTTPAuthentication``. The retry counts toward the maximum, so
/// `maximumRetries` must be at least 1. After a 401 or 403, the original request is retried regardless of its method,
/// because the server did not process it. After another result, the usual conditions for a retry apply to the method. A
/// request with a one-shot body is not retried.
///
/// Loads that need an alternate request at the same time share it: the request is sent once, and `onResponse` runs for
/// each load with the original of that load. An attempt that began before the alternate request completed also uses
/// the response to it. Loads share only if their originals have the same origin and identity. The identity consists of
/// every secret header and query item, the authentication and the environment. If another value identifies the user,
/// such as an option, separate users with `key`.
public struct AltRequestValidator: HTTPValidator {
    private typealias Judge =
        @Sendable (_ result: Result<HTTPResponse, HTTPError>, HTTPRequest) async throws -> HTTPValidatorResult

    private let statuses: Set<HTTPStatus>
    private let includesFailures: Bool
    private let judge: Judge

    /// Creates the validator.
    ///
    /// - Parameters:
    ///   - statuses: the statuses that require the alternate request. Default: 401 and 403.
    ///   - includesFailures: whether the alternate request is also sent after a failure without a response. Default:
    ///     false.
    ///   - maximum: the maximum number of alternate requests for one load. After the last one, the load fails with
    ///     `.retriesExhausted` and the response. Default: 1; a negative number counts as zero.
    ///   - delay: the wait between the alternate request and the original. Default: zero; a negative wait counts as
    ///     zero.
    ///   - key: returns a key. Of the loads with the same origin and identity, only those with an equal key share a
    ///     request. Default: all of them share it.
    ///   - request: creates the alternate request. If it returns nil or throws, the next validator judges. It is called
    ///     for each load, including those that then share another load's request.
    ///   - onResponse: receives the response, which may have any status.
    ///   - onError: receives an error of the request or of a closure. Default: does nothing.
    public init(
        statuses: Set<HTTPStatus> = [.unauthorized, .forbidden], includesFailures: Bool = false, maximum: Int = 1,
        delay: Duration = .zero, key: @escaping @Sendable (HTTPRequest) -> String = { _ in "" },
        request:
            @escaping @Sendable (
                _ original: HTTPRequest, _ result: Result<HTTPResponse, HTTPError>
            ) async throws -> HTTPRequest?,
        onResponse: @escaping @Sendable (_ original: inout HTTPRequest, _ answer: HTTPResponse) async throws -> Void,
        onError: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) {
        self.init(
            statuses, includesFailures: includesFailures, maximum: maximum, key: key, request: request, onError: onError
        ) { alternate, sharing in
            .after({ _ in alternate }, delay: delay, sharing: sharing, onResponse: onResponse, onError: onError)
        }
    }

    /// Creates a validator that sends a template and decodes its response; see ``AltRequestValidator`` for an example.
    ///
    /// The template is sent only after a response of the server in the environment of the original, or, without an
    /// environment, of the server of the template. Any other server receives neither the original again nor what
    /// `onValue` adds to it. See ``HTTPRetryStrategy/after(_:delay:sharing:onValue:onError:)``.
    ///
    /// - Parameters:
    ///   - template: the template to send. If it cannot be built, the next validator judges.
    ///   - statuses: the statuses that require the template. Default: 401 and 403.
    ///   - maximum: the maximum number of times that the template is sent for one load. Default: 1.
    ///   - delay: the wait between the response and the original. Default: zero.
    ///   - key: returns a key. Of the loads with the same origin and identity, only those with an equal key share a
    ///     request. Default: all of them share it.
    ///   - onValue: receives the decoded response, and may change the original for its next attempts.
    ///   - onError: receives an error of the template or of the closure. Default: does nothing.
    public init<Template: RequestTemplate>(
        _ template: Template, statuses: Set<HTTPStatus> = [.unauthorized, .forbidden], maximum: Int = 1,
        delay: Duration = .zero, key: @escaping @Sendable (HTTPRequest) -> String = { _ in "" },
        onValue:
            @escaping @Sendable (_ original: inout HTTPRequest, _ value: Template.Response) async throws -> Void,
        onError: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) {
        self.init(
            statuses, includesFailures: false, maximum: maximum, key: key,
            request: { original, result in
                let alternate = try template.request(onBehalfOf: original)
                return try result.get().request.isAtHome(of: original, or: alternate) ? alternate : nil
            }, onError: onError
        ) { _, sharing in
            .after(template, delay: delay, sharing: sharing, onValue: onValue, onError: onError)
        }
    }

    private init(
        _ statuses: Set<HTTPStatus>, includesFailures: Bool, maximum: Int,
        key: @escaping @Sendable (HTTPRequest) -> String,
        request: @escaping @Sendable (HTTPRequest, Result<HTTPResponse, HTTPError>) async throws -> HTTPRequest?,
        onError: @escaping @Sendable (any Error) async -> Void,
        strategy: @escaping @Sendable (HTTPRequest, HTTPRetryStrategy.Sharing) -> HTTPRetryStrategy
    ) {
        (self.statuses, self.includesFailures) = (statuses, includesFailures)
        let sharing = HTTPRetryStrategy.Sharing(maximum: maximum)
        judge = { result, original in
            do {
                guard let alternate = try await request(original, result) else { return .nextValidator }
                return .retry(strategy(alternate, sharing.forKey(key(original))))
            } catch let error as CancellationError {
                throw error
            } catch {
                await onError(error)
                return .nextValidator
            }
        }
    }

    /// Requests a retry after the alternate request, if the status is one of `statuses`.
    public func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        statuses.contains(response.status) ? try await judge(.success(response), request) : .nextValidator
    }

    /// Requests a retry after the alternate request, if `includesFailures` is true.
    public func validate(failure: HTTPError, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        includesFailures ? try await judge(.failure(failure), request) : .nextValidator
    }
}

extension HTTPRequest {
    /// Whether the request was sent to the server in the environment of the original, or, without an environment, to
    /// the server of an alternate.
    fileprivate func isAtHome(of original: HTTPRequest, or alternate: HTTPRequest) -> Bool {
        let environment = original.serverEnvironment?.origin ?? homeOrigin
        return origin != nil && origin == environment ?? alternate.origin ?? alternate.serverEnvironment?.origin
    }
}
