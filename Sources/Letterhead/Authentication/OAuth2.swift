public import Foundation
import Synchronization

/// The types of OAuth 2 (RFC 6749): clients, tokens, grants, stores and failures.
///
/// Start with
/// ``HTTPAuthentication/oauth2(client:tokenEndpoint:grant:store:allowedOrigins:parameters:refreshAhead:limit:per:clock:now:random:)``.
public enum OAuth2 {}

extension OAuth2 {
    /// The app, as registered with the authorization server.
    public struct Client: Sendable, Hashable {
        /// The way in which a client sends its secret to the token endpoint (RFC 6749, 2.3.1).
        public enum Authentication: Sendable, Hashable {
            /// In the `Authorization` header, which every server must support.
            case basic
            /// In the form body, for servers that do not support the header.
            case form
        }

        /// The client identifier.
        public var id: String
        /// The client secret; nil for an app that cannot keep one, such as any app that is installed on the devices of
        /// users.
        public var secret: Secret?
        /// The way in which the secret is sent.
        public var authentication: Authentication

        /// Creates a client.
        ///
        /// - Parameters:
        ///   - id: the client identifier.
        ///   - secret: the client secret. Default: nil (a public client).
        ///   - authentication: the way in which the secret is sent. Default: in the `Authorization` header.
        public init(id: String, secret: Secret? = nil, authentication: Authentication = .basic) {
            self.id = id
            self.secret = secret
            self.authentication = authentication
        }
    }
}

extension OAuth2 {
    /// The tokens that an authorization server issued (RFC 6749, 5.1).
    public struct Tokens: Sendable, Hashable {
        /// The token that signs requests.
        public var accessToken: Secret
        /// The token that obtains the next access token; nil if the server issued none.
        public var refreshToken: Secret?
        /// The granted scopes; nil if unknown.
        public var scope: Set<String>?
        /// The date at which the access token expires, by the clock of the device; nil if unknown.
        public var expiresAt: Date?
        /// The only origin to which the tokens are sent: the one for which they were obtained. nil if the
        /// authentication lists its `allowedOrigins`.
        public var origin: HTTPOrigin?

        /// Creates tokens, for a custom store.
        public init(
            accessToken: Secret, refreshToken: Secret? = nil, scope: Set<String>? = nil, expiresAt: Date? = nil,
            origin: HTTPOrigin? = nil
        ) {
            self.accessToken = accessToken
            self.refreshToken = refreshToken
            self.scope = scope
            self.expiresAt = expiresAt
            self.origin = origin
        }
    }
}

extension OAuth2.Tokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scopes and the expiry, without the tokens.
    public var description: String {
        let end = expiresAt.map { ", until \($0.ISO8601Format())" } ?? ""
        return "tokens for \(scope.map { $0.sorted().joined(separator: " ") } ?? "an unknown scope")\(end)"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror that contains only the description, so that `dump` prints no tokens.
    public var customMirror: Mirror { Mirror(describing: self) }
}

extension OAuth2 {
    /// A type that stores tokens across launches of the app.
    ///
    /// Use ``MemoryTokenStore`` or ``FileTokenStore``, or implement the protocol for the keychain of the system:
    ///
    /// ```swift
    /// struct KeychainStore: OAuth2.TokenStore {
    ///     func load() async throws -> OAuth2.Tokens? { … }
    ///     func save(_ tokens: OAuth2.Tokens) async throws { … }
    ///     func delete() async throws { … }
    /// }
    /// ```
    ///
    /// Laws:
    ///
    /// - Tokens are saved completely or not at all, even if the app exits during the save.
    /// - After a deletion, `load()` returns nil.
    /// - Errors contain no secrets.
    ///
    /// Only one call runs at a time. Use each store for only one ``HTTPAuthentication``: two would overwrite each
    /// other's refresh tokens.
    public protocol TokenStore: Sendable {
        /// Returns the stored tokens; nil if there are none.
        func load() async throws -> Tokens?

        /// Saves tokens in place of the previous ones. The new tokens are used only after this call has returned.
        func save(_ tokens: Tokens) async throws

        /// Deletes the stored tokens. Does nothing if there are none.
        func delete() async throws
    }
}

extension OAuth2 {
    /// A store that keeps tokens in memory, until the app exits.
    public final class MemoryTokenStore: TokenStore {
        // This type is a class because all its users must see the same tokens.

        private let tokens: Mutex<Tokens?>

        /// Creates a store.
        ///
        /// - Parameter tokens: the initial tokens. Default: nil (none).
        public init(_ tokens: Tokens? = nil) { self.tokens = Mutex(tokens) }

        /// Returns the stored tokens.
        public func load() async -> Tokens? { tokens.withLock { $0 } }

        /// Saves tokens in place of the previous ones.
        public func save(_ tokens: Tokens) async { self.tokens.withLock { $0 = tokens } }

        /// Deletes the stored tokens.
        public func delete() async { tokens.withLock { $0 = nil } }
    }
}
