// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// Retries that wait until the server's rate limit resets.
@Suite(.timeLimit(.minutes(1))) struct RetryRateLimitTests {
    private static let waiting = HTTPRetryStrategy.delayed(.seconds(7))

    private func run(
        _ status: Int, _ headers: HTTPHeaders, strategy: HTTPRetryStrategy = waiting.honoringRateLimits(),
        method: HTTPMethod = .get, longest: Duration = .seconds(120),
        _ configure: (inout HTTPRequest) -> Void = { _ in }
    ) async throws -> (sent: Int, waits: [Duration], attempts: [HTTPRequest.Attempt]) {
        let clock = TestClock(isAutomatic: true)
        let mock = MockLoader.answering(status, 200, headers: headers)
        let retry = Retry(
            Backoff(
                strategy, maximumRetries: 1, longestServerDelay: longest, clock: clock,
                now: { Date(timeIntervalSince1970: 1_700_000_000) }))
        let response = try await (retry --> mock).load(.plain(method, configure))
        return (mock.requests.count, clock.sleeps, response.attempts)
    }

    @Test(
        arguments: [429, 403],
        [
            (["RateLimit": "\"default\";r=0;t=30"], 30), (["RateLimit": "\"burst\";r=5;t=60, \"day\";r=0;t=90"], 90),
            (["RateLimit": "\"a\";r=0;t=20, \"b\";r=0;t=40"], 40),
            (["RateLimit": "limit=10, remaining=0, reset=31"], 31),
            (["RateLimit-Remaining": "0", "RateLimit-Reset": "32"], 32),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000033"], 33),
            (["X-Rate-Limit-Remaining": "0", "X-Rate-Limit-Reset": "1700000034000"], 34),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "33", "Retry-After": "9"], 9),
            (
                [
                    "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m2s",
                    "x-ratelimit-remaining-tokens": "9", "x-ratelimit-reset-tokens": "6m0s",
                ], 62
            ),
            (
                [
                    "anthropic-ratelimit-tokens-remaining": "0",
                    "anthropic-ratelimit-tokens-reset": "2023-11-14T22:13:55Z",
                ], 35
            ),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset-After": "36"], 36),
            (["RateLimit-Remaining": "0", "RateLimit-Reset": "Tue, 14 Nov 2023 22:13:57 GMT"], 37),
            (["X-RateLimit-Remaining": "0"], 7), (["Retry-After": "9"], 9),
            // A limit that has been reset is not waited for.
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1699999999"], 0),
        ] as [(HTTPHeaders, Int)])
    func `a limit that is used up is waited for, and Retry-After takes precedence`(
        status: Int, row: (headers: HTTPHeaders, seconds: Int)
    ) async throws {
        let (sent, waits, _) = try await run(status, row.headers)
        #expect(sent == 2 && waits == [row.seconds].filter { $0 > 0 }.map { .seconds($0) })
    }

    @Test(
        arguments: [
            ([:], 7), (["X-RateLimit-Remaining": "3", "X-RateLimit-Reset": "1700000033"], 7),
            (["RateLimit": "\"default\";r=3;t=30"], 7), (["RateLimit-Reset": "soon"], 7),
            (["RateLimit-Reset": "12"], 12),
        ] as [(HTTPHeaders, Int)])
    func `a 429 waits for a reset unless requests are left`(headers: HTTPHeaders, seconds: Int) async throws {
        #expect(try await run(429, headers).waits == [.seconds(seconds)])
    }

    @Test(
        arguments: [
            [:], ["X-RateLimit-Remaining": "3", "X-RateLimit-Reset": "1700000033"],
            ["X-RateLimit-Reset": "1700000033"], ["Retry-After": "soon"],
        ] as [HTTPHeaders])
    func `a 403 with requests left, or without a limit, is not retried`(headers: HTTPHeaders) async throws {
        #expect(try await run(403, headers).sent == 1)
    }

    @Test(arguments: [(404, 1), (503, 2)])
    func `other statuses don't wait for a reset`(status: Int, sent: Int) async throws {
        let result = try await run(status, ["RateLimit": "\"default\";r=0;t=30"])
        #expect(result.sent == sent && result.waits == (sent == 2 ? [.seconds(7)] : []))
    }

    @Test func `without the setting, a limit changes nothing`() async throws {
        let headers: HTTPHeaders = ["RateLimit": "\"default\";r=0;t=30"]
        #expect(try await run(403, headers, strategy: Self.waiting).sent == 1)
        #expect(try await run(429, headers, strategy: Self.waiting).waits == [.seconds(7)])
    }

    @Test(arguments: ["121", "1700000121", "99999999999999999999"])
    func `a reset after the longest wait prevents the retry, and the reason names it`(reset: String) async throws {
        let headers: HTTPHeaders = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "\(reset)"]
        let result = try await run(429, headers)
        #expect(result.sent == 1 && result.waits == [])
        #expect(result.attempts.last?.reason.contains("the server asks for a wait of") == true)
    }

    @Test func `the longest wait can be raised`() async throws {
        let headers: HTTPHeaders = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700003600"]
        #expect(try await run(403, headers, longest: .seconds(3_600)).waits == [.seconds(3_600)])
    }

    @Test func `a POST is retried only if refusals are`() async throws {
        let headers: HTTPHeaders = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000033"]
        #expect(try await run(403, headers, method: .post).sent == 1)
        let strategy = Self.waiting.honoringRateLimits().retryingRefusals()
        #expect(try await run(403, headers, strategy: strategy, method: .post).waits == [.seconds(33)])
        #expect(try await run(403, headers, strategy: Self.waiting.retryingRefusals(), method: .post).sent == 1)
    }

    @Test func `limits are honored in addition to a condition`() async throws {
        let strategy = Self.waiting.when(.statuses([502])).honoringRateLimits()
        #expect(try await run(403, ["RateLimit": "\"a\";r=0;t=3"], strategy: strategy).waits == [.seconds(3)])
        #expect(try await run(502, [:], strategy: strategy).sent == 2)
        #expect(try await run(503, [:], strategy: strategy).sent == 1)
    }

    @Test func `a status that counts as success is not a limit`() async throws {
        let result = try await run(403, ["RateLimit": "\"a\";r=0;t=3"]) { $0.acceptedStatuses = [403] }
        #expect(result.sent == 1)
    }
}
