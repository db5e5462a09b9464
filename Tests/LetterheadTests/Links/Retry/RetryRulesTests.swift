// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import Testing

@testable import Letterhead

/// The decision about a retry, as a function of the facts of an attempt.
@Suite struct RetryRulesTests {
    /// The facts of one row: the attempt, what a validator and the request ask for, and the limits.
    struct Facts: Sendable, CustomTestStringConvertible {
        var method = HTTPMethod.get
        /// 0 is a failure without a response.
        var status: HTTPStatus = 503
        var code = HTTPError.Code.connectionLost
        var wasSent = true
        var headers: HTTPHeaders = [:]
        var asked: HTTPRetryStrategy?
        var strategy: HTTPRetryStrategy?
        var standard: HTTPRetryStrategy?
        var retry = 1
        var maximum = 3
        var isNested = false
        var alternates = 0
        var timeLeft: Duration?
        var hasOneShotBody = false
        var isMarked = false
        var isDrawn = 1.0

        var testDescription: String { "\(method) \(status)" }
    }

    private static var limitedAlternate: HTTPRetryStrategy {
        var strategy = HTTPRetryStrategy.afterTask(task: { _ in })
        strategy.maximumAlternates = 1
        return strategy
    }
    private static let once = HTTPRetryStrategy.delays([.seconds(2)])

    private func decision(_ facts: Facts) -> RetryRules.Decision {
        let request = HTTPRequest.plain(facts.method) { request in
            request.retryStrategy = facts.strategy
            if facts.isNested { request.attemptNumber = 1 }
            if facts.hasOneShotBody { request.body = StreamBody(once: AsyncStream<Data> { $0.finish() }) }
            if facts.isMarked { request.markIdempotent(key: "k") }
            if let left = facts.timeLeft {
                request.context.deadline = DeadlinePoint(in: left, on: Timeline(TestClock()))
            }
        }
        let result: Result<HTTPResponse, HTTPError> =
            facts.status.code == 0
            ? .failure(HTTPError(facts.code, request: request, mayHaveBeenSent: facts.wasSent))
            : .success(HTTPResponse(request: request, status: facts.status, headers: facts.headers))
        let rules = RetryRules(
            backoff: Backoff(facts.standard, random: { facts.isDrawn }),
            maximumRetries: facts.maximum, alternates: facts.alternates)
        return rules.decision(
            asked: facts.asked, in: Retry.Context(request: request, result: result, retry: facts.retry))
    }

    /// The decision as text: the wait and the reason, or how the load ends and why.
    private func text(_ facts: Facts) -> String {
        switch decision(facts) {
        case .retry(_, let delay, let reason): "retry after \(delay): \(reason)"
        case .pass(let refusal): "pass: \(refusal.map { "\($0)" } ?? "no retry applies")"
        case .refuse(let refusal): "refuse: \(refusal.map { "\($0)" } ?? "no retry applies")"
        case .fail: "fail"
        }
    }

    @Test(
        arguments: [
            (Facts(strategy: .delayed(.seconds(2))), Duration.seconds(2)),
            (Facts(standard: .delayed(.seconds(3))), .seconds(3)),
            (Facts(strategy: .delayed(.seconds(2)), standard: .delayed(.seconds(3))), .seconds(2)),
            (
                Facts(asked: .delayed(.seconds(1)), strategy: .delayed(.seconds(2)), standard: .delayed(.seconds(3))),
                .seconds(1)
            ),
            (Facts(asked: .delayed(.seconds(1)).asFallback(), standard: .delayed(.seconds(3))), .seconds(3)),
            (Facts(status: 404, standard: .immediate.when(.statuses([404]))), .zero),
            (Facts(asked: .delayed(.seconds(1)).asFallback(), strategy: .delayed(.seconds(2))), .seconds(2)),
            (Facts(asked: .delayed(.seconds(1)).asFallback()), .seconds(1)),
            (Facts(headers: ["Retry-After": "7"], strategy: .delayed(.seconds(2))), .seconds(7)),
            (Facts(headers: ["Retry-After": "7"], asked: .delayed(.seconds(1))), .seconds(1)),
            (Facts(headers: ["Retry-After": "7"], asked: .delayed(.seconds(1)).asFallback()), .seconds(7)),
            (Facts(strategy: .exponential(base: .seconds(4)), retry: 2, isDrawn: 0.5), .seconds(4)),
            (Facts(status: 200, asked: .immediate), .zero),
            (Facts(status: 404, headers: ["X-Should-Retry": "true"], strategy: .immediate), .zero),
            (Facts(status: 0, strategy: .immediate), .zero),
            (Facts(method: .post, status: 0, wasSent: false, strategy: .immediate), .zero),
            (Facts(method: .post, strategy: .immediate, isMarked: true), .zero),
            (Facts(method: .post, status: 429, strategy: .immediate.retryingRefusals()), .zero),
            (Facts(method: .post, status: 401, asked: .afterTask(task: { _ in })), .zero),
            (Facts(strategy: .delayed(.seconds(2)), timeLeft: .seconds(3)), .seconds(2)),
        ] as [(Facts, Duration)])
    func `a retry has the wait of the first strategy that applies, or that of the server`(
        facts: Facts, wait: Duration
    ) {
        guard case .retry(_, let delay, _) = decision(facts) else {
            Issue.record("\(text(facts))")
            return
        }
        #expect(delay == wait)
    }

    @Test(
        arguments: [
            (Facts(), "no retry applies"), (Facts(status: 404, strategy: .immediate), "no retry applies"),
            (Facts(status: 200, strategy: .immediate), "no retry applies"),
            (Facts(status: 0, code: .invalidRequest, strategy: .immediate), "no retry applies"),
            (Facts(headers: ["X-Should-Retry": "false"], strategy: .immediate), "no retry applies"),
            (Facts(strategy: .immediate.when(.statuses([500]))), "no retry applies"),
            (Facts(standard: .immediate.when(.statuses([404]))), "no retry applies"),
            (Facts(strategy: .immediate, isNested: true), "a Retry above it"),
            (Facts(strategy: .immediate, maximum: 0), "maximumRetries is 0"),
            (Facts(strategy: .immediate, retry: 2, maximum: 1), "the one allowed retry"),
            (Facts(strategy: .immediate, retry: 4), "all 3 allowed retries"),
            (Facts(method: .put, strategy: .immediate, hasOneShotBody: true), "the body can be sent only once"),
            (Facts(method: .post, strategy: .immediate), "not idempotent"),
            (Facts(method: .post, status: 0, strategy: .immediate), "not idempotent"),
            (Facts(strategy: once, retry: 2), "the strategy allows no further retry"),
            (Facts(strategy: limitedAlternate, alternates: 1), "alternate requests"),
            (Facts(headers: ["Retry-After": "121"], strategy: .immediate), "longestServerDelay is 120 s"),
            (Facts(strategy: .delayed(.seconds(2)), timeLeft: .seconds(2)), "pass the deadline"),
        ] as [(Facts, String)])
    func `without a retry, the reason is known`(facts: Facts, reason: String) {
        #expect(text(facts).hasPrefix("pass: ") && text(facts).contains(reason), "\(text(facts))")
    }

    @Test func `a strategy that a validator requires ends the load if it is refused, and a suggestion does not`() {
        #expect(text(Facts(asked: .immediate, maximum: 0)).hasPrefix("refuse: not retried: maximumRetries is 0"))
        #expect(text(Facts(asked: .immediate.when(.statuses([404])))) == "refuse: no retry applies")
        #expect(text(Facts(asked: .immediate.asFallback(), maximum: 0)).hasPrefix("pass: "))
    }

    @Test func `the reason of a retry names the strategy, or the server`() {
        #expect(text(Facts(strategy: .delayed(.seconds(2)))) == "retry after 2.0 seconds: delayed by 2 s")
        let waiting = Facts(headers: ["Retry-After": "1"], strategy: .immediate)
        #expect(text(waiting) == "retry after 1.0 seconds: the server requires a wait")
    }
}
