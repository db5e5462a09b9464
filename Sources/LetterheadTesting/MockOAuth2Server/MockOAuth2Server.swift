// SPDX-License-Identifier: MIT
public import LetterheadFoundation
import Letterhead
import LetterheadOAuth

/// An OAuth 2 authorization server for tests, on a ``MockServer``.
///
/// ```swift
/// let server = try await MockOAuth2Server.start { request in try .json(User(login: "ada")) }
/// let authentication = HTTPAuthentication.oauth2(
///     client: OAuth2.Client(id: "client"), tokenEndpoint: server.tokenEndpoint,
///     grant: .authorizationCode(endpoint: server.authorizationEndpoint, redirectURI: callback) { page in
///         try await server.signIn(page)
///     },
///     allowedOrigins: [server.url])
/// ```
///
/// It supports the authorization code with PKCE S256 (RFC 7636), refresh tokens with rotation, client credentials
/// (RFC 6749) and the device flow (RFC 8628). A refresh token can be used once; a second use revokes all tokens of the
/// same sign-in.
///
/// The paths of the endpoints are `/authorize`, `/token` and `/device`. A request to any other path needs a valid
/// access token and is passed to the closure `api`. Without a valid token, the response is 401.
///
/// Tokens are numbered, such as `access-1`, so that tests can compare them. They can be guessed, so use them in tests
/// only.
public final class MockOAuth2Server: Sendable {
    // This type is a class because it owns a server.

    /// The server. Its record contains all requests.
    public let server: MockServer
    private let tokens: OAuth2Tokens

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - clientID: the identifier of the only client. Default: `client`.
    ///   - clientSecret: the secret of the client. Default: nil (a public client, which needs none).
    ///   - lifetime: the lifetime of an access token. Default: one hour.
    ///   - clock: measures the lifetime. Default: the continuous clock.
    ///   - api: responds to requests with a valid access token. Default: an empty `200 OK`.
    /// - Throws: an error with the system's reason if no socket can be opened.
    public static func start(
        clientID: String = "client", clientSecret: String? = nil, lifetime: Duration = .seconds(3600),
        clock: any Clock<Duration> = ContinuousClock(),
        api: @escaping MockServer.Closure = { _ in MockServer.Response() }
    ) async throws -> MockOAuth2Server {
        let tokens = OAuth2Tokens(lifetime: lifetime, clock: clock)
        let endpoint = OAuth2Endpoint(tokens: tokens, clientID: clientID, clientSecret: clientSecret)
        let server = try await MockServer.start { request in
            switch request.path {
            case "/authorize": return endpoint.authorize(request)
            case "/token": return try endpoint.token(request)
            case "/device": return try endpoint.device(request)
            default:
                guard tokens.isValid(request.headers[.authorization]) else {
                    return MockServer.Response(
                        status: .unauthorized, headers: [.wwwAuthenticate: "Bearer error=\"invalid_token\""])
                }
                return try await api(request)
            }
        }
        return MockOAuth2Server(server, tokens)
    }

    private init(_ server: MockServer, _ tokens: OAuth2Tokens) { (self.server, self.tokens) = (server, tokens) }

    /// The base URL of the API.
    public var url: URL { server.url }
    /// The page on which a person signs in; see ``signIn(_:isAllowed:)``.
    public var authorizationEndpoint: URL { server.url.appending(path: "authorize") }
    /// The token endpoint.
    public var tokenEndpoint: URL { server.url.appending(path: "token") }
    /// The device authorization endpoint (RFC 8628, 3.1).
    public var deviceEndpoint: URL { server.url.appending(path: "device") }

    /// Acts as a person who signs in with a browser: requests the page, and returns the URL to which the server
    /// redirects.
    ///
    /// - Parameters:
    ///   - url: the URL that the client wants to open.
    ///   - isAllowed: whether the person agrees. If it is false, the returned URL contains `error=access_denied`.
    ///     Default: true.
    /// - Throws: `HTTPError` if the server cannot be reached or refuses the request.
    public func signIn(_ url: URL, isAllowed: Bool = true) async throws -> URL {
        var request = HTTPRequest(url: url)
        if !isAllowed { request.query["deny"] = "1" }
        let response = try await HTTPClient.defaultTransport.load(request)
        guard response.status == .found, let target = response.headers[.location].flatMap({ URL(string: $0) }) else {
            throw HTTPError(
                .unacceptableStatus, request: request, response: response,
                message: "the authorization server refused the request of the client")
        }
        return target
    }

    /// Allows the device with a user code, so that its next poll receives tokens. Unknown codes have no effect.
    public func approveDevice(userCode: String) { tokens.approve(userCode) }

    /// Revokes all access tokens. Refresh tokens remain valid.
    public func revokeAccessTokens() { tokens.revokeAccess() }

    /// Revokes all tokens, as if the person had signed out everywhere.
    public func revokeAll() { tokens.revokeAll() }

    /// Stops the server.
    public func stop() async { await server.stop() }
}
