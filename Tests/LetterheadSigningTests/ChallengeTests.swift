// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
@testable import LetterheadSigning
import LetterheadTesting
import Synchronization
import TestKit
import Testing

private let api = URL(string: "https://registry.example.com/v2") ?? URL(filePath: "/")

/// A container registry, and the endpoint that issues its tokens. A class, because the test and the chain must see one.
private final class Registry: HTTPLoader {
    struct State {
        var issued = 0
        /// The scopes of the tokens that are accepted.
        var tokens: [String: String] = [:]
        var log: [String] = []
    }

    let state = Mutex(State())
    let scope: @Sendable (HTTPRequest) -> String

    /// - Parameter scope: returns the scope that a request needs. By default, its repository, and `push` to write.
    init(
        scope: @escaping @Sendable (HTTPRequest) -> String = { request in
            "repository:\(request.path.segments.dropFirst().first ?? ""):\(request.method == .get ? "pull" : "push")"
        }
    ) { self.scope = scope }

    var log: [String] { state.withLock { $0.log } }

    func reset() async {}

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        state.withLock { state in
            if request.host == "auth.example.com" {
                state.issued += 1
                state.tokens["t\(state.issued)"] = request.query["scope"]
                state.log.append("token for \(request.query["scope"] ?? "") of \(request.query["service"] ?? "")")
                let body = HTTPResponseBody(Data(#"{"token":"t\#(state.issued)"}"#.utf8))
                return HTTPResponse(
                    request: request, status: .ok, headers: ["Content-Type": "application/json"], body: body)
            }
            let token = request.headers[.authorization]?.split(separator: " ").last.map(String.init)
            state.log.append("\(request.method) \(request.path.string) \(token ?? "-")")
            if let token, state.tokens[token] == scope(request) { return HTTPResponse(request: request, status: .ok) }
            let challenge =
                #"Bearer realm="https://auth.example.com/token",service="registry.example.com",scope="\#(scope(request))""#
                + (token == nil ? "" : #",error="invalid_token""#)
            return HTTPResponse(request: request, status: 401, headers: ["WWW-Authenticate": challenge])
        }
    }
}

/// A provider that stores a token, and counts its resets.
private struct CountResetsOfTokens: CredentialProvider {
    let resets = Counter()

    func credential(for need: HTTPAuthentication.Need<Secret>) async throws -> Secret? { "token" }
    func sign(_ request: inout HTTPRequest, with credential: Secret) {
        request.headers.setSecret(credential.reveal(), for: .authorization)
    }
    func reset() async { resets.next() }
}

/// A provider that has nothing.
private struct NoCredentials: CredentialProvider {
    func credential(for need: HTTPAuthentication.Need<Secret>) async throws -> Secret? { nil }
    func sign(_ request: inout HTTPRequest, with credential: Secret) {}
}

@Suite(.timeLimit(.minutes(3))) struct ChallengeTests {
    private struct Token: Decodable, Sendable { var token: String }

    private let registry = Registry()
    private let journal = Journal()

    private var tokens: HTTPAuthentication { tokenMethod(limit: 10) }

    private func tokenMethod(limit: Int) -> HTTPAuthentication {
        .challenge(limit: limit) { [journal] challenge, need in
            guard challenge.hasScheme("Bearer"), let realm = challenge["realm"] else { return nil }
            journal.write("\(need.request.path.string) \(need.previous == nil ? "new" : "again") \(need.isRefused)")
            var request = try HTTPRequest(realm)
            request.query["service"] = challenge["service"]
            request.query["scope"] = challenge["scope"]
            return .bearer(Secret(try await need.next.load(request).decode(Token.self).token))
        }
    }

    private func client(
        _ authentication: HTTPAuthentication? = nil, _ server: (any HTTPLoader)? = nil
    ) -> HTTPClient {
        HTTPClient(
            environment: ServerEnvironment(baseURL: api), authentication: authentication ?? tokens,
            transport: server ?? registry)
    }

    @discardableResult
    private func status(_ client: HTTPClient, _ path: RequestPath, _ method: HTTPMethod = .get) async throws
        -> HTTPStatus
    {
        try await client.send(Letterhead.Endpoint<HTTPResponse>(method, path).accepting([200, 401])).status
    }

    @Test func `the closure can sign its request for a token with a different method`() async throws {
        let (mock, api) = (MockLoader(), try #require(URL(string: "https://api.example.com")))
        let challenge = #"Bearer realm="https://api.example.com/token""#
        mock.then { HTTPResponse(request: $0, status: .unauthorized, headers: ["WWW-Authenticate": challenge]) }
            .then { try .ok($0, json: ["token": "t"]) }.then { .ok($0) }
        let signing = HTTPAuthentication.challenge { challenge, need in
            var request = try HTTPRequest(challenge["realm"] ?? "")
            request.authentication = .basic(username: "ada", password: "s3cret")
            let response = try await (Authenticate() --> need.next).load(request)
            return .bearer(Secret(try await response.decode(Token.self).token))
        }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: api), authentication: signing, transport: mock)
        try await client.send(Letterhead.Endpoint<HTTPResponse>(.get, "a"))
        let sent = mock.requests.map { $0.headers[.authorization] }
        #expect(sent == [nil, "Basic YWRhOnMzY3JldA==", "Bearer t"])
    }

    @Test func `a token is requested once for a scope, whatever the path, and then signs at once`() async throws {
        let client = client()
        for path in ["a/manifests/1", "a/manifests/2", "a/blobs/x", "a/blobs/y"] as [RequestPath] {
            #expect(try await status(client, path) == .ok)
        }
        #expect(
            registry.log == [
                "GET /v2/a/manifests/1 -", "token for repository:a:pull of registry.example.com",
                "GET /v2/a/manifests/1 t1", "GET /v2/a/manifests/2 t1", "GET /v2/a/blobs/x -", "GET /v2/a/blobs/x t1",
                "GET /v2/a/blobs/y t1",
            ])
        #expect(journal.all == ["/v2/a/manifests/1 new false"])
    }

    @Test func `concurrent requests share a token for each scope`() async throws {
        let client = client()
        try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
            for number in 0..<60 {
                let path: RequestPath = "\(number % 3)/\(raw: number % 2 == 0 ? "blobs" : "manifests")/\(number)"
                group.addTask { try await self.status(client, path) }
            }
            for try await status in group { #expect(status == .ok) }
        }
        #expect(registry.log.filter { $0.hasPrefix("token") }.count == 3)
    }

    @Test func `a refused token is replaced within the request, once for all scopes that need it`() async throws {
        let client = client()
        try await status(client, "a/blobs/1")
        registry.state.withLock { ($0.tokens, $0.log) = ([:], []) }
        #expect(try await status(client, "a/blobs/1") == .ok)
        #expect(
            registry.log == [
                "GET /v2/a/blobs/1 t1", "token for repository:a:pull of registry.example.com", "GET /v2/a/blobs/1 t2",
            ])
        #expect(journal.all.last == "/v2/a/blobs/1 again true")
    }

    @Test func `a request that needs another scope has another token, and neither is requested again`() async throws {
        let registry = Registry { $0.query["mount"] ?? "none" }
        let client = client(nil, registry)
        for scope in ["x", "y", "x", "y"] {
            let upload = Post<HTTPResponse>("a/uploads/").query("mount", scope)
            #expect(try await client.send(upload).status == .ok)
        }
        #expect(registry.log.filter { $0.hasPrefix("token") }.count == 2)
    }

    @Test func `reading and writing learn their challenges separately`() async throws {
        let client = client()
        for method in [.get, .put, .get, .put] as [HTTPMethod] {
            #expect(try await status(client, "a/manifests/1", method) == .ok)
        }
        #expect(registry.log.count == 8, "two challenges, two tokens, four requests")
    }

    @Test func `a server that refuses the tokens that it has issued is asked no more often than the limit`()
        async throws
    {
        let registry = registry
        let refuse = MockLoader { request in
            registry.state.withLock { $0.tokens = [:] }
            return try await registry.load(request)
        }
        let client = client(tokens, refuse)
        #expect(try await status(client, "a/blobs/1") == 401)
        for _ in 1...20 { _ = try? await status(client, "a/blobs/1") }
        #expect(registry.log.filter { $0.hasPrefix("token") }.count == 10)
    }

    @Test func `a server that changes its challenge each time is asked no more often than the limit`() async throws {
        let (journal, clock) = (journal, TestClock())
        let number = Counter()
        let refuse = MockLoader { request in
            let scope = number.next()
            return HTTPResponse(
                request: request, status: 401, headers: ["WWW-Authenticate": "Bearer realm=r\(scope), scope=\(scope)"])
        }
        let varying = HTTPAuthentication.challenge(limit: 2, clock: clock) { challenge, _ in
            journal.write(challenge["scope"] ?? "")
            return .bearer("t")
        }
        let client = client(varying, refuse)
        for number in 0..<10 { #expect(try await status(client, "\(number)/a") == 401) }
        #expect(journal.all.count == 20)
        let error = await #expect(throws: HTTPError.self) { try await status(client, "x/a") }
        #expect((error?.underlying as? HTTPAuthentication.Failure)?.reason == .limitReached)
        #expect(journal.all.count == 20)
        clock.advance(by: .seconds(60))
        #expect(try await status(client, "y/a") == 401)
        #expect(journal.all.count == 22)
    }

    @Test(arguments: [2, .max])
    func `challenges whose methods are accepted do not count toward the limit of others`(limit: Int) async throws {
        let client = client(tokenMethod(limit: limit))
        for number in 0..<30 { #expect(try await status(client, "\(number)/blobs/x") == .ok) }
        #expect(registry.log.filter { $0.hasPrefix("token") }.count == 30)
    }

    @Test func `without a method for any challenge, the error names the schemes, and Basic is the last choice`()
        async throws
    {
        let mock = MockLoader {
            HTTPResponse(
                request: $0, status: 401, headers: ["WWW-Authenticate": "Basic realm=a, Negotiate, Bearer scope=b"])
        }
        let refusing = HTTPAuthentication.challenge { [journal] challenge, _ in
            journal.write(challenge.scheme)
            return nil
        }
        let client = client(refusing, mock)
        let error = await #expect(throws: HTTPError.self) { try await client.send(Get<HTTPResponse>("a")) }
        #expect(error?.code == .cannotAuthenticate)
        #expect((error?.underlying as? HTTPAuthentication.Failure)?.reason == .noCredentials)
        #expect(error?.message.contains("Basic, Negotiate, Bearer") == true)
        #expect(journal.all == ["Negotiate", "Bearer", "Basic"])
    }

    @Test func `requests to a server that asks for nothing are sent as they are`() async throws {
        let mock = MockLoader { .ok($0) }
        let client = client(tokens, mock)
        for _ in 1...2 { try await client.send(Get<HTTPResponse>("a")) }
        #expect(mock.requests.map { $0.headers[.authorization] } == [nil, nil] && journal.all.isEmpty)
    }

    @Test func `a digest can be chosen, and signs further requests at once`() async throws {
        let mock = MockLoader { request in
            if let header = request.headers[.authorization] {
                return header.hasPrefix("Digest ") ? .ok(request) : HTTPResponse(request: request, status: 403)
            }
            return HTTPResponse(
                request: request, status: 401, headers: ["WWW-Authenticate": "Digest realm=r, nonce=n, qop=auth"])
        }
        let chosen = HTTPAuthentication.challenge { challenge, _ in
            challenge.hasScheme("Digest") ? .digest(user: "u", password: "p") : nil
        }
        let client = client(chosen, mock)
        for _ in 1...3 { try await client.send(Get<HTTPResponse>("a/b")) }
        let counts = mock.requests.map { $0.headers[.authorization]?.contains("nc=0000000") ?? false }
        #expect(counts == [false, false, true, true, true])
    }

    @Test func `a one-shot body receives the 401, and the next one is signed`() async throws {
        let client = client()
        let upload = Put<HTTPResponse>("a/blobs/1").body(OneShot()).accepting([200, 401])
        #expect(try await client.send(upload).status == 401)
        #expect(try await client.send(upload).status == .ok)
    }

    @Test func `a chosen method is bound to its own origins, and all of them to the first origin`() async throws {
        let other = try #require(URL(string: "https://other.example.com/a"))
        let foreign = HTTPAuthentication.challenge { _, _ in .bearer("t", allowedOrigins: [other]) }
        let error = await #expect(throws: HTTPError.self) { try await status(client(foreign), "a/b") }
        #expect((error?.underlying as? HTTPAuthentication.Failure)?.reason == .originNotAllowed)
        let own = tokens
        let plain = HTTPClient(transport: registry)
        func load(_ url: URL) async -> HTTPError? {
            var request = HTTPRequest(url: url)
            request.authentication = own
            return await failure { [request] in try await plain.send(request) }
        }
        #expect(await load(api.appending(path: "a/b")) == nil)
        let second = await load(other)
        #expect((second?.underlying as? HTTPAuthentication.Failure)?.reason == .originNotAllowed)
        #expect(!registry.log.contains { $0.contains(" /a ") })
    }

    @Test func `a reset forgets challenges and methods, and resets the methods that store something`() async throws {
        let store = OAuth2.MemoryTokenStore()
        let endpoint = try #require(URL(string: "https://auth.example.com/token"))
        let mock = MockLoader { request in
            if request.url == endpoint { return try .ok(request, json: ["access_token": "t", "token_type": "bearer"]) }
            guard request.headers[.authorization] == nil else { return .ok(request) }
            return HTTPResponse(request: request, status: 401, headers: ["WWW-Authenticate": "Bearer"])
        }
        let chosen = HTTPAuthentication.challenge { [journal] _, _ in
            journal.write("asked")
            return .oauth2(
                client: OAuth2.Client(id: "a"), tokenEndpoint: endpoint, grant: .clientCredentials(), store: store)
        }
        let client = client(chosen, mock)
        for _ in 1...2 { try await client.send(Get<HTTPResponse>("a")) }
        #expect(await store.load() != nil && journal.all.count == 1)
        await client.reset()
        #expect(await store.load() == nil)
        try await client.send(Get<HTTPResponse>("a"))
        #expect(journal.all.count == 2)
        #expect(mock.requests.filter { $0.headers[.authorization] == nil && $0.url != endpoint }.count == 2)
    }

    @Test func `a challenge that arrives after a reset is not remembered`() async throws {
        let resetting = Mutex<(any HTTPLoader)?>(nil)
        let mock = MockLoader { request in
            guard request.headers[.authorization] == nil else { return .ok(request) }
            await resetting.withLock { $0.take() }?.reset()
            return HTTPResponse(request: request, status: 401, headers: ["WWW-Authenticate": "Bearer"])
        }
        let challenge = HTTPAuthentication.challenge(allowedOrigins: [api]) { _, _ in
            .bearer("t", allowedOrigins: [api])
        }
        let chain = Authenticate(challenge) --> mock
        resetting.withLock { $0 = chain }
        for _ in 1...3 { #expect(try await chain.load(HTTPRequest(url: api)).status == .ok) }
        // The second request is challenged again, and the third one is signed at once.
        #expect(mock.requests.map { $0.headers[.authorization] } == [nil, "Bearer t", nil, "Bearer t", "Bearer t"])
    }

    @Test func `a request that waits for a method is cancelled by a reset`() async throws {
        let bell = CredentialBell()
        let waiting = HTTPAuthentication.challenge { _, _ in
            bell.ring()
            try await Task.sleep(for: .seconds(600))
            return nil
        }
        let client = client(waiting)
        let load = Task { await failure { try await client.send(Get<HTTPResponse>("a")) } }
        await bell.wait()
        await client.reset()
        #expect(await load.value?.code == .cancelled)
    }

    @Test func `a thousand methods with fixed credentials push out none that stores tokens`() async throws {
        let url = try #require(URL(string: "https://registry.example.com"))
        let mock = MockLoader { request in
            let realm = #"Bearer realm="\#(request.path.string)""#
            return request.headers.contains(.authorization)
                ? .ok(request)
                : HTTPResponse(request: request, status: .unauthorized, headers: ["WWW-Authenticate": realm])
        }
        let provider = CountResetsOfTokens()
        let stored = HTTPAuthentication.shared(provider, header: .authorization, allowedOrigins: [url])
        let chain =
            Authenticate(
                .challenge(allowedOrigins: [url]) { challenge, _ in
                    challenge["realm"] == "/stored/a" ? stored : .bearer("token", allowedOrigins: [url])
                }) --> mock
        for path in ["/stored/a"] + (0..<1_001).map({ "/\($0)/a" }) {
            var request = HTTPRequest(url: url)
            request.path = "\(raw: path)"
            #expect(try await chain.load(request).status == .ok)
        }
        #expect(provider.resets.value == 0)
        await chain.reset()
        #expect(provider.resets.value == 1)
    }

    @Test(arguments: [nil, HTTPAuthentication.Requirement.optional])
    func `what ended a request that a challenge signs does not change it`(
        requirement: HTTPAuthentication.Requirement?
    ) async throws {
        let url = try #require(URL(string: "https://registry.example.com/a"))
        let mock = MockLoader { request in
            HTTPResponse(request: request, status: .unauthorized, headers: ["WWW-Authenticate": "Bearer realm=\"r\""])
        }
        let calls = Counter()
        let challenge = HTTPAuthentication.challenge(allowedOrigins: [url]) { _, _ in
            calls.next()
            return .shared(NoCredentials(), allowedOrigins: [url])
        }
        var request = HTTPRequest(url: url)
        request.authenticationRequirement = requirement
        let result = await (Authenticate(challenge) --> mock).result(of: request)
        #expect(calls.value == 1 && mock.requests.count == (requirement == nil ? 1 : 2))
        let after = try? result.get().request
        if case .failure(let error) = result {
            #expect(error.code == .cannotAuthenticate && error.request.authentication == nil)
        } else {
            #expect(after?.authentication == nil && after?.authenticationRequirement == .optional)
        }
    }
}

extension HTTPRequest {
    fileprivate var url: URL? { try? (self.url() as URL) }
}
