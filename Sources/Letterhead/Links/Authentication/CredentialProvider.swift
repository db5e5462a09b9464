// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// Provides credentials that are fetched once and used by many requests, such as a session token.
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
/// Implement a provider and pass it to ``HTTPAuthentication/shared(_:name:header:allowedOrigins:limit:per:clock:)``. It
/// is called once for all concurrent requests, and again when the credentials are refused or expire. For tokens of an
/// authorization server, use `oauth2` of `LetterheadOAuth`. For a username and password that a person enters, use
/// ``HTTPAuthentication/basic(allowedOrigins:limit:per:clock:asking:)``.
///
/// Laws:
///
/// - Between two resets, only one call for each key runs at a time. A reset cancels the call in progress without
///   awaiting it, so it may still run while the next call begins. Its result is discarded.
/// - The provider sends its own requests to `need.next`, the chain below, or over its client with the authentication
///   ``HTTPAuthentication/anonymous``. `need.next` doesn't sign: to sign a request with a different authentication,
///   send it over `Authenticate() --> need.next`.
/// - Any other request over its own client would wait for the provider itself, and fails with
///   ``HTTPError/Code/cannotAuthenticate``. If a different task sends such a request, the loop isn't recognized, and
///   the request waits until its deadline, if it has one.
/// - Requests with the same key can be signed with the same credential.
/// - A call ends when its task is cancelled. Only a reset cancels it.
/// - After ``reset()``, the provider returns no credentials that it stored before.
public protocol CredentialProvider: Sendable {
    /// What the provider fetches and the authentication stores, such as a ``Secret``.
    associatedtype Credential: Sendable

    /// Obtains a credential for all waiting requests. If it returns nil, these requests fail, and the previous
    /// credential is removed.
    ///
    /// - Throws: an error, with which all waiting requests fail. The next request calls the provider again.
    func credential(for need: HTTPAuthentication.Need<Credential>) async throws -> Credential?

    /// Identifies the credential that a request needs, such as by a tenant or a scope. Default: one key for all
    /// requests.
    ///
    /// Each key has its own credential, call in progress and limit of calls. At most 1,000 credentials are stored, and
    /// the oldest one is removed first. Without `allowedOrigins`, the credential for a key is sent only to the origin
    /// that it was obtained for.
    func key(for request: HTTPRequest) -> String

    /// Writes the credential into a request, such as into a header.
    ///
    /// - Throws: an error if the credential is malformed. The request then fails and isn't sent.
    func sign(_ request: inout HTTPRequest, with credential: Credential) throws

    /// Identifies a credential if each request that is signed with it has a different signature. Default: nil (a cache
    /// compares the values that ``sign(_:with:)`` writes).
    ///
    /// Return, for example, the name of the signing key. A cache reuses a response for all requests with the same
    /// identity, so two users must never share one.
    func identity(of credential: Credential) -> String?

    /// Returns whether the credential can be used for a request. Default: ``HTTPAuthentication/Freshness/fresh`` (the
    /// credential is replaced only after a 401).
    func freshness(of credential: Credential, for request: HTTPRequest) -> HTTPAuthentication.Freshness

    /// Reads a response to a signed request, and returns whether it refuses the credential. Default: returns true for a
    /// 401.
    ///
    /// Implement it for a server that refuses credentials with a different status, or that announces the next signature
    /// in a response. It is called once for each response.
    func isRefused(_ credential: Credential, by response: HTTPResponse) -> Bool

    /// Removes all stored credentials, including copies outside the process, such as in a keychain. Default: does
    /// nothing.
    func reset() async
}

extension CredentialProvider {
    public func key(for request: HTTPRequest) -> String { "" }

    public func identity(of credential: Credential) -> String? { nil }

    public func freshness(of credential: Credential, for request: HTTPRequest) -> HTTPAuthentication.Freshness {
        .fresh
    }

    public func isRefused(_ credential: Credential, by response: HTTPResponse) -> Bool {
        response.status == .unauthorized
    }

    public func reset() async {}
}

extension HTTPAuthentication {
    /// Whether a stored credential can be used.
    public enum Freshness: Sendable, Hashable {
        /// The credential is used.
        case fresh
        /// Still valid, but expires soon. A new credential is requested. If the limit of calls does not allow this, the
        /// stored one is used.
        case stale
        /// The credential is not used. The request waits for a new one.
        case expired
        /// Valid, but not sufficient for this request. A new credential is requested.
        case insufficient
    }
}

extension HTTPAuthentication {
    /// Why a credential is needed, and the loader for the requests that obtain it.
    public struct Need<Credential: Sendable>: Sendable {
        /// The first request that waits for the credential.
        public let request: HTTPRequest
        /// The chain below the authentication, for requests that the provider sends.
        public let next: any HTTPLoader
        /// The credential that the new one replaces. If it is stale or insufficient, it is still valid.
        public let previous: Credential?
        /// Whether a 401 refused the previous credential.
        public let isRefused: Bool
        /// The 401 that refused the previous credential, with at most the first 64 KiB of its body. Its
        /// `WWW-Authenticate` header contains what the server requires. Nil if the previous credential was not refused.
        public let response: HTTPResponse?

        /// Creates a need, for tests of a provider. Usually, pass a mock as `next`.
        public init(
            request: HTTPRequest, next: any HTTPLoader, previous: Credential? = nil, isRefused: Bool = false,
            response: HTTPResponse? = nil
        ) {
            var request = request
            // Only a link that the provider joins with `-->` signs its requests.
            request.loadValues.remove(SignedByItself.self)
            (self.request, self.previous, self.isRefused, self.response) = (request, previous, isRefused, response)
            let original = request
            self.next = AnyLoader { own throws(HTTPError) in
                var own = own
                if let chosen = own.authentication, !chosen.isAnonymous {
                    guard own.loadValues[option: SignedByItself.self] else {
                        throw HTTPError(
                            signing: Failure(
                                .misconfigured,
                                "need.next is below the authentication and cannot sign a request with \(chosen) (load "
                                    + "it over Authenticate() --> need.next)"), request: own)
                    }
                    own.authentication = .anonymous
                }
                return try await next.load(own, onBehalfOf: original, as: "refresh")
            }
        }
    }
}

/// Stops the loop that occurs when a server refuses credentials that it has just issued.
struct CredentialLimit: Sendable, Hashable {
    var count: Int
    var window: Duration
}

extension HTTPAuthentication {
    /// Signs requests with the credentials of a provider. All requests with the same key share them until a 401, their
    /// expiry or a reset.
    ///
    /// After a 401, a request is sent once more. If the stored credentials were replaced in the meantime, it is sent
    /// with them, and otherwise with new ones. If the server responds with a second 401, the caller receives it. A
    /// request with a one-shot body is not sent again: the caller receives the 401, and the next request obtains new
    /// credentials.
    ///
    /// - Parameters:
    ///   - provider: is called for new credentials.
    ///   - name: the name in descriptions. It must not be secret.
    ///   - header: the header that contains the credential. If a request of the client sets it, the request keeps its
    ///     value. Default: nil (not known).
    ///   - allowedOrigins: the origins that may receive the credentials. Default: nil (see ``HTTPAuthentication``).
    ///   - limit: the maximum number of calls to the provider for each key in a window. Over the limit, requests that
    ///     need new credentials fail with ``HTTPError/Code/cannotAuthenticate``. Default: 10.
    ///   - window: the period for counting calls. Default: 60 seconds.
    ///   - clock: measures the window. Default: the continuous clock.
    public static func shared(
        _ provider: some CredentialProvider, name: String = "shared", header: HTTPHeaders.Name? = nil,
        allowedOrigins: [URL]? = nil, limit: Int = 10, per window: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> HTTPAuthentication {
        HTTPAuthentication(
            .method(
                SigningMethod(
                    name, place: header.map { .header($0) }, origins: AllowedOrigins(allowedOrigins), memory: .bound,
                    link: SharedCredential(
                        provider, limit: CredentialLimit(count: limit, window: window),
                        isBound: allowedOrigins == nil, clock: clock))))
    }
}

extension HTTPAuthentication {
    /// Sends a username and a password that a closure returns, for example after a person has entered them.
    ///
    /// ```swift
    /// .basic { need in await loginSheet.credentials(retrying: need.isRefused) }
    /// ```
    ///
    /// The closure is called at the first request, once for all concurrent requests, and again after a 401. The waiting
    /// requests fail with ``HTTPError/Code/cannotAuthenticate`` if it returns nil, or if it would be called more than
    /// `limit` times in a `window`. See ``HTTPAuthentication`` for `allowedOrigins`.
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
            provider, name: "basic", header: .authorization, allowedOrigins: allowedOrigins, limit: limit, per: window,
            clock: clock)
    }

    /// Sends a bearer token that a closure returns.
    ///
    /// ```swift
    /// .bearer { need in Secret(try await need.next.load(tokenRequest).decode(Token.self).value) }
    /// ```
    ///
    /// The closure is called at the first request, once for all concurrent requests, and again after a 401. It sends
    /// its requests to `need.next`. The waiting requests fail with ``HTTPError/Code/cannotAuthenticate`` if it returns
    /// nil, or if it would be called more than `limit` times in a `window`. See ``HTTPAuthentication`` for
    /// `allowedOrigins`.
    public static func bearer(
        allowedOrigins: [URL]? = nil, limit: Int = 10, per window: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock(),
        asking ask: @escaping @Sendable (HTTPAuthentication.Need<Secret>) async throws -> Secret?
    ) -> HTTPAuthentication {
        let provider = AskedCredential(ask: ask) { try $0.bearerHeaderValue.get() }
        return shared(
            provider, name: "bearer", header: .authorization, allowedOrigins: allowedOrigins, limit: limit, per: window,
            clock: clock)
    }
}

private struct AskedCredential<Credential: Sendable>: CredentialProvider {
    let ask: @Sendable (HTTPAuthentication.Need<Credential>) async throws -> Credential?
    let headerValue: @Sendable (Credential) throws -> String

    func credential(for need: HTTPAuthentication.Need<Credential>) async throws -> Credential? { try await ask(need) }

    func sign(_ request: inout HTTPRequest, with credential: Credential) throws {
        CredentialPlace.header(.authorization).put(try headerValue(credential), into: &request)
    }
}
