// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadTesting
import Synchronization
import Testing

private let api = AuthorizationServer.api
private let other = URL(string: "https://b.example") ?? URL(filePath: "/")

@Suite struct StoredOriginTests {
    private let server = AuthorizationServer()

    private func chain(_ store: any OAuth2.TokenStore, home: URL, allowed: [URL]? = nil) -> any HTTPLoader {
        server.state.withLock { _ = $0.good.insert("kept") }
        let oauth = HTTPAuthentication.oauth2(
            client: OAuth2.Client(id: "app", secret: "s"), tokenEndpoint: AuthorizationServer.endpoint,
            grant: .clientCredentials(), store: store, allowedOrigins: allowed)
        return ApplyEnvironment(ServerEnvironment(baseURL: home)) --> Authenticate(oauth) --> server
    }

    private func origin(_ url: URL) throws -> HTTPOrigin { try #require(HTTPRequest(url: url).origin) }

    @Test(arguments: [nil, [api]] as [[URL]?])
    func `tokens are stored with the origin for which they were obtained, unless origins are named`(
        allowed: [URL]?
    ) async throws {
        let store = OAuth2.MemoryTokenStore()
        #expect(try await chain(store, home: api, allowed: allowed).ask() == .ok)
        let expected = try allowed == nil ? origin(api) : nil
        let kept = await store.load()
        #expect(kept != nil && kept?.origin == expected)
    }

    @Test func `stored tokens of another origin are not used, and remain in the store`() async throws {
        let tokens = OAuth2.Tokens(accessToken: "kept", refreshToken: "r", origin: try origin(other))
        let store = OAuth2.MemoryTokenStore(tokens)
        let chain = chain(store, home: api)
        let failure = await chain.failing()
        #expect(failure?.reason == .misconfigured)
        #expect(failure?.description.contains("https://b.example") == true)
        #expect(server.tokenForms.isEmpty && server.apiTokens.isEmpty)
        #expect(await store.load() == tokens)
        await chain.reset()
        #expect(try await chain.ask() == .ok)
        #expect(server.apiTokens == ["Bearer a1"])
    }

    @Test func `stored tokens of the same origin, or of an unknown one, are used`() async throws {
        for origin in [try origin(api), nil] {
            let store = OAuth2.MemoryTokenStore(OAuth2.Tokens(accessToken: "kept", origin: origin))
            #expect(try await chain(store, home: api).ask() == .ok)
        }
        #expect(server.apiTokens == ["Bearer kept", "Bearer kept"])
    }

    @Test(arguments: ["https://b.example", "http://127.0.0.1:8080", "https://[::1]:1"])
    func `a file contains the origin of its tokens`(url: String) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "origin-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let tokens = OAuth2.Tokens(accessToken: "t", origin: try origin(try #require(URL(string: url))))
        try await OAuth2.FileTokenStore(file).save(tokens)
        #expect(try await OAuth2.FileTokenStore(file).load() == tokens)
    }
}
