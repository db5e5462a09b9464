public import Foundation

extension OAuth2 {
    /// How tokens are come by.
    public struct Grant: Sendable {
        enum Kind: Sendable {
            case clientCredentials
            case authorizationCode(AuthorizationPage)
            case refreshToken(Secret?)
        }

        let kind: Kind
        let scope: Set<String>

        /// The refresh token that comes with it.
        var givenToken: Secret? { if case .refreshToken(let token) = kind { token } else { nil } }

        /// The app signs in as itself (RFC 6749, 4.4).
        ///
        /// - Parameter scope: what it wants to be allowed. Default: what the server gives.
        public static func clientCredentials(scope: Set<String> = []) -> Grant {
            Grant(kind: .clientCredentials, scope: scope)
        }

        /// A person signs in on a page of the server (RFC 6749, 4.1, with PKCE S256, RFC 7636).
        ///
        /// ```swift
        /// .authorizationCode(endpoint: page, redirectURI: callback) { url in try await browser.open(url) }
        /// ```
        ///
        /// - Parameters:
        ///   - endpoint: the page; https, or on this machine.
        ///   - redirectURI: where the server leads back to, exactly as registered.
        ///   - scope: what the app wants to be allowed. Default: what the server gives.
        ///   - issuer: the server's name for itself (RFC 9207), which the callback must then bear. Default: nil; a name
        ///     that a callback bears all the same must be of the page's origin.
        ///   - parameters: more for the page, such as `prompt`; those of the protocol stay the library's.
        ///   - open: shows the page at the URL that it is given, and gives the URL that the server led back to. It is asked
        ///     once for all who wait, and its task is cancelled by a reset only.
        public static func authorizationCode(
            endpoint: URL, redirectURI: URL, scope: Set<String> = [], issuer: String? = nil,
            parameters: [String: String] = [:], open: @escaping @Sendable (URL) async throws -> URL
        ) -> Grant {
            let page = AuthorizationPage(
                endpoint: endpoint, redirectURI: redirectURI, issuer: issuer, parameters: parameters, open: open)
            return Grant(kind: .authorizationCode(page), scope: scope)
        }

        /// A person has signed in elsewhere, and this is what the app has of it.
        ///
        /// What the store holds goes first, since servers change refresh tokens. Behind a reset it is of no use any more.
        public static func refreshToken(_ token: Secret) -> Grant { Grant(kind: .refreshToken(token), scope: []) }

        /// Only what the store holds; without tokens in it, requests fail, saying that nobody is signed in.
        public static let storedTokens = Grant(kind: .refreshToken(nil), scope: [])
    }
}
