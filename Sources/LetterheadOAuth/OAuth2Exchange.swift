// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

extension OAuth2.Grant {
    /// Obtains tokens with a closure. Use it for a grant that the library doesn't have, such as a signed assertion (RFC
    /// 7523) or a token exchange (RFC 8693).
    ///
    /// ```swift
    /// let grant = OAuth2.Grant.custom(scope: ["read"]) { exchange in
    ///     let type = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    ///     return try await exchange.tokens(["grant_type": type, "assertion": try assertion(), "scope": "read"])
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - scope: the scopes to request. If it is empty, the server chooses.
    ///   - obtain: returns the tokens. It is called once for all concurrent requests. It may ask a person, so it isn't
    ///     called before the last token has expired. Only a reset cancels its task.
    public static func custom(
        scope: Set<String> = [], obtaining obtain: @escaping @Sendable (OAuth2.Exchange) async throws -> OAuth2.Tokens
    ) -> OAuth2.Grant {
        OAuth2.Grant(kind: .custom(obtain), scope: scope)
    }
}

extension OAuth2 {
    /// Sends requests to the endpoints of an authorization server. Each request names the client and contains its
    /// secret.
    ///
    /// The closure of ``Grant/custom(scope:obtaining:)`` receives an exchange. Create one yourself for a request
    /// outside a grant, such as a revocation (RFC 7009) or an introspection (RFC 7662).
    ///
    /// An exchange sends each request once, without following redirects. No description shows the form or the response,
    /// because both contain secrets.
    public struct Exchange: Sendable, CustomStringConvertible, CustomReflectable {
        /// The scopes to request. If it is empty, the server chooses.
        public let scope: Set<String>
        private let endpoint: TokenEndpoint
        private let next: any HTTPLoader
        private let now: @Sendable () -> Date
        private let random: @Sendable (Int) -> [UInt8]

        /// Creates an exchange, for requests outside a grant.
        ///
        /// - Parameters:
        ///   - client: the app, as registered with the server.
        ///   - tokenEndpoint: the URL that issues tokens. It must use https, or be on this machine.
        ///   - scope: the scopes to request. A closure that obtains tokens can read them. Default: none.
        ///   - parameters: additional parameters for each request. They can't replace parameters in the form. Default:
        ///     none.
        ///   - next: sends the requests.
        public init(
            client: Client, tokenEndpoint: URL, scope: Set<String> = [], parameters: [String: String] = [:],
            over next: any HTTPLoader
        ) {
            let endpoint = TokenEndpoint(
                url: tokenEndpoint, client: client, origins: nil, parameters: parameters)
            self.init(
                endpoint: endpoint, scope: scope, next: next, now: { Date() }, random: RandomBytes.system)
        }

        init(
            endpoint: TokenEndpoint, scope: Set<String>, next: any HTTPLoader, now: @escaping @Sendable () -> Date,
            random: @escaping @Sendable (Int) -> [UInt8]
        ) {
            (self.endpoint, self.scope, self.next, self.now, self.random) = (endpoint, scope, next, now, random)
        }

        /// The origin of the token endpoint.
        public var description: String {
            "OAuth2.Exchange(\(HTTPRequest(url: endpoint.url).origin?.description ?? "no origin"))"
        }

        /// Contains only the description, so that `dump` prints no secrets.
        public var customMirror: Mirror { Mirror(self, unlabeledChildren: [description]) }

        /// Requests tokens from the token endpoint.
        ///
        /// - Parameter form: the request parameters, among them `grant_type`.
        /// - Throws: a failure. If the server sent an error code, the failure contains it.
        public func tokens(_ form: [String: String]) async throws(HTTPAuthentication.Failure) -> Tokens {
            try await tokens(form, scope: Set((form["scope"] ?? "").split(at: " ").map { String($0) }))
        }

        /// - Parameter scope: the requested scopes, which a response may omit if it grants them (RFC 6749, 5.1).
        func tokens(
            _ form: [String: String], scope: Set<String>
        ) async throws(HTTPAuthentication.Failure) -> Tokens {
            try await tokens(form.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, scope)
        }

        /// Sends a form to a different endpoint on the server, and returns the response body.
        ///
        /// - Parameters:
        ///   - form: the request parameters, without those that identify the client.
        ///   - url: the endpoint, which must use https or be on this machine.
        /// - Throws: a failure unless the status is a success. If the server sent an error code, the failure contains
        ///   it.
        public func post(_ form: [String: String], to url: URL) async throws(HTTPAuthentication.Failure) -> Data {
            let origin = HTTPRequest(url: url).origin
            return try await endpoint.answer(
                to: form.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, at: url,
                of: "the endpoint of \(origin?.description ?? "an unknown host")", over: next)
        }

        /// Has a person sign in on the server page, and exchanges the code for tokens.
        ///
        /// Use it in a custom grant if the redirect URI is known only when the sign-in begins, for example because the
        /// system chooses its port. The parameters are described at
        /// ``Grant/authorizationCode(endpoint:redirectURI:scope:issuer:parameters:open:)``.
        public func authorizationCode(
            endpoint page: URL, redirectURI: URL, issuer: String? = nil, parameters: [String: String] = [:],
            open: @escaping @Sendable (URL) async throws -> URL
        ) async throws(HTTPAuthentication.Failure) -> Tokens {
            let page = AuthorizationPage(
                endpoint: page, redirectURI: redirectURI, issuer: issuer, parameters: parameters, open: open)
            return try await tokens(of: page)
        }

        func tokens(of page: AuthorizationPage) async throws(HTTPAuthentication.Failure) -> Tokens {
            try await tokens(page.form(client: endpoint.client, scope: scope, random: random), scope)
        }

        private func tokens(
            _ form: [(String, String)], _ scope: Set<String>
        ) async throws(HTTPAuthentication.Failure) -> Tokens {
            // The lifetime is counted from the moment before the request, so that it is never overestimated.
            let date = now()
            let grant = try await endpoint.tokens(form, over: next)
            return Tokens(
                accessToken: grant.accessToken, refreshToken: grant.refreshToken,
                scope: grant.scope ?? (scope.isEmpty ? nil : scope),
                expiresAt: grant.lifetime.map { date.addingTimeInterval($0 / .seconds(1)) }, members: grant.members)
        }
    }
}
