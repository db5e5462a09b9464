public import Foundation

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
