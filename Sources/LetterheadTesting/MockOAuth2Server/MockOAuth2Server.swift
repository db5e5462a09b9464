// SPDX-License-Identifier: MIT
public import LetterheadFoundation
import Letterhead

/// An OAuth 2 authorization server for tests. It runs on a ``MockServer``.
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
/// The server supports the authorization code with PKCE S256 (RFC 7636), refresh tokens with rotation, client
/// credentials (RFC 6749) and the device flow (RFC 8628). A refresh token can be used once. A second use revokes all
/// tokens from the same sign-in.
///
/// The endpoints have the paths `/authorize`, `/token` and `/device`. For any other path, the closure `api` responds if
/// the request has a valid access token. If it doesn't, the response is 401.
///
/// Tokens are numbered, such as `access-1`, so that tests can compare them. Use the server in tests only, because
/// anyone can guess its tokens.
public final class MockOAuth2Server: Sendable {
    // This type is a class because it owns a server.

    /// The server that receives the requests. Its record contains all of them.
    public let server: MockServer
    private let tokens: OAuth2Tokens

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - clientID: the identifier for the only client. Default: `client`.
    ///   - clientSecret: the client secret. Default: nil (a public client, which needs no secret).
    ///   - lifetime: how long an access token is valid. Default: one hour.
    ///   - clock: measures the lifetime. Default: the continuous clock.
    ///   - api: responds to requests with a valid access token. Default: an empty `200 OK`.
    /// - Throws: an error with the reason from the system if the server can't open a socket.
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

    /// The base URL of the API. Requests below it need an access token.
    public var url: URL { server.url }
    /// The page where a person signs in. A test calls ``signIn(_:isAllowed:)`` instead of opening it.
    public var authorizationEndpoint: URL { server.url.appending(path: "authorize") }
    /// The endpoint that issues tokens. Pass it to the authentication of your client.
    public var tokenEndpoint: URL { server.url.appending(path: "token") }
    /// The endpoint that issues the codes of the device flow (RFC 8628, 3.1).
    public var deviceEndpoint: URL { server.url.appending(path: "device") }

    /// Acts as a person who signs in with a browser. Requests the page, and returns the URL that the server redirects
    /// to.
    ///
    /// - Parameters:
    ///   - url: the URL that the client would open in a browser.
    ///   - isAllowed: whether the person agrees. If it is false, the returned URL contains `error=access_denied`.
    ///     Default: true.
    /// - Throws: `HTTPError` if the server refuses the request or can't be reached.
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

    /// Issues tokens as after a sign-in. Use it for a test that begins with stored tokens.
    ///
    /// - Parameter scope: the scope of the tokens, which the response to a refresh contains. Default: nil (no scope).
    public func issueTokens(scope: String? = nil) -> (accessToken: String, refreshToken: String) {
        let issue = tokens.issue(scope: scope, withRefresh: true)
        return (issue.access, issue.refresh ?? "")
    }

    /// Allows the device with a user code, so that its next poll receives tokens. Unknown codes have no effect.
    public func approveDevice(userCode: String) { tokens.approve(userCode) }

    /// Revokes all access tokens. Refresh tokens remain valid.
    public func revokeAccessTokens() { tokens.revokeAccess() }

    /// Revokes all tokens, as if the person had signed out everywhere.
    public func revokeAll() { tokens.revokeAll() }

    /// Stops the server, and waits until its closures have ended.
    public func stop() async { await server.stop() }
}
