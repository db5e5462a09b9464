// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

private func request(_ path: RequestPath = "/", method: HTTPMethod = .get) -> HTTPRequest {
    HTTPRequest().with { ($0.host, $0.path, $0.method) = ("a.test", path, method) }
}

@Suite(.timeLimit(.minutes(3))) struct DeduplicateTests {
    private let held = HeldLoader()
    private let link = Deduplicate()
    private let clock = TestClock()

    /// Begins loads one after the other. Each waits for a load when this returns.
    private func start(_ requests: [HTTPRequest]) async -> [Task<HTTPResponse, any Error>] {
        var tasks: [Task<HTTPResponse, any Error>] = []
        for request in requests {
            let before = link.waiting
            tasks.append(Task { [chain = link --> held] in try await chain.load(request) })
            await until { [link] in link.waiting > before }
        }
        return tasks
    }

    @Test func `equal requests share one load, and each receives a separate response`() async throws {
        let requests = [request(), request(), request()]
        let tasks = await start(requests)
        await held.waitForRunning(1)
        held.open()
        for (request, task) in zip(requests, tasks) {
            let response = try await task.value
            #expect(response.request.id == request.id)
            #expect(response.sharedFrom == (request.id == requests[0].id ? nil : requests[0].id))
        }
        #expect(held.started.count == 1 && link.running == 0 && link.waiting == 0)
    }

    @Test(
        arguments: [
            { $0.path = "/other" }, { $0.query["a"] = "1" }, { $0.host = "b.test" }, { $0.port = 8443 },
            { $0.scheme = "http" }, { $0.method = .head }, { $0.headers["Accept"] = "text/plain" },
            { $0.headers["Authorization"] = "Bearer b" }, { $0.headers["Cookie"] = "a=1" },
            { $0.timeout = .seconds(100) }, { $0.idleTimeout = .seconds(100) }, { $0.connectTimeout = .seconds(100) },
            { $0.responseLimit = 5 }, { $0.authentication = .bearer("b") }, { $0.body = DataBody(Data("x".utf8)) },
            { $0.deduplication = .never }, { $0.deduplication = .key("own") }, { $0.removedHeaders = [.authorization] },
            { $0.serverEnvironment = .of("https://a.test") },
        ] as [@Sendable (inout HTTPRequest) -> Void])
    func `requests that differ are loaded separately`(change: @Sendable (inout HTTPRequest) -> Void) async throws {
        let (changed, chain) = (request().with(change), link --> held)
        async let first = chain.load(request())
        await held.waitForRunning(1)
        async let second = chain.load(changed)
        await held.waitForRunning(2)
        held.open()
        _ = try await (first, second)
    }

    @Test(
        arguments: [
            { $0.method = .post }, { $0.method = .put }, { $0.method = .patch }, { $0.method = .delete },
            { $0.responseDelivery = .streamed },
        ] as [@Sendable (inout HTTPRequest) -> Void])
    func `requests with unsafe methods and streaming requests share no load`(
        change: @Sendable (inout HTTPRequest) -> Void
    ) async throws {
        let (sent, chain) = (request().with(change), link --> held)
        async let first = chain.load(sent)
        async let second = chain.load(sent)
        await held.waitForRunning(2)
        held.open()
        _ = try await (first, second)
    }

    @Test func `requests with the same key share a load, but not across users`() async throws {
        var requests = [request("/1", method: .post), request("/2", method: .post), request("/3", method: .post)]
        for index in requests.indices { requests[index].deduplication = .key("k") }
        requests[2].headers["Authorization"] = "Bearer other"
        let tasks = await start(requests)
        await held.waitForRunning(2)
        held.open()
        for task in tasks { _ = try await task.value }
        #expect(held.started.sorted() == ["/1", "/3"])
    }

    @Test func `equal bodies of a safe method share, others do not`() async throws {
        var requests = [request(method: .query), request(method: .query), request(method: .query)]
        for (index, text) in ["x", "x", "y"].enumerated() { requests[index].body = DataBody(Data(text.utf8)) }
        let tasks = await start(requests)
        await held.waitForRunning(2)
        held.open()
        for task in tasks { _ = try await task.value }
    }

    @Test(arguments: [0, 1, 2])
    func `a cancelled request does not affect the others, even if it is the first`(index: Int) async throws {
        let tasks = await start([request(), request(), request()])
        await held.waitForRunning(1)
        tasks[index].cancel()
        #expect(await failure { try await tasks[index].value }?.code == .cancelled && held.running == 1)
        held.open()
        for other in [0, 1, 2] where other != index { #expect(try await tasks[other].value.status == .ok) }
        #expect(held.started.count == 1)
    }

    @Test func `the load is cancelled with its last request, and no request joins it any more`() async throws {
        let tasks = await start([request(), request()])
        await held.waitForRunning(1)
        for task in tasks { task.cancel() }
        await held.waitForRunning(0)
        for task in tasks { await #expect(throws: HTTPError.self) { try await task.value } }
        await until { [link] in link.running == 0 }
        let next = await start([request()])
        await held.waitForRunning(1)
        held.open()
        #expect(try await next[0].value.status == .ok)
    }

    @Test func `a failure is shared with each request in its error, and not stored`() async throws {
        let mock = MockLoader().then { request in
            await until { [link] in link.waiting == 2 }
            throw HTTPError(.connectionLost, request: request)
        }.then { .ok($0) }
        let chain = link --> mock
        let requests = [request(), request()]
        let tasks = requests.map { request in Task { try await chain.load(request) } }
        for (request, task) in zip(requests, tasks) {
            let error = await #expect(throws: HTTPError.self) { try await task.value }
            #expect(error?.code == .connectionLost && error?.request.id == request.id)
        }
        #expect(try await chain.load(request()).status == .ok)
    }

    @Test func `a load has the highest priority of all waiting requests`() async throws {
        let held = held
        let chain =
            link
            --> AnyLoader { request in
                _ = try await held.load(request)
                await until { Task.currentPriority >= .high }
                return .ok(request)
            }
        let first = Task(priority: .low) { try await chain.load(request()) }
        await held.waitForRunning(1)
        let second = Task(priority: .high) { try await chain.load(request()) }
        held.open()
        #expect(try await first.value.status == .ok)
        #expect(try await second.value.status == .ok)
    }

    @Test func `a request after the end of a load is sent`() async throws {
        let mock = MockLoader { .ok($0) }
        for _ in 0..<3 { _ = try await (link --> mock).load(request()) }
        #expect(mock.requests.count == 3)
    }

    @Test func `a streamed response is not shared, and the other request is sent`() async throws {
        let mock = MockLoader { request in
            await until { [link] in link.waiting == 2 || link.running == 0 }
            let chunks = Chunks(3)
            return HTTPResponse(request: request, status: .ok, body: HTTPResponseBody(length: nil) { chunks.next() })
        }
        let chain = link --> mock
        async let first = chain.load(request())
        async let second = chain.load(request())
        for response in [try await first, try await second] { #expect(try await response.body.data().count == 3) }
        #expect(mock.requests.count == 2)
    }

    @Test func `a request does not hold the streamed response of another one while it is sent itself`() async throws {
        let throttle = Throttle(limit: 1)
        let mock = MockLoader { request in
            await until { [link] in link.waiting == 2 || link.running == 0 }
            let chunks = Chunks(3)
            return HTTPResponse(request: request, status: .ok, body: HTTPResponseBody(length: nil) { chunks.next() })
        }
        let chain = link --> throttle --> mock
        // Each response is dropped, so that its slot is free.
        let tasks = (0..<2).map { _ in Task { try await chain.load(request()).status } }
        for task in tasks { #expect(try await task.value == .ok) }
        #expect(mock.requests.count == 2)
    }

    @Test func `each waits until its own deadline, and the load continues for the others`() async throws {
        let link = Deduplicate(clock: clock)
        let chain = Deadline(clock: clock) --> link --> held
        let hasty = request().with { $0.deadline = .seconds(1) }
        let first = Task { try await chain.load(hasty) }
        await held.waitForRunning(1)
        async let second = chain.load(request())
        await until { link.waiting == 2 }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: HTTPError.self) { try await first.value }
        #expect(error?.code == .timedOut && error?.request.deadline == .seconds(1))
        held.open()
        #expect(try await second.status == .ok)
    }

    @Test func `a reset cancels the loads and ends all waits`() async throws {
        let tasks = await start([request(), request()])
        await held.waitForRunning(1)
        await (link --> held).reset()
        #expect(link.running == 0 && link.waiting == 0)
        for task in tasks {
            #expect(await failure { try await task.value }?.code == .cancelled)
        }
        await held.waitForRunning(0)
    }
}
