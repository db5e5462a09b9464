// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

private let api = URL(string: "https://api.example.com/v1/") ?? URL(filePath: "/")
private let token: Secret = "t0ken"

private func sent(
    _ request: HTTPRequest, client: HTTPAuthentication = .anonymous,
    environment: ServerEnvironment? = ServerEnvironment(baseURL: api)
) async throws -> HTTPRequest {
    let mock = MockLoader { HTTPResponse(request: $0, status: .ok) }
    let applied = environment.map { ApplyEnvironment($0) } ?? ApplyEnvironment()
    _ = try await (applied --> Authenticate(client) --> mock).load(request)
    return try #require(mock.requests.first)
}

@Suite struct HTTPAuthenticationTests {
    @Test func `Basic credentials are base64 of UTF-8`() async throws {
        let signed = try await sent(HTTPRequest(url: api), client: .basic(username: "Aladdin", password: "open sesame"))
        #expect(signed.headers["Authorization"] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        let composed = try await sent(HTTPRequest(url: api), client: .basic(username: "\u{E9}", password: "\u{C5}"))
        #expect(composed.headers[.authorization] == "Basic w6k6w4U=")
        #if Foundation || canImport(Darwin)
            let decomposed = try await sent(
                HTTPRequest(url: api), client: .basic(username: "e\u{301}", password: "A\u{30A}"))
            #expect(composed.headers[.authorization] == decomposed.headers[.authorization])
        #endif
        let umlaut = try await sent(HTTPRequest(url: api), client: .basic(username: "test", password: "123£"))
        #expect(umlaut.headers["Authorization"] == "Basic dGVzdDoxMjPCow==")
    }

    @Test(arguments: ["a:b", "a\nb", "a\u{7F}", "a\u{85}b"])
    func `a username with a colon or a control character is refused, and not part of the error`(name: String)
        async throws
    {
        let error = await #expect(throws: HTTPError.self) {
            try await sent(HTTPRequest(url: api), client: .basic(username: name, password: "SECRET"))
        }
        #expect(error?.code == .invalidRequest)
        #expect(error.map { "\($0)".contains("SECRET") } == false)
    }

    @Test(arguments: ["", "a b", "a\r\nX: y", "é"])
    func `a bearer token is visible ASCII or refused`(text: String) async throws {
        let error = await failure { try await sent(HTTPRequest(url: api), client: .bearer(Secret(text))) }
        #expect(error?.code == .invalidRequest)
    }

    @Test func `bearer(each:) asks for each request and redirect, stores nothing, and nil sends no credentials`()
        async throws
    {
        let tokens = SharedValue<[Secret?]>(["one", nil, "two", "three"])
        let asked = HTTPAuthentication.bearer(each: { tokens.withLock { $0.removeFirst() } })
        let mock = MockLoader { request in
            guard request.path == "/old" else { return .ok(request) }
            return HTTPResponse(request: request, status: .found, headers: ["Location": "/new"])
        }
        let client = HTTPClient(
            environment: ServerEnvironment("https://a.example"), authentication: asked, transport: mock)
        for path in ["a", "b", "old"] as [RequestPath] { try await client.send(TestEndpoint(path)) }
        let sent = mock.requests.map { $0.headers[.authorization] ?? "none" }
        #expect(sent == ["Bearer one", "none", "Bearer two", "Bearer three"])
        #expect(
            mock.requests.allSatisfy { !$0.isSignedOnce && !"\($0)".contains("Bearer") } && !asked.storesCredentials)
        // A request to a different origin is not asked for.
        try await client.send(HTTPRequest("https://b.example/"))
        #expect(mock.requests.last?.headers[.authorization] == nil)
    }

    @Test(
        arguments: [
            (nil, .required, .cannotAuthenticate, "the closure returned no token"),
            ("a b", .optional, .invalidRequest, "the bearer token is empty or"),
            ("", nil, .invalidRequest, "the bearer token is empty or"),
        ] as [(String?, HTTPAuthentication.Requirement?, HTTPError.Code, String)])
    func `a request of bearer(each:) without a usable token is not sent`(
        token: String?, requirement: HTTPAuthentication.Requirement?, code: HTTPError.Code, rule: String
    ) async throws {
        let mock = MockLoader { .ok($0) }
        let client = HTTPClient(
            environment: ServerEnvironment("https://a.example"),
            authentication: .bearer(each: { token.map { Secret($0) } }), transport: mock)
        let request = HTTPRequest().with { ($0.path, $0.authenticationRequirement) = ("a", requirement) }
        let error = await #expect(throws: HTTPError.self) { try await client.send(request) }
        #expect(error?.code == code && error?.message.contains(rule) == true && mock.requests.isEmpty)
    }

    @Test(arguments: [
        ("http://192.168.1.5:8080", true, nil), ("http://192.168.1.5:8080", false, "https only"),
        ("http://192.168.1.6:8080", true, "https only"),
    ])
    func `an environment can allow credentials over http, for its origin only`(
        url: String, isAllowed: Bool, rule: String?
    ) async throws {
        var environment = ServerEnvironment("http://192.168.1.5:8080")
        environment.allowsCredentialsOverHTTP = isAllowed
        let mock = MockLoader { .ok($0) }
        let client = HTTPClient(environment: environment, authentication: .bearer("own"), transport: mock)
        // The credentials of the client, and those of a request.
        for authentication in [nil, HTTPAuthentication.bearer("own")] {
            var request = try HTTPRequest(url + "/")
            (request.authentication, request.authenticationRequirement) = (authentication, .required)
            do {
                try await client.send(request)
                #expect(rule == nil && mock.requests.last?.headers[.authorization] == "Bearer own")
            } catch let error as HTTPError {
                let rules = [rule, "belong to http://192.168.1.5:8080"].compactMap(\.self)
                #expect(rule != nil && rules.contains { error.message.contains($0) }, "\(error)")
            }
        }
        #expect(mock.requests.isEmpty == (rule != nil))
    }

    @Test func `an API key is sent in its header, and redacted`() async throws {
        let signed = try await sent(HTTPRequest(url: api), client: .apiKey("SECRET", header: "X-Own-Key"))
        #expect(signed.headers["X-Own-Key"] == "SECRET")
        #expect(!"\(signed)".contains("SECRET"))
    }

    @Test func `an API key in the query is redacted by its name`() async throws {
        let signed = try await sent(HTTPRequest(url: api), client: .apiKey("SECRET", queryName: "own_key"))
        #expect(signed.query["own_key"] == "SECRET")
        #expect(!"\(signed)".contains("SECRET"))
        #expect("\(signed)".contains("own_key="))
    }

    @Test(
        arguments: [
            // A request's authentication replaces its client's and its header.
            ("Own", .bearer("b"), "Bearer b"),
            // A client's authentication does not replace a request's own header.
            ("Own", nil, "Own"),
            // Anonymous requests are not signed.
            (nil, .anonymous, nil),
        ] as [(String?, HTTPAuthentication?, String?)])
    func `a request's authentication takes precedence over its header, and both over the client's authentication`(
        header: String?, own: HTTPAuthentication?, expected: String?
    ) async throws {
        var request = HTTPRequest(url: api)
        request.headers["Authorization"] = header
        if let own { request.authentication = own }
        #expect(try await sent(request, client: .bearer("a")).headers["Authorization"] == expected)
    }

    @Test(
        arguments: [
            ("user", nil, "Bearer u"), ("service", "user", "Bearer s"), ("nobody", "user", nil), (nil, nil, nil),
            (nil, "user", "Bearer u"),
        ] as [(String?, String?, String?)])
    func `a composite signs by the name that a request chooses, or by its default`(
        name: String?, standard: String?, expected: String?
    ) async throws {
        let composite = HTTPAuthentication.composite(
            ["user": .bearer("u"), "service": .bearer("s"), "nobody": .anonymous], default: standard)
        var request = HTTPRequest(url: api)
        if let name { request.authentication = .named(name) }
        #expect(try await sent(request, client: composite).headers["Authorization"] == expected)
    }

    @Test(arguments: [HTTPAuthentication.anonymous, .composite(["other": .anonymous]), .composite(["x": .named("x")])])
    func `an unknown name is cannotAuthenticate, and nothing is sent`(client: HTTPAuthentication) async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: .ok) }
        let request = HTTPRequest(url: api).with { $0.authentication = .named("x") }
        let error = await failure { try await (Authenticate(client) --> mock).load(request) }
        #expect(error?.code == .cannotAuthenticate && mock.requests.isEmpty)
    }

    @Test func `a reset reaches every method of a composite and the next loader once`() async {
        let (first, second, below) = (CountResets(), CountResets(), CountResets())
        let composite = HTTPAuthentication.composite(["a": .method("a", link: first), "b": .method("b", link: second)])
        await (Authenticate(composite) --> below --> MockLoader()).reset()
        #expect([first, second, below].map(\.count) == [1, 1, 1])
    }

    @Test func `a reset reaches a method that a request has set`() async throws {
        let counter = CountResets()
        let request = HTTPRequest(url: api).with { $0.authentication = .method("own", link: counter) }
        let chain = Authenticate() --> MockLoader { HTTPResponse(request: $0, status: .ok) }
        _ = try await chain.load(request)
        await chain.reset()
        #expect(counter.count == 1)
    }
}
