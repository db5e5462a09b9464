// SPDX-License-Identifier: MIT
import Letterhead
public import LetterheadFoundation

extension OAuth2 {
    /// Determines how a ``Session`` obtains its first tokens from the server.
    ///
    /// | Sign-in | Use it for |
    /// |---|---|
    /// | ``deviceCode(scope:pages:showing:)`` | a program without a browser: the person signs in on a second device |
    /// | ``loopback(redirectURI:scope:parameters:within:open:)`` | a program on a computer with a browser |
    /// | ``authorizationCode(redirectURI:scope:parameters:open:)`` | an app that receives the redirect itself |
    /// | ``clientCredentials(scope:)`` | a program that acts for itself, not for a person |
    /// | ``storedTokens`` | a program that only uses tokens from an earlier sign-in |
    ///
    /// Each sign-in requests the scopes in ``Server/scope``, unless you pass other scopes.
    public struct SignIn: Sendable {
        /// Returns the grant that obtains tokens from a server. The clock measures its waits.
        let grant: @Sendable (Server, any Clock<Duration>) throws(HTTPAuthentication.Failure) -> Grant

        /// The app signs in as itself, not for a person (see `Grant.clientCredentials`).
        ///
        /// - Parameter scope: the scopes to request. Default: nil (those in ``Server/scope``).
        public static func clientCredentials(scope: Set<String>? = nil) -> SignIn {
            SignIn { server, _ in .clientCredentials(scope: scope ?? server.scope) }
        }

        /// No sign-in. The session uses only tokens that a session for the same server and the same API has stored (see
        /// `Grant.storedTokens`).
        public static let storedTokens = SignIn { _, _ in .storedTokens }

        /// A person signs in on a page of the server, which your app shows (see `Grant.authorizationCode`).
        ///
        /// - Parameters:
        ///   - redirectURI: the URL that the server redirects to, exactly as registered.
        ///   - scope: the scopes to request. Default: nil (those in ``Server/scope``).
        ///   - parameters: additional parameters for the page, such as `prompt`.
        ///   - open: shows the page at a URL, and returns the URL that the server redirected to.
        public static func authorizationCode(
            redirectURI: URL, scope: Set<String>? = nil, parameters: [String: String] = [:],
            open: @escaping @Sendable (URL) async throws -> URL
        ) -> SignIn {
            SignIn { server, _ throws(HTTPAuthentication.Failure) in
                let page = try server.page(redirectURI, parameters, open: open)
                return OAuth2.Grant(kind: .authorizationCode(page), scope: scope ?? server.scope)
            }
        }

        /// A person signs in with a browser on this machine, which is then redirected to a loopback port (RFC 8252,
        /// 7.3).
        ///
        /// ```swift
        /// signIn: .loopback { page in try await browser.open(page) }
        /// ```
        ///
        /// The port is open only during the sign-in. For the host `localhost`, it is open on both 127.0.0.1 and ::1.
        /// The first redirect that contains the sign-in state ends the wait, and the person sees a page that asks them
        /// to return to the app. Any other request to the port receives 404.
        ///
        /// - Parameters:
        ///   - redirectURI: the URI as registered, with http and the host `127.0.0.1` or `localhost`. Without a port,
        ///     the system chooses one, which the server must allow. Default: nil (`http://127.0.0.1/callback`).
        ///   - scope: the scopes to request. Default: nil (those in ``Server/scope``).
        ///   - parameters: additional parameters for the page, such as `prompt`.
        ///   - limit: how long the person may take, at most a day. After that time, the sign-in fails with the reason
        ///     `.refused`. Default: 5 minutes.
        ///   - open: shows the page. It may return before the person has signed in. If it is still running when the
        ///     sign-in ends or the limit has passed, its task is cancelled and the sign-in waits for it to return.
        public static func loopback(
            redirectURI: URL? = nil, scope: Set<String>? = nil, parameters: [String: String] = [:],
            within limit: Duration = .seconds(300), open: @escaping @Sendable (URL) async throws -> Void
        ) -> SignIn {
            SignIn { server, clock throws(HTTPAuthentication.Failure) in
                try server.checkPage()
                return .custom(scope: scope ?? server.scope) { exchange in
                    let listener = try LoopbackListener(redirectURI)
                    let page = try server.page(listener.redirectURI, parameters) { url in
                        try await listener.callback(of: url, within: limit, on: clock, open: open)
                    }
                    return try await exchange.tokens(of: page)
                }
            }
        }
    }
}

extension OAuth2.Server {
    @discardableResult
    fileprivate func checkPage() throws(HTTPAuthentication.Failure) -> URL {
        guard let authorizationEndpoint else {
            throw HTTPAuthentication.Failure(.misconfigured, "the server has no authorization endpoint")
        }
        return authorizationEndpoint
    }

    /// Returns the page of a sign-in. A server may name itself in a callback although its metadata doesn't promise it.
    /// Without a check, the code could then come from a different issuer at the same origin (RFC 9207, 2.4).
    fileprivate func page(
        _ redirectURI: URL, _ parameters: [String: String], open: @escaping @Sendable (URL) async throws -> URL
    ) throws(HTTPAuthentication.Failure) -> AuthorizationPage {
        AuthorizationPage(
            endpoint: try checkPage(), redirectURI: redirectURI, issuer: issuer, requiresIssuer: sendsIssuer,
            parameters: self.parameters(parameters), open: open)
    }

    /// Returns the parameters for each request to this server.
    func parameters(_ additional: [String: String]) -> [String: String] {
        guard let resource else { return additional }
        return additional.merging(["resource": resource.absoluteString]) { $1 }
    }

}
