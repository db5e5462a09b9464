// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization
import TestKit
import Testing

private struct Token: Codable, Sendable {
    var value: String
    var expiresAt: Date
}

private struct RefreshToken: RequestTemplate {
    typealias Response = Token
    var method: HTTPMethod { .post }
    var path: RequestPath { "token" }
}

private struct GetSecret: RequestTemplate {
    typealias Response = String
    var path: RequestPath { "secret" }
}

/// A template that replaces a missing token. Its token is a part of the response.
private struct GuestToken: RequestTemplate {
    typealias Response = String
    var path: RequestPath { "guest" }

    func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
        guard case .failure(let error) = result, let response = error.response else { return try result.get() }
        return response
    }

    func decode(_ response: HTTPResponse) async throws -> String {
        response.status == .notFound ? "guest" : try #require(response.headers["X-Token"])
    }
}

/// Alternates that are templates.
@Suite(.timeLimit(.minutes(3))) struct RetryTypedAlternateTests {
    /// How many tokens were issued, and how many requests were refused.
    private let tokens = Counter()
    private let refusals = Counter()
    private let journal = Journal()

    /// Runs a test with a client of a server that expects the token "new", and that refuses the first requests
    /// together.
    private func withClient(
        together: Int = 1, token: MockServer.Response? = nil, observers: [any HTTPObserver] = [],
        validator: (any HTTPValidator)? = nil, _ body: (HTTPClient, MockServer) async throws -> Void
    ) async throws {
        let server = try await MockServer.start { [tokens, refusals] request in
            switch request.path {
            case "/api/token":
                tokens.next()
                return token
                    ?? MockServer.Response(body: Data(#"{"value":"new","expires_at":"2030-01-01T00:00:00Z"}"#.utf8))
            case "/api/secret" where request.headers["Authorization"] == "Bearer new":
                return MockServer.Response(body: Data("open".utf8))
            case "/api/secret":
                refusals.next()
                await until { refusals.value >= together }
                return MockServer.Response(status: 401)
            default: return MockServer.Response(status: 404)
            }
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: server.url.appending(path: "api")), decoder: decoder,
            validators: [validator ?? refreshing, DefaultValidator()], observers: observers)
        try await body(client, server)
        await server.stop()
    }

    private var refreshing: ClosureValidator {
        ClosureValidator(sending: RefreshToken()) { original, token in
            original.headers.setSecret("Bearer \(token.value)", for: .authorization)
        } onError: { [journal] error in
            journal.write((error as? HTTPError)?.code.rawValue ?? "\(error)")
        }
    }

    @Test func `the template is sent as the client of the original sends it`() async throws {
        let observer = EventRecorder()
        try await withClient(observers: [observer]) { client, server in
            let derived = client.header("X-Team", "a").validated(by: DefaultValidator(allowsEmptyResponses: false))
            #expect(try await derived.send(GetSecret().maximumRetries(1).header("X-Own", "b")) == "open")
            let refresh = try #require(server.requests.first { $0.path == "/api/token" })
            #expect(refresh.method == .post && refresh.headers["X-Team"] == "a" && refresh.headers["X-Own"] == nil)
            #expect(refresh.headers["Accept"]?.contains("application/json") == true)
            let alternates = observer.events.filter { $0.name == .loadStart && $0[.kind] == "alternate" }
            #expect(alternates.count == 1)
        }
    }

    @Test(
        arguments: [
            (MockServer.Response(body: Data(#"{"value":1}"#.utf8)), HTTPError.Code.cannotDecodeResponse),
            (MockServer.Response(body: Data()), .emptyResponse),
            (MockServer.Response(status: 500), .unacceptableStatus),
        ] as [(MockServer.Response, HTTPError.Code)])
    func `an error of the response is passed to onError, and the original has its own result`(
        response: MockServer.Response, code: HTTPError.Code
    ) async throws {
        try await withClient(token: response) { client, server in
            let error = await #expect(throws: HTTPError.self) { try await client.send(GetSecret().maximumRetries(1)) }
            #expect(error?.code == .retriesExhausted && error?.response?.status == .unauthorized)
            #expect(error?.attempts.count == 2 && journal.all == [code.rawValue] && tokens.value == 1)
        }
    }

    @Test func `a template that cannot be built is passed to onError, and the next validator judges`() async throws {
        let broken = ClosureValidator(sending: Get<String>("token").cookie("a b", "c")) { _, _ in
        } onError: { [journal] error in
            journal.write((error as? HTTPError)?.code.rawValue ?? "\(error)")
        }
        try await withClient(validator: broken) { client, _ in
            let error = await #expect(throws: HTTPError.self) { try await client.send(GetSecret().maximumRetries(1)) }
            #expect(error?.code == .unacceptableStatus && error?.attempts.count == 1)
            #expect(journal.all == [HTTPError.Code.invalidRequest.rawValue])
        }
    }

    @Test func `the template finishes and decodes its response`() async throws {
        let guest = ClosureValidator(sending: GuestToken()) { [journal] original, token in journal.write(token) }
        try await withClient(validator: guest) { client, _ in
            _ = try? await client.send(GetSecret().maximumRetries(1))
            #expect(journal.all == ["guest"])
        }
    }

    @Test func `an original in the environment of another server sends it no template`() async throws {
        let partner = try await MockServer.start { _ in MockServer.Response(status: 401) }
        let elsewhere = ServerEnvironment(baseURL: partner.url)
        try await withClient { client, server in
            let home = ServerEnvironment(baseURL: server.url.appending(path: "api"))
            let asking = HTTPClient(
                environment: .provided { _ in home }, validators: [refreshing, DefaultValidator()],
                retrying: Backoff(maximumRetries: 1))
            for client in [client, client.environment(elsewhere), asking] {
                await #expect(throws: HTTPError.self) {
                    try await client.send(GetSecret().maximumRetries(1).environment(elsewhere))
                }
            }
            #expect(partner.requests.allSatisfy { $0.path == "/secret" && $0.headers["Authorization"] == nil })
            #expect(tokens.value == 0)
        }
        await partner.stop()
    }

    @Test func `after a response of the client's server, the template is sent there, unless it names its own`()
        async throws
    {
        let partner = try await MockServer.start { _ in
            MockServer.Response(body: Data(#"{"value":"new","expires_at":"2030-01-01T00:00:00Z"}"#.utf8))
        }
        let elsewhere = ServerEnvironment(baseURL: partner.url)
        try await withClient { client, server in
            let request = HTTPRequest(url: server.url.appending(path: "api/secret")).with { $0.maximumRetries = 1 }
            let status = try await client.environment(elsewhere).send(request).status
            #expect(status == .ok && tokens.value == 1 && partner.requests.isEmpty)
        }
        let apart = ClosureValidator(sending: RefreshToken().environment(elsewhere)) { original, token in
            original.headers.setSecret("Bearer \(token.value)", for: .authorization)
        }
        try await withClient(validator: apart) { client, _ in
            let opened = try await client.send(GetSecret().maximumRetries(1))
            #expect(opened == "open" && tokens.value == 1 && partner.requests.map(\.path) == ["/token"])
        }
        await partner.stop()
    }

    @Test func `each derived client decodes with its own decoder`() async throws {
        try await withClient(together: 2) { client, _ in
            let derived = client.decoder(JSONDecoder())
            async let failed = try? derived.send(GetSecret().maximumRetries(1))
            let opened = try await client.send(GetSecret().maximumRetries(1))
            let none = await failed
            #expect(opened == "open" && none == nil)
            #expect(journal.all == [HTTPError.Code.cannotDecodeResponse.rawValue] && tokens.value == 2)
        }
    }

    @Test func `a plain request is decoded with the decoder of the client`() async throws {
        let plain = ClosureValidator(
            sending: { _, _ in HTTPRequest().with { ($0.method, $0.path) = (.post, "token") } },
            onResponse: { original, answer in
                let token = try await answer.decode(Token.self)
                original.headers.setSecret("Bearer \(token.value)", for: .authorization)
            })
        try await withClient(validator: plain) { client, _ in
            let opened = try await client.send(GetSecret().maximumRetries(1))
            #expect(opened == "open")
        }
    }

    @Test func `after a response of another server, no template is sent and nothing is retried`() async throws {
        let other = try await MockServer.start { _ in MockServer.Response(status: 401) }
        try await withClient { client, _ in
            let request = HTTPRequest(url: other.url).with { $0.maximumRetries = 1 }
            await #expect(throws: HTTPError.self) { try await client.send(request) }
            #expect(other.requests.count == 1 && tokens.value == 0)
            #expect(other.requests.allSatisfy { $0.headers["Authorization"] == nil })
        }
        await other.stop()
    }

    @Test func `another server that redirects to the client's server causes no request, and receives no token`()
        async throws
    {
        try await withClient { client, server in
            let location = server.url.appending(path: "api/secret").absoluteString
            let other = try await MockServer.start { _ in
                MockServer.Response(status: 302, headers: ["Location": location])
            }
            let request = HTTPRequest(url: other.url).with { $0.maximumRetries = 1 }
            let error = await #expect(throws: HTTPError.self) { try await client.send(request) }
            #expect(error?.response?.status == .unauthorized && tokens.value == 0)
            #expect(other.requests.allSatisfy { $0.headers["Authorization"] == nil })
            await other.stop()
        }
    }

    @Test func `a header of a derived client takes precedence over the environment of the template`() async throws {
        let mock = MockLoader { request in
            request.path.string == "/token"
                ? try .ok(request, json: ["value": "new"]) : HTTPResponse(request: request, status: 401)
        }
        let own = ServerEnvironment("https://a.test", headers: ["X-Tenant": "a"])
        let alternate = ClosureValidator(sending: TestEndpoint("token").environment(own)) { _, _ in }
        let client = HTTPClient(environment: ServerEnvironment("https://a.test"), transport: mock)
        _ = try? await client.header("X-Tenant", "b").send(GetSecret().validated(by: alternate).maximumRetries(1))
        #expect(mock.requests.map(\.path.string) == ["/secret", "/token", "/secret"])
        #expect(mock.requests[1].headers["X-Tenant"] == "b")
    }

    @Test func `a streamed response holds no place in a throttle while the alternate request is sent`() async throws {
        let mock = AnyLoader { request in
            switch (request.path.string, request.headers["X-Token"]) {
            case ("/token", _): return HTTPResponse(request: request, status: 200, headers: ["X-Token": "a"])
            case (_, "a"): return HTTPResponse(request: request, status: 200)
            default:
                let body = HTTPResponseBody(length: nil) { Data("x".utf8) }
                return HTTPResponse(request: request, status: 401, body: body)
            }
        }
        let answers = Mutex<[HTTPRequest]>([])
        let refreshing = ClosureValidator(
            sending: { _, _ in .plain { $0.path = "/token" } },
            onResponse: { original, answer in
                answers.withLock { $0.append(answer.request) }
                original.headers["X-Token"] = answer.headers["X-Token"]
            })
        let retry = Retry(validators: [refreshing], Backoff(maximumRetries: 1))
        let response = try await (retry --> Throttle(limit: 1) --> mock).load(
            .plain { $0.responseDelivery = .streamed })
        #expect(response.status == 200)
        #expect(answers.withLock { $0.map(\.attemptNumber) } == [nil])
    }
}
