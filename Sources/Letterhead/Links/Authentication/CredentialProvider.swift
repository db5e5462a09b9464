public import Foundation

/// A type that obtains credentials, which are then stored and shared. It is called once for all concurrent requests,
/// and again when the credentials are refused or expire.
///
/// Use a provider with ``HTTPAuthentication/shared(_:name:allowedOrigins:limit:per:clock:)``. For tokens of an
/// authorization server, use `oauth2`; for a username and password that a person enters, use
/// ``HTTPAuthentication/basic(allowedOrigins:limit:per:clock:asking:)``. Implement the protocol for other credentials
/// that are fetched once and used by many requests:
///
/// ```swift
/// struct Session: CredentialProvider {
///     func credential(for need: HTTPAuthentication.Need<Secret>) async throws -> Secret? {
///         Secret(String(decoding: try await need.next.load(login).body.data(), as: UTF8.self))
///     }
///     func sign(_ request: inout HTTPRequest, with credential: Secret) throws {
///         request.headers.setSecret(credential.reveal(), for: "X-Session")
///     }
/// }
/// ```
///
/// Laws:
///
/// - Only one call runs at a time. A reset does not await the call that it cancels; its result is discarded.
/// - The provider sends its own requests to `need.next`, the chain below. A request over the whole chain would wait for
///   its own credentials and never end.
/// - A call ends when its task is cancelled. Only a reset cancels it.
/// - After ``reset()``, the provider returns no credentials that it stored before.
public protocol CredentialProvider: Sendable {
    /// The type of the stored credential.
    associatedtype Credential: Sendable

    /// Obtains a credential. All waiting requests receive it.
    ///
    /// - Returns: the credential; nil if none is available, which fails all waiting requests and removes the previous
    ///   credential.
    /// - Throws: an error that fails all waiting requests. The next request calls the provider again.
    func credential(for need: HTTPAuthentication.Need<Credential>) async throws -> Credential?

    /// Writes the credential into a request. Throws if the credential is malformed.
    func sign(_ request: inout HTTPRequest, with credential: Credential) throws

    /// Returns the identity of a credential whose signature changes with each request, such as the identifier of its
    /// key. A cache reuses the responses to one identity for all requests with this identity, so two users must never
    /// have the same. Default: nil (a cache compares the values that ``sign(_:with:)`` writes).
    func identity(of credential: Credential) -> String?

    /// Returns whether a stored credential can still be used. Default: always ``HTTPAuthentication/Freshness/fresh``; the
    /// credential is replaced only after a 401.
    func freshness(of credential: Credential, for request: HTTPRequest) -> HTTPAuthentication.Freshness

    /// Removes all stored credentials, including external copies. Default: does nothing.
    func reset() async
}

extension CredentialProvider {
    /// Returns nil.
    public func identity(of credential: Credential) -> String? { nil }

    /// Returns ``HTTPAuthentication/Freshness/fresh``.
    public func freshness(of credential: Credential, for request: HTTPRequest) -> HTTPAuthentication.Freshness {
        .fresh
    }

    /// Does nothing.
    public func reset() async {}
}

extension HTTPAuthentication {
    /// The state of a stored credential.
    public enum Freshness: Sendable, Hashable {
        /// The credential can be used.
        case fresh
        /// The credential is still valid but expires soon. A new one is requested; if the limit of calls does not allow
        /// this, the stored one is used.
        case stale
        /// The credential can no longer be used.
        case expired
        /// The credential is valid, but not sufficient for this request.
        case insufficient
    }
}

extension HTTPAuthentication {
    /// The reason why a credential is needed, and the loader for the requests that obtain the credential.
    public struct Need<Credential: Sendable>: Sendable {
        /// The first request that waits for the credential.
        public let request: HTTPRequest
        /// The chain below the authentication, for requests of the provider.
        public let next: any HTTPLoader
        /// The stored credential that the new one replaces; nil if there is none. If it is stale or insufficient, it is
        /// still valid.
        public let previous: Credential?
        /// Whether a 401 refused the previous credential.
        public let isRefused: Bool

        /// Creates a need, for tests of a provider.
        ///
        /// - Parameters:
        ///   - request: the request that waits for the credential.
        ///   - next: the loader for the requests of the provider, usually a mock.
        ///   - previous: the stored credential that the new one replaces. Default: nil.
        ///   - isRefused: whether a 401 refused the previous credential. Default: false.
        public init(
            request: HTTPRequest, next: any HTTPLoader, previous: Credential? = nil, isRefused: Bool = false
        ) {
            (self.request, self.previous, self.isRefused) = (request, previous, isRefused)
            self.next =
                request.context.generation.map { generation in
                    AnyLoader { try await next.load(generation.adopting($0)) }
                } ?? next
        }
    }
}

/// Limits how often credentials are requested.
///
/// The limit stops the loop that occurs when a server refuses the credentials that it has just issued.
package struct CredentialLimit: Sendable, Hashable {
    package var count: Int
    package var window: Duration

    package init(count: Int, window: Duration) { (self.count, self.window) = (count, window) }

    package static let standard = CredentialLimit(count: 10, window: .seconds(60))
}

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
                HTTPAuthentication.Need<(username: String, password: Secret)>
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
        asking ask: @escaping @Sendable (HTTPAuthentication.Need<Secret>) async throws -> Secret?
    ) -> HTTPAuthentication {
        let provider = AskedCredential(ask: ask) { try $0.bearerHeaderValue.get() }
        return shared(
            provider, name: "bearer", place: .header(.authorization), allowedOrigins: allowedOrigins,
            limit: CredentialLimit(count: limit, window: window), clock: clock)
    }
}

/// A provider that calls a closure for a credential of the `Authorization` header.
private struct AskedCredential<Credential: Sendable>: CredentialProvider {
    let ask: @Sendable (HTTPAuthentication.Need<Credential>) async throws -> Credential?
    let headerValue: @Sendable (Credential) throws -> String

    func credential(for need: HTTPAuthentication.Need<Credential>) async throws -> Credential? { try await ask(need) }

    func sign(_ request: inout HTTPRequest, with credential: Credential) throws {
        CredentialPlace.header(.authorization).put(try headerValue(credential), into: &request)
    }
}
