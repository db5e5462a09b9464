// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation
import Synchronization

extension OAuth2 {
    /// Keeps one user signed in at one authorization server.
    ///
    /// ```swift
    /// let session = try OAuth2.Session(
    ///     client: OAuth2.Client(id: "app"), server: server,
    ///     signIn: .deviceCode { print("Enter \($0.userCode) at \($0.verificationURL)") },
    ///     store: OAuth2.FileTokenStore(file))
    /// let client = HTTPClient(environment: .production, authentication: session.authentication)
    /// let report = try await client.send(GetReport())   // signs in if necessary
    /// try await session.revoke()
    /// ```
    ///
    /// Create one session for each user, and pass its ``authentication`` to a client. The person signs in when the
    /// first request needs a token. Call ``signIn(scopes:)`` to have them sign in earlier, and ``revoke()`` to sign
    /// them out.
    ///
    /// The ``authentication`` follows all rules of `HTTPAuthentication.oauth2`:
    ///
    /// - Concurrent requests share one sign-in.
    /// - Tokens are refreshed before they expire and after a 401.
    /// - Tokens are sent only to the allowed origins.
    public struct Session: Sendable {
        /// Signs requests with the session tokens, when you pass it to a client or a template.
        public let authentication: HTTPAuthentication
        /// The authorization server of this session.
        public let server: Server
        private let client: Client
        /// The URL of the API. It is only the target of the request that ``signIn(scopes:)`` signs, and no request is
        /// sent to it.
        private let api: URL
        private let store: SessionStore
        private let transport: any HTTPLoader

        /// Creates a session. It sends nothing until a request needs a token.
        ///
        /// - Parameters:
        ///   - client: the app, as registered with the server.
        ///   - server: the authorization server (see ``OAuth2/discovered(from:issuer:over:)``).
        ///   - signIn: obtains the first tokens.
        ///   - store: keeps the tokens. The session uses only tokens that a session for the same server and the same
        ///     API has stored. A sign-in replaces any other tokens. Default: in memory, until the app exits.
        ///   - allowedOrigins: where the tokens may be sent. Default: nil (the origin in `server.resource`).
        ///   - parameters: additional parameters for token requests, such as `audience`. Pass parameters for a sign-in
        ///     page to `signIn`.
        ///   - dpop: adds proofs of a key (RFC 9449): `DPoP` of `LetterheadSigning`. Default: nil (bearer tokens).
        ///   - transport: sends the requests of ``signIn(scopes:)`` and ``revoke()``. If a client request needs tokens,
        ///     the links of that client send the token requests. Default: the default transport.
        ///   - clock: measures lifetimes and waits.
        /// - Throws: `HTTPAuthentication.Failure` with the reason `.misconfigured` if the server lacks the endpoint
        ///   that `signIn` needs, or if neither origins nor a resource are known. If only the API has named the server,
        ///   it also throws if the client has a secret, or if an endpoint isn't at the issuer origin: the API could
        ///   otherwise have codes from an honest server sent to a different server. In these cases, pass the issuer to
        ///   `discovered`.
        public init(
            client: Client, server: Server, signIn: SignIn, store: any TokenStore = MemoryTokenStore(),
            allowedOrigins: [URL]? = nil, parameters: [String: String] = [:], dpop: (any LoaderLink)? = nil,
            transport: any HTTPLoader = HTTPClient.defaultTransport, clock: any Clock<Duration> = ContinuousClock()
        ) throws(HTTPAuthentication.Failure) {
            let origins = allowedOrigins ?? server.resource.flatMap { $0.origin?.isSecure == true ? [$0] : nil } ?? []
            guard let api = origins.first else {
                throw HTTPAuthentication.Failure(
                    .misconfigured, "the origins of the API are not known (pass allowedOrigins)")
            }
            guard client.secret == nil || !server.isNamedByResource else {
                throw HTTPAuthentication.Failure(
                    .misconfigured,
                    "only the API has named the authorization server, so it doesn't receive the secret of the client "
                        + "(to send it, pass the issuer to discovered)")
            }
            guard !server.isNamedByResource || server.isOfOneOrigin else {
                throw HTTPAuthentication.Failure(
                    .misconfigured,
                    "only the API has named the authorization server, and its endpoints are not all at the origin of "
                        + "its issuer (pass the issuer to discovered)")
            }
            let store = SessionStore(store, for: server, at: origins)
            authentication = .oauth2(
                client: client, tokenEndpoint: server.tokenEndpoint, grant: try signIn.grant(server, clock),
                store: store, allowedOrigins: origins, parameters: server.parameters(parameters), dpop: dpop,
                clock: clock)
            (self.client, self.server, self.api) = (client, server, api)
            (self.store, self.transport) = (store, transport)
        }

        /// Obtains tokens now. Call it to have a person sign in before the first request needs a token.
        ///
        /// The tokens come from the store if they can still be used, or else from a refresh or a new sign-in.
        ///
        /// - Parameter scopes: the scopes that the tokens must have. Default: none.
        /// - Returns: the tokens, in case you need `Tokens.idToken` or other members.
        /// - Throws: `HTTPError.Code.cannotAuthenticate`, usually with an `HTTPAuthentication.Failure` as the
        ///   underlying error.
        @discardableResult
        public func signIn(scopes: Set<String> = []) async throws -> Tokens {
            var request = HTTPRequest(url: api)
            request.authentication = authentication
            request.requiredScopes = scopes
            request[option: SignsInOnly.self] = true
            _ = try await (Authenticate() --> EndSignIn() --> transport).load(request)
            guard let tokens = store.current else {
                throw HTTPAuthentication.Failure(.loggedOut, "the tokens were deleted during the sign-in")
            }
            return tokens
        }

        /// Signs the user out: deletes the tokens from the store, and has the server revoke them (RFC 7009).
        ///
        /// Requests that wait for a token fail. If the store has no tokens, nothing is sent to the server.
        ///
        /// - Throws: `HTTPAuthentication.Failure`, in two cases:
        ///   - The server has no revocation endpoint. The reason is `.misconfigured`, and nothing has been deleted.
        ///     Reset the client instead.
        ///   - The server can't be reached or refuses the revocation. The tokens have been deleted from the store, but
        ///     the server accepts them until they expire.
        public func revoke() async throws {
            guard let endpoint = server.revocationEndpoint else {
                throw HTTPAuthentication.Failure(.misconfigured, "the server has no revocation endpoint")
            }
            let nothing = AnyLoader { throw HTTPError(.resetInProgress, request: $0) }
            let deleted = await store.deleted { await Authenticate(authentication).reset(next: nothing) }
            try Task.checkCancellation()
            guard let deleted else { return }
            let exchange = Exchange(client: client, tokenEndpoint: server.tokenEndpoint, over: transport)
            // Many servers also revoke the access tokens that belong to a refresh token. Some refuse to revoke an
            // access token by itself.
            if let token = deleted.refreshToken {
                _ = try await exchange.post(
                    ["token": token.reveal(), "token_type_hint": "refresh_token"], to: endpoint)
            }
            do {
                let form = ["token": deleted.accessToken.reveal(), "token_type_hint": "access_token"]
                _ = try await exchange.post(form, to: endpoint)
            } catch {
                guard error.code == "unsupported_token_type", deleted.refreshToken != nil else { throw error }
            }
        }
    }
}

/// Marks the request of ``OAuth2/Session/signIn(scopes:)``, which is never sent.
private enum SignsInOnly: HTTPRequestOption {
    static let defaultOptionValue = false
}

/// Ends a request that was signed only to obtain tokens. The token requests themselves pass through.
private struct EndSignIn: LoaderLink {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard request[option: SignsInOnly.self] else { return try await next.load(request) }
        return HTTPResponse(request: request, status: .noContent)
    }
}

/// Wraps a token store, and remembers its tokens. The session can then read them without calling the store, because the
/// authentication may be calling it at the same time.
///
/// Tokens are stored together with the origin of their token endpoint and the API that they are for. Otherwise, if an
/// API named a different server, the refresh token would be sent to that server. Likewise, the access token for one API
/// would be sent to a different API.
private final class SessionStore: OAuth2.TokenStore {
    private struct State {
        var current: OAuth2.Tokens?
        /// The tokens that were deleted while ``deleted(by:)`` runs.
        var deleted: OAuth2.Tokens?
        var revocations = 0
    }

    /// The member in stored tokens that describes the server and the API that they are for.
    private static let purposeMember = "letterhead_purpose"

    private let store: any OAuth2.TokenStore
    private let purpose: String
    private let state = Mutex(State())

    init(_ store: any OAuth2.TokenStore, for server: OAuth2.Server, at origins: [URL]) {
        self.store = store
        let api = server.resource.map { [$0.absoluteString] } ?? origins.compactMap { $0.origin?.description }.sorted()
        purpose = ([server.tokenEndpoint.origin?.description ?? ""] + api).joined(separator: " ")
    }

    var current: OAuth2.Tokens? { state.withLock { $0.current } }

    func load() async throws -> OAuth2.Tokens? {
        var tokens = try await store.load()
        let stored = tokens?.members.removeValue(forKey: Self.purposeMember)?.string
        // Tokens without the member were stored for an unknown purpose.
        if stored?.utf8.elementsEqual(purpose.utf8) != true { tokens = nil }
        state.withLock { $0.current = tokens }
        return tokens
    }

    func save(_ tokens: OAuth2.Tokens) async throws {
        var stored = tokens
        stored.members[Self.purposeMember] = .string(purpose)
        try await store.save(stored)
        state.withLock { $0.current = tokens }
    }

    func delete() async throws {
        if state.withLock({ $0.revocations > 0 }) {
            // The tokens may come from an earlier run of the program, and this run may not have loaded them yet.
            let stored = try? await load()
            state.withLock { $0.deleted = stored ?? $0.current ?? $0.deleted }
        }
        state.withLock { $0.current = nil }
        try await store.delete()
    }

    func withLock<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try await store.withLock(body)
    }

    /// Returns the tokens that resetting the authentication deletes.
    func deleted(by reset: () async -> Void) async -> OAuth2.Tokens? {
        state.withLock { $0.revocations += 1 }
        await reset()
        return state.withLock { state in
            state.revocations -= 1
            return state.deleted.take()
        }
    }
}
