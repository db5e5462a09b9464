// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization
import TestKit
import Testing

#if Foundation && canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A link that counts what passes. A class, because client and test share it.
private final class Passing: LoaderLink {
    private let counts = Mutex((loads: 0, resets: 0))
    var loads: Int { counts.withLock { $0.loads } }
    var resets: Int { counts.withLock { $0.resets } }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        counts.withLock { $0.loads += 1 }
        return try await next.load(request)
    }

    func reset(next: any HTTPLoader) async {
        counts.withLock { $0.resets += 1 }
        await next.reset()
    }
}

@Suite struct HTTPClientTests {
    private let environment = ServerEnvironment.of("https://h/api", headers: ["Accept": "environment"])
    private let json = Data(#"{"id":1,"login":"ada"}"#.utf8)

    @Test func `a template is sent to the environment and decoded`() async throws {
        let mock = MockLoader { [json] in .ok($0, body: json) }
        let client = HTTPClient(environment: environment, transport: mock)
        #expect(try await client.send(TestEndpoint("people", answering: Person.self)) == Person(id: 1, login: "ada"))
        #expect(try mock.requests.first?.urlString() == "https://h/api/people")
    }

    @Test func `a client is created from the text of a base URL, or with a name for its retries`() async throws {
        #if Foundation || canImport(Darwin)
            #expect(
                try HTTPClient(baseURL: "https://h/v2").urlRequest(for: TestEndpoint("a")).url?.absoluteString
                    == "https://h/v2/a")
        #endif
        let error = await #expect(throws: HTTPError.self) { try await HTTPClient(baseURL: "h").send(TestEndpoint("a")) }
        #expect(error?.code == .invalidRequest && error?.message.contains("https://host/path") == true)
        let mock = MockLoader { HTTPResponse(request: $0, status: 503) }
        var retrying = Backoff.exponential
        retrying.clock = TestClock(isAutomatic: true)
        let client = HTTPClient(environment: environment, retrying: retrying, transport: mock)
        _ = HTTPClient(environment: environment, retrying: .exponential)
        await #expect(throws: HTTPError.self) { try await client.send(TestEndpoint("a")) }
        #expect(mock.requests.count == 4)
    }

    @Test func `the error of a 404 names an escaped slash in its path`() async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: $0.path.string.contains("gone") ? 410 : 404) }
        let client = HTTPClient(environment: environment, transport: mock)
        for (path, isNamed) in [("a/\("b/c")", true), ("a/\(raw: "b/c")", false), ("gone/\("b/c")", false)]
            as [(RequestPath, Bool)]
        {
            let error = await #expect(throws: HTTPError.self) { try await client.send(TestEndpoint(path)) }
            #expect(
                error?.message.contains(#"%2F, an escaped slash: for several segments, write \(segments: list)"#)
                    == isNamed)
        }
    }

    @Test func `a plain request is sent, and its status is checked like a template's`() async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: $0.path == "/api/good" ? 200 : 404) }
        let client = HTTPClient(environment: environment, transport: mock)
        var request = HTTPRequest()
        request.path = "good"
        #expect(try await client.send(request).status == .ok)
        request.path = "bad"
        let bad = request
        let error = try await #require(throws: HTTPError.self) { try await client.send(bad) }
        #expect(error.code == .unacceptableStatus)
        #expect(error.response?.status == .notFound)
    }

    @Test func `without environment and host nothing is sent, and the error names the remedy`() async throws {
        let mock = MockLoader { .ok($0) }
        let error = try await #require(throws: HTTPError.self) {
            try await HTTPClient(transport: mock).send(TestEndpoint("a"))
        }
        #expect(error.code == .invalidRequest)
        #expect(error.message.contains("environment"))
        #expect(mock.requests.isEmpty)
    }

    @Test func `the errors for a URL without a scheme and for one without a host differ`() async throws {
        let request = HTTPRequest(url: try #require(URL(string: "api.example.com/users")))
        let error = try await #require(throws: HTTPError.self) {
            try await HTTPClient(transport: MockLoader { .ok($0) }).send(request)
        }
        #expect(error.code == .invalidRequest && error.message.contains("a URL with a scheme"))
    }

    @Test func `headers of a request take precedence over those of its body, the environment and the client`()
        async throws
    {
        let mock = MockLoader { .ok($0) }
        let client = HTTPClient(environment: environment, transport: mock)
        try await client.send(TestEndpoint("a"))
        try await client.send(TestEndpoint("a").header("accept", "template"))
        try await client.send(TestEndpoint("a").body(TextBody("x")).header("Content-Type", "text/own"))
        #expect(mock.requests.map { $0.headers["Accept"] } == ["environment", "template", "environment"])
        #expect(mock.requests[1].headers.values(for: "Accept").count == 1)
        #expect(mock.requests[2].framedHeaders()[.contentType] == "text/own")
    }

    @Test func `the closure of an environment is called at every send`() async throws {
        let token = Mutex("one")
        let mock = MockLoader { .ok($0) }
        let client = HTTPClient(
            environment: .provided { _ in .of("https://h", headers: ["X-Token": token.withLock { $0 }]) },
            transport: mock)
        let template = TestEndpoint("a")
        try await client.send(template)
        token.withLock { $0 = "two" }
        try await client.send(template)
        #expect(mock.requests.map { $0.headers["X-Token"] } == ["one", "two"])
    }

    @Test func `links run before the environment, attempt links after it`() async throws {
        let hosts = Mutex<[String?]>([])
        let note = ModifyRequest { request in hosts.withLock { $0.append(request.host) } }
        let client = HTTPClient(
            environment: environment, links: note, attemptLinks: note, transport: MockLoader { .ok($0) })
        try await client.send(TestEndpoint("a"))
        #expect(hosts.withLock { $0 } == [nil, "h"])
    }

    @Test func `a client prints its chain`() {
        let text = "\(HTTPClient(links: PrintLoader { _ in }, transport: MockLoader()))"
        #expect(text.hasPrefix("HTTPClient(PrintLoader --> "))
        #expect(text.hasSuffix(" --> MockLoader)"))
        #expect(text.contains("ApplyEnvironment"))
    }

    @Test func `a reset reaches every link once`() async {
        let (outer, inner) = (Passing(), Passing())
        await HTTPClient(links: outer, attemptLinks: inner, transport: MockLoader()).reset()
        #expect(outer.resets == 1)
        #expect(inner.resets == 1)
    }

    @Test func `copies share their chain`() async throws {
        let link = Passing()
        let client = HTTPClient(environment: environment, links: link, transport: MockLoader { .ok($0) })
        let copy = client
        try await client.send(TestEndpoint("a"))
        try await copy.send(TestEndpoint("a"))
        #expect(link.loads == 2)
    }

    @Test func `no option of a request is sent`() async throws {
        enum Tenant: HTTPRequestOption { static let defaultOptionValue = "none" }
        let mock = MockLoader { .ok($0) }
        try await HTTPClient(environment: environment, transport: mock).send(
            TestEndpoint("a").option(Tenant.self, "acme"))
        let request = try #require(mock.requests.first)
        #expect(request[option: Tenant.self] == "acme")
        #expect(try !request.urlString().contains("acme"))
        #expect(!request.framedHeaders().contains { $0.value.contains("acme") })
    }

    @Test func `pages are requested until an empty one, which is not delivered`() async throws {
        let mock = MockLoader { request in
            let page = Int(request[query: "page"] ?? "") ?? 0
            return try .ok(request, json: page < 3 ? [page * 10, page * 10 + 1] : [])
        }
        let client = HTTPClient(environment: environment, transport: mock)
        var pages: [[Int]] = []
        for try await page in client.pages(of: TestEndpoint("a", answering: [Int].self).paginated()) {
            pages.append(page.value)
        }
        #expect(pages == [[10, 11], [20, 21]])
        #expect(mock.requests.count == 3)
    }

    @Test func `with a page size a sequence ends at a short page`() async throws {
        let mock = MockLoader { request in try .ok(request, json: request[query: "page"] == "1" ? [1, 2] : [3]) }
        let client = HTTPClient(environment: environment, transport: mock)
        var items: [Int] = []
        for try await item in client.items(of: TestEndpoint("a", answering: [Int].self).paginated(size: 2)) {
            items.append(item)
        }
        #expect(items == [1, 2, 3])
        #expect(mock.requests.count == 2)
    }

    @Test func `a page sequence is lazy`() async throws {
        let mock = MockLoader { try .ok($0, json: [1, 2]) }
        let client = HTTPClient(environment: environment, transport: mock)
        for try await _ in client.items(of: TestEndpoint("a", answering: [Int].self).paginated()) { break }
        #expect(mock.requests.count == 1)
    }

    @Test func `a template with a fixed page is requested once`() async throws {
        let mock = MockLoader { try .ok($0, json: [1, 2]) }
        let client = HTTPClient(environment: environment, transport: mock)
        let pinned = TestEndpoint("a", answering: [Int].self).with { $0.query = ["page": 7] }.paginated()
        var count = 0
        for try await _ in client.pages(of: pinned) { count += 1 }
        #expect(count == 1)
        #expect(mock.requests.map { $0.query.escaped } == ["page=7"])
    }
}
