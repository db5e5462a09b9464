/// Gives credentials that are remembered: asked once for all who wait, and again when they are refused or run out.
///
/// Use: ``HTTPAuthentication/shared(_:name:allowedOrigins:limit:per:clock:)``. Choose: `oauth2` for tokens of an
/// authorization server, ``HTTPAuthentication/basic(allowedOrigins:limit:per:clock:asking:)`` for a name and password that
/// somebody types.
/// Write one for anything else that is fetched once and used by many:
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
/// Laws: it is asked by one at a time, never while a reset is under way; it sends its own requests to `need.next`, which
/// is the chain below, and never over the chain above, where they would wait for themselves; it ends when its task is
/// cancelled, which only a reset does; and after ``reset()`` nothing that it knew before is given again.
public protocol CredentialProvider: Sendable {
    /// What is remembered.
    associatedtype Credential: Sendable

    /// Gives a credential, by whatever it takes; all who wait get the same.
    ///
    /// - Returns: the credential; nil when there is none to be had, which fails all who wait and drops the last one.
    /// - Throws: what fails all who wait. The next request asks again.
    func credential(for need: CredentialNeed<Credential>) async throws -> Credential?

    /// Puts the credential into a request. Throws when it does not fit.
    func sign(_ request: inout HTTPRequest, with credential: Credential) throws

    /// What a remembered credential is still good for. Default: ``CredentialFreshness/fresh``, until a 401 says no.
    func freshness(of credential: Credential, for request: HTTPRequest) -> CredentialFreshness

    /// Forgets everything, also what is kept elsewhere. Default: does nothing.
    func reset() async
}

extension CredentialProvider {
    /// Fresh, until a 401 says no.
    public func freshness(of credential: Credential, for request: HTTPRequest) -> CredentialFreshness { .fresh }

    /// Nothing is kept elsewhere.
    public func reset() async {}
}

/// What a remembered credential is still good for.
public enum CredentialFreshness: Sendable, Hashable {
    /// It is used.
    case fresh
    /// It is still good, and about to run out: another is got, or it is used when that may not be.
    case stale
    /// It is of no use any more.
    case expired
    /// It is good, but not for this request.
    case insufficient
}

/// Why a credential is needed, and the way to get it.
public struct CredentialNeed<Credential: Sendable>: Sendable {
    /// The first request that waits for it.
    public let request: HTTPRequest
    /// The chain below the authentication, for the provider's own requests.
    public let next: any HTTPLoader
    /// The credential that is no good any more; nil when there was none.
    public let previous: Credential?
    /// Whether a 401 said that the previous one is no good.
    public let isRefused: Bool
}

/// How often credentials may be requested.
///
/// The limit ends the circle of a server that refuses the credentials that it has just issued.
package struct CredentialLimit: Sendable, Hashable {
    /// The number of requests.
    package var count: Int
    /// The time in which they are counted.
    package var window: Duration

    package init(count: Int, window: Duration) { (self.count, self.window) = (count, window) }

    /// Ten times a minute.
    package static let standard = CredentialLimit(count: 10, window: .seconds(60))
}
