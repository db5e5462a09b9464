// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

@Suite(.timeLimit(.minutes(3))) struct LimitLoadsTests {
    private let clock = TestClock()
    private let mock: MockLoader
    private let link: LimitLoads

    init() {
        link = LimitLoads(limit: 1, clock: clock)
        mock = MockLoader { [clock] request in
            try await clock.sleep(for: .seconds(1))
            return .ok(request)
        }
    }

    /// Starts a load, and returns when it runs or waits.
    private func start(_ path: RequestPath, _ throttling: Throttle.Settings = .always) async -> Task<
        HTTPResponse, any Error
    > {
        var request = HTTPRequest.plain(path)
        request.throttling = throttling
        let (waiting, started) = (link.waiting, mock.requests.count)
        let task = Task { [request, chain = link --> mock] in try await chain.load(request) }
        await until { [link, mock] in link.waiting > waiting || mock.requests.count > started }
        return task
    }

    @Test func `waiting requests run by priority, and by arrival within a priority`() async throws {
        var tasks = [await start("/first")]
        for (path, priority) in [("/low", -1), ("/a", 0), ("/high", 9), ("/b", 0)] as [(RequestPath, Int)] {
            tasks.append(await start(path, .priority(priority)))
        }
        for count in 1...tasks.count {
            await until { [mock] in mock.requests.count == count }
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
        }
        for task in tasks { _ = try await task.value }
        #expect(mock.requests.map(\.path.string) == ["/first", "/high", "/a", "/b", "/low"])
        #expect(link.running == 0 && link.waiting == 0)
    }

    @Test func `a request leaves the queue at its deadline`() async throws {
        let first = await start("/first")
        let chain = Deadline(.milliseconds(500), clock: clock) --> link --> mock
        let late = Task { try await chain.load(.plain("/late")) }
        await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(500))
        let error = await failure { try await late.value }
        #expect(error?.code == .timedOut && error?.mayHaveBeenSent == false)
        clock.advance(by: .milliseconds(500))
        _ = try await first.value
        #expect(mock.requests.count == 1)
    }

    @Test func `a stream occupies its slot until it has been read or dropped`() async throws {
        let chain = link --> StreamEach() --> MockLoader { .ok($0) }
        let response = try await chain.load(.plain())
        #expect(link.running == 1)
        _ = try await response.body.data()
        #expect(link.running == 0)
        do { _ = try await chain.load(.plain()) }
        #expect(link.running == 0)
    }
}
