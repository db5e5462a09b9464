// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadCaching
import LetterheadResilience
import LetterheadSigning
import LetterheadTesting
import TestKit
import Testing

/// What a caller sees of a request that was sent to a replica.
extension BalanceTests {
    @Test func `the response is that of the logical request`() async throws {
        let mock = MockLoader { request in
            let place = request.path.string == "/elsewhere" ? "https://a.testing/x" : "https://A.TEST:443/next?page=2"
            return HTTPResponse(request: request, status: .created, headers: ["Location": place])
        }
        let chain = balance(.ordered) --> mock
        let request = request()
        let response = try await chain.load(request)
        #expect(response.request.id == request.id && response.request.origin == logical)
        #expect(response.headers["Location"] == "https://orders.test/next?page=2")
        let other = try await chain.load(HTTPRequest(host: "orders.test", path: "/elsewhere"))
        #expect(other.headers["Location"] == "https://a.testing/x")
    }

    @Test func `the request of the response has its host and its port as they were written`() async throws {
        var request = request()
        (request.host, request.port) = ("Orders.Test", 443)
        let response = try await (balance(.ordered) --> MockLoader.answering { _ in .ok }).load(request)
        #expect(response.request.host == "Orders.Test" && response.request.port == 443)
    }

    @Test func `links of a replica are links of the logical origin`() async throws {
        let links =
            #"<https://a.test/items?page=2>; rel="next", <https://a.testing/x>; rel=up, <https://a.test>; rel=home"#
        let chain = balance(.ordered) --> AnyLoader { HTTPResponse(request: $0, status: .ok, headers: ["Link": links]) }
        let response = try await chain.load(request())
        #expect(
            response.headers["Link"]
                == #"<https://orders.test/items?page=2>; rel="next", <https://a.testing/x>; rel=up, "#
                + "<https://orders.test>; rel=home")
    }

    @Test(arguments: [nil, ResponseCache.Store.memory(bytes: 1 << 20), try .files(in: folder, bytes: 1 << 20)])
    func `the next page at a replica is one at the logical origin, also of a stored page`(
        store: ResponseCache.Store?
    ) async throws {
        let mock = MockLoader { request in
            let next = request[query: "page"] == "2" ? "" : "https://\(request.host ?? "")/orders?page=2"
            return HTTPResponse(
                request: request, status: .ok, headers: ["Cache-Control": "max-age=60"],
                body: HTTPResponseBody(Data(#"{"next": "\#(next)"}"#.utf8)))
        }
        let client = HTTPClient(
            environment: ServerEnvironment("https://orders.test"), authentication: .bearer("secret"),
            cache: store.map { ResponseCache(store: $0) },
            attemptLinks: Balance(among: ["https://a.test", "https://b.test"], by: .roundRobin), transport: mock)
        for _ in 1...2 {
            var count = 0
            let pages = Get<[String: String]>("orders").paginated(by: .nextURL(\.["next"]))
            for try await page in client.pages(of: pages) {
                #expect(page.response.request.origin == logical && page.response.respondingServer != logical)
                count += 1
            }
            #expect(count == 2)
        }
        #expect(mock.hosts.prefix(2) == ["a.test", "b.test"] && mock.hosts.count == (store == nil ? 4 : 2))
        #expect(mock.requests.allSatisfy { $0.headers.contains("Authorization") })
    }

    @Test func `only the replica that has responded may name itself`() async throws {
        let mock = MockLoader { request in
            HTTPResponse(
                request: request, status: .ok,
                body: HTTPResponseBody(Data(#"{"next": "https://b.test/orders?page=2"}"#.utf8)))
        }
        let client = HTTPClient(
            environment: ServerEnvironment("https://orders.test"),
            attemptLinks: Balance(among: ["https://a.test"], by: .ordered), transport: mock)
        let pages = Get<[String: String]>("orders").paginated(by: .nextURL(\.["next"]))
        let error = await #expect(throws: HTTPError.self) { for try await _ in client.pages(of: pages) {} }
        #expect(error?.code == .invalidResponse && mock.hosts == ["a.test"])
    }

    private static var folder: URL { FileManager.default.temporaryDirectory.appending(path: "balance-\(UUID())") }

    @Test func `credentials and cookies belong to the logical origin, and events to the replica`() async throws {
        let mock = MockLoader { request in
            switch request.path.string {
            case "/redirect":
                HTTPResponse(request: request, status: .found, headers: ["Location": "https://cdn.test/x"])
            default: HTTPResponse(request: request, status: .ok, headers: ["Set-Cookie": "session=1"])
            }
        }
        let recorder = EventRecorder()
        let client = HTTPClient(
            environment: ServerEnvironment("https://orders.test"), authentication: .bearer("secret"),
            cookies: CookieJar(), attemptLinks: Balance(among: replicas, by: .roundRobin), observers: [recorder],
            transport: mock)
        for path in ["/one", "/two", "/redirect"] as [RequestPath] {
            try await client.send(HTTPRequest { $0.path = path })
        }
        #expect(mock.hosts == ["a.test", "b.test", "c.test", "cdn.test"])
        #expect(mock.requests.map { $0.headers["Authorization"] != nil } == [true, true, true, false])
        #expect(mock.requests.map { $0.headers["Cookie"] } == [nil, "session=1", "session=1", nil])
        let starts = recorder.events.filter { $0.name == .exchangeStart }
        #expect(starts.map { $0[.host] } == ["a.test", "b.test", "c.test", "cdn.test"])
    }

    @Test func `a redirect to a replica by its own name is one to the logical origin`() async throws {
        let mock = MockLoader { request in
            request.path.string == "/old"
                ? HTTPResponse(request: request, status: .found, headers: ["Location": "https://a.test/new"])
                : .ok(request)
        }
        let client = HTTPClient(
            environment: ServerEnvironment("https://orders.test"), authentication: .bearer("secret"),
            attemptLinks: Balance(among: replicas, by: .ordered), transport: mock)
        let response = try await client.send(HTTPRequest { $0.path = "/old" })
        #expect(try response.request.urlString() == "https://orders.test/new")
        #expect(mock.requests.last?.headers["Authorization"] != nil && mock.hosts == ["a.test", "a.test"])
    }

    @Test func `a trace that is allowed for the logical origin is sent to its replicas, and to no other server`()
        async throws
    {
        let mock = MockLoader {
            HTTPResponse(
                request: $0, status: $0.path.string == "/away" ? 302 : 200, headers: ["Location": "https://other.test/"]
            )
        }
        let client = HTTPClient(
            environment: ServerEnvironment("https://orders.test"),
            attemptLinks: Balance(among: replicas, by: .ordered),
            tracing: TraceContextPropagation(allowedOrigins: [try #require(URL(string: "https://orders.test"))]),
            transport: mock)
        _ = try await client.send(HTTPRequest { $0.path = "/away" })
        #expect(mock.hosts == ["a.test", "other.test"])
        #expect(mock.requests.map { $0.headers.contains("traceparent") } == [true, false])
    }

    @Test(
        arguments: [
            ([], "Balance has no replicas"), (["a.test"], "not an absolute http or https URL"),
            (["https://a.test/v2"], "only a scheme, a host and a port"),
            (["https://user@a.test"], "only a scheme, a host and a port"),
        ] as [([String], String)])
    func `a list that is refused fails each request`(_ list: [String], _ message: String) async throws {
        let mock = MockLoader.answering { _ in .ok }
        let chain = balance(among: list.map { Replica($0) }) --> mock
        let error = await #expect(throws: HTTPError.self) { try await chain.load(request()) }
        #expect(error?.code == .invalidRequest && error?.message.contains(message) == true && mock.hosts.isEmpty)
    }

    @Test(arguments: ["https://orders.test", "http://localhost"])
    func `a replica without TLS is refused for an origin with TLS or this machine, before anything is sent`(
        logical: String
    ) async throws {
        let mock = MockLoader.answering { _ in .ok }
        let client = HTTPClient(
            environment: ServerEnvironment(logical), authentication: .bearer("secret"),
            attemptLinks: Balance(among: ["https://a.test", "http://b.test"], by: .ordered), transport: mock)
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest()) }
        #expect(error?.code == .invalidRequest && error?.mayHaveBeenSent == false && mock.hosts.isEmpty)
        #expect(error?.message.contains("the replica http://b.test does not use https") == true)
    }

    @Test(arguments: [("https://orders.test", "http://127.0.0.1:8080"), ("http://orders.test", "http://b.test")])
    func `a replica without TLS is used on this machine, and for an origin without TLS`(
        _ logical: String, _ replica: String
    ) async throws {
        let mock = MockLoader.answering { _ in .ok }
        let client = HTTPClient(
            environment: ServerEnvironment(logical), attemptLinks: Balance(among: [Replica(replica)]), transport: mock)
        try await client.send(HTTPRequest())
        #expect(mock.requests.map(\.scheme) == ["http"])
    }

    @Test func `a request that refuses the environment of its client passes`() async throws {
        let mock = MockLoader.answering { _ in .ok }
        let client = HTTPClient(
            environment: ServerEnvironment("https://orders.test"), attemptLinks: Balance(among: replicas),
            transport: mock)
        var request = try HTTPRequest("https://cdn.test/a.png")
        request.serverEnvironment = nil
        try await client.send(request)
        #expect(mock.hosts == ["cdn.test"])
    }

    @Test func `without an environment, the logical origin must be named`() async throws {
        let chain = Balance(among: replicas) --> MockLoader.answering { _ in .ok }
        let error = await #expect(throws: HTTPError.self) { try await chain.load(request()) }
        #expect(error?.code == .invalidRequest && error?.message.contains("give the client an environment") == true)
    }

    @Test func `it keeps the laws of a link`() async throws {
        let origin = HTTPOrigin(scheme: "https", host: "laws.example")
        try await LoaderLaws(patience: .seconds(40), link: { Balance(among: replicas, for: origin) }).check()
    }
}
