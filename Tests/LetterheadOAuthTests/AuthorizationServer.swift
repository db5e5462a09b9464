// SPDX-License-Identifier: MIT
import Foundation
@testable import Letterhead
import LetterheadOAuth
import LetterheadTesting
import Synchronization

/// A small authorization server, which behaves correctly unless a test changes that: it rotates refresh tokens,
/// and a refresh token that is used twice ends the session, as RFC 9700, 4.14 advises.
///
/// A class, because the test and the chain must see one server.
final class AuthorizationServer: HTTPLoader {
    /// How the next token request is answered instead.
    enum Mischief: Sendable {
        case answer(Int, String)
        case fail(HTTPError.Code)
    }

    struct State {
        var issued = 0
        var good: Set<String> = []
        var refreshTokens: Set<String> = []
        var mischief: [Mischief] = []
        var tokenRequests: [HTTPRequest] = []
        var apiRequests: [HTTPRequest] = []
    }

    static let endpoint = URL(string: "https://auth.example.com/token") ?? URL(filePath: "/")
    static let api = URL(string: "https://api.example.com/me") ?? URL(filePath: "/")

    let state = Mutex(State())
    /// Seconds that a token lives, or nil to leave it out.
    let life: Int?
    /// Whether there are refresh tokens.
    let refreshes: Bool
    /// Whether a refresh token is good once only.
    let rotates: Bool
    /// What is granted, or nil to leave it out.
    let scope: String?

    init(life: Int? = 3600, refreshes: Bool = true, rotates: Bool = true, scope: String? = nil) {
        self.life = life
        self.refreshes = refreshes
        self.rotates = rotates
        self.scope = scope
    }

    var tokenForms: [[String: String]] { state.withLock { $0.tokenRequests.map(Self.form) } }
    var apiTokens: [String?] { state.withLock { $0.apiRequests.map { $0.headers["Authorization"] } } }

    func next(_ mischief: Mischief...) { state.withLock { $0.mischief += mischief } }
    func revokeAccessTokens() { state.withLock { $0.good = [] } }
    func revokeEverything() { state.withLock { ($0.good, $0.refreshTokens) = ([], []) } }

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try request.validate()
        guard request.host == "auth.example.com" else { return api(request) }
        let mischief = state.withLock { state -> Mischief? in
            state.tokenRequests.append(request)
            return state.mischief.isEmpty ? nil : state.mischief.removeFirst()
        }
        switch mischief {
        case .fail(let code)?: throw HTTPError(code, request: request)
        case .answer(let status, let body)?:
            return HTTPResponse(request: request, status: HTTPStatus(status), body: HTTPResponseBody(Data(body.utf8)))
        case nil:
            let (status, body) = answer(Self.form(request))
            return HTTPResponse(request: request, status: HTTPStatus(status), body: HTTPResponseBody(Data(body.utf8)))
        }
    }

    private func api(_ request: HTTPRequest) -> HTTPResponse {
        let isGood = state.withLock { state in
            state.apiRequests.append(request)
            return state.good.contains(request.headers["Authorization"]?.replacing("Bearer ", with: "") ?? "")
        }
        return HTTPResponse(request: request, status: isGood ? .ok : .unauthorized)
    }

    /// The token endpoint of a server that keeps to the RFC.
    func answer(_ form: [String: String]) -> (Int, String) {
        state.withLock { state in
            if form["grant_type"] == "refresh_token" {
                let token = form["refresh_token"] ?? ""
                guard state.refreshTokens.contains(token) else {
                    state.refreshTokens = []
                    return (400, #"{"error":"invalid_grant"}"#)
                }
                if rotates { state.refreshTokens.remove(token) }
            }
            state.issued += 1
            let access = "a\(state.issued)"
            state.good.insert(access)
            var fields = [#""access_token":"\#(access)""#, #""token_type":"Bearer""#]
            if let life { fields.append(#""expires_in":\#(life)"#) }
            if let scope { fields.append(#""scope":"\#(scope)""#) }
            if refreshes, rotates || form["grant_type"] != "refresh_token" {
                state.refreshTokens.insert("r\(state.issued)")
                fields.append(#""refresh_token":"r\#(state.issued)""#)
            }
            return (200, "{\(fields.joined(separator: ","))}")
        }
    }

    static func form(_ request: HTTPRequest) -> [String: String] {
        form(String(decoding: (try? request.body.encode()) ?? Data(), as: UTF8.self))
    }

    static func form(_ text: String) -> [String: String] {
        let items = QueryParameters(escaped: text.replacing("+", with: "%20"))
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    }
}

extension HTTPAuthentication {
    /// Tokens of the test's server for the test's API.
    static func testing(
        _ grant: OAuth2.Grant, client: OAuth2.Client = OAuth2.Client(id: "app", secret: "s3cret"),
        endpoint: URL = AuthorizationServer.endpoint, store: any OAuth2.TokenStore = OAuth2.MemoryTokenStore(),
        parameters: [String: String] = [:], limit: CredentialLimit = CredentialLimit(count: 10, window: .seconds(60)),
        clock: TestClock = TestClock(),
        now: @escaping @Sendable () -> Date = { Date(timeIntervalSince1970: 1_000_000) },
        random: (@Sendable (Int) -> [UInt8])? = nil
    ) -> HTTPAuthentication {
        .oauth2(
            client: client, tokenEndpoint: endpoint, grant: grant, store: store,
            allowedOrigins: [AuthorizationServer.api], parameters: parameters, limit: limit.count, per: limit.window,
            clock: clock,
            now: now,
            random: random)
    }
}

extension HTTPLoader {
    /// Asks the test's API.
    func ask(scopes: Set<String> = []) async throws -> HTTPStatus {
        var request = HTTPRequest(url: AuthorizationServer.api)
        if !scopes.isEmpty { request.requiredScopes = scopes }
        return try await load(request).status
    }

    /// The failure of a request to the test's API, or nil after a success.
    func failing(scopes: Set<String> = []) async -> HTTPAuthentication.Failure? {
        do {
            _ = try await ask(scopes: scopes)
            return nil
        } catch {
            return (error as? HTTPError)?.underlying as? HTTPAuthentication.Failure
        }
    }
}
