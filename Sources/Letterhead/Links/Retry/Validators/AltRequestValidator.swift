// SPDX-License-Identifier: MIT
/// Sends another request after certain responses, by default a 401 or 403, and then retries the original.
///
/// Each request sends its own alternate; for a token that many requests share, use a ``CredentialProvider``
/// (``HTTPAuthentication/bearer(allowedOrigins:limit:per:clock:asking:)``).
///
/// ```swift
/// let refreshing = AltRequestValidator(RefreshToken()) { original, token in
///     original.headers.setSecret("Bearer \(token.value)", for: .authorization)
/// }
/// ```
///
/// Put it before ``DefaultValidator``. The retry counts toward the maximum, so `maximumRetries` must be at least 1.
/// After a 401 or 403, the original is retried regardless of its method, because the server did not process it. After
/// another result, or if a redirect changed the method, the usual conditions apply. A request with a one-shot body is
/// not retried.
public struct AltRequestValidator: HTTPValidator {
    private let statuses: Set<HTTPStatus>
    private let includesFailures: Bool
    private let judge: @Sendable (HTTPRequest, Result<HTTPResponse, HTTPError>) async throws -> HTTPValidatorResult

    /// Sends a template as the client of the original sends it, and decodes the response; see
    /// ``HTTPRetryStrategy/after(_:delay:onValue:onError:)``.
    ///
    /// After a response of another server than the client's own, no template is sent, and the next validator judges. So
    /// a request in another environment neither causes the template nor receives its token.
    ///
    /// - Parameters:
    ///   - template: if it cannot be built, the next validator judges.
    ///   - statuses: the statuses that require the template.
    ///   - maximum: how many alternate requests one load sends. After the last one, the load fails with
    ///     `.retriesExhausted` and the response. Several such validators count together. A negative number counts as zero.
    ///   - delay: the wait before the original is retried. A negative wait counts as zero.
    ///   - onValue: receives the decoded response, and may change the original for its next attempts.
    ///   - onError: receives an error of the template or of the closure.
    public init<Template: RequestTemplate>(
        _ template: Template, statuses: Set<HTTPStatus> = [.unauthorized, .forbidden], maximum: Int = 1,
        delay: Duration = .zero,
        onValue: @escaping @Sendable (_ original: inout HTTPRequest, Template.Response) async throws -> Void,
        onError: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) {
        self.init(
            statuses: statuses, maximum: maximum, delay: delay, request: template.request(onBehalfOf:after:),
            onResponse: { try await onValue(&$0, try await template.value(of: $1)) }, onError: onError)
    }

    /// Sends a plain request, with the other parameters of ``init(_:statuses:maximum:delay:onValue:onError:)``;
    /// <doc:TryingAgain> has an example.
    ///
    /// With `includesFailures`, it is also sent after a failure without a response. If `request` returns nil or throws,
    /// the next validator judges. `onResponse` receives a response of any status. What it adds is sent with the
    /// original, regardless of its origin: for origins that must not receive it, return nil from `request`.
    public init(
        statuses: Set<HTTPStatus> = [.unauthorized, .forbidden], includesFailures: Bool = false, maximum: Int = 1,
        delay: Duration = .zero,
        request:
            @escaping @Sendable (
                _ original: HTTPRequest, _ result: Result<HTTPResponse, HTTPError>
            ) async throws -> HTTPRequest?,
        onResponse: @escaping @Sendable (_ original: inout HTTPRequest, _ answer: HTTPResponse) async throws -> Void,
        onError: @escaping @Sendable (any Error) async -> Void = { _ in }
    ) {
        (self.statuses, self.includesFailures) = (statuses, includesFailures)
        judge = { original, result in
            do {
                guard let alternate = try await request(original, result) else { return .nextValidator }
                var strategy = HTTPRetryStrategy.after(
                    { _ in alternate }, delay: delay, onResponse: onResponse, onError: onError)
                strategy.alternate?.maximum = max(maximum, 0)
                return .retry(strategy)
            } catch let error as CancellationError {
                throw error
            } catch {
                await onError(error)
                return .nextValidator
            }
        }
    }

    public func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        statuses.contains(response.status) ? try await judge(request, .success(response)) : .nextValidator
    }

    public func validate(failure: HTTPError, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        includesFailures ? try await judge(request, .failure(failure)) : .nextValidator
    }
}
