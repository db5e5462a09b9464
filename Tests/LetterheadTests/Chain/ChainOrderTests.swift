// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadResilience
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// The statements of the guide "Ordering a loader chain" about pairs of links, in both orders.
@Suite(.timeLimit(.minutes(3))) struct ChainOrderTests {
    /// Whether a pair is in the order of the guide.
    enum Order: CaseIterable {
        case asRecommended, reversed

        func join(_ first: any LoaderLink, _ second: any LoaderLink, _ end: any HTTPLoader) -> any HTTPLoader {
            self == .asRecommended ? first --> second --> end : second --> first --> end
        }
    }

    private let clock = TestClock()
    private let held = HeldLoader()

    /// Fails once, then answers.
    private func failingOnce() -> MockLoader {
        MockLoader { .ok($0) }.then { throw HTTPError(.connectionLost, request: $0) }
    }

    private func retry() -> Retry { Retry(validators: [], Backoff(maximumRetries: 1, clock: clock, random: { 1 })) }

    private func request(_ path: RequestPath = "/") -> HTTPRequest {
        HTTPRequest().with { ($0.host, $0.path, $0.retryStrategy) = ("a.test", path, .delayed(.seconds(5))) }
    }

    /// Loads, looks at what is held during the back-off, and lets it pass.
    private func load(_ chain: any HTTPLoader, path: RequestPath = "/", waiting look: () -> Void = {}) async throws {
        let request = request(path)
        let task = Task { try await chain.load(request) }
        await clock.waitForSleepers(1)
        look()
        clock.advance(by: .seconds(5))
        _ = try await task.value
    }

    @Test(arguments: Order.allCases)
    func `a log above retry has a line for each load, and one below for each attempt`(order: Order) async throws {
        let lines = Mutex<[String]>([])
        let log = PrintLoader { line in lines.withLock { $0.append(line) } }
        try await load(order.join(log, retry(), failingOnce()))
        #expect(lines.withLock { $0.count } == (order == .asRecommended ? 2 : 4))
    }

    @Test(arguments: Order.allCases)
    func `a back-off holds a slot only if the throttle is above retry`(order: Order) async throws {
        let throttle = Throttle(limit: 1)
        try await load(order.join(retry(), throttle, failingOnce())) {
            #expect(throttle.running == (order == .asRecommended ? 0 : 1))
        }
    }

    @Test(arguments: Order.allCases)
    func `a deadline above retry includes the waits, and one below applies to each attempt`(order: Order) async throws {
        let chain = order.join(Deadline(.seconds(4), clock: clock), retry(), failingOnce())
        if order == .reversed { return try await load(chain) }
        #expect(await failure { try await chain.load(request()) }?.code == .timedOut && clock.sleeps.isEmpty)
    }

    @Test(arguments: Order.allCases)
    func `the headers of an environment are sent to no other origin, above the redirects or below`(
        order: Order
    ) async throws {
        let home = ServerEnvironment(baseURL: try #require(URL(string: "https://a.test")), headers: ["X-Tenant": "7"])
        let mock = MockLoader.redirecting(["https://a.test/1": (302, "https://b.test/2")])
        let chain = order.join(FollowRedirects(), ApplyEnvironment(home), mock)
        let response = try await chain.load(request("/1"))
        #expect(mock.requests.first?.headers["X-Tenant"] == "7")
        #expect(response.request.host == "b.test" && response.request.headers["X-Tenant"] == nil)
    }

    @Test(arguments: Order.allCases)
    func `credentials need a host, which the environment sets`(order: Order) async throws {
        let home = ServerEnvironment(baseURL: try #require(URL(string: "https://a.test")))
        let mock = MockLoader { .ok($0) }
        let chain = order.join(ApplyEnvironment(home), Authenticate(.bearer("t")), mock)
        let response = try await chain.load(HTTPRequest().with { $0.path = "/me" })
        #expect(response.request.headers["Authorization"] == (order == .asRecommended ? "Bearer t" : nil))
    }

    @Test(arguments: Order.allCases)
    func `equal requests hold one slot if the throttle is below`(order: Order) async throws {
        let (deduplicate, throttle) = (Deduplicate(), Throttle(limit: 4))
        let chain = order.join(deduplicate, throttle, held)
        async let first = chain.load(request())
        async let second = chain.load(request())
        await until { deduplicate.waiting == 2 }
        await held.waitForRunning(1)
        #expect(throttle.running == (order == .asRecommended ? 1 : 2))
        held.open()
        _ = try await (first, second)
    }

    @Test(arguments: Order.allCases)
    func `a request that waits for the rate limit holds a slot only if the throttle is above`(
        order: Order
    ) async throws {
        let throttle = Throttle(limit: 4)
        let chain = order.join(
            LimitRate(1, per: .seconds(1), backoff: Backoff(clock: clock)), throttle, MockLoader { .ok($0) })
        _ = try await chain.load(request())
        try await load(chain) { #expect(throttle.running == (order == .asRecommended ? 0 : 1)) }
    }

    @Test(arguments: Order.allCases)
    func `a retry begins with the caller's URL if retry is above the redirects`(order: Order) async throws {
        let mock = MockLoader { .ok($0) }
            .then { HTTPResponse(request: $0, status: .found, headers: ["Location": "/2"]) }
            .then { throw HTTPError(.connectionLost, request: $0) }
        try await load(order.join(retry(), FollowRedirects(), mock), path: "/1")
        #expect(mock.requests.map(\.path.string) == ["/1", "/2", order == .asRecommended ? "/1" : "/2"])
    }

    @Test func `the documentation lists the links in the order of a client's chain`() throws {
        let client = HTTPClient(
            cookies: CookieJar(), cache: Deduplicate(), links: PrintLoader { _ in }, attemptLinks: Throttle(),
            tracing: TraceContextPropagation(), transport: MockLoader())
        let printed = "\(client)".dropFirst("HTTPClient(".count).components(separatedBy: " --> ")
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/Letterhead/Client/HTTPClient.swift")
        let documented = try String(contentsOf: file, encoding: .utf8).matches(of: /\n\/\/\/ \d+\. ([^\n]*)/)
            .map { $0.output.1 }
        let types = documented.map { row in row.firstMatch(of: /``(\w+)``/).map { String($0.output.1) } }
        #expect(printed.count == 13 && types.count == 13)
        for (link, type) in zip(printed, types) where type != nil { #expect(link.hasPrefix(type ?? "")) }
        #expect(types.count { $0 != nil } == 8)
        #expect(printed[0].hasPrefix("PrintLoader") && printed[8].hasPrefix("Deduplicate"))
        #expect(
            printed[10].hasPrefix("Throttle") && printed[11] == "Observe and trace"
                && printed[12].hasPrefix("MockLoader"))
    }
}
