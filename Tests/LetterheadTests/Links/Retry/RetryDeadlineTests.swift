// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting
import Testing

@Suite(.timeLimit(.minutes(3))) struct RetryDeadlineTests {
    @Test func `a wait that would pass the deadline does not begin`() async {
        let scene = RetryScene(.answering(503, headers: ["Retry-After": "10"]), maximumRetries: 3)
        let result = await scene.load { $0.deadline = .seconds(1) }
        #expect(result.code == .timedOut && scene.sent == 1 && scene.clock.sleeps == [])
        #expect(result.error?.message.contains("deadline") == true)
        #expect(result.error?.response?.status == 503 && result.attempts.count == 1)
    }

    @Test func `the deadline bounds all waits together`() async {
        let scene = RetryScene(.answering(503), maximumRetries: 9)
        let result = await scene.load { ($0.retryStrategy, $0.deadline) = (.delayed(.seconds(4)), .seconds(10)) }
        #expect(result.code == .timedOut && scene.sent == 3)
    }

    @Test func `the underlying error of the timeout is the failure of the attempt`() async {
        let scene = RetryScene(.failing(.connectionLost), maximumRetries: 9)
        let result = await scene.load { ($0.retryStrategy, $0.deadline) = (.delayed(.seconds(4)), .seconds(1)) }
        #expect(result.code == .timedOut && (result.error?.underlying as? HTTPError)?.code == .connectionLost)
    }

    @Test func `an attempt that timed out is retried within the deadline`() async {
        let scene = RetryScene(.failing(.timedOut), maximumRetries: 2)
        let result = await scene.load { ($0.retryStrategy, $0.deadline) = (.delayed(.seconds(1)), .seconds(60)) }
        #expect(result.code == .timedOut && scene.sent == 3)
    }

    @Test func `the time of an alternate counts toward the deadline`() async {
        let clock = TestClock()
        let scene = RetryScene(.answering(401), validators: [], clock: clock, maximumRetries: 3)
        let result = await scene.load {
            $0.retryStrategy = .afterTask(task: { _ in clock.advance(by: .seconds(2)) }).when(.statuses([401]))
            $0.deadline = .seconds(1)
        }
        #expect(result.code == .timedOut && scene.sent == 1)
    }
}
