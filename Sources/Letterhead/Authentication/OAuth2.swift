public import Foundation
import Synchronization

/// What an authorization server knows and gives out (RFC 6749).
///
/// The way in is
/// ``HTTPAuthentication/oauth2(client:tokenEndpoint:grant:store:allowedOrigins:parameters:refreshAhead:limit:per:clock:now:random:)``.
public enum OAuth2 {}

extension OAuth2 {
    /// The app, as the authorization server has registered it.
    public struct Client: Sendable, Hashable {
        /// How a client with a secret shows it to the token endpoint (RFC 6749, 2.3.1).
        public enum Authentication: Sendable, Hashable {
            /// In the `Authorization` header, which every server understands.
            case basic
            /// In the form, for servers that do not.
            case form
        }

        /// Its name.
        public var id: String
        /// Its secret; nil for an app that cannot keep one, which is any that users hold in their hands.
        public var secret: Secret?
        /// How it shows the secret.
        public var authentication: Authentication

        /// Makes a client.
        ///
        /// - Parameters:
        ///   - id: its name.
        ///   - secret: its secret. Default: nil, a public client.
        ///   - authentication: how it shows the secret. Default: in the `Authorization` header.
        public init(id: String, secret: Secret? = nil, authentication: Authentication = .basic) {
            self.id = id
            self.secret = secret
            self.authentication = authentication
        }
    }
}

extension OAuth2 {
    /// What an authorization server gave out (RFC 6749, 5.1).
    public struct Tokens: Sendable, Hashable {
        /// Signs requests.
        public var accessToken: Secret
        /// Gets the next access token; nil when the server gave none.
        public var refreshToken: Secret?
        /// What it allows; nil when nobody said.
        public var scope: Set<String>?
        /// When the access token runs out, by the device's date; nil when nobody said.
        public var expiresAt: Date?
        /// The origin for which they were obtained: they sign requests to no other. Nil when the authentication names its
        /// `allowedOrigins`.
        public var origin: HTTPOrigin?

        /// Makes tokens, as for a store that keeps them in a form of its own.
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
    /// Scope and end, without the tokens.
    public var description: String {
        let end = expiresAt.map { ", until \($0.ISO8601Format())" } ?? ""
        return "tokens for \(scope.map { $0.sorted().joined(separator: " ") } ?? "an unknown scope")\(end)"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The description only, so that no dump prints a token.
    public var customMirror: Mirror { Mirror(describing: self) }
}

extension OAuth2 {
    /// Keeps tokens from one run of the app to the next.
    ///
    /// Choose: ``MemoryTokenStore``, ``FileTokenStore``. Write one for the system's keychain:
    ///
    /// ```swift
    /// struct KeychainStore: OAuth2.TokenStore {
    ///     func load() async throws -> OAuth2.Tokens? { … }
    ///     func save(_ tokens: OAuth2.Tokens) async throws { … }
    ///     func delete() async throws { … }
    /// }
    /// ```
    ///
    /// Laws: what was saved is what is loaded, whole or not at all, also when the app ends in the middle; behind a
    /// deletion nothing is loaded; and errors say no secret. It is asked by one at a time. One store belongs to one
    /// ``HTTPAuthentication``: two would change each other's refresh tokens.
    public protocol TokenStore: Sendable {
        /// What is kept; nil when nothing is.
        func load() async throws -> Tokens?

        /// Keeps tokens in place of the last ones. Nobody gets them before it is done.
        func save(_ tokens: Tokens) async throws

        /// Deletes what is kept; nothing there is no error.
        func delete() async throws
    }
}

extension OAuth2 {
    /// Keeps tokens as long as the app runs.
    public final class MemoryTokenStore: TokenStore {
        // A class, because all who hold it must see the same tokens.

        private let tokens: Mutex<Tokens?>

        /// Makes a store.
        ///
        /// - Parameter tokens: what it holds at first. Default: nothing.
        public init(_ tokens: Tokens? = nil) { self.tokens = Mutex(tokens) }

        /// What is kept.
        public func load() async -> Tokens? { tokens.withLock { $0 } }

        /// Keeps tokens in place of the last ones.
        public func save(_ tokens: Tokens) async { self.tokens.withLock { $0 = tokens } }

        /// Deletes what is kept.
        public func delete() async { tokens.withLock { $0 = nil } }
    }
}
