// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite struct RedirectCredentialsTests {
    @Test(arguments: [
        ("https://a.test/2", true), ("https://a.test:443/2", true), ("https://A.TEST/2", true),
        ("https://b.test/2", false), ("https://sub.a.test/2", false), ("https://a.test:8443/2", false),
    ]) func `credentials are sent only to the same scheme, host and port`(location: String, isKept: Bool) async throws {
        let mock = MockLoader.redirecting(["https://a.test/1": (302, location)])
        var first = try HTTPRequest.to("https://a.test/1")
        first.headers = [
            "authorization": "a", "Cookie": "b", "X-Tenant-Key": "d", "X-Api-Key": "e",
            "Host": "a.test", "X-Other": "f",
        ]
        first.headers.setSecret("g", for: "X-Session")
        let chain = FollowRedirects(.safely.removing(["x-tenant-key"])) --> mock
        #expect(try await chain.load(first).request.headers == (isKept ? first.headers : ["X-Other": "f"]))
    }

    @Test(arguments: ["https://a.test/2", "https://b.test/2"], [true, false])
    func `the headers of an environment stay at its origin, although a builder has applied it`(
        location: String, isClient: Bool
    ) async throws {
        let mock = MockLoader.redirecting(["https://a.test/1": (302, location)])
        var environment = ServerEnvironment.of("https://a.test")
        environment.headers["X-Tenant"] = "7"
        let template = TestEndpoint("1").environment(environment)
        if isClient {
            _ = try await HTTPClient(transport: mock).send(try StandardRequestBuilder(template).request())
        } else {
            let builder = MultipartRequestBuilder(template, parts: [])
            _ = try await SendableRequest(builder, over: FollowRedirects() --> mock).response()
        }
        let isKept = location == "https://a.test/2"
        #expect(mock.requests.map { $0.headers["X-Tenant"] } == ["7", isKept ? "7" : nil])
    }

    /// Sends each request to another host with another form of its path, and forgets it.
    private struct Balance: LoaderLink {
        static let move: @Sendable (inout HTTPRequest) -> Void = {
            $0.host = "node.test"
            if $0.path.string == "/1" { $0.path = RequestPath(escaped: "/%31", route: nil) }
        }

        func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
            var moved = request
            Self.move(&moved)
            return try await next.load(moved)
        }
    }

    @Test(arguments: ["/2", "https://a.test/2", "https://b.test/2"], [true, false])
    func `a redirect below which a link has changed the host is judged by the host that the request had`(
        location: String, isForgotten: Bool
    ) async throws {
        let mock = MockLoader { request in
            guard request.path.string == "/%31" else { return .ok(request) }
            return HTTPResponse(request: request, status: .found, headers: ["Location": location])
        }
        let link: any LoaderLink = isForgotten ? Balance() : ModifyRequest { Balance.move(&$0) }
        let client = HTTPClient(
            environment: .of("https://a.test"), authentication: .bearer("t"), attemptLinks: link, transport: mock)
        let response = try await client.sendWithResponse(TestEndpoint("1")).response
        let isSigned = location != "https://b.test/2"
        #expect(mock.requests.map { $0.headers[.authorization] } == ["Bearer t", isSigned ? "Bearer t" : nil])
        #expect(mock.requests.map(\.host) == ["node.test", "node.test"])
        #expect(response.redirects.map(\.target.host) == [isSigned ? "a.test" : "b.test"])
    }

    @Test(arguments: ["/admin", "https://a.test/admin"], [RedirectPolicy.safely, .custom { proposal, _ in proposal }])
    func `a redirect of another server, to which a loader has followed one by itself, leads to no signed request`(
        location: String, policy: RedirectPolicy
    ) async throws {
        let mock = AnyLoader { request in
            guard request.path.string == "/1" else { return .ok(request) }
            var followed = request
            (followed.host, followed.path) = ("evil.test", "/x")
            return HTTPResponse(request: followed, status: .found, headers: ["Location": location])
        }
        let request = try HTTPRequest.to("https://a.test/1").with { $0.headers[.authorization] = "Bearer t" }
        let last = try await (FollowRedirects(policy) --> mock).load(request).request
        #expect(last.path.string == "/admin" && last.headers[.authorization] == nil)
    }

    @Test(
        arguments: [307, 308],
        [
            (.safely, 2), (.custom { proposal, _ in proposal }, 2),
            (.custom { proposal, _ in proposal.with { $0.host = "b.test" } }, 1),
        ] as [(RedirectPolicy, Int)])
    func `a secret body is sent to no other origin`(
        status: Int, row: (policy: RedirectPolicy, sent: Int)
    ) async throws {
        let mock = MockLoader.redirecting([
            "https://a.test/1": (status, "/2"), "https://a.test/2": (status, "https://b.test/1"),
        ])
        let login = try HTTPRequest.to("https://a.test/1", method: .post)
            .with { ($0.body, $0.isSecret) = (Words(), true) }
        let response = try await (FollowRedirects(row.policy) --> mock).load(login)
        #expect(response.redirectRefusal == .otherOrigin && response.status.code == status)
        #expect(mock.requests.map(\.path.string) == Array(["/1", "/2"].prefix(row.sent)))
    }

    @Test(arguments: [RedirectPolicy.safely, .custom { proposal, _ in proposal }])
    func `a path's secret stays secret after a redirect, even if the path has replaced a secret one`(
        policy: RedirectPolicy
    ) async throws {
        let mock = MockLoader.redirecting([
            "https://a.test/bot-SECRET": (302, "/2?for=bot-SECRET"), "https://a.test/2?for=bot-SECRET": (302, "/3"),
        ])
        var first = try HTTPRequest.to("https://a.test/")
        first.path = "/\(secret: "old-SECRET")"
        first.path = "/\(secret: "bot-SECRET")"
        let response = try await (FollowRedirects(policy) --> mock).load(first)
        #expect(response.redirects.count == 2)
        #expect(!"\(response.redirects) \(response)".contains("SECRET"))
    }

    @Test func `an upgrade to https is another origin`() async throws {
        let mock = MockLoader.redirecting(["http://a.test/1": (302, "https://a.test/1")])
        let first = try HTTPRequest.to("http://a.test/1").with { $0.headers["Authorization"] = "a" }
        #expect(try await (FollowRedirects() --> mock).load(first).request.headers.isEmpty)
    }

    @Test(arguments: ["https://b.test/2", "https://a.test/2"])
    func `removed headers are not sent after a further redirect to any origin`(last: String) async throws {
        let mock = MockLoader.redirecting([
            "https://a.test/1": (302, "https://b.test/1"), "https://b.test/1": (302, last),
        ])
        let home = ServerEnvironment(baseURL: try #require(URL(string: "https://a.test")), headers: ["X-Home": "1"])
        let first = HTTPRequest().with { ($0.path, $0.headers["Authorization"]) = ("/1", "a") }
        _ = try await (FollowRedirects() --> ApplyEnvironment(home) --> mock).load(first)
        #expect(mock.requests.map { $0.headers.map(\.name.rawValue) } == [["Authorization", "X-Home"], [], []])
    }

    @Test func `the environment adds headers to a hop within its origin, and does not change its URL`() async throws {
        let mock = MockLoader.redirecting(["https://a.test/v1/1?k=1": (302, "2")])
        let home = ServerEnvironment(
            baseURL: try #require(URL(string: "https://a.test/v1")), headers: ["X-Home": "1"], query: ["k": "1"])
        let first = HTTPRequest().with { $0.path = "1" }
        let response = try await (FollowRedirects() --> ApplyEnvironment(home) --> mock).load(first)
        #expect(try response.request.urlString() == "https://a.test/v1/2" && response.request.headers["X-Home"] == "1")
    }

    @Test func `headers that the client withholds are withheld with a policy of the request, too`() async throws {
        let mock = MockLoader.redirecting(["https://a.test/1": (302, "https://b.test/")])
        let first = try HTTPRequest.to("https://a.test/1")
            .with { ($0.headers["X-Tenant-Key"], $0.redirectPolicy) = ("d", .safely.limit(2)) }
        let chain = FollowRedirects(.safely.removing(["X-Tenant-Key"])) --> mock
        let response = try await chain.load(first)
        #expect(response.request.headers.isEmpty && response.request.removedHeaders.contains("X-Tenant-Key"))
    }

    @Test func `no link adds removed headers again, at the other origin or at the first`() async throws {
        let mock = MockLoader.redirecting([
            "https://a.test/1": (307, "https://b.test/1"), "https://b.test/1": (302, "https://b.test/2"),
            "https://b.test/2": (308, "https://a.test/2"),
        ])
        let home = try #require(URL(string: "https://a.test"))
        let environment = ServerEnvironment(baseURL: home, headers: ["Cookie": "c", "X-Tenant-Key": "k"])
        let both = HTTPAuthentication.bearer("t", allowedOrigins: [home, try #require(URL(string: "https://b.test"))])
        let first = HTTPRequest().with { ($0.path, $0.headers["X-Access-Token"]) = ("/1", "p") }
        let chain =
            FollowRedirects(.safely.removing(["X-Tenant-Key"])) --> ApplyEnvironment(environment)
            --> Authenticate(both) --> mock
        _ = try await chain.load(first)
        #expect(
            mock.requests.map { Set($0.headers.map(\.name)) }
                == [["X-Access-Token", "Cookie", "X-Tenant-Key", "Authorization"], [], [], []])
    }

    @Test func `a header that a custom policy adds for another origin is sent only to that origin`() async throws {
        let mock = MockLoader.redirecting([
            "https://a.test/1": (302, "https://b.test/1"), "https://b.test/1": (302, "https://c.test/1"),
        ])
        let policy = RedirectPolicy.custom { proposal, _ in
            proposal.with { if $0.host == "b.test" { $0.headers["Authorization"] = "for b" } }
        }
        _ = try await (FollowRedirects(policy) --> mock).load(try .to("https://a.test/1"))
        #expect(mock.requests.map { $0.headers["Authorization"] } == [nil, "for b", nil])
    }
}
