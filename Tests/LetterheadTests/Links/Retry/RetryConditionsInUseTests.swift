// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// What a condition of a request's strategy opens, and what it does not.
@Suite(.timeLimit(.minutes(3))) struct RetryConditionsInUseTests {
    private static let closure = Retry.Condition { _ in true }

    private func sent(
        _ status: Int, when condition: Retry.Condition, validators: [any HTTPValidator] = [DefaultValidator()],
        _ configure: (inout HTTPRequest) -> Void = { _ in }
    ) async -> Int {
        let scene = RetryScene(.answering(status), validators: validators)
        _ = await scene.load {
            $0.retryStrategy = .immediate.when(condition)
            $0.maximumRetries = 3
            configure(&$0)
        }
        return scene.sent
    }

    @Test func `a closure narrows the standard condition, with and without the default validator`() async {
        let twice = Retry.Condition { Retry.Condition.standard.holds(in: $0) && $0.retry < 3 }
        for validators in [[DefaultValidator()], []] {
            #expect(await sent(200, when: twice, validators: validators) == 1)
            #expect(await sent(404, when: twice, validators: validators) == 1)
            #expect(await sent(503, when: twice, validators: validators) == 3)
            #expect(await sent(0, when: twice, validators: validators) == 3)
        }
    }

    @Test(arguments: [
        ("closure", Retry.Condition { _ in true }), ("status or closure", .statuses([418]) || closure),
    ]) func `a success is not retried unless a status names it`(name: String, condition: Retry.Condition) async {
        #expect(await sent(200, when: condition) == 1)
        #expect(await sent(404, when: condition) == 4)
        #expect(await sent(404, when: condition) { $0.acceptedStatuses = [200, 404] } == 1)
        #expect(await sent(200, when: condition || .statuses([200])) == 4)
    }

    @Test func `a success that a status names is retried`() async {
        #expect(await sent(202, when: .statuses([202])) == 4)
        #expect(await sent(200, when: .statuses([202])) == 1)
        #expect(await sent(503, when: .standard) { $0.acceptedStatuses = [503] } == 4)
    }

    @Test func `a condition decides about what the default validator suggests`() async {
        let custom = DefaultValidator(retriableStatuses: [404: .immediate])
        #expect(await sent(404, when: .standard, validators: [custom]) == 1)
        #expect(await sent(404, when: .statuses([404]), validators: [custom]) == 4)
        #expect(await sent(408, when: .standard) == 2)
    }

    @Test func `the last condition of a strategy counts`() async {
        let scene = RetryScene(.answering(404))
        _ = await scene.load {
            $0.retryStrategy = .immediate.when(.statuses([503])).when(.statuses([404])); $0.maximumRetries = 2
        }
        #expect(scene.sent == 3)
    }

    @Test func `only its own condition applies to the strategy of a validator`() async {
        let ask = ClosureValidator(response: { _, _ in .retry(.immediate.when(Retry.Condition { $0.retry < 3 })) })
        let scene = RetryScene(.answering(200), validators: [ask], maximumRetries: 9)
        #expect(await scene.load().code == .retriesExhausted)
        #expect(scene.sent == 3)
    }
}

/// The strategy of the settings.
@Suite(.timeLimit(.minutes(3))) struct RetrySettingsStrategyTests {
    private func run(
        _ statuses: Int..., strategy: HTTPRetryStrategy?, maximum: Int = 3,
        validators: [any HTTPValidator] = [DefaultValidator()],
        _ configure: (inout HTTPRequest) -> Void = { _ in }
    ) async throws -> [Duration] {
        let clock = TestClock(isAutomatic: true)
        let number = Tally()
        let mock = MockLoader {
            HTTPResponse(request: $0, status: HTTPStatus(statuses[min(number.next(), statuses.count) - 1]))
        }
        let settings = Backoff(strategy, maximumRetries: maximum, clock: clock, random: { 1 })
        _ = try await (Retry(validators: validators, settings) --> mock).load(.plain(.get, configure))
        return clock.sleeps
    }

    @Test func `the strategy of the settings sets the waits of requests that have none`() async throws {
        #expect(try await run(503, 503, 200, strategy: .delayed(.seconds(7))) == [.seconds(7), .seconds(7)])
        #expect(try await run(429, 200, strategy: .delayed(.seconds(7)), validators: []) == [.seconds(7)])
        #expect(try await run(503, 200, strategy: nil) == [.seconds(1)])
    }

    @Test func `the strategy of the settings may select other outcomes`() async throws {
        let strategy = HTTPRetryStrategy.delayed(.seconds(7)).when(.statuses([404]))
        #expect(try await run(404, 503, strategy: strategy) == [.seconds(7)])
    }

    @Test func `a request's own strategy replaces that of the settings`() async throws {
        let waits = try await run(503, 200, strategy: .delayed(.seconds(7))) {
            $0.retryStrategy = .delayed(.seconds(2))
        }
        #expect(waits == [.seconds(2)])
    }

    @Test func `a validator's own strategy takes precedence over that of the settings`() async throws {
        let ask = ClosureValidator(response: { response, _ in
            response.status == 503 ? .retry(.delayed(.seconds(5))) : .nextValidator
        })
        #expect(try await run(503, 200, strategy: .delayed(.seconds(7)), validators: [ask]) == [.seconds(5)])
    }

    @Test func `a strategy alone retries nothing while the maximum is zero`() async throws {
        #expect(try await run(503, strategy: .delayed(.seconds(7)), maximum: 0) == [])
    }
}
