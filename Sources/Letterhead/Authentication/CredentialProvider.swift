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
///     func credential(for need: CredentialNeed<Secret>) async throws -> Secret? {
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
/// - Only one call runs at a time, and none during a reset.
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
    func credential(for need: CredentialNeed<Credential>) async throws -> Credential?

    /// Writes the credential into a request. Throws if the credential is malformed.
    func sign(_ request: inout HTTPRequest, with credential: Credential) throws

    /// Returns the identity of a credential whose signature changes with each request, such as the identifier of its
    /// key. A cache reuses the responses to one identity for all requests with this identity, so two users must never
    /// have the same. Default: nil (a cache compares the values that ``sign(_:with:)`` writes).
    func identity(of credential: Credential) -> String?

    /// Returns whether a stored credential can still be used. Default: always ``CredentialFreshness/fresh``; the
    /// credential is replaced only after a 401.
    func freshness(of credential: Credential, for request: HTTPRequest) -> CredentialFreshness

    /// Removes all stored credentials, including external copies. Default: does nothing.
    func reset() async
}

extension CredentialProvider {
    /// Returns nil.
    public func identity(of credential: Credential) -> String? { nil }

    /// Returns ``CredentialFreshness/fresh``.
    public func freshness(of credential: Credential, for request: HTTPRequest) -> CredentialFreshness { .fresh }

    /// Does nothing.
    public func reset() async {}
}

/// The state of a stored credential.
public enum CredentialFreshness: Sendable, Hashable {
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

/// The reason why a credential is needed, and the loader for the requests that obtain the credential.
public struct CredentialNeed<Credential: Sendable>: Sendable {
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
        (self.request, self.next, self.previous, self.isRefused) = (request, next, previous, isRefused)
    }
}

/// Limits how often credentials are requested.
///
/// The limit stops the loop that occurs when a server refuses the credentials that it has just issued.
package struct CredentialLimit: Sendable, Hashable {
    /// The maximum number of calls to the provider.
    package var count: Int
    /// The period in which calls are counted.
    package var window: Duration

    package init(count: Int, window: Duration) { (self.count, self.window) = (count, window) }

    /// Ten requests in a minute.
    package static let standard = CredentialLimit(count: 10, window: .seconds(60))
}
