// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadResilience
import LetterheadTesting
import Synchronization
import TestKit
import Testing

private func limited(_ path: RequestPath = "/", host: String = "a.test", _ throttling: Throttle.Settings = .always)
    -> HTTPRequest
{
    var request = HTTPRequest(host: host, path: path)
    request.throttling = throttling
    return request
}

@Suite(.timeLimit(.minutes(3))) struct LimitRateTests {
    private let clock = TestClock()

    /// Loads begun one after the other. Each is answered or waits when this returns.
    private func start(_ requests: [HTTPRequest], _ link: LimitRate, _ mock: MockLoader) async -> [Task<
        HTTPResponse, any Error
    >] {
        var tasks: [Task<HTTPResponse, any Error>] = []
        for request in requests {
            let before = link.waiting + mock.requests.count
            tasks.append(Task { [chain = Deadline(clock: clock) --> link --> mock] in try await chain.load(request) })
            await until { link.waiting + mock.requests.count > before }
        }
        return tasks
    }

    /// Lets time pass until the mock has received the numbers of requests, one after the other.
    private func pass(_ counts: ClosedRange<Int>, each time: Duration = .seconds(1), _ mock: MockLoader) async {
        for count in counts {
            await clock.waitForSleepers(1)
            clock.advance(by: time)
            await until { mock.requests.count == count }
        }
    }

    @Test func `the allowed number starts at once, and the others follow at the rate`() async throws {
        let link = LimitRate(2, per: .seconds(1), backoff: Backoff(clock: clock))
        let mock = MockLoader { .ok($0) }
        let tasks = await start((1...5).map { limited("/\($0)") }, link, mock)
        #expect(mock.requests.count == 2 && link.waiting == 3)
        await pass(3...5, each: .milliseconds(500), mock)
        for task in tasks { _ = try await task.value }
        #expect(mock.requests.map(\.path.string) == ["/1", "/2", "/3", "/4", "/5"])
        #expect(clock.sleeps == [.milliseconds(500), .milliseconds(500), .milliseconds(500)])
    }

    @Test func `hosts are limited separately, and a request can opt out`() async throws {
        let chain = LimitRate(1, per: .seconds(1), backoff: Backoff(clock: clock)) --> MockLoader { .ok($0) }
        for host in ["a.test", "b.test"] { _ = try await chain.load(limited(host: host)) }
        for _ in 0..<5 { _ = try await chain.load(limited("/", .never)) }
        #expect(clock.sleeps.isEmpty)
    }

    @Test func `the higher priority is sent first`() async throws {
        let link = LimitRate(1, per: .seconds(1), backoff: Backoff(clock: clock))
        let mock = MockLoader { .ok($0) }
        let tasks = await start(
            [limited("/1"), limited("/first"), limited("/low", .priority(-1)), limited("/high", .priority(1))], link,
            mock)
        await pass(2...4, mock)
        for task in tasks { _ = try await task.value }
        #expect(mock.requests.map(\.path.string) == ["/1", "/first", "/high", "/low"])
    }

    @Test(
        arguments: [
            (429, ["Retry-After": "30"]), (403, ["Retry-After": "30"]),
            (503, ["Retry-After": "Thu, 01 Jan 1970 00:16:40 GMT"]), (200, ["RateLimit": #""default";r=0;t=30"#]),
            (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "30"]),
        ] as [(Int, HTTPHeaders)]) func `all requests to a host wait if the server requests a pause`(
            status: Int, headers: HTTPHeaders
        ) async throws
    {
        let link = LimitRate(backoff: Backoff(clock: clock, now: { Date(timeIntervalSince1970: 970) }))
        let mock = MockLoader { .ok($0) }
            .then { HTTPResponse(request: $0, status: HTTPStatus(status), headers: headers) }
        for told in await start([limited("/told")], link, mock) { _ = try await told.value }
        _ = try await (link --> mock).load(limited("/other", host: "b.test"))
        let tasks = await start([limited("/1"), limited("/2"), limited("/3")], link, mock)
        #expect(link.waiting == 3)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(29))
        #expect(link.waiting == 3)
        clock.advance(by: .seconds(1))
        for task in tasks { _ = try await task.value }
        #expect(clock.sleeps == [.seconds(30)])
    }

    @Test func `requests in the queue wait for a pause, too`() async throws {
        let link = LimitRate(1, per: .seconds(1), backoff: Backoff(clock: clock))
        let held = HeldLoader()
        let mock = MockLoader { .ok($0) }.then { request in
            _ = try await held.load(request)
            return HTTPResponse(request: request, status: 429, headers: ["Retry-After": "60"])
        }
        let tasks = await start([limited("/1"), limited("/2"), limited("/3")], link, mock)
        await held.waitForRunning(1)
        held.open()
        _ = try await tasks[0].value
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        await until { clock.sleeps.count == 2 }
        #expect(clock.sleeps == [.seconds(1), .seconds(59)] && mock.requests.count == 1)
        clock.advance(by: .seconds(59))
        await until { clock.sleeps.count == 3 }
        clock.advance(by: .seconds(1))
        for task in tasks { _ = try await task.value }
    }

    @Test(arguments: [(30, 30), (90, 90), (3_600, 90)])
    func `the shorter limit of the link and of the retry above limits a pause`(longest: Int, pause: Int) async throws {
        let link = LimitRate(backoff: Backoff(longestServerDelay: .seconds(90), clock: clock))
        let mock = MockLoader { .ok($0) }
            .then { HTTPResponse(request: $0, status: 429, headers: ["Retry-After": "100"]) }
        let retry = Retry(Backoff(longestServerDelay: .seconds(longest)))
        _ = try await (retry --> link --> mock).load(limited())
        let tasks = await start([limited()], link, mock)
        await clock.waitForSleepers(1)
        #expect(clock.sleeps == [.seconds(pause)])
        clock.advance(by: .seconds(pause))
        _ = try await tasks[0].value
    }

    @Test func `a wait that would pass the deadline fails at once`() async throws {
        let link = LimitRate(1, per: .seconds(10), backoff: Backoff(clock: clock))
        let chain = Deadline(.seconds(9), clock: clock) --> link --> MockLoader { .ok($0) }
        _ = try await chain.load(limited())
        let error = await #expect(throws: HTTPError.self) { try await chain.load(limited()) }
        #expect(error?.code == .timedOut && error?.message == "the deadline passed while waiting for the rate limit")
        #expect(error?.mayHaveBeenSent == false && clock.sleeps.isEmpty && link.waiting == 0)
    }

    @Test(arguments: [false, true]) func `a pause fails at once the queued requests whose deadline it passes`(
        isFirst: Bool
    ) async throws {
        let link = LimitRate(1, per: .seconds(1), backoff: Backoff(clock: clock))
        let held = HeldLoader()
        let mock = MockLoader { .ok($0) }.then { request in
            _ = try await held.load(request)
            return HTTPResponse(request: request, status: 429, headers: ["Retry-After": "60"])
        }
        var hasty = limited("/hasty")
        hasty.deadline = .seconds(20)
        let tasks = await start([limited("/1"), isFirst ? hasty : limited("/2"), hasty], link, mock)
        await held.waitForRunning(1)
        await clock.waitForSleepers(2)
        held.open()
        for index in isFirst ? [1, 2] : [2] {
            let error = await #expect(throws: HTTPError.self) { try await tasks[index].value }
            #expect(error?.code == .timedOut && clock.now.offset == .zero)
        }
        tasks[1].cancel()
        await #expect(throws: HTTPError.self) { try await tasks[1].value }
    }

    @Test(arguments: [1, 2]) func `a cancelled request leaves the queue, and the others continue`(index: Int)
        async throws
    {
        let link = LimitRate(1, per: .seconds(1), backoff: Backoff(clock: clock))
        let mock = MockLoader { .ok($0) }
        let tasks = await start((0...3).map { limited("/\($0)") }, link, mock)
        await clock.waitForSleepers(1)
        tasks[index].cancel()
        let error = await #expect(throws: HTTPError.self) { try await tasks[index].value }
        #expect(error?.code == .cancelled && link.waiting == 2)
        await pass(2...3, mock)
        #expect(mock.requests.count == 3 && link.waiting == 0)
    }

    @Test func `a reset fails all waiting requests, and removes the reported limits`() async throws {
        let link = LimitRate(backoff: Backoff(clock: clock))
        let mock = MockLoader { .ok($0) }
            .then { HTTPResponse(request: $0, status: 429, headers: ["Retry-After": "60"]) }
        _ = try await (link --> mock).load(limited())
        let tasks = await start([limited("/1"), limited("/2")], link, mock)
        await clock.waitForSleepers(1)
        await (link --> mock).reset()
        for task in tasks {
            let error = await #expect(throws: HTTPError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }
        #expect(link.waiting == 0 && clock.sleepers == 0)
        #expect(try await (link --> mock).load(limited()).status == .ok)
    }

    @Test func `the queue can be limited`() async throws {
        let link = LimitRate(1, per: .seconds(1), queueLimit: 1, backoff: Backoff(clock: clock))
        let mock = MockLoader { .ok($0) }
        let tasks = await start([limited("/1"), limited("/2")], link, mock)
        let error = await #expect(throws: HTTPError.self) { try await (link --> mock).load(limited("/3")) }
        #expect(error?.code == .queueFull)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        for task in tasks { _ = try await task.value }
    }

    @Test(arguments: [
        LimitRate(0), LimitRate(-1), LimitRate(1, per: .zero), LimitRate(1, per: .seconds(-1)),
        LimitRate(1, per: .seconds(Int64.max)), LimitRate(queueLimit: -1),
        LimitRate(backoff: Backoff(longestServerDelay: .seconds(-1))), LimitRate { _ in 1 },
    ]) func `a setting out of its range is an error`(link: LimitRate) async throws {
        let error = await #expect(throws: HTTPError.self) { try await (link --> MockLoader()).load(limited()) }
        #expect(error?.code == .invalidRequest && error?.message.contains("LimitRate") == true)
    }
}
