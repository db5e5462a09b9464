// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// Times that are longer than a clock can count, which a wait must neither trap on nor take for none.
@Suite(.timeLimit(.minutes(3))) struct EndlessTimeTests {
    static let endless: [Duration] = [.seconds(Int64.max), .seconds(Int64.max) * 2, .seconds(1 << 34)]

    @Test(arguments: endless) func `an endless deadline ends no wait`(deadline: Duration) async throws {
        let throttle = Throttle(limit: 0)
        let chain = Deadline() --> throttle --> MockLoader { .ok($0) }
        var request = try HTTPRequest.to("https://a.test")
        request.deadline = deadline
        let sent = request
        let task = Task { try await chain.load(sent) }
        await until { throttle.waiting == 1 }
        throttle.limit = 1
        #expect(try await task.value.status == .ok)
    }

    @Test(arguments: endless) func `an endless back-off can be cancelled`(delay: Duration) async throws {
        let log = AsyncStream<Void>.makeStream()
        let chain =
            Retry(validators: [], Backoff(maximumRetries: 1))
            --> MockLoader { throw HTTPError(.connectionLost, request: $0) }
        var request = try HTTPRequest.to("https://a.test")
        request.retryStrategy = .delayed(delay)
        request.onRetry = { _ in log.continuation.yield() }
        let sent = request
        let task = Task { try await chain.load(sent) }
        for await _ in log.stream { break }
        task.cancel()
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    @Test(arguments: endless) func `an endless timeout is no limit`(timeout: Duration) async throws {
        let server = try await MockServer.start { _ in MockServer.Response() }
        var request = HTTPRequest(url: server.url)
        request.timeout = timeout
        request.deadline = timeout
        let client = HTTPClient(transport: HTTPClient.makeTransport(TransportConfiguration()))
        #expect(try await client.send(request).status == .ok)
        await server.stop()
    }

    @Test(arguments: endless) func `a long sleep is split into shorter ones`(duration: Duration) async throws {
        let clock = TestClock()
        let task = Task { try await clock.pause(for: duration) }
        await clock.waitForSleepers(1)
        let longest = Duration.seconds(1 << 30)
        clock.advance(by: longest)
        await clock.waitForSleepers(1)
        #expect(clock.sleeps == [longest, longest])
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
