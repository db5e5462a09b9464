// SPDX-License-Identifier: MIT
import LetterheadTesting
import TestKit
import Testing

@testable import Letterhead

@Suite(.timeLimit(.minutes(3))) struct RetryBudgetTests {
    private let plain = HTTPRequest()

    private func load(_ scene: RetryScene, host: String = "a.test") async -> Result<HTTPResponse, HTTPError> {
        await scene.load {
            $0.host = host
            $0.retryStrategy = .immediate
            $0.maximumRetries = 3
        }
    }

    @Test func `a retry costs tokens of a quota, and twice as many after a timeout`() {
        let accounts = Retry.Budget.Accounts(.standard)
        #expect(
            accounts.takeRetry(for: plain, to: nil, afterTimeout: false) == 5 && accounts.tokensLeft(for: nil) == 495)
        #expect(
            accounts.takeRetry(for: plain, to: nil, afterTimeout: true) == 10 && accounts.tokensLeft(for: nil) == 485)
        accounts.succeed(for: plain, to: nil, cost: 10)
        #expect(accounts.tokensLeft(for: nil) == 495)
        accounts.succeed(for: plain, to: nil, cost: nil)
        #expect(accounts.tokensLeft(for: nil) == 496)
        accounts.succeed(for: plain, to: nil, cost: 10)
        #expect(accounts.tokensLeft(for: nil) == 500)
    }

    @Test func `a quota without enough tokens does not change`() {
        let accounts = Retry.Budget.Accounts(.quota(capacity: 9))
        #expect(
            accounts.takeRetry(for: plain, to: nil, afterTimeout: true) == nil && accounts.tokensLeft(for: nil) == 9)
        #expect(accounts.takeRetry(for: plain, to: nil, afterTimeout: false) == 5)
        #expect(accounts.takeRetry(for: plain, to: nil, afterTimeout: false) == nil)
    }

    @Test func `a ratio stops retries at half of its tokens, and successes refill it`() {
        let accounts = Retry.Budget.Accounts(.ratio(capacity: 10, perSuccess: 0.5))
        let granted = (1...8).map { _ in accounts.takeRetry(for: plain, to: nil, afterTimeout: false) != nil }
        #expect(granted == [true, true, true, true, false, false, false, false] && accounts.tokensLeft(for: nil) == 2)
        for _ in 1...9 { accounts.succeed(for: plain, to: nil, cost: nil) }
        #expect(accounts.tokensLeft(for: nil) == 6.5)
        #expect(accounts.takeRetry(for: plain, to: nil, afterTimeout: false) != nil)
    }

    @Test func `a failure that is not retried is no success`() async {
        let scene = RetryScene(.answering(503, 503, 500, 503), validators: [], budget: .quota(capacity: 5))
        #expect(await load(scene).attempts.count == 2)
        _ = await scene.load()
        #expect(await load(scene).attempts.count == 1)
    }

    @Test func `a failure without a retry left counts for a ratio, and costs no tokens of a quota`() async {
        let ratio = RetryScene(.answering(503), budget: .ratio(capacity: 10, perSuccess: 0.5))
        // Each attempt takes one: 9, 8, 7, 6 in the first load, and half is left after the first attempt of the second.
        _ = await (load(ratio), load(ratio))
        #expect(ratio.sent == 5)
        for (budget, sent) in [(Retry.Budget.ratio(capacity: 4, perSuccess: 1), 1), (.quota(capacity: 5), 2)] {
            let scene = RetryScene(.answering(503), budget: budget)
            for _ in 1...3 { _ = await scene.load { $0.maximumRetries = 0 } }
            _ = await load(scene)
            #expect(scene.sent == 3 + sent)
        }
    }

    @Test(arguments: [
        Retry.Budget.quota(capacity: -5, cost: 1), .quota(capacity: 0), .ratio(capacity: -1, perSuccess: .nan),
    ])
    func `invalid numbers allow no retry`(budget: Retry.Budget) {
        let accounts = Retry.Budget.Accounts(budget)
        #expect(accounts.takeRetry(for: plain, to: nil, afterTimeout: false) == nil)
        accounts.succeed(for: plain, to: nil, cost: nil)
        #expect(accounts.tokensLeft(for: nil) == 0)
    }

    @Test(arguments: [1, 50, 1_000])
    func `the attempts at a failing server are bounded by the calls and the budget`(calls: Int) async {
        let scene = RetryScene(.answering(503))
        for _ in 0..<calls { #expect(await load(scene).status == 503) }
        #expect(scene.sent <= calls + 100 && scene.sent == calls + min(calls * 3, 100))
    }

    @Test func `an empty budget sends first attempts, at once, and the reason names the budget`() async {
        let scene = RetryScene(.answering(503), budget: .quota(capacity: 0))
        let result = await load(scene)
        #expect(scene.sent == 1 && result.attempts.last?.reason.contains("budget") == true)
    }

    @Test func `a failure takes one token, however many validators ask for a retry`() async throws {
        let retry = Retry(
            validators: [DefaultValidator(), DefaultValidator(), DefaultValidator()],
            Backoff(maximumRetries: 3, clock: TestClock(isAutomatic: true)),
            budget: .ratio(capacity: 4, perSuccess: 1))
        let response = try await (retry --> MockLoader.answering(503)).load(.plain())
        // Half of the tokens are left after the second attempt, so that a third is not sent.
        #expect(response.attempts.count == 2 && retry.budgets.tokensLeft(for: response.request.origin) == 2)
    }

    @Test func `each host has a separate budget`() async {
        let scene = RetryScene(.answering(503), budget: .quota(capacity: 5))
        _ = await (load(scene, host: "a.test"), load(scene, host: "b.test"), load(scene, host: "a.test"))
        #expect(scene.sent == 5)
    }

    @Test func `successes refill the budget`() async {
        let scene = RetryScene(.answering(503, 200, 503, 200, 503, 200), budget: .quota(capacity: 5))
        for _ in 1...3 { #expect(await load(scene).status == 200) }
        #expect(scene.sent == 6)
    }

    @Test func `a reset refills the budget`() async {
        let scene = RetryScene(.answering(503), budget: .quota(capacity: 5))
        _ = await load(scene)
        await scene.chain.reset()
        _ = await load(scene)
        #expect(scene.sent == 4)
    }

    @Test func `a load of an ended generation changes no tokens`() {
        let (ratio, quota) = (
            Retry.Budget.Accounts(.ratio(capacity: 10, perSuccess: 1)), Retry.Budget.Accounts(.standard)
        )
        let identity = ClientIdentity()
        var ended = plain
        ended.context.generation = identity.generation
        identity.endGeneration()
        for accounts in [ratio, quota] {
            _ = accounts.takeRetry(for: ended, to: nil, afterTimeout: false)
            accounts.fail(for: ended, at: nil)
            #expect(accounts.count == 0)
        }
        ratio.fail(for: plain, at: nil)
        ratio.succeed(for: ended, to: nil, cost: nil)
        #expect(ratio.tokensLeft(for: nil) == 9)
    }

    @Test func `no more than a thousand hosts are kept`() {
        let accounts = Retry.Budget.Accounts(.standard)
        for number in 0..<3_000 {
            _ = accounts.takeRetry(for: plain, to: HTTPOrigin(scheme: "http", host: "h\(number)"), afterTimeout: false)
        }
        #expect(accounts.count == 1_000)
    }

    @Test func `a host with a full budget is not stored`() {
        let accounts = Retry.Budget.Accounts(.quota(capacity: 5))
        let host = HTTPOrigin(scheme: "http", host: "h")
        #expect(accounts.takeRetry(for: plain, to: host, afterTimeout: false) == 5)
        accounts.succeed(for: plain, to: host, cost: 5)
        #expect(accounts.count == 0)
    }

    @Test(
        arguments: [Retry.Budget.standard, .quota(capacity: 5), .ratio(capacity: 2, perSuccess: 0.1)], [200, 202, 404])
    func `polling costs no tokens`(budget: Retry.Budget, status: Int) async {
        let number = Counter()
        let mock = MockLoader { HTTPResponse(request: $0, status: number.next() <= 60 ? HTTPStatus(status) : 201) }
        let poll = ClosureValidator(response: { response, _ in
            response.status == 201 ? .nextValidator : .retry(.delayed(.seconds(1)))
        })
        let scene = RetryScene(mock, validators: [poll], maximumRetries: 1_000, budget: budget)
        #expect(await scene.load().status == 201 && scene.sent == 61)
    }

    @Test func `a poll that fails costs tokens, and one that succeeds returns them`() async {
        let poll = ClosureValidator(response: { response, _ in
            response.status == 201 ? .nextValidator : .retry(.immediate)
        })
        let scene = RetryScene(
            .answering(503, 202, 202, 201, 503, 202, 201), validators: [poll], maximumRetries: 9,
            budget: .quota(capacity: 5))
        #expect(await scene.load().status == 201)
        #expect(await scene.load().status == 201)
        let failing = RetryScene(.answering(503), validators: [poll], maximumRetries: 9, budget: .quota(capacity: 5))
        _ = await failing.load()
        #expect(failing.sent == 2)
    }

    @Test func `with an unlimited budget every retry is sent`() async {
        let scene = RetryScene(.answering(503), budget: .unlimited)
        for _ in 0..<200 { _ = await load(scene) }
        #expect(scene.sent == 800)
    }
}
