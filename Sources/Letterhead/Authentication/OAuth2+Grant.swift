public import Foundation

extension OAuth2 {
    /// The way in which tokens are obtained.
    public struct Grant: Sendable {
        enum Kind: Sendable {
            case clientCredentials
            case authorizationCode(AuthorizationPage)
            case refreshToken(Secret?)
        }

        let kind: Kind
        let scope: Set<String>

        /// The refresh token of the grant, if it has one.
        var givenToken: Secret? { if case .refreshToken(let token) = kind { token } else { nil } }

        /// Client credentials: the app authenticates as itself (RFC 6749, 4.4).
        ///
        /// - Parameter scope: the scopes to request. Default: none (the server chooses).
        public static func clientCredentials(scope: Set<String> = []) -> Grant {
            Grant(kind: .clientCredentials, scope: scope)
        }

        /// An authorization code: a person signs in on a page of the server (RFC 6749, 4.1, with PKCE S256, RFC 7636).
        ///
        /// ```swift
        /// .authorizationCode(endpoint: page, redirectURI: callback) { url in try await browser.open(url) }
        /// ```
        ///
        /// - Parameters:
        ///   - endpoint: the URL of the page. It must use https, unless its host is this machine.
        ///   - redirectURI: the URL to which the server redirects, exactly as registered.
        ///   - scope: the scopes to request. Default: none (the server chooses).
        ///   - issuer: the issuer identifier of the server (RFC 9207). If it is set, the callback must contain it.
        ///     Default: nil (the issuer of a callback, if present, must be at the origin of the page).
        ///   - parameters: additional parameters for the page, such as `prompt`. They cannot replace parameters of the
        ///     protocol.
        ///   - open: shows the page at a URL, and returns the URL to which the server redirected. It is called once for
        ///     all concurrent requests, and only a reset cancels its task.
        public static func authorizationCode(
            endpoint: URL, redirectURI: URL, scope: Set<String> = [], issuer: String? = nil,
            parameters: [String: String] = [:], open: @escaping @Sendable (URL) async throws -> URL
        ) -> Grant {
            let page = AuthorizationPage(
                endpoint: endpoint, redirectURI: redirectURI, issuer: issuer, parameters: parameters, open: open)
            return Grant(kind: .authorizationCode(page), scope: scope)
        }

        /// A refresh token from an earlier sign-in.
        ///
        /// A refresh token in the store takes precedence, because the server may have replaced this one. This token is
        /// no longer used after a reset, or after the server has refused a refresh token.
        public static func refreshToken(_ token: Secret) -> Grant { Grant(kind: .refreshToken(token), scope: []) }

        /// Only the tokens in the store. Without a usable token there, requests fail with `.cannotAuthenticate` and the
        /// reason ``HTTPAuthentication/Failure/Reason/loggedOut``.
        public static let storedTokens = Grant(kind: .refreshToken(nil), scope: [])
    }
}
