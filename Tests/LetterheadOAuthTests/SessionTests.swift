// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadTesting
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct SessionTests {
    private let scene = Scene()
    private let store = OAuth2.MemoryTokenStore()

    private func client(_ session: OAuth2.Session) -> HTTPClient {
        HTTPClient(
            environment: ServerEnvironment("https://api.example.com"), authentication: session.authentication,
            transport: scene)
    }

    @Test func `a sign-in obtains tokens without a request to the API, and requests use them`() async throws {
        let session = try OAuth2.Session.testing(over: scene, store: store)
        let tokens = try await session.signIn()
        #expect(tokens.accessToken == "a1" && tokens.refreshToken == "r1" && tokens.idToken == "i1")
        #expect(tokens.members == ["id_token": "i1", "tenant": ["name": "t"]])
        #expect(scene.urls == ["https://auth.example.com/device", "https://auth.example.com/token"])
        try await client(session).send(Get<HTTPResponse>("/mcp"))
        #expect(try await session.signIn() == tokens)
        #expect(scene.urls.dropFirst(2) == ["https://api.example.com/mcp"])
        #expect(scene.requests.last?.headers[.authorization] == "Bearer a1")
    }

    @Test func `tokens of an earlier run are used without a sign-in, unless a scope is missing`() async throws {
        try await OAuth2.Session.testing(over: scene, store: store).signIn()
        let count = scene.requests.count
        let session = try OAuth2.Session.testing(over: scene, store: store)
        #expect(try await session.signIn().idToken == "i1")
        #expect(scene.requests.count == count)
        try await session.signIn(scopes: ["write"])
        #expect(scene.forms("/device").last?["scope"] == "write")
    }

    @Test(arguments: [true, false])
    func `stored tokens are sent neither to another server nor to another API of it`(isServer: Bool) async throws {
        try await OAuth2.Session.testing(over: scene, store: store).signIn()
        var other = OAuth2.Server.example
        let evil = try #require(URL(string: "https://evil.example.com/mcp"))
        if isServer { other.tokenEndpoint = evil } else { other.resource = evil }
        let count = scene.requests.count
        let session = try OAuth2.Session.testing(over: scene, signIn: .storedTokens, server: other, store: store)
        #expect(await authenticationFailure { try await session.signIn() }?.reason == .loggedOut)
        #expect(scene.requests.count == count)
    }

    @Test func `tokens that no session has stored are not used`() async throws {
        await store.save(OAuth2.Tokens(accessToken: "foreign", refreshToken: "r0"))
        let session = try OAuth2.Session.testing(over: scene, signIn: .storedTokens, store: store)
        #expect(await authenticationFailure { try await session.signIn() }?.reason == .loggedOut)
        #expect(scene.requests.isEmpty)
    }

    @Test func `a sign-in that the server refuses is an error that a request would have`() async throws {
        scene.answer("https://auth.example.com/token", .error("access_denied"))
        let session = try OAuth2.Session.testing(over: scene)
        await #expect { try await session.signIn() } throws: { ($0 as? HTTPError)?.code == .cannotAuthenticate }
    }

    @Test func `a revocation deletes the tokens, and has the server revoke both`() async throws {
        let secret = OAuth2.Client(id: "app", secret: "s3cret")
        let session = try OAuth2.Session.testing(over: scene, client: secret, store: store)
        try await session.signIn()
        try await session.revoke()
        #expect(
            scene.forms("/revoke") == [
                ["token": "r1", "token_type_hint": "refresh_token"],
                ["token": "a1", "token_type_hint": "access_token"],
            ])
        #expect(scene.requests.suffix(2).allSatisfy { $0.headers[.authorization]?.hasPrefix("Basic ") == true })
        #expect(await store.load() == nil)
        try await session.revoke()
        #expect(scene.forms("/revoke").count == 2)
        try await client(session).send(Get<HTTPResponse>("/mcp"))
        #expect(scene.forms("/device").count == 2)
    }

    @Test func `tokens of an earlier run that were not used in this one are revoked, too`() async throws {
        try await OAuth2.Session.testing(over: scene, store: store).signIn()
        try await OAuth2.Session.testing(over: scene, store: store).revoke()
        #expect(scene.forms("/revoke").map { $0["token"] } == ["r1", "a1"])
        #expect(await store.load() == nil)
    }

    @Test func `a server that cannot revoke access tokens is not an error`() async throws {
        scene.answer("https://auth.example.com/revoke", Scene.Answer(), .error("unsupported_token_type"))
        let session = try OAuth2.Session.testing(over: scene)
        try await session.signIn()
        try await session.revoke()
        #expect(scene.forms("/revoke").count == 2)
    }

    @Test func `if the server cannot be told, the error says so, and the tokens are deleted`() async throws {
        scene.answer("https://auth.example.com/revoke", .status(.serviceUnavailable))
        let session = try OAuth2.Session.testing(over: scene, store: store)
        try await session.signIn()
        let failure = try #require(await authenticationFailure { try await session.revoke() })
        #expect(failure.reason == .unavailable && !failure.message.contains("r1"))
        #expect(await store.load() == nil)
    }

    @Test(arguments: [nil, "http://auth.example.com/revoke"])
    func `without a revocation endpoint with TLS, no token is sent or deleted`(endpoint: String?) async throws {
        var server = OAuth2.Server.example
        server.revocationEndpoint = endpoint.flatMap { URL(string: $0) }
        let session = try OAuth2.Session.testing(over: scene, server: server, store: store)
        try await session.signIn()
        #expect(await authenticationFailure { try await session.revoke() }?.reason == .misconfigured)
        #expect(scene.forms("/revoke").isEmpty)
        if endpoint == nil { #expect(await store.load() != nil) }
    }

    @Test func `a session that could not work is refused when it is created`() throws {
        var server = OAuth2.Server(tokenEndpoint: OAuth2.Server.example.tokenEndpoint, resource: Scene.api)
        let signIns: [OAuth2.SignIn] = [
            .deviceCode { _ in }, .loopback { _ in }, .authorizationCode(redirectURI: Scene.api) { $0 },
        ]
        for signIn in signIns {
            #expect(throws: HTTPAuthentication.Failure.self) {
                try OAuth2.Session.testing(over: scene, signIn: signIn, server: server)
            }
        }
        _ = try OAuth2.Session.testing(over: scene, signIn: .clientCredentials(), server: server)
        for resource in [nil, URL(string: "urn:example:api"), URL(string: "http://api.example.com")] {
            server.resource = resource
            #expect(throws: HTTPAuthentication.Failure.self) {
                try OAuth2.Session.testing(over: scene, signIn: .clientCredentials(), server: server)
            }
        }
    }
}
