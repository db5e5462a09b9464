// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

#if Foundation && canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Headers, methods and URLs obey one rule, wherever they come in.
@Suite struct RefusedHeadersTests {
    private static let bad = "SECRET\r\nX-Injected: SECRET"
    private typealias Door = (name: String, send: @Sendable (any HTTPLoader) async throws -> Void)

    private static let base = TestEndpoint("a").with { ($0.method, $0.baseURL) = (.post, URL(string: "https://h")) }

    private static let spoiled = ServerEnvironment.of("https://h", headers: ["X": bad])
    private static let spoil = ModifyRequest { $0.headers["X"] = bad }

    private static func send(
        _ template: some RequestTemplate, environment: ServerEnvironment? = nil,
        authentication: HTTPAuthentication? = nil, links: ModifyRequest? = nil, attemptLinks: ModifyRequest? = nil,
        _ transport: any HTTPLoader
    ) async throws {
        let client = HTTPClient(
            environment: environment, authentication: authentication, links: links, attemptLinks: attemptLinks,
            transport: transport)
        _ = try await client.send(template)
    }

    private static let doors: [Door] = [
        ("a template's header", { try await send(base.with { $0.headers = ["X": bad] }, $0) }),
        ("a decorator", { try await send(base.header("X", bad), $0) }),
        ("several by a decorator", { try await send(base.headers(["A": "1", "X": bad]), $0) }),
        ("an added header", { try await send(base.addingHeader("X", bad), $0) }),
        ("the user agent", { try await send(base.header(.userAgent, bad), $0) }),
        ("a cookie", { try await send(base.header(.cookie, bad), $0) }),
        ("an environment", { try await send(TestEndpoint("a"), environment: spoiled, $0) }),
        ("one that is asked for", { try await send(TestEndpoint("a"), environment: .provided { _ in spoiled }, $0) }),
        ("a template's own environment", { try await send(TestEndpoint("a").environment(spoiled), $0) }),
        ("a link", { try await send(base, links: spoil, $0) }),
        ("a link of an attempt", { try await send(base, attemptLinks: spoil, $0) }),
        ("a token", { try await send(base, environment: .of("https://h"), authentication: .bearer(Secret(bad)), $0) }),
        (
            "a body's media type",
            { try await send(base.body(DataBody(Data([1]), contentType: MediaType(stringLiteral: bad))), $0) }
        ),
        ("a body's header", { try await send(base.body(DataBody(Data([1]), additionalHeaders: ["X": bad])), $0) }),
        ("a part's header", { try await send(base.multipart([.text("v", name: "n", headers: ["X": bad])]), $0) }),
        ("a boundary", { try await send(base.with { $0.boundary = bad }.multipart([.text("v", name: "n")]), $0) }),
        ("a header's name", { try await send(base.header(HTTPHeaders.Name(bad), "v"), $0) }),
        ("a method", { try await send(base.with { $0.method = HTTPMethod(bad) }, $0) }),
        ("a host", { try await send(TestEndpoint("a"), links: ModifyRequest { $0.host = bad }, $0) }),
        (
            "a path that is raw",
            { try await send(TestEndpoint("\(raw: "//SECRET")").environment(.of("https://h")), $0) }
        ),
    ]

    @Test(arguments: doors.indices)
    func `a value that would break a message is refused at every call site, and not shown`(index: Int) async throws {
        let door = Self.doors[index]
        let mock = MockLoader { .ok($0) }
        let error = try await #require(throws: HTTPError.self, "\(door.name)") { try await door.send(mock) }
        #expect(error.code == .invalidRequest, "\(door.name)")
        #expect(mock.requests.isEmpty, "\(door.name)")
        for text in ["\(error)", String(reflecting: error), error.localizedDescription, error.message] {
            #expect(!text.contains("SECRET"), "\(door.name)")
            #expect(!text.contains("X-Injected"), "\(door.name)")
        }
    }

    @Test func `a placeholder in a path and a query value are escaped, not refused`() async throws {
        let mock = MockLoader { .ok($0) }
        try await Self.send(TestEndpoint("a/\(Self.bad)").query("q", Self.bad).environment(.of("https://h")), mock)
        let url = try #require(mock.requests.first).urlString()
        #expect(url.hasPrefix("https://h/a/SECRET%0D%0AX-Injected%3A%20SECRET?q=SECRET%0D%0A"))
    }

    @Test(arguments: ["//evil", "http://evil/", "https://evil", "\(raw: "//evil/x")"] as [RequestPath])
    func `a path with a host cannot move a request, nor its credentials`(path: RequestPath) async throws {
        let mock = MockLoader { .ok($0) }
        let client = HTTPClient(environment: .of("https://h", headers: ["Authorization": "SECRET"]), transport: mock)
        let error = try await #require(throws: HTTPError.self) { try await client.send(TestEndpoint(path)) }
        #expect(error.code == .invalidRequest && mock.requests.isEmpty)
        let own = TestEndpoint(path).with { $0.baseURL = URL(string: "https://h") }
        await #expect(throws: HTTPError.self) { try await HTTPClient(transport: mock).send(own) }
        #expect(mock.requests.isEmpty)
    }
}
