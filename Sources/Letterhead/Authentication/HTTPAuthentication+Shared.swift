public import Foundation

extension HTTPAuthentication {
    /// Credentials that a provider gives, once for all who wait; they are remembered until a 401, their end or a reset.
    ///
    /// A request whose credentials a 401 refuses goes once more: at once, when others have got new ones meanwhile, else
    /// with those that the provider gives. A second 401 is the answer. A body that can be sent only once is not sent
    /// again; the 401 is the answer, and the next request has new credentials got.
    ///
    /// - Parameters:
    ///   - provider: gives the credentials.
    ///   - name: what it prints as; no secret.
    ///   - allowedOrigins: where they may go. Default: nil, as ``HTTPAuthentication`` says.
    ///   - limit: how often the provider may be asked; more is ``HTTPError/Code/cannotAuthenticate``. Default: 10.
    ///   - window: the time in which the limit counts. Default: a minute.
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
    /// A name and a password that are asked for when they are first needed, and once more after a 401.
    ///
    /// ```swift
    /// .basic { need in await loginSheet.credentials(retrying: need.isRefused) }
    /// ```
    ///
    /// - Parameters:
    ///   - allowedOrigins: where they may go. Default: nil, as ``HTTPAuthentication`` says.
    ///   - limit: how often may be asked. Default: 10.
    ///   - window: the time in which the limit counts. Default: a minute.
    ///   - clock: measures the window of the limit. Default: the continuous clock.
    ///   - ask: gives them, once for all who wait; nil is ``HTTPError/Code/cannotAuthenticate`` for each of them.
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

    /// A bearer token that is asked for when it is first needed, and once more after a 401.
    ///
    /// - Parameters:
    ///   - allowedOrigins: where it may go. Default: nil, as ``HTTPAuthentication`` says.
    ///   - limit: how often may be asked. Default: 10.
    ///   - window: the time in which the limit counts. Default: a minute.
    ///   - clock: measures the window of the limit. Default: the continuous clock.
    ///   - ask: gives it, once for all who wait; nil is ``HTTPError/Code/cannotAuthenticate`` for each of them.
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

/// A credential for the `Authorization` header that a closure gives.
private struct AskedCredential<Credential: Sendable>: CredentialProvider {
    let ask: @Sendable (CredentialNeed<Credential>) async throws -> Credential?
    let headerValue: @Sendable (Credential) throws -> String

    func credential(for need: CredentialNeed<Credential>) async throws -> Credential? { try await ask(need) }

    func sign(_ request: inout HTTPRequest, with credential: Credential) throws {
        CredentialPlace.header(.authorization).put(try headerValue(credential), into: &request)
    }
}
