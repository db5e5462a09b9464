// SPDX-License-Identifier: MIT
import Letterhead
public import LetterheadFoundation

extension OAuth2 {
    /// Determines how a ``Session`` obtains its first tokens from its server.
    ///
    /// | Sign-in | Use it for |
    /// |---|---|
    /// | ``deviceCode(scope:pages:showing:)`` | a program without a browser: the person signs in on another device |
    /// | ``loopback(redirectURI:scope:parameters:within:open:)`` | a program on a computer with a browser |
    /// | ``authorizationCode(redirectURI:scope:parameters:open:)`` | an app that receives the redirect itself |
    /// | ``clientCredentials(scope:)`` | a program that acts for itself, not for a person |
    /// | ``storedTokens`` | a program that only uses tokens from an earlier sign-in |
    ///
    /// The sign-in requests the server's scopes (``Server/scope``), unless you pass others.
    public struct SignIn: Sendable {
        /// Returns the grant for a server. The clock measures waits.
        let grant: @Sendable (Server, any Clock<Duration>) throws(HTTPAuthentication.Failure) -> Grant

        /// The app authenticates as itself (see `Grant.clientCredentials`).
        public static func clientCredentials(scope: Set<String>? = nil) -> SignIn {
            SignIn { server, _ in .clientCredentials(scope: scope ?? server.scope) }
        }

        /// Only the tokens that a session for the same server and the same API has stored (see `Grant.storedTokens`).
        public static let storedTokens = SignIn { _, _ in .storedTokens }

        /// A person signs in on the server's page (see `Grant.authorizationCode`).
        ///
        /// - Parameters:
        ///   - redirectURI: the URL that the server redirects to, exactly as registered.
        ///   - scope: the scopes to request. Default: nil (the server's scopes).
        ///   - parameters: additional parameters for the page, such as `prompt`.
        ///   - open: shows the page at a URL, and returns the URL that the server redirected to.
        public static func authorizationCode(
            redirectURI: URL, scope: Set<String>? = nil, parameters: [String: String] = [:],
            open: @escaping @Sendable (URL) async throws -> URL
        ) -> SignIn {
            SignIn { server, _ throws(HTTPAuthentication.Failure) in
                .authorizationCode(
                    endpoint: try server.page(), redirectURI: redirectURI, scope: scope ?? server.scope,
                    issuer: server.pageIssuer, parameters: server.parameters(parameters)
                ) { try server.checked(await open($0)) }
            }
        }

        /// A person signs in with this machine's browser, which is then redirected to a loopback port (RFC 8252, 7.3).
        ///
        /// ```swift
        /// signIn: .loopback { page in try await browser.open(page) }
        /// ```
        ///
        /// The port is open only during the sign-in, for `localhost` on both 127.0.0.1 and ::1. The first redirect with
        /// the sign-in's state ends it. The person then sees a page that tells to return to the app. Any other request
        /// gets 404.
        ///
        /// - Parameters:
        ///   - redirectURI: as registered, with http and the host `127.0.0.1` or `localhost`. Without a port, the
        ///     system chooses one, which servers must allow. Default: nil (`http://127.0.0.1/callback`).
        ///   - scope: the scopes to request. Default: nil (the server's scopes).
        ///   - parameters: additional parameters for the page, such as `prompt`.
        ///   - limit: how long the person may take, at most a day. After it, the sign-in fails with the reason
        ///     `.refused`.
        ///   - open: shows the page. It may return before the person has signed in, and is cancelled afterwards. It
        ///     must then return, because the sign-in waits for it, even after the limit.
        public static func loopback(
            redirectURI: URL? = nil, scope: Set<String>? = nil, parameters: [String: String] = [:],
            within limit: Duration = .seconds(300), open: @escaping @Sendable (URL) async throws -> Void
        ) -> SignIn {
            SignIn { server, clock throws(HTTPAuthentication.Failure) in
                let page = try server.page()
                return .custom(scope: scope ?? server.scope) { exchange in
                    let listener = try LoopbackListener(redirectURI)
                    return try await exchange.authorizationCode(
                        endpoint: page, redirectURI: listener.redirectURI, issuer: server.pageIssuer,
                        parameters: server.parameters(parameters)
                    ) { url in
                        try server.checked(
                            await listener.callback(of: url, within: limit, on: clock, open: open))
                    }
                }
            }
        }
    }
}

extension OAuth2.Server {
    fileprivate func page() throws(HTTPAuthentication.Failure) -> URL {
        guard let authorizationEndpoint else {
            throw HTTPAuthentication.Failure(.misconfigured, "the server has no authorization endpoint")
        }
        return authorizationEndpoint
    }

    fileprivate var pageIssuer: String? { sendsIssuer ? issuer : nil }

    /// Returns a callback's URL, unless it names another issuer. A server that does not promise to name itself may do
    /// so, and the code could otherwise come from another issuer at the same origin (RFC 9207, 2.4).
    fileprivate func checked(_ callback: URL) throws(HTTPAuthentication.Failure) -> URL {
        guard let issuer, let named = HTTPRequest(url: callback).query["iss"],
            !named.utf8.elementsEqual(issuer.utf8)
        else { return callback }
        throw HTTPAuthentication.Failure(
            .malformed,
            "the callback of the sign-in was refused: its issuer differs from the server's, \(issuer) (RFC 9207)")
    }

    /// The parameters for each request to this server.
    func parameters(_ additional: [String: String]) -> [String: String] {
        guard let resource else { return additional }
        return additional.merging(["resource": resource.absoluteString]) { $1 }
    }

}
