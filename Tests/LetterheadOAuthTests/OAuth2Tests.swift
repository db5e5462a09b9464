// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@Suite struct OAuth2Tests {
    private let server = AuthorizationServer()
    private let clock = TestClock()

    private func chain(
        _ grant: OAuth2.Grant = .refreshToken("r0"), over server: AuthorizationServer? = nil,
        client: OAuth2.Client = OAuth2.Client(id: "app", secret: "s3cret"),
        store: any OAuth2.TokenStore = OAuth2.MemoryTokenStore(), parameters: [String: String] = [:],
        now: @escaping @Sendable () -> Date = { Date(timeIntervalSince1970: 1_000_000) }
    ) -> any HTTPLoader {
        let server = server ?? self.server
        server.state.withLock { _ = $0.refreshTokens.insert("r0") }
        return Authenticate(
            .testing(grant, client: client, store: store, parameters: parameters, clock: clock, now: now)) --> server
    }

    @Test func `the request for client credentials is that of RFC 6749`() async throws {
        #expect(try await chain(.clientCredentials(scope: ["b", "a"])).ask() == .ok)
        let request = try #require(server.state.withLock { $0.tokenRequests.first })
        #expect(request.method == .post && request.headers["Accept"] == "application/json")
        #expect(request.framedHeaders()["Content-Type"] == "application/x-www-form-urlencoded")
        #expect(request.headers["Authorization"] == "Basic YXBwOnMzY3JldA==")
        #expect(server.tokenForms == [["grant_type": "client_credentials", "scope": "a b"]])
    }

    @Test func `a client and its secret are escaped before they are joined`() async throws {
        _ = try await chain(.clientCredentials(), client: OAuth2.Client(id: "a:b", secret: "c d")).ask()
        let sent = server.state.withLock { $0.tokenRequests.first?.headers["Authorization"] }
        #expect(sent == "Basic " + Data("a%3Ab:c%20d".utf8).base64EncodedString())
    }

    @Test func `a client may send its secret in the form`() async throws {
        let client = OAuth2.Client(id: "app", secret: "s&t", authentication: .form)
        _ = try await chain(.clientCredentials(), client: client).ask()
        #expect(
            server.tokenForms == [["grant_type": "client_credentials", "client_id": "app", "client_secret": "s&t"]])
        #expect(server.state.withLock { $0.tokenRequests.first?.headers.contains("Authorization") } == false)
    }

    @Test func `a client without a secret sends its identifier in the form`() async throws {
        _ = try await chain(client: OAuth2.Client(id: "app")).ask()
        #expect(server.tokenForms == [["grant_type": "refresh_token", "refresh_token": "r0", "client_id": "app"]])
    }

    @Test func `additional parameters are sent, and cannot replace those of the protocol`() async throws {
        _ = try await chain(.clientCredentials(), parameters: ["audience": "x", "grant_type": "password"]).ask()
        #expect(server.tokenForms == [["grant_type": "client_credentials", "audience": "x"]])
    }

    @Test func `the API receives the token, and the token endpoint receives no bearer token`() async throws {
        let chain = chain()
        _ = try await chain.ask()
        server.revokeAccessTokens()
        #expect(try await chain.ask() == .ok)
        #expect(server.apiTokens == ["Bearer a1", "Bearer a1", "Bearer a2"])
        let sent = server.state.withLock { $0.tokenRequests.map { $0.headers["Authorization"] ?? "" } }
        #expect(sent.allSatisfy { $0.hasPrefix("Basic ") })
    }

    @Test(
        arguments: [
            (3600, [3539], 1), (3600, [3541], 2), (3600, [4000], 2),
            // A short lifetime does not replace the token for each request.
            (30, [14], 1), (30, [14, 2], 2),
            // Without an expiry, only a 401 does.
            (nil, [1_000_000], 1),
        ] as [(Int?, [Int], Int)])
    func `a token is replaced one minute before it expires`(life: Int?, waits: [Int], requests: Int) async throws {
        let server = AuthorizationServer(life: life)
        let chain = chain(over: server)
        _ = try await chain.ask()
        for wait in waits {
            clock.advance(by: .seconds(wait))
            #expect(try await chain.ask() == .ok)
        }
        #expect(server.tokenForms.count == requests && server.apiTokens.count == waits.count + 1)
    }

    @Test func `a token that only a sign-in can replace is used until it expires`() async throws {
        let end = Date(timeIntervalSince1970: 1_000_100)
        let store = OAuth2.MemoryTokenStore(OAuth2.Tokens(accessToken: "kept", expiresAt: end))
        server.state.withLock { _ = $0.good.insert("kept") }
        let chain = chain(.storedTokens, store: store)
        clock.advance(by: .seconds(1))
        #expect(try await chain.ask() == .ok)
        clock.advance(by: .seconds(99))
        #expect(try await chain.ask() == .ok)
        clock.advance(by: .seconds(1))
        #expect(await chain.failing()?.reason == .loggedOut)
    }

    @Test func `a token endpoint that hangs delays one request for five seconds while the token is good`() async throws
    {
        let (gate, release) = AsyncStream.makeStream(of: Void.self)
        let chain =
            Authenticate(.testing(.refreshToken("r0"), clock: clock))
            --> AnyLoader { [server] request in
                if request.host == "auth.example.com", server.tokenForms.count == 1 { for await _ in gate { break } }
                return try await server.load(request)
            }
        server.state.withLock { _ = $0.refreshTokens.insert("r0") }
        #expect(try await chain.ask() == .ok)
        clock.advance(by: .seconds(3_550))
        let first = Task { try await chain.ask() }
        await until { clock.sleeps.contains(.seconds(5)) }
        #expect(try await chain.ask() == .ok)
        clock.advance(by: .seconds(5))
        #expect(try await first.value == .ok)
        #expect(server.tokenForms.count == 1 && Set(server.apiTokens).count == 1)
        release.yield()
    }

    @Test func `a change of the system date has no effect`() async throws {
        let date = Mutex(Date(timeIntervalSince1970: 1_000_000))
        let chain = chain(now: { date.withLock { $0 } })
        _ = try await chain.ask()
        date.withLock { $0 = Date(timeIntervalSince1970: 9_000_000) }
        _ = try await chain.ask()
        #expect(server.tokenForms.count == 1)
    }

    @Test func `a new refresh token is saved before any request continues`() async throws {
        let store = OAuth2.MemoryTokenStore()
        let chain = chain(store: store)
        _ = try await chain.ask()
        #expect(await store.load()?.refreshToken == "r1")
        server.revokeAccessTokens()
        _ = try await chain.ask()
        #expect(await store.load()?.refreshToken == "r2")
        #expect(server.tokenForms.map { $0["refresh_token"] } == ["r0", "r1"])
    }

    @Test func `a token response without a refresh token keeps the previous one`() async throws {
        let server = AuthorizationServer(rotates: false)
        let chain = chain(over: server)
        for _ in 0..<3 {
            _ = try await chain.ask()
            server.revokeAccessTokens()
        }
        #expect(server.tokenForms.map { $0["refresh_token"] } == ["r0", "r0", "r0"])
    }

    @Test(arguments: [true, false])
    func `a token that cannot be replaced early is used until it expires`(refreshes: Bool) async throws {
        let chain = chain(refreshes ? .refreshToken("r0") : .clientCredentials())
        _ = try await chain.ask()
        clock.advance(by: .seconds(3550))
        server.next(.answer(503, ""))
        #expect(try await chain.ask() == .ok)
        clock.advance(by: .seconds(60))
        #expect(try await chain.ask() == .ok)
        #expect(server.apiTokens == ["Bearer a1", "Bearer a1", "Bearer a2"])
    }

    @Test(arguments: [
        (400, #"{"error":"invalid_grant"}"#), (401, ""), (401, "<html>"), (400, "{}"),
        (400, #"{"error":"bad_refresh_token"}"#), (400, #"{"error":7}"#),
    ])
    func `a refused refresh token is deleted, and all waiting requests are loggedOut`(
        status: Int, body: String
    ) async throws {
        let store = OAuth2.MemoryTokenStore()
        let chain = chain(store: store)
        _ = try await chain.ask()
        server.revokeAccessTokens()
        server.next(.answer(status, body))
        let error = await failure { try await chain.load(HTTPRequest(url: AuthorizationServer.api)) }
        #expect(error?.code == .cannotAuthenticate)
        #expect(error?.message.contains("logged out") == true)
        #expect((error?.underlying as? HTTPAuthentication.Failure)?.reason == .loggedOut)
        #expect(error?.response?.status == .unauthorized)
        #expect(await store.load() == nil)
    }

    @Test(
        arguments: [
            (.answer(500, ""), .unavailable), (.answer(503, "down"), .unavailable), (.answer(429, "{}"), .unavailable),
            (.answer(408, ""), .unavailable), (.fail(.timedOut), .unavailable), (.fail(.cannotConnect), .unavailable),
            (.answer(200, ""), .malformed), (.answer(200, "[]"), .malformed), (.answer(200, "{}"), .malformed),
            (.answer(200, "token=x&access_token=y&token=z"), .malformed),
            (.answer(200, #"{"access_token":"x","token_type":7}"#), .malformed),
            (.answer(200, #"{"access_token":7,"token_type":"Bearer"}"#), .malformed),
            (.answer(200, #"{"access_token":"","token_type":"Bearer"}"#), .malformed),
            (.answer(200, #"{"access_token":"a\r\nX: y","token_type":"Bearer"}"#), .malformed),
            (.answer(200, #"{"access_token":"a b","token_type":"Bearer"}"#), .malformed),
            (.answer(200, #"{"access_token":"x","token_type":"mac"}"#), .malformed),
            (.answer(200, #"{"access_token":"x","token_type":"Bearer","expires_in":"soon"}"#), .malformed),
            (.answer(200, #"{"access_token":"x","token_type":"Bearer","expires_in":{}}"#), .malformed),
            (.answer(200, #"{"error":"temporarily_unavailable"}"#), .unavailable),
            (.answer(200, #"{"error":"rate_limited"}"#), .refused),
            (.answer(200, #"{"error":"incorrect_client_credentials"}"#), .refused),
            (.answer(400, #"{"error":"no_such_thing"}"#), .refused), (.answer(200, #"{"error":0}"#), .malformed),
            (.answer(200, #"{"error":{"message":"expired"}}"#), .malformed),
            (.answer(200, #"{"error":"invalid_client","access_token":"x"}"#), .refused),
            (.answer(400, #"{"error":"invalid_client"}"#), .refused),
            (.answer(401, #"{"error":"invalid_client"}"#), .refused),
            (.answer(400, #"{"error":"invalid_request"}"#), .refused), (.answer(403, ""), .refused),
            (.answer(404, ""), .refused), (.answer(302, ""), .refused), (.answer(304, ""), .refused),
        ] as [(AuthorizationServer.Mischief, HTTPAuthentication.Failure.Reason)])
    func `a fault of the server is reported, and deletes no tokens`(
        mischief: AuthorizationServer.Mischief, reason: HTTPAuthentication.Failure.Reason
    ) async throws {
        let store = OAuth2.MemoryTokenStore()
        let chain = chain(store: store)
        _ = try await chain.ask()
        server.revokeAccessTokens()
        server.next(mischief)
        #expect(await chain.failing()?.reason == reason)
        #expect(await store.load()?.refreshToken == "r1")
        #expect(try await chain.ask() == .ok)
    }

    @Test(arguments: [
        #"{"access_token":"a9","token_type":"bearer","expires_in":"3600"}"#,
        #"{"access_token":"a9","token_type":"BEARER","expires_in":3600.5,"refresh_token":"","scope":""}"#,
        #"{"access_token":"a9","token_type":"Bearer","expires_in":1e300,"more":{"x":[1]}}"#,
        #"{"access_token":"a9","token_type":"Bearer","expires_in":null,"refresh_token":null,"scope":null}"#,
        #"{"access_token":"a9","token_type":"Bearer","expires_in":-5}"#,
    ])
    func `token responses are read in every form that the RFC allows`(body: String) async throws {
        server.state.withLock { _ = $0.good.insert("a9") }
        server.next(.answer(200, body))
        #expect(try await chain().ask() == .ok)
    }

    @Test func `without a sign-in the request fails before anything is sent`() async throws {
        #expect(await chain(.storedTokens).failing()?.reason == .loggedOut)
        #expect(server.apiTokens.isEmpty && server.tokenForms.isEmpty)
    }

    @Test func `a token endpoint without TLS is refused before a secret is sent`() async throws {
        let endpoint = try #require(URL(string: "http://auth.example.com/token"))
        let chain = Authenticate(.testing(.clientCredentials(), endpoint: endpoint)) --> server
        #expect(await chain.failing()?.reason == .misconfigured)
        #expect(server.tokenForms.isEmpty)
    }

    @Test func `a given refresh token is deleted by a reset`() async throws {
        let chain = chain()
        _ = try await chain.ask()
        await chain.reset()
        #expect(await chain.failing()?.reason == .loggedOut)
        #expect(server.tokenForms.count == 1)
    }

    @Test func `a request that requires more scopes first obtains a token with them`() async throws {
        let chain = chain(.clientCredentials(scope: ["read"]))
        _ = try await chain.ask(scopes: ["read"])
        #expect(try await chain.ask(scopes: ["write"]) == .ok)
        #expect(try await chain.ask(scopes: ["read"]) == .ok)
        #expect(server.tokenForms.map { $0["scope"] } == ["read", "read write"])
    }

    @Test func `a scope that the server does not grant is requested once, and the request is not sent`() async throws {
        let server = AuthorizationServer(scope: "read")
        let chain = chain(.clientCredentials(scope: ["read"]), over: server)
        for _ in 0..<2 { #expect(await chain.failing(scopes: ["write"])?.reason == .refused) }
        #expect(server.tokenForms.count == 1)
        #expect(server.apiTokens.isEmpty)
    }

    @Test func `scopes that a response omits are the requested or the earlier ones, also after a new launch`()
        async throws
    {
        let store = OAuth2.MemoryTokenStore()
        #expect(try await chain(.clientCredentials(scope: ["read"]), store: store).ask(scopes: ["read"]) == .ok)
        #expect(await store.load()?.scope == ["read"])
        #expect(try await chain(.storedTokens, store: store).ask(scopes: ["read"]) == .ok)
        let old = OAuth2.Tokens(
            accessToken: "old", refreshToken: "r0", scope: ["read"], expiresAt: Date(timeIntervalSince1970: 0))
        server.state.withLock { _ = $0.refreshTokens.insert("r0") }
        let earlier = OAuth2.MemoryTokenStore(old)
        for _ in 0..<2 { #expect(try await chain(.storedTokens, store: earlier).ask(scopes: ["read"]) == .ok) }
        #expect(await chain(.storedTokens, store: earlier).failing(scopes: ["write"])?.reason == .refused)
    }

    @Test func `a grant that cannot request further scopes reports this`() async throws {
        let store = OAuth2.MemoryTokenStore(OAuth2.Tokens(accessToken: "a", refreshToken: "r0", scope: ["read"]))
        #expect(await chain(.storedTokens, store: store).failing(scopes: ["write"])?.reason == .refused)
        #expect(await store.load() != nil)
    }

    @Test(arguments: ["a b", "", "a\"b", "é"])
    func `a scope that contains invalid characters is refused`(scope: String) async {
        #expect(await chain(.clientCredentials(scope: [scope])).failing()?.reason == .misconfigured)
        #expect(server.tokenForms.isEmpty)
    }
}
