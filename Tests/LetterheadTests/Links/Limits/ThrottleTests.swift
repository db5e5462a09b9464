// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadResilience
import LetterheadTesting
import TestKit
import Testing

private func request(_ path: RequestPath, _ throttling: Throttle.Settings = .always) -> HTTPRequest {
    HTTPRequest().with { ($0.host, $0.path, $0.throttling) = ("a.test", path, throttling) }
}

@Suite(.timeLimit(.minutes(3))) struct ThrottleTests {
    private let gate = HeldLoader()
    private let clock = TestClock()

    /// Loads begun one after the other, each only when the one before runs or waits.
    private func start(
        _ requests: [HTTPRequest], _ throttle: Throttle
    ) async -> [Task<Result<HTTPResponse, HTTPError>, Never>] {
        var tasks: [Task<Result<HTTPResponse, HTTPError>, Never>] = []
        for request in requests {
            let before = throttle.running + throttle.waiting
            tasks.append(
                Task { [chain = throttle --> gate] in
                    do throws(HTTPError) { return .success(try await chain.load(request)) } catch {
                        return .failure(error)
                    }
                })
            await until { throttle.running + throttle.waiting > before }
        }
        return tasks
    }

    @Test func `two hundred loads never exceed a limit of three, and reach it`() async throws {
        let throttle = Throttle(limit: 3)
        let chain = throttle --> gate
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<200 { group.addTask { _ = try await chain.load(request("/\(index)")) } }
            for count in stride(from: 3, through: 200, by: 3) {
                await gate.waitForStarted(min(count, 200))
                gate.open()
            }
            await gate.waitForStarted(200)
            gate.open()
            try await group.waitForAll()
        }
        #expect(gate.peak == 3 && throttle.running == 0 && throttle.waiting == 0)
    }

    @Test func `streams with separate slots do not starve calls, and wait for each other`() async throws {
        let throttle = Throttle(limit: 1, streams: 1)
        let stream = request("/stream").with { $0.responseDelivery = .streamed }
        let mock = MockLoader { request in
            HTTPResponse(request: request, status: .ok, body: HTTPResponseBody(length: nil) { nil })
        }
        let chain = throttle --> mock
        let first = try await chain.load(stream)
        let second = Task { [stream] in try await chain.load(stream) }
        await until { throttle.waiting == 1 }
        #expect(try await chain.load(request("/call")).body.data().isEmpty)
        #expect(throttle.running == 1 && throttle.waiting == 1)
        #expect(try await first.body.data().isEmpty)
        #expect(try await second.value.body.data().isEmpty)
        #expect(throttle.running == 0 && "\(throttle)" == "Throttle(1, streams: 1)")
        // By default, a stream occupies the slot of a call.
        let shared = Throttle(limit: 1)
        let held = try await (shared --> mock).load(stream)
        #expect(shared.running == 1)
        #expect(try await held.body.data().isEmpty && shared.running == 0)
    }

    @Test func `limits may follow each other in any order`() async throws {
        let mock = MockLoader { .ok($0) }
        let (total, narrow) = (Throttle(limit: 4), Throttle(limit: 2, per: .host))
        let chains: [any HTTPLoader] = [
            total --> narrow --> LimitRate(10) --> mock, narrow --> LimitRate(10) --> total --> mock,
        ]
        for chain in chains {
            #expect(try await chain.load(request("/")).status == .ok)
        }
        #expect(mock.requests.count == 2 && total.running == 0 && narrow.running == 0)
    }

    @Test func `a higher priority starts first, and within one the first to arrive`() async throws {
        let throttle = Throttle(limit: 1)
        let tasks = await start(
            [
                request("/first"), request("/low", .priority(-1)), request("/a"), request("/high", .priority(9)),
                request("/b"), request("/high2", .priority(9)),
            ], throttle)
        for count in 1...6 {
            await gate.waitForStarted(count)
            gate.open()
        }
        for task in tasks { _ = await task.value }
        #expect(gate.started == ["/first", "/high", "/high2", "/a", "/b", "/low"])
    }

    @Test func `a request can opt out, and is not counted`() async throws {
        let throttle = Throttle(limit: 0)
        async let response = (throttle --> gate).load(request("/free", .never))
        await gate.waitForRunning(1)
        #expect(throttle.running == 0)
        gate.open()
        #expect(try await response.status == .ok)
    }

    @Test func `a limit of 0 is a pause, and raising it starts as many as fit`() async throws {
        let throttle = Throttle(limit: 0)
        let tasks = await start([request("/1"), request("/2"), request("/3")], throttle)
        #expect(gate.started.isEmpty && throttle.waiting == 3)
        throttle.limit = 2
        await gate.waitForRunning(2)
        #expect(throttle.running == 2 && throttle.waiting == 1)
        throttle.limit = 3
        await gate.waitForRunning(3)
        gate.open()
        for task in tasks { _ = try await task.value.get() }
    }

    @Test func `lowering the limit ends no load, and starts none until a slot is free`() async throws {
        let throttle = Throttle(limit: 3)
        let tasks = await start((1...4).map { request("/\($0)") }, throttle)
        throttle.limit = 1
        await gate.waitForRunning(3)
        gate.open("/1")
        gate.open("/2")
        for index in [0, 1] { _ = await tasks[index].value }
        #expect(throttle.running == 1 && throttle.waiting == 1 && gate.started.count == 3)
        gate.open("/3")
        await gate.waitForStarted(4)
        gate.open()
        for task in tasks { _ = try await task.value.get() }
    }

    @Test func `a cancelled request leaves the queue, and the others keep their order`() async throws {
        let throttle = Throttle(limit: 1)
        let tasks = await start((1...4).map { request("/\($0)") }, throttle)
        tasks[2].cancel()
        let error = await #expect(throws: HTTPError.self) { try await tasks[2].value.get() }
        #expect(error?.code == .cancelled && error?.mayHaveBeenSent == false && throttle.waiting == 2)
        for count in 1...3 {
            await gate.waitForStarted(count)
            gate.open()
        }
        for index in [0, 1, 3] { _ = try await tasks[index].value.get() }
        #expect(gate.started == ["/1", "/2", "/4"] && throttle.running == 0)
    }

    @Test func `a task that was cancelled before does not wait`() async throws {
        let throttle = Throttle(limit: 0)
        let task = Task { [chain = throttle --> gate] in
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await chain.load(request("/1"))
        }
        #expect(await failure { try await task.value }?.code == .cancelled && throttle.waiting == 0)
    }

    @Test func `a reset fails all waiting loads`() async throws {
        let throttle = Throttle(limit: 1)
        let tasks = await start((1...3).map { request("/\($0)") }, throttle)
        await (throttle --> gate).reset()
        for task in tasks[1...] {
            #expect(await failure { try await task.value.get() }?.code == .cancelled)
        }
        await gate.waitForRunning(1)
        gate.open()
        _ = try await tasks[0].value.get()
        #expect(throttle.running == 0 && throttle.waiting == 0 && gate.started == ["/1"])
    }

    @Test func `the queue can be limited`() async throws {
        let throttle = Throttle(limit: 1, queueLimit: 1)
        let tasks = await start([request("/1"), request("/2")], throttle)
        let error = await #expect(throws: HTTPError.self) { try await (throttle --> gate).load(request("/3")) }
        #expect(error?.code == .queueFull && error?.mayHaveBeenSent == false)
        tasks[1].cancel()
        _ = await tasks[1].value
        let third = await start([request("/3")], throttle)
        await gate.waitForRunning(1)
        gate.open()
        await gate.waitForStarted(2)
        gate.open()
        #expect(try await third[0].value.get().status == .ok)
    }

    @Test func `a limit that becomes negative fails all waiting loads`() async throws {
        let throttle = Throttle(limit: 0)
        let tasks = await start([request("/1")], throttle)
        throttle.limit = -1
        #expect(await failure { try await tasks[0].value.get() }?.code == .invalidRequest)
    }

    @Test func `hosts are counted separately, and then removed`() async throws {
        let throttle = Throttle(limit: 1, per: .host)
        let other = request("/other").with { $0.host = "b.test" }
        let tasks = await start([request("/1"), request("/2"), other], throttle)
        await gate.waitForRunning(2)
        #expect(throttle.waiting == 1)
        gate.open()
        await gate.waitForStarted(3)
        gate.open()
        for task in tasks { _ = try await task.value.get() }
        #expect(gate.started.sorted() == ["/1", "/2", "/other"] && gate.started.last == "/2")
    }

    @Test func `keys are counted separately, and one that throws is an error`() async throws {
        struct NoKey: Error {}
        let throttle = Throttle(
            limit: 1,
            per: .key { request in
                if request.path == "/bad" { throw NoKey() }
                return request.path.string
            })
        let tasks = await start([request("/1"), request("/2")], throttle)
        await gate.waitForRunning(2)
        let error = await #expect(throws: HTTPError.self) { try await (throttle --> gate).load(request("/bad")) }
        #expect(error?.code == .invalidRequest && error?.underlying is NoKey && error?.message.contains("key") == true)
        gate.open()
        for task in tasks { _ = try await task.value.get() }
    }

    @Test func `a load waits until its deadline`() async throws {
        let throttle = Throttle(limit: 0, clock: clock)
        let chain = Deadline(.seconds(5), clock: clock) --> throttle --> gate
        let task = Task { try await chain.load(request("/")) }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(
            error?.code == .timedOut && error?.message == "the deadline passed while waiting for a slot of the Throttle"
        )
        #expect(error?.mayHaveBeenSent == false && throttle.waiting == 0 && clock.sleepers == 0)
    }

    @Test func `a slot that is free before the deadline is used, and the timer is cancelled`() async throws {
        let throttle = Throttle(limit: 0, clock: clock)
        let chain = Deadline(.seconds(5), clock: clock) --> throttle --> gate
        let task = Task { try await chain.load(request("/")) }
        await clock.waitForSleepers(1)
        throttle.limit = 1
        await gate.waitForRunning(1)
        #expect(clock.sleepers == 0)
        gate.open()
        #expect(try await task.value.status == .ok)
    }

    @Test(arguments: [true, false])
    func `a streamed response holds its slot until it is read or dropped`(isRead: Bool) async throws {
        let throttle = Throttle(limit: 1)
        var response: HTTPResponse? = try await (throttle --> MockLoader.streaming(2)).load(request("/"))
        #expect(throttle.running == 1)
        if isRead { #expect(try await response?.body.data().count == 2) } else { response = nil }
        #expect(throttle.running == 0)
        _ = response
    }

    @Test func `a request from within a load does not deadlock if it opts out`() async throws {
        let throttle = Throttle(limit: 1)
        let inner = throttle --> MockLoader { .ok($0) }
        let outer = throttle --> MockLoader { _ in try await inner.load(request("/inner", .never)) }
        #expect(try await outer.load(request("/outer")).status == .ok)
    }
}
