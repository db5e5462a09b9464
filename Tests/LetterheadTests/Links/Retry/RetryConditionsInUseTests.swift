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
