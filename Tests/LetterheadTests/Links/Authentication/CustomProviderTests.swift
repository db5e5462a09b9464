// SPDX-License-Identifier: MIT
import Foundation
@testable import Letterhead
import LetterheadTesting
import TestKit
import Testing

private let api = URL(string: "https://api.example.com/me") ?? URL(filePath: "/")

/// A provider as a user writes one: a session that is opened over the chain below.
private struct Session: CredentialProvider {
    let journal: Journal
    var freshness: @Sendable (Secret) -> HTTPAuthentication.Freshness = { _ in .fresh }

    func credential(for need: HTTPAuthentication.Need<Secret>) async throws -> Secret? {
        journal.write("asked \(need.isRefused) \(need.previous?.reveal() ?? "none")")
        var login = HTTPRequest(method: .post, url: api)
        login.path = "/login"
        let answer = try await need.next.load(login)
        return answer.status == .ok ? Secret(String(decoding: try await answer.body.data(), as: UTF8.self)) : nil
    }

    func sign(_ request: inout HTTPRequest, with credential: Secret) throws {
        request.headers.setSecret(credential.reveal(), for: "X-Session")
    }

    func freshness(of credential: Secret, for request: HTTPRequest) -> HTTPAuthentication.Freshness {
        freshness(credential)
    }

    func reset() async { journal.write("reset") }
}

/// Tokens of a registry, one for each repository. A request without a token receives the challenge that names the
/// scope.
private struct RegistryTokens: CredentialProvider {
    let journal: Journal
    var hasKeys = true

    func key(for request: HTTPRequest) -> String { hasKeys ? request.path.string : "" }

    func credential(for need: HTTPAuthentication.Need<Secret>) async throws -> Secret? {
        let challenge = need.response?.headers[.wwwAuthenticate]
        journal.write("\(need.request.path.string) \(challenge ?? "none")")
        return challenge.map { Secret($0) } ?? ""
    }

    func sign(_ request: inout HTTPRequest, with credential: Secret) throws {
        if !credential.isEmpty { request.headers.setSecret(credential.reveal(), for: .authorization) }
    }

    func freshness(of credential: Secret, for request: HTTPRequest) -> HTTPAuthentication.Freshness {
        credential.isEmpty || credential.reveal() == "scope=\(request.path.string)" ? .fresh : .insufficient
    }
}

/// A custom provider, through the public door.
@Suite(.timeLimit(.minutes(3))) struct CustomProviderTests {
    private let journal = Journal()

    @Test func `a request to need.next with an authentication is refused, because nothing could sign it`() async throws
    {
        let mock = MockLoader { .ok($0) }
        let need = HTTPAuthentication.Need<Secret>(request: HTTPRequest(url: api), next: mock)
        var request = HTTPRequest(url: api)
        request.authentication = .basic(username: "ada", password: "s3cret")
        let error = await #expect(throws: HTTPError.self) { try await need.next.load(request) }
        #expect(error?.code == .cannotAuthenticate && error?.mayHaveBeenSent == false)
        #expect(error?.description.contains("need.next is below the authentication") == true)
        #expect(error?.description.contains("s3cret") == false && mock.requests.isEmpty)
        #expect(error?.message.contains("load it over Authenticate() --> need.next") == true)
        // The remedies of the message and of the documentation.
        #expect(try await (Authenticate() --> need.next).load(request).status == .ok)
        #expect(try await HTTPClient(transport: need.next).send(request).status == .ok)
        #expect(
            mock.requests.map { $0.headers[.authorization] } == ["Basic YWRhOnMzY3JldA==", "Basic YWRhOnMzY3JldA=="])
        request.authentication = .anonymous
        #expect(try await need.next.load(request).status == .ok)
    }

    @Test func `the authentication of a template doesn't sign what its closure sends to need.next`() async throws {
        let mock = MockLoader { .ok($0) }
        let outer = HTTPAuthentication.bearer { need in
            var request = need.request
            request.authentication = .basic(username: "ada", password: "s3cret")
            _ = try await need.next.load(request)
            return "t"
        }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: api), transport: mock)
        let error = await failure { try await client.send(Get<String>("/me").authenticated(by: outer)) }
        #expect(error?.description.contains("need.next is below the authentication") == true && mock.requests.isEmpty)
    }

    /// A server with the logins s1, s2 and so on. It accepts some of them.
    private func server(_ accepted: Set<String>) -> MockLoader {
        let logins = Counter()
        return MockLoader { request in
            if request.path == "/login" {
                let body = HTTPResponseBody(Data("s\(logins.next())".utf8))
                return HTTPResponse(request: request, status: .ok, body: body)
            }
            let isGood = request.headers["X-Session"].map { accepted.contains($0) } ?? false
            return HTTPResponse(request: request, status: isGood ? .ok : .unauthorized)
        }
    }

    private func client(
        _ mock: MockLoader, _ freshness: @escaping @Sendable (Secret) -> HTTPAuthentication.Freshness = { _ in .fresh },
        limit: CredentialLimit = .standard, allowedOrigins: [URL]? = [api]
    ) -> HTTPClient {
        HTTPClient(
            authentication: .shared(
                Session(journal: journal, freshness: freshness), name: "session", allowedOrigins: allowedOrigins,
                limit: limit.count, per: limit.window), transport: mock)
    }

    @Test func `one credential signs all requests`() async throws {
        let client = client(server(["s1"]))
        for _ in 1...3 { #expect(try await client.send(HTTPRequest(url: api)).status == .ok) }
        #expect(journal.all == ["asked false none"])
    }

    @Test func `an expired credential is replaced before it is sent`() async throws {
        let mock = server(["s1", "s2"])
        let isOver = Observed(false)
        let client = client(mock, { $0.reveal() == "s1" && isOver.value ? .expired : .fresh })
        try await client.send(HTTPRequest(url: api))
        isOver.change { $0 = true }
        try await client.send(HTTPRequest(url: api))
        #expect(journal.all == ["asked false none", "asked false s1"])
        #expect(mock.requests.compactMap { $0.headers["X-Session"] } == ["s1", "s2"])
    }

    @Test func `a reset reaches the provider and removes the credential`() async throws {
        let client = client(server(["s1", "s2"]))
        try await client.send(HTTPRequest(url: api))
        await client.reset()
        try await client.send(HTTPRequest(url: api))
        #expect(journal.all == ["asked false none", "reset", "asked false none"])
    }

    private func registry(_ provider: RegistryTokens) -> HTTPClient {
        let mock = MockLoader { request in
            let scope = "scope=\(request.path.string)"
            guard request.headers[.authorization] != scope else { return .ok(request) }
            return HTTPResponse(
                request: request, status: .unauthorized, headers: ["WWW-Authenticate": scope],
                body: HTTPResponseBody(Data(count: 100_000)))
        }
        return HTTPClient(authentication: .shared(provider, allowedOrigins: [api]), transport: mock)
    }

    private func send(_ path: RequestPath, over client: HTTPClient, body: (any HTTPBody)? = nil) async throws -> Int {
        var request = HTTPRequest(url: api)
        (request.path, request.method, request.acceptedStatuses) = (path, .put, [200, 401])
        if let body { request.body = body }
        return try await client.send(request).status.code
    }

    @Test func `requests with different keys in turn need no new credentials, and the provider sees the challenge`()
        async throws
    {
        let client = registry(RegistryTokens(journal: journal))
        for _ in 1...12 {
            for path in ["/a", "/b"] as [RequestPath] { #expect(try await send(path, over: client) == 200) }
        }
        #expect(journal.all == ["/a none", "/a scope=/a", "/b none", "/b scope=/b"])
    }

    @Test func `without keys, the error at the limit names the function for keys`() async throws {
        let client = registry(RegistryTokens(journal: journal, hasKeys: false))
        let error = await #expect(throws: HTTPError.self) {
            for _ in 1...12 {
                for path in ["/a", "/b"] as [RequestPath] { _ = try await send(path, over: client) }
            }
        }
        #expect(error?.message.contains("implement key(for:)") == true)
    }

    @Test func `the 401 of a one-shot body is kept for the next request`() async throws {
        let client = registry(RegistryTokens(journal: journal))
        #expect(try await send("/a", over: client, body: Words(isReplayable: false)) == 401)
        #expect(try await send("/a", over: client) == 200)
        #expect(journal.all == ["/a none", "/a scope=/a"])
    }

    @Test func `the 401 of a need has the beginning of its body, and no body of a request`() async throws {
        struct Provider: CredentialProvider {
            let seen: Observed<HTTPResponse?>

            func credential(for need: HTTPAuthentication.Need<Secret>) async throws -> Secret? {
                if let response = need.response { seen.change { $0 = response } }
                return "t"
            }

            func sign(_ request: inout HTTPRequest, with credential: Secret) throws {}
        }
        let seen = Observed<HTTPResponse?>(nil)
        let mock = MockLoader { request in
            HTTPResponse(request: request, status: .unauthorized, body: HTTPResponseBody(Data(count: 100_000)))
        }
        let client = HTTPClient(authentication: .shared(Provider(seen: seen), allowedOrigins: [api]), transport: mock)
        #expect(try await send("/a", over: client, body: DataBody(Data(count: 10))) == 401)
        #expect(seen.value?.body.buffered?.count == 1 << 16 && seen.value?.request.body.isEmpty == true)
    }

    @Test func `the limit, the allowed origins and the name are applied`() async throws {
        let mock = server([])
        let limited = client(mock, limit: CredentialLimit(count: 1, window: .seconds(60)))
        let error = await #expect(throws: HTTPError.self) { try await limited.send(HTTPRequest(url: api)) }
        #expect((error?.underlying as? HTTPAuthentication.Failure)?.reason == .limitReached)
        let elsewhere = try #require(URL(string: "https://other.example.com/"))
        let foreign = await #expect(throws: HTTPError.self) { try await limited.send(HTTPRequest(url: elsewhere)) }
        #expect(foreign?.code == .unacceptableStatus && mock.requests.last?.headers.contains("X-Session") == false)
        let shared = HTTPAuthentication.shared(Session(journal: journal), name: "session")
        #expect("\(shared)" == "session")
    }
}
