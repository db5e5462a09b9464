// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// Cancellation before, during, between and after the attempts.
@Suite(.timeLimit(.minutes(3))) struct RetryCancellationTests {
    private let clock = TestClock()

    private func again(_ request: inout HTTPRequest) {
        request.retryStrategy = .delayed(.seconds(60))
        request.maximumRetries = 5
    }

    @Test func `a load that is cancelled before it begins sends nothing`() async {
        let scene = RetryScene(.answering(503), clock: clock)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await scene.load(.get, again)
        }
        task.cancel()
        let result = await task.value
        #expect(result.code == .cancelled && scene.sent == 0 && result.error?.mayHaveBeenSent == false)
    }

    @Test func `a cancellation during an attempt ends it, and no other follows`() async {
        let started = Counter()
        let scene = RetryScene(
            MockLoader { request in
                _ = started.next()
                while !Task.isCancelled { await Task.yield() }
                throw CancellationError()
            }, clock: clock)
        let task = Task { await scene.load(.get, again) }
        await until { started.value == 1 }
        task.cancel()
        #expect(await task.value.code == .cancelled && scene.sent == 1 && clock.sleeps == [])
    }

    @Test func `a cancellation during the wait ends it at once, and nothing more is sent`() async {
        let scene = RetryScene(.answering(503), clock: clock)
        let task = Task { await scene.load(.get, again) }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        task.cancel()
        let result = await task.value
        #expect(result.code == .cancelled && scene.sent == 1 && clock.sleepers == 0)
        #expect(result.attempts.map(\.status) == [503])
    }

    @Test func `after a cancellation in a validator nothing more is sent`() async {
        let ask = ClosureValidator(response: { _, _ in
            withUnsafeCurrentTask { $0?.cancel() }
            return .retry(.immediate)
        })
        let scene = RetryScene(.answering(503), validators: [ask], clock: clock)
        let result = await Task { await scene.load(.get, again) }.value
        #expect(result.code == .cancelled && scene.sent == 1)
    }

    @Test func `a cancellation after the load does not change the response`() async {
        let scene = RetryScene(.answering(200), clock: clock)
        let task = Task {
            let result = await scene.load(.get, again)
            withUnsafeCurrentTask { $0?.cancel() }
            return result
        }
        #expect(await task.value.status == 200)
    }
}
