// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadObserving
import LetterheadTesting
import TestKit
import Testing

@testable import LetterheadResilience

@Suite(.timeLimit(.minutes(5))) struct HedgeTests {
    private let clock = TestClock()

    private func hedge(_ delay: Hedge.Delay = .fixed(.milliseconds(40)), atMost count: Int = 1, share: Double = 1)
        -> Hedge
    {
        Hedge(after: delay, atMost: count, share: share, clock: clock)
    }

    /// Responds after the times, in order, with the name of the exchange as the body, and after the last one at once.
    private func server(
        _ times: [Duration], statuses: [HTTPStatus] = []
    ) -> MockLoader {
        let count = Flag(0)
        return MockLoader { [clock] request in
            let number = count.next()
            if number < times.count { try await clock.sleep(for: times[number]) }
            return HTTPResponse(
                request: request, status: number < statuses.count ? statuses[number] : .ok,
                body: HTTPResponseBody(Data("\(number)".utf8)))
        }
    }

    private func body(of result: Result<HTTPResponse, HTTPError>) -> String {
        String(decoding: (try? result.get())?.body.buffered ?? Data(), as: UTF8.self)
    }

    @Test func `a hedge is sent after the delay, its response wins, and the first request is cancelled`() async throws {
        let mock = server([.seconds(60)])
        let chain = hedge() --> mock
        let load = Task { await chain.result(of: request()) }
        await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(39))
        await clock.waitForSleepers(2)
        #expect(mock.requests.count == 1)
        clock.advance(by: .milliseconds(1))
        #expect(body(of: await load.value) == "1")
        #expect(mock.requests.count == 2 && clock.sleepers == 0)
        #expect(Set(mock.requests.map(\.id)).count == 1)
    }

    @Test func `the events of a connection belong to the exchange that has used it`() async throws {
        let arrived = Flag(0)
        let server = try await MockServer.start { _ in
            if arrived.next() == 0 {
                await until { arrived.value == 2 }
            } else {
                try await Task.sleep(for: .seconds(60))
            }
            return MockServer.Response()
        }
        let recorder = EventRecorder()
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: server.url), attemptLinks: Hedge(after: .fixed(.zero), share: 1),
            observers: [recorder])
        _ = try await client.send(HTTPRequest())
        await server.stop()
        #expect(recorder.events.filter { $0.name == .requestSent }.map { $0[.exchange] }.contains(1))
        #expect(ObserverLaws.violations(of: recorder.events).isEmpty)
    }

    @Test func `a hedge sends the bytes of the first request`() async throws {
        struct Changing: HTTPBody {
            let count = Flag(0)
            func encode() -> Data { Data("\(count.next())".utf8) }
        }
        let mock = server([.milliseconds(50)])
        let sent = Flag<[Data?]>([])
        let chain =
            hedge()
            --> ModifyRequest { request in
                let data = try request.framedBody().data
                sent.change { $0.append(data) }
            } --> mock
        var hedged = request(method: .put)
        hedged.body = Changing()
        _ = try await clock.run { [hedged] in await chain.result(of: hedged) }.get()
        #expect(sent.value == [Data("0".utf8), Data("0".utf8)])
    }

    @Test(
        arguments: [
            // The first request may still win.
            ([.milliseconds(50), .seconds(60)], [], "0"),
            // A hedge that fails or is refused does not win, because the first request may have made it so.
            ([.milliseconds(100)], [.ok, 401], "0"), ([.milliseconds(100)], [.ok, 409], "0"),
            ([.milliseconds(100)], [.ok, 412], "0"), ([.milliseconds(100)], [.ok, 429], "0"),
            ([.milliseconds(100)], [.ok, 502], "0"),
            // If the first request fails, the hedge that was sent decides, and if all fail, the first request.
            ([.milliseconds(50), .milliseconds(50)], [.badGateway], "1"),
            ([.milliseconds(50), .milliseconds(50)], [.badGateway, .serviceUnavailable], "0"),
        ] as [([Duration], [HTTPStatus], String)])
    func `the first success wins, and without one the first request`(
        times: [Duration], statuses: [HTTPStatus], winner: String
    ) async throws {
        let mock = server(times, statuses: statuses)
        let chain = hedge() --> mock
        let result = try await clock.run { await chain.result(of: request()) }
        #expect(body(of: result) == winner && mock.requests.count == 2 && clock.sleepers == 0)
    }

    @Test func `a request whose signature may be used only once is not hedged`() async throws {
        let mock = server([.milliseconds(50)])
        let sign = ModifyRequest { $0.headers["X-Signature"] = "1" }
        let url = try #require(URL(string: "https://api.example.com"))
        let chain = Authenticate(.method("one", allowedOrigins: [url], link: sign)) --> hedge() --> mock
        let response = try await clock.run { try await chain.load(HTTPRequest(url: url)) }
        #expect(response.request.headers["X-Signature"] == "1")
        #expect(mock.requests.count == 1)
    }

    @Test func `a request that fails before the delay is not hedged`() async throws {
        let mock = server([], statuses: [.badGateway])
        #expect(await (hedge() --> mock).outcome(of: request()) == "502")
        await clock.runUntilIdle()
        #expect(mock.requests.count == 1)
    }

    @Test func `there are at most as many hedges as allowed, each after the delay`() async throws {
        let mock = server([.seconds(60), .seconds(60), .seconds(60), .seconds(60)])
        let hedge = hedge(atMost: 2)
        let chain = hedge --> mock
        // The share of three requests.
        _ = await (hedge --> MockLoader.answering { _ in .ok }).outcomes(3)
        let load = Task { await chain.result(of: request()) }
        await until { mock.requests.count == 1 && clock.sleepers == 2 }
        await clock.runUntilIdle()
        #expect(mock.requests.count == 3)
        #expect(body(of: await load.value) == "0")
    }

    @Test(arguments: [0.1, 0.25])
    func `a service that is slow as a whole receives no more than the share`(_ share: Double) async throws {
        let mock = server(Array(repeating: .seconds(1), count: 1_000))
        let chain = hedge(share: share) --> mock
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { _ = try await chain.load(request()) } }
            // The wait for each response, and the wait before the hedges.
            await until { mock.requests.count == 200 && clock.sleepers == 201 }
            await clock.runUntilIdle()
            try await group.waitForAll()
        }
        // 200 requests at once save up at most ten hedges.
        #expect(mock.requests.count == 210)
        let later = server(Array(repeating: .seconds(1), count: 1_000))
        let chain2 = hedge(share: share) --> later
        for _ in 0..<40 { _ = try await clock.run { try await chain2.load(request()) } }
        #expect(later.requests.count == 40 + Int(40 * share))
    }

    @Test func `a service that fails receives no hedges, until there are new ones`() async throws {
        let mock = server(
            Array(repeating: .seconds(1), count: 100), statuses: Array(repeating: .serviceUnavailable, count: 10))
        let hedge = hedge(share: 0.5)
        _ = await (hedge --> MockLoader.answering { _ in .ok }).outcomes(8)
        let chain = hedge --> mock
        // Four hedges were saved up. Each failure takes one, and each hedge as well.
        for count in [2, 4, 6, 7, 8, 9] {
            _ = try await clock.run { await chain.outcome(of: request()) }
            #expect(mock.requests.count == count)
        }
    }

    enum Kind: String, CaseIterable, Sendable {
        case get, post, postWithKey, put, never, streamed, file, oneShot, progress

        var request: HTTPRequest {
            var request = LetterheadResilienceTests.request()
            switch self {
            case .get: break
            case .post: request.method = .post
            case .postWithKey:
                request.method = .post
                request.markIdempotent(key: "7")
                request.headers["Idempotency-Key"] = "7"
            case .put:
                request.method = .put
                request.body = TextBody("order")
            case .never: request.hedging = .never
            case .streamed: request.responseDelivery = .streamed
            case .file: request.responseDelivery = .file(URL(filePath: "/tmp/order"))
            case .oneShot:
                request.method = .put
                request.body = StreamBody(once: AsyncStream<Data> { $0.finish() })
            case .progress: request.onProgress = { _ in }
            }
            return request
        }

        var isHedged: Bool { [.get, .postWithKey, .put, .streamed].contains(self) }
    }

    @Test(arguments: Kind.allCases) func `only requests that may be sent twice are hedged`(_ kind: Kind) async throws {
        let mock = server([.seconds(1)])
        // The mock refuses to send some of these requests, so it receives one more for each of them.
        let chain =
            hedge()
            --> AnyLoader { request in
                _ = try await mock.load(HTTPRequest(host: "a.test"))
                return .ok(request)
            }
        let load = Task { await chain.outcome(of: kind.request) }
        await clock.waitForSleepers(kind.isHedged ? 2 : 1)
        await clock.runUntilIdle()
        #expect(await load.value == "200")
        #expect(mock.requests.count == (kind.isHedged ? 2 : 1))
    }

    @Test func `a client adds the key of an idempotent POST, so that it is hedged`() async throws {
        let mock = server([.seconds(1)])
        let client = HTTPClient(attemptLinks: hedge(), transport: mock)
        var post = request(method: .post)
        post.markIdempotent()
        _ = try await clock.run { [post] in try await client.send(post) }
        #expect(mock.requests.count == 2)
        #expect(Set(mock.requests.map { $0.headers["Idempotency-Key"] }).count == 1)
    }

    @Test func `a quantile is measured by route`() async throws {
        let slow = Flag(Duration.milliseconds(1))
        let mock = MockLoader { [clock] request in
            try await clock.sleep(for: slow.value)
            return .ok(request)
        }
        let chain = hedge(.quantile(0.9, atLeast: .milliseconds(5))) --> mock
        func load(_ path: RequestPath = "/orders") async throws {
            let load = Task { try await chain.load(request(path)) }
            await clock.waitForSleepers(1)
            await clock.runUntilIdle()
            _ = try await load.value
        }
        // Nothing is known of the route.
        slow.value = .milliseconds(20)
        for _ in 0..<32 { _ = try await clock.run { try await chain.load(request()) } }
        #expect(mock.requests.count == 32)
        slow.value = .milliseconds(19)
        try await load()
        #expect(mock.requests.count == 33)
        slow.value = .milliseconds(21)
        try await load()
        #expect(mock.requests.count == 35)
        try await load("/users")
        #expect(mock.requests.count == 36)
        // A reset forgets what was measured.
        await chain.reset()
        try await load()
        #expect(mock.requests.count == 37)
    }

    @Test func `the hedge is sent to another replica`() async throws {
        let mock = server([.seconds(60)])
        let balance = Balance(among: ["https://a.test", "https://b.test"], by: .ordered, for: logical, clock: clock)
        let chain = hedge() --> balance --> mock
        let response = try await clock.run { try await chain.load(request()) }
        #expect(mock.hosts == ["a.test", "b.test"])
        #expect(response.request.origin == logical)
    }

    @Test func `each hedge is an event and a separate exchange, and is counted`() async throws {
        let mock = server([.seconds(60)])
        let (recorder, statistics) = (EventRecorder(), StatisticsRecorder())
        let client = HTTPClient(
            attemptLinks: hedge(), observers: [recorder, statistics], tracing: TraceContextPropagation(),
            transport: mock)
        _ = try await clock.run { try await client.send(request()) }
        #expect(recorder.first(.hedgeSent)?[.wait] == .milliseconds(40) && recorder.first(.hedgeWon)?[.count] == 1)
        let starts = recorder.events.filter { $0.name == .exchangeStart }
        #expect(starts.map { $0[.isHedge] } == [nil, true])
        #expect(Set(starts.map { $0[.spanID] }).count == 2)
        #expect(statistics.statistics.hedges == 1)
    }

    @Test func `the body of the response that wins can be read, and nothing is left behind`() async throws {
        let server = try await MockServer.start { request in
            if request.path == "/slow" { try await Task.sleep(for: .seconds(60)) }
            return MockServer.Response(body: Data("fast".utf8))
        }
        let slow = ModifyRequest { request in
            if request.triedServers?.origins.isEmpty == true {
                request.path = "/slow"
                request.triedServers?.insert(logical)
            }
        }
        try await withLeakCheck {
            let client = HTTPClient(
                environment: ServerEnvironment(baseURL: server.url),
                attemptLinks: Hedge(after: .fixed(.milliseconds(20)), share: 1) --> slow,
                transport: HTTPClient.makeTransport(.init()))
            let response = try await client.stream(HTTPRequest { $0.path = "/fast" })
            #expect(try await response.body.data() == Data("fast".utf8))
        }
        await server.stop()
    }

    @Test(arguments: [Hedge.Delay.fixed(.zero), .fixed(.seconds(60)), .quantile(0.95)])
    func `it keeps the laws of a link`(_ delay: Hedge.Delay) async throws {
        try await LoaderLaws(patience: .seconds(40), link: { Hedge(after: delay, share: 1) }).check()
    }
}

extension Flag where Value == Int {
    /// Returns the number, and adds one.
    func next() -> Int { change { $0 += 1 } - 1 }
}
