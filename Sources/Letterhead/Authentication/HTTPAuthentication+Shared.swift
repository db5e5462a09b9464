public import Foundation

extension HTTPAuthentication {
    /// Signs requests with credentials of a provider. All requests share the credentials, which are stored until a 401,
    /// their expiry or a reset.
    ///
    /// A request that receives a 401 is sent once more. If the stored credentials have already been replaced since the
    /// request was sent, it uses the stored ones. Otherwise, the provider is called for new credentials. A second 401
    /// is returned to the caller. A request with a one-shot body is not sent again: the 401 is returned, and the next
    /// request obtains new credentials.
    ///
    /// - Parameters:
    ///   - provider: provides the credentials.
    ///   - name: the name in descriptions. It must not be secret.
    ///   - allowedOrigins: the origins to which the credentials may be sent. Default: nil (one origin, see
    ///     ``HTTPAuthentication``).
    ///   - limit: the maximum number of calls to the provider in a window. Over the limit, requests that need new
    ///     credentials fail with ``HTTPError/Code/cannotAuthenticate``. Default: 10.
    ///   - window: the period in which calls are counted. Default: one minute.
    ///   - clock: measures the window of the limit. Default: the continuous clock.
    public static func shared(
        _ provider: some CredentialProvider, name: String = "shared", allowedOrigins: [URL]? = nil,
        limit: Int = 10, per window: Duration = .seconds(60), clock: any Clock<Duration> = ContinuousClock()
    ) -> HTTPAuthentication {
        shared(
            provider, name: name, place: nil, allowedOrigins: allowedOrigins,
            limit: CredentialLimit(count: limit, window: window), clock: clock)
    }

    static func shared(
        _ provider: some CredentialProvider, name: String, place: CredentialPlace?, allowedOrigins: [URL]?,
        limit: CredentialLimit, clock: any Clock<Duration>
    ) -> HTTPAuthentication {
        HTTPAuthentication(
            .method(
                SigningMethod(
                    name, place: place, origins: AllowedOrigins(allowedOrigins), memory: .bound,
                    link: SharedCredential(
                        provider, limit: limit, isBound: allowedOrigins == nil, clock: clock))))
    }
}

extension HTTPAuthentication {
    /// Sends a username and a password that a closure returns. The closure is called at the first request, and again
    /// after a 401.
    ///
    /// ```swift
    /// .basic { need in await loginSheet.credentials(retrying: need.isRefused) }
    /// ```
    ///
    /// - Parameters:
    ///   - allowedOrigins: the origins to which the credentials may be sent. Default: nil (one origin, see
    ///     ``HTTPAuthentication``).
    ///   - limit: the maximum number of calls of the closure in a window. Default: 10.
    ///   - window: the period in which calls are counted. Default: one minute.
    ///   - clock: measures the window of the limit. Default: the continuous clock.
    ///   - ask: returns the username and the password. It is called once for all concurrent requests. If it returns
    ///     nil, these requests fail with ``HTTPError/Code/cannotAuthenticate``.
    public static func basic(
        allowedOrigins: [URL]? = nil, limit: Int = 10, per window: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock(),
        asking ask:
            @escaping @Sendable (
                CredentialNeed<(username: String, password: Secret)>
            ) async throws -> (username: String, password: Secret)?
    ) -> HTTPAuthentication {
        let provider = AskedCredential(ask: ask) {
            try BasicCredentials(username: $0.username, password: $0.password).headerValue.get()
        }
        return shared(
            provider, name: "basic", place: .header(.authorization), allowedOrigins: allowedOrigins,
            limit: CredentialLimit(count: limit, window: window), clock: clock)
    }

    /// Sends a bearer token that a closure returns. The closure is called at the first request, and again after a 401.
    ///
    /// - Parameters:
    ///   - allowedOrigins: the origins to which the token may be sent. Default: nil (one origin, see
    ///     ``HTTPAuthentication``).
    ///   - limit: the maximum number of calls of the closure in a window. Default: 10.
    ///   - window: the period in which calls are counted. Default: one minute.
    ///   - clock: measures the window of the limit. Default: the continuous clock.
    ///   - ask: returns the token. It is called once for all concurrent requests. If it returns nil, these requests
    ///     fail with ``HTTPError/Code/cannotAuthenticate``.
    public static func bearer(
        allowedOrigins: [URL]? = nil, limit: Int = 10, per window: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock(),
        asking ask: @escaping @Sendable (CredentialNeed<Secret>) async throws -> Secret?
    ) -> HTTPAuthentication {
        let provider = AskedCredential(ask: ask) { try $0.bearerHeaderValue.get() }
        return shared(
            provider, name: "bearer", place: .header(.authorization), allowedOrigins: allowedOrigins,
            limit: CredentialLimit(count: limit, window: window), clock: clock)
    }
}

/// A provider that calls a closure for a credential of the `Authorization` header.
private struct AskedCredential<Credential: Sendable>: CredentialProvider {
    let ask: @Sendable (CredentialNeed<Credential>) async throws -> Credential?
    let headerValue: @Sendable (Credential) throws -> String

    func credential(for need: CredentialNeed<Credential>) async throws -> Credential? { try await ask(need) }

    func sign(_ request: inout HTTPRequest, with credential: Credential) throws {
        CredentialPlace.header(.authorization).put(try headerValue(credential), into: &request)
    }
}
