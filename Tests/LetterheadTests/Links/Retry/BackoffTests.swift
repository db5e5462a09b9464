// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite struct BackoffTests {
    private static let now = Date(timeIntervalSince1970: 784_111_777)

    private func failure(_ status: HTTPStatus, _ headers: HTTPHeaders = [:]) -> HTTPError {
        let response = HTTPResponse(request: .plain(), status: status, headers: headers)
        return HTTPError(.unacceptableStatus, request: .plain(), response: response)
    }

    private static let limited: HTTPHeaders = ["RateLimit": #""a";r=0;t=40"#]

    @Test(
        arguments: [
            (Backoff(), 1, nil, [:], 1), (Backoff(), 3, nil, [:], 4), (Backoff(maximumRetries: 2), 2, nil, [:], 2),
            (Backoff(maximumRetries: 2), 3, nil, [:], nil), (Backoff(.delays([.seconds(5)])), 2, nil, [:], nil),
            (Backoff(.delayed(.seconds(5))), 1, nil, ["Retry-After": "3"], 5),
            (Backoff(.delayed(.seconds(5))), 1, nil, ["Retry-After": "30"], 30),
            (Backoff(.delayed(.seconds(5))), 1, nil, ["Retry-After": "900"], 120),
            (Backoff(.immediate, longestServerDelay: .zero), 1, nil, ["Retry-After": "900"], 0),
            (Backoff(.immediate), 1, nil, ["Retry-After": "Sun, 06 Nov 1994 08:49:47 GMT"], 10),
            (Backoff(.immediate), 1, nil, limited, 0), (Backoff(.immediate.honoringRateLimits()), 1, nil, limited, 40),
            (Backoff(.delayed(.seconds(5))), 1, 3, [:], 3), (Backoff(.delayed(.seconds(5))), 2, 3, [:], 8),
            (Backoff(.immediate), 1, 900, [:], 120), (Backoff(maximumRetries: 0), 1, 3, [:], nil),
        ] as [(Backoff, Int, Int?, HTTPHeaders, Int?)])
    func `a wait is the strategy's, after the first wait of the server, or a longer server delay`(
        backoff: Backoff, retry: Int, first: Int?, headers: HTTPHeaders, seconds: Int?
    ) {
        var backoff = backoff
        (backoff.now, backoff.random) = ({ Self.now }, { 1 })
        let wait = backoff.wait(before: retry, after: failure(429, headers), from: first.map { .seconds($0) })
        #expect(wait == seconds.map { .seconds($0) })
    }

    @Test(
        arguments: [
            (Backoff(), 1), (Backoff(maximumRetries: 2), 3), (.exponential, 4), (Backoff(.immediate), 4),
            (Backoff(.immediate, maximumRetries: 0), 1),
        ] as [(Backoff, Int)])
    func `a client with a strategy retries three times, unless it sets a number`(backoff: Backoff, sent: Int) async {
        let mock = MockLoader.answering(503)
        var backoff = backoff
        backoff.clock = TestClock(isAutomatic: true)
        _ = try? await HTTPClient(retrying: backoff, transport: mock).send(.plain())
        #expect(mock.requests.count == sent)
    }

    @Test(
        arguments: [
            (Backoff(maximumRetries: -1), "maximumRetries is negative"),
            (Backoff(longestServerDelay: .seconds(-1)), "longestServerDelay is negative"),
        ]) func `a negative limit is an error before anything is sent`(backoff: Backoff, rule: String) async
    {
        let mock = MockLoader.answering(200)
        let error = await #expect(throws: HTTPError.self) { try await (Retry(backoff) --> mock).load(.plain()) }
        #expect(error?.code == .invalidRequest && error?.message.hasPrefix(rule) == true && mock.requests.isEmpty)
        #expect(backoff.brokenRule == error?.message)
    }

    @Test func `only retries accept a strategy that runs a task`() {
        #expect(Backoff(.afterTask { _ in }).brokenRule?.contains("only for retries") == true)
        #expect(Backoff.exponential.brokenRule == nil)
    }

    @Test func `a failure is temporary by its status or its code, and an incomplete body while it is read`() {
        #expect(failure(503).isTemporary() && !failure(404).isTemporary() && failure(404).isTemporary(statuses: [404]))
        for code in [HTTPError.Code.connectionLost, .timedOut, .cannotConnect, .invalidResponse, .cancelled] {
            let error = HTTPError(code, request: .plain())
            let isLost = Retry.Condition.standardFailures.contains(code)
            #expect(error.isTemporary() == isLost)
            #expect(error.isTemporary(whileReading: true) == (isLost || code == .invalidResponse))
        }
    }

    @Test func `a pause that would pass the deadline fails at once`() async throws {
        let clock = TestClock(isAutomatic: true)
        let chain =
            Deadline(.seconds(10), clock: clock)
            --> AnyLoader { request in
                #expect(request.hasTime(for: .seconds(9)) && !request.hasTime(for: .seconds(10)))
                try await Backoff(clock: clock).pause(request, for: .seconds(9))
                try await Backoff(clock: clock).pause(request, for: .seconds(1))
                return HTTPResponse(request: request, status: 200)
            }
        let error = await #expect(throws: HTTPError.self) { try await chain.load(.plain()) }
        #expect(error?.code == .timedOut && clock.sleeps == [.seconds(9)])
    }
}
