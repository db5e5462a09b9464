// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadResilience
import LetterheadTesting
import TestKit
import Testing

private struct Lost: Error, CustomStringConvertible {
    let description = "the map is lost"
}

/// Each invalid setting is an error that names the setting, and does not end the process.
@Suite(.timeLimit(.minutes(3))) struct BadInputTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let link: any LoaderLink
        let says: String

        init(_ name: String, _ link: any LoaderLink, says: String) {
            (testDescription, self.link, self.says) = (name, link, says)
        }
    }

    static let cases: [Case] = [
        Case(
            "negative streams", Throttle(streams: -1), says: "streams, limit or queueLimit of the Throttle is negative"),
        Case(
            "a key of a rate that throws", LimitRate(by: .key { _ in throw Lost() }),
            says: "the closure that returns the key of the request threw Lost"),
        Case(
            "an endless hold", LimitRate(backoff: Backoff(longestServerDelay: .seconds(Int64.max))),
            says: "every duration at most one year"),
        Case("a deadline of zero", Deadline(.zero), says: "the deadline is zero or less"),
        Case("a negative deadline", Deadline(.seconds(Int64.min)), says: "the deadline is zero or less"),
        Case("a negative limit of a throttle", Throttle(limit: -1), says: "of the Throttle is negative"),
        Case("a negative queue", Throttle(limit: 0, queueLimit: -1), says: "of the Throttle is negative"),
        Case("a negative limit of redirects", FollowRedirects(.safely.limit(-1)), says: "limit is negative"),
        Case("a redirect without a host", custom { $0.host = nil }, says: "host"),
        Case("a redirect to an empty host", custom { $0.host = "" }, says: "host"),
        Case("a redirect to another scheme", custom { $0.scheme = "ftp" }, says: "scheme"),
    ]

    private static func custom(_ change: @escaping @Sendable (inout HTTPRequest) -> Void) -> FollowRedirects {
        FollowRedirects(.custom { proposal, _ in proposal.with(change) })
    }

    @Test(arguments: cases) func `an invalid setting fails each load, and the error names it`(_ bad: Case)
        async throws
    {
        let mock = MockLoader.redirecting(["https://a.test/1": (302, "/2")])
        for _ in 0..<2 {
            let request = try HTTPRequest.to("https://a.test/1")
            let error = await #expect(throws: HTTPError.self) { try await (bad.link --> mock).load(request) }
            #expect(error?.code == .invalidRequest && error?.message.contains(bad.says) == true)
            #expect(error?.description.contains(bad.says) == true && error?.request.id == request.id)
        }
        #expect(!mock.requests.contains { $0.path == "/2" })
    }

    static let extremes: [Case] = [
        Case("no limit", Throttle(limit: .max, queueLimit: .max), says: ""),
        Case("nobody may wait", Throttle(limit: 1, queueLimit: 0), says: ""),
        Case("almost no limit", LimitRate(.max - 1, per: .seconds(1)), says: ""),
        Case("no limit in a year", LimitRate(.max, per: .seconds(366 * 86_400)), says: ""),
        Case("one in a year", LimitRate(1, per: .seconds(366 * 86_400)), says: ""),
        Case(
            "as short as there is", LimitRate(.max - 1, per: Duration(secondsComponent: 0, attosecondsComponent: 1)),
            says: ""),
        Case("no hold", LimitRate(backoff: Backoff(longestServerDelay: .zero)), says: ""),
        Case("the most redirects", FollowRedirects(.safely.limit(.max)), says: ""),
    ]

    // One after another, because the cases of one link share what it counts.
    @Test(.serialized, arguments: extremes, [Int.min, 0, .max])
    func `a setting at the end of its range works`(_ extreme: Case, priority: Int) async throws {
        let request = try HTTPRequest.to("https://a.test/1").with { $0.throttling = .priority(priority) }
        let mock = MockLoader { request in
            HTTPResponse(
                request: request, status: 429,
                headers: [
                    "Retry-After": "99999999999999999999", "X-RateLimit-Remaining": "-1", "X-RateLimit-Reset": "1e400",
                    "RateLimit": "\"d\";r=9223372036854775808;t=1e999",
                ])
        }
        #expect(try await (extreme.link --> mock).load(request).status == 429)
        await extreme.link.reset(next: mock)
    }

    // MARK: Times that are longer than a clock can count, which a wait must neither trap on nor take for none

    static let endless: [Duration] = [.seconds(Int64.max), .seconds(Int64.max) * 2, .seconds(1 << 34)]

    @Test(arguments: endless) func `an endless deadline ends no wait`(deadline: Duration) async throws {
        let throttle = Throttle(limit: 0)
        let chain = Deadline() --> throttle --> MockLoader { .ok($0) }
        let request = HTTPRequest.plain { $0.deadline = deadline }
        let task = Task { try await chain.load(request) }
        await until { throttle.waiting == 1 }
        throttle.limit = 1
        #expect(try await task.value.status == .ok)
    }

    @Test(arguments: endless) func `an endless back-off can be cancelled`(delay: Duration) async throws {
        let log = AsyncStream<Void>.makeStream()
        let chain =
            Retry(validators: [], Backoff(maximumRetries: 1))
            --> MockLoader { throw HTTPError(.connectionLost, request: $0) }
        let request = HTTPRequest.plain {
            $0.retryStrategy = .delayed(delay)
            $0.onRetry = { _ in log.continuation.yield() }
        }
        let task = Task { try await chain.load(request) }
        for await _ in log.stream { break }
        task.cancel()
        #expect(await failure { try await task.value }?.code == .cancelled)
    }

    @Test(arguments: endless) func `an endless timeout is no limit`(timeout: Duration) async throws {
        let server = try await MockServer.start { _ in MockServer.Response() }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url)).timeout(timeout).deadline(
            in: timeout)
        #expect(try await client.send(TestEndpoint()).status == .ok)
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
