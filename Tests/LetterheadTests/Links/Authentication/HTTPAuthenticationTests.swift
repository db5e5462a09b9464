// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
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
        let signed = try await sent(
            HTTPRequest(url: api), client: .basic(username: "Aladdin", password: "open sesame"))
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
        let error = await #expect(throws: HTTPError.self) {
            try await sent(HTTPRequest(url: api), client: .bearer(Secret(text)))
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test func `a bearer token is sent in the header`() async throws {
        let signed = try await sent(HTTPRequest(url: api), client: .bearer(token))
        #expect(signed.headers["Authorization"] == "Bearer t0ken")
        #expect(signed.query.isEmpty)
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

    @Test func `a custom method signs requests`() async throws {
        let own = HTTPAuthentication.method("own", link: ModifyRequest { $0.headers["X-Signature"] = "s" })
        #expect(try await sent(HTTPRequest(url: api), client: own).headers["X-Signature"] == "s")
    }

    @Test func `a request's authentication replaces its client's and its header`() async throws {
        var request = HTTPRequest(url: api)
        request.headers["Authorization"] = "Own"
        request.authentication = .bearer("b")
        #expect(try await sent(request, client: .bearer("a")).headers["Authorization"] == "Bearer b")
    }

    @Test func `a client's authentication does not replace a request's own header`() async throws {
        var request = HTTPRequest(url: api)
        request.headers["Authorization"] = "Own"
        #expect(try await sent(request, client: .bearer("a")).headers["Authorization"] == "Own")
    }

    @Test func `anonymous requests are not signed`() async throws {
        var request = HTTPRequest(url: api)
        request.authentication = .anonymous
        #expect(try await sent(request, client: .bearer("a")).headers["Authorization"] == nil)
    }

    @Test(arguments: [("user", "Bearer u"), ("service", "Bearer s"), ("nobody", nil)])
    func `a composite signs by the name that a request chooses`(
        name: String, expected: String?
    ) async throws {
        let composite = HTTPAuthentication.composite(
            ["user": .bearer("u"), "service": .bearer("s"), "nobody": .anonymous])
        var request = HTTPRequest(url: api)
        request.authentication = .named(.init(rawValue: name))
        #expect(try await sent(request, client: composite).headers["Authorization"] == expected)
    }

    @Test func `a composite without a default does not change a request that chooses nothing`() async throws {
        let composite = HTTPAuthentication.composite(["user": .bearer("u")])
        #expect(try await sent(HTTPRequest(url: api), client: composite).headers["Authorization"] == nil)
    }

    @Test func `a composite's default signs a request that chooses nothing`() async throws {
        let composite = HTTPAuthentication.composite(["user": .bearer("u")], default: "user")
        #expect(try await sent(HTTPRequest(url: api), client: composite).headers["Authorization"] == "Bearer u")
    }

    @Test(arguments: [
        HTTPAuthentication.anonymous, .composite(["other": .anonymous]), .composite(["x": .named("x")]),
    ])
    func `an unknown name is cannotAuthenticate, and nothing is sent`(
        client: HTTPAuthentication
    ) async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: .ok) }
        var request = HTTPRequest(url: api)
        request.authentication = .named("x")
        let error = await #expect(throws: HTTPError.self) {
            try await (Authenticate(client) --> mock).load(request)
        }
        #expect(error?.code == .cannotAuthenticate)
        #expect(mock.requests.isEmpty)
    }

    @Test func `a reset reaches every method of a composite and the next loader once`() async {
        let (first, second, below) = (CountResets(), CountResets(), CountResets())
        let composite = HTTPAuthentication.composite([
            "a": .method("a", link: first), "b": .method("b", link: second),
        ])
        await (Authenticate(composite) --> below --> MockLoader()).reset()
        #expect([first, second, below].map(\.count) == [1, 1, 1])
    }

    @Test func `a reset reaches a method that a request has set`() async throws {
        let counter = CountResets()
        var request = HTTPRequest(url: api)
        request.authentication = .method("own", link: counter)
        let chain = Authenticate() --> MockLoader { HTTPResponse(request: $0, status: .ok) }
        _ = try await chain.load(request)
        await chain.reset()
        #expect(counter.count == 1)
    }
}
