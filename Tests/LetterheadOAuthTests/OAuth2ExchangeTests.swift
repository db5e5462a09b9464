// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadTesting
import Synchronization
import Testing

@Suite struct OAuth2ExchangeTests {
    private let server = AuthorizationServer()
    private let client = OAuth2.Client(id: "app", secret: "s3cret")

    private var exchange: OAuth2.Exchange {
        OAuth2.Exchange(
            client: client, tokenEndpoint: AuthorizationServer.endpoint,
            parameters: ["audience": "x", "token": "other"],
            over: server)
    }

    @Test func `an exchange prints no parameters`() {
        let exchange = OAuth2.Exchange(
            client: client, tokenEndpoint: AuthorizationServer.endpoint, parameters: ["client_assertion": "SECRET"],
            over: server)
        var text = "\(exchange)"
        dump(exchange, to: &text)
        #expect(!text.contains("SECRET") && text.contains("https://auth.example.com"))
    }

    @Test func `a custom grant obtains tokens by its own form, which are refreshed and replaced like others`()
        async throws
    {
        let grant = OAuth2.Grant.custom(scope: ["b", "a"]) { exchange in
            #expect(exchange.scope == ["a", "b"])
            return try await exchange.tokens(["grant_type": "urn:x", "assertion": "s1gned"])
        }
        let clock = TestClock()
        let chain = Authenticate(.testing(grant, clock: clock)) --> server
        #expect(try await chain.ask() == .ok)
        #expect(server.tokenForms == [["grant_type": "urn:x", "assertion": "s1gned"]])
        #expect(server.state.withLock { $0.tokenRequests[0].headers["Authorization"] } == "Basic YXBwOnMzY3JldA==")
        clock.advance(by: .seconds(3539))
        #expect(try await chain.ask() == .ok)
        #expect(server.tokenForms.count == 1)
        clock.advance(by: .seconds(2))
        #expect(try await chain.ask() == .ok)
        #expect(server.tokenForms.last?["grant_type"] == "refresh_token")
        server.revokeEverything()
        #expect(try await chain.ask() == .ok)
        #expect(server.tokenForms.last?["grant_type"] == "urn:x")
    }

    @Test func `a failure that a custom grant throws is that of the request`() async {
        let grant = OAuth2.Grant.custom { _ in throw HTTPAuthentication.Failure(.refused, "no", code: "x") }
        let failure = await (Authenticate(.testing(grant)) --> server).failing()
        #expect(failure?.reason == .refused && failure?.message == "no" && failure?.code == "x")
    }

    @Test func `custom tokens without a refresh token are used until they expire`() async throws {
        let (server, clock) = (AuthorizationServer(life: 100, refreshes: false), TestClock())
        let grant = OAuth2.Grant.custom { try await $0.tokens(["grant_type": "urn:x"]) }
        let chain = Authenticate(.testing(grant, clock: clock)) --> server
        _ = try await chain.ask()
        clock.advance(by: .seconds(99))
        _ = try await chain.ask()
        #expect(server.tokenForms.count == 1)
        clock.advance(by: .seconds(1))
        _ = try await chain.ask()
        #expect(server.tokenForms.count == 2)
    }

    @Test func `a form that is posted names the client, and returns the body of the response`() async throws {
        server.next(.answer(200, "done"))
        let data = try await exchange.post(["token": "t0ken"], to: AuthorizationServer.endpoint)
        #expect(String(decoding: data, as: UTF8.self) == "done")
        #expect(server.tokenForms == [["token": "t0ken", "audience": "x"]])
        let request = try #require(server.state.withLock { $0.tokenRequests.first })
        #expect(request.isSecret && request.headers["Authorization"] == "Basic YXBwOnMzY3JldA==")
    }

    @Test func `a form that is refused is an error with the server's code, and without what was sent`() async throws {
        server.next(.answer(400, #"{"error":"unsupported_token_type","error_description":"not t0ken"}"#))
        let error = try await #require(throws: HTTPAuthentication.Failure.self) {
            _ = try await exchange.post(["token": "t0ken"], to: AuthorizationServer.endpoint)
        }
        #expect(error.reason == .refused && error.code == "unsupported_token_type" && error.status == .badRequest)
        #expect(error.message.contains("auth.example.com") && !error.message.contains("t0ken"))
    }

    @Test func `a form is not posted to an endpoint without TLS`() async throws {
        let insecure = try #require(URL(string: "http://auth.example.com/revoke"))
        let error = try await #require(throws: HTTPAuthentication.Failure.self) {
            _ = try await exchange.post(["token": "t0ken"], to: insecure)
        }
        #expect(error.reason == .misconfigured && server.tokenForms.isEmpty)
    }

    @Test func `the other members of a token response are stored, and a refresh replaces some of them`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID())/tokens.json")
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        let store = OAuth2.FileTokenStore(file)
        let (clock, start) = (TestClock(), #"{"access_token":"a","token_type":"Bearer","refresh_token":"r","#)
        let many = (0..<62).map { #""m\#($0)":0"# }.joined(separator: ",")
        server.next(
            .answer(200, start + #""expires_in":100,"scope":"s","id_token":"i1","n":[1,null],"old":1}"#),
            .answer(200, start + #""expires_in":100,"n":2}"#), .answer(200, start + many + "}"))
        server.state.withLock { _ = $0.good.insert("a") }
        let chain = Authenticate(.testing(.clientCredentials(), store: store, clock: clock)) --> server
        _ = try await chain.ask()
        var tokens = try #require(try await store.load())
        #expect(tokens.members == ["id_token": "i1", "n": [1, nil], "old": 1] && tokens.idToken == "i1")
        #expect(!"\(tokens) \(String(reflecting: tokens))".contains("i1"))
        var dumped = ""
        dump(tokens, to: &dumped)
        #expect(!dumped.contains("i1"))
        clock.advance(by: .seconds(100))
        _ = try await chain.ask()
        tokens = try #require(try await store.load())
        #expect(tokens.members == ["id_token": "i1", "n": 2, "old": 1])
        clock.advance(by: .seconds(100))
        _ = try await chain.ask()
        tokens = try #require(try await store.load())
        #expect(tokens.members.count == 63 && tokens.idToken == "i1" && tokens.members["old"] == nil)
    }

    @Test func `tokens without other members have none, also in a file of an earlier version`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(#"{"access_token":"a"}"#.utf8).write(to: file)
        #expect(chmod(file.path, 0o600) == 0)
        let tokens = try #require(try await OAuth2.FileTokenStore(file).load())
        #expect(tokens.members.isEmpty && tokens.idToken == nil)
    }
}
