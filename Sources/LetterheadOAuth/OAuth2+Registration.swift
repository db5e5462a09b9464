// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

extension OAuth2 {
    /// An app that a server has registered (RFC 7591, 3.2.1). Its description contains no secrets.
    public struct Registration: Sendable {
        /// The client that identifies the app at this server. Store its `id` and its `secret`, so that the app
        /// registers once.
        public let client: Client
        /// When the client secret expires. Nil if there is no secret, or if it doesn't expire.
        public let secretExpiresAt: Date?
        /// All members of the response. They show the values that the server has changed, and may include a
        /// `registration_access_token`, so treat them as secret.
        public let members: [String: JSONValue]
    }
}

extension OAuth2.Registration: CustomStringConvertible, CustomReflectable {
    /// The client identifier, without the secret: `Registration("s6BhdRkqt3")`.
    public var description: String { "Registration(\(client.id.debugDescription))" }

    /// A mirror with only the description, so that `dump` prints no secrets.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: [description]) }
}

extension OAuth2.Server {
    /// Registers an app with this server (RFC 7591). Use it if you know the server only at run time, for example for a
    /// remote MCP server.
    ///
    /// ```swift
    /// let server = try await OAuth2.discovered(from: api)
    /// let app = try await server.register("My App", redirectURIs: [callback]).client
    /// ```
    ///
    /// The server metadata must contain a `registration_endpoint`.
    ///
    /// The app is registered as one that can't keep a secret, and that signs in with a page and with refresh tokens. To
    /// change that, pass members in `metadata`, such as `"token_endpoint_auth_method": "client_secret_basic"`: they
    /// take precedence.
    ///
    /// - Parameters:
    ///   - name: the name that a person sees when they sign in.
    ///   - redirectURIs: where the server may send a person after the sign-in, without a fragment. The list may be
    ///     empty if `metadata` contains other `grant_types`.
    ///   - metadata: further client metadata (RFC 7591, 2). Default: none.
    ///   - token: the initial access token, if the server requires one. If only an API has named the server, it isn't
    ///     sent there, and the registration fails.
    ///   - loader: sends the request once. Default: the default transport.
    /// - Throws: `HTTPAuthentication.Failure` if the server has no registration endpoint, can't be reached or refuses
    ///   the registration. A refusal has the error code from the response.
    public func register(
        _ name: String, redirectURIs: [URL], metadata: [String: JSONValue] = [:],
        initialAccessToken token: Secret? = nil, over loader: any HTTPLoader = HTTPClient.defaultTransport
    ) async throws(HTTPAuthentication.Failure) -> OAuth2.Registration {
        let endpoint = self.metadata["registration_endpoint"]?.string
        guard let endpoint = endpoint.flatMap({ URL(string: $0, encodingInvalidCharacters: false) }),
            endpoint.canFollow(tokenEndpoint)
        else {
            throw HTTPAuthentication.Failure(
                .misconfigured, "the metadata of the authorization server contain no registration_endpoint with https")
        }
        guard token == nil || !isNamedByResource else {
            throw HTTPAuthentication.Failure(
                .misconfigured,
                "only the API has named the authorization server, so it doesn't receive the initial access token (to "
                    + "send it, pass the issuer to discovered)")
        }
        guard !redirectURIs.isEmpty || metadata["grant_types"] != nil,
            redirectURIs.allSatisfy({ $0.scheme != nil && $0.fragment == nil })
        else {
            throw HTTPAuthentication.Failure(
                .misconfigured, "redirectURIs must contain absolute URLs without a fragment (RFC 6749, 3.1.2)")
        }
        let standard: [String: JSONValue] = [
            "client_name": .string(name), "redirect_uris": .array(redirectURIs.map { .string($0.absoluteString) }),
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        ]
        var request = HTTPRequest(method: .post, url: endpoint)
        request.body = JSONBody(JSONValue.object(standard.merging(metadata) { $1 }))
        if let token {
            guard let value = token.value(of: "Bearer") else {
                throw HTTPAuthentication.Failure(
                    .misconfigured, "the initial access token is empty or contains characters other than visible ASCII")
            }
            request.headers.setSecret(value, for: .authorization)
        }
        let body = try await TokenEndpoint.answer(
            to: request, of: "the registration endpoint", hiding: token.map { [$0.reveal()] } ?? [], over: loader)
        return try OAuth2.Registration(ServerAnswer(body, allowsForm: false))
    }
}

extension OAuth2.Registration {
    fileprivate init(_ answer: ServerAnswer?) throws(HTTPAuthentication.Failure) {
        guard let answer, let id = try answer.text("client_id"), !id.isEmpty, ASCII.isFieldValue(id) else {
            throw HTTPAuthentication.Failure(
                .malformed, "the response of the registration endpoint contains no client_id (RFC 7591, 3.2.1)")
        }
        let secret = try answer.text("client_secret").flatMap { $0.isEmpty ? nil : Secret($0) }
        switch (try answer.text("token_endpoint_auth_method"), secret) {
        case ("none"?, _), (nil, nil): client = OAuth2.Client(id: id)
        case ("client_secret_basic"?, let secret?), (nil, let secret?): client = OAuth2.Client(id: id, secret: secret)
        case ("client_secret_post"?, let secret?):
            client = OAuth2.Client(id: id, secret: secret, authentication: .form)
        default:
            throw HTTPAuthentication.Failure(
                .malformed,
                "the server has registered the client with a token_endpoint_auth_method other than none, "
                    + "client_secret_basic and client_secret_post, or without its client_secret")
        }
        let end = try answer.seconds("client_secret_expires_at").map { $0 / .seconds(1) } ?? 0
        secretExpiresAt = client.secret == nil || end == 0 ? nil : Date(timeIntervalSince1970: end)
        members = answer.members
    }
}
