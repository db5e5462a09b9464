// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct RetryTests {
    @Test func `by default there is one attempt`() async {
        let scene = RetryScene(.answering(503, 200))
        let result = await scene.load()
        #expect(result.status == 503 && scene.sent == 1 && result.attempts.count == 1)
    }

    @Test(
        arguments: [
            HTTPRetryStrategy.immediate, .delayed(.seconds(1)), .exponential(base: .seconds(1)),
            .fibonacci(unit: .seconds(1)), .delays(Array(repeating: .seconds(1), count: 9)), .custom { _, _ in .zero },
            .afterTask(task: { _ in }), .immediate.times(1).then(.delayed(.seconds(1))),
        ], [0, 1, 4]) func `the number of attempts is one more than the retries, with every strategy`(
            strategy: HTTPRetryStrategy, count: Int
        ) async
    {
        let scene = RetryScene(.answering(503))
        let result = await scene.load { ($0.retryStrategy, $0.maximumRetries) = (strategy, count) }
        #expect(scene.sent == count + 1 && result.attempts.count == count + 1 && result.status == 503)
    }

    @Test func `each load has all its retries, also with the same request`() async {
        let scene = RetryScene(.answering(503))
        let request = HTTPRequest.plain { ($0.retryStrategy, $0.maximumRetries) = (.immediate, 2) }
        async let one = scene.load(request)
        async let other = scene.load(request)
        _ = await (one, other, scene.load(request))
        #expect(scene.sent == 9)
    }

    @Test func `a response's request can be sent again as any other`() async throws {
        let scene = RetryScene(.answering(503, 503, 503, 503, 200))
        let first = await scene.load { ($0.retryStrategy, $0.maximumRetries) = (.immediate, 1) }
        let second = await scene.load(try first.get().request)
        #expect(second.attempts.count == 2 && scene.sent == 4)
    }

    @Test(arguments: [
        (HTTPRetryStrategy.immediate, [0, 0, 0]), (.delayed(.seconds(2)), [2, 2, 2]),
        (.delayed(.seconds(-5)), [0, 0, 0]), (.exponential(base: .seconds(1)), [1, 2, 4]),
        (.fibonacci(unit: .seconds(3)), [3, 3, 6]), (.delays([.seconds(1), .seconds(5), .seconds(2)]), [1, 5, 2]),
    ]) func `the clock shows the documented waits`(strategy: HTTPRetryStrategy, seconds: [Int]) async {
        let scene = RetryScene(.answering(503))
        let result = await scene.load { ($0.retryStrategy, $0.maximumRetries) = (strategy, 3) }
        let waits = seconds.map { Duration.seconds($0) }
        #expect(scene.clock.sleeps == waits.filter { $0 > .zero })
        #expect(result.attempts.map(\.delay) == waits + [nil])
    }

    @Test func `jitter is drawn anew for each wait`() async {
        let number = Counter()
        let scene = RetryScene(.answering(503), random: { [0, 0.5, 0.25][number.next() - 1] })
        let result = await scene.load { ($0.retryStrategy, $0.maximumRetries) = (.exponential(base: .seconds(4)), 3) }
        #expect(result.attempts.compactMap(\.delay) == [.zero, .seconds(4), .seconds(4)])
    }

    @Test func `time and attempts end the retries of a strategy`() async {
        let slow = RetryScene(.answering(503))
        _ = await slow.load {
            let brief = Retry.Condition { Retry.Condition.standard.holds(in: $0) && $0.elapsed < .seconds(25) }
            $0.retryStrategy = .delayed(.seconds(10)).when(brief); $0.maximumRetries = 9
        }
        #expect(slow.sent == 4)
        let few = RetryScene(.answering(503))
        _ = await few.load { ($0.retryStrategy, $0.maximumRetries) = (.immediate.times(1), 9) }
        #expect(few.sent == 2)
    }

    @Test func `408 is retried once`() async {
        let scene = RetryScene(.answering(408), maximumRetries: 5)
        #expect(await scene.load().status == 408)
        #expect(scene.sent == 2)
    }

    @Test(arguments: [-1, Int.min]) func `a negative maximum is refused before anything is sent`(count: Int) async {
        let scene = RetryScene(.answering(200))
        let result = await scene.load { $0.maximumRetries = count }
        #expect(result.code == .invalidRequest && scene.sent == 0)
        let standard = RetryScene(.answering(200), maximumRetries: count)
        #expect(await standard.load().code == .invalidRequest)
    }

    @Test func `the attempts of two retry links in one chain do not multiply`() async {
        let mock = MockLoader.answering(503)
        let chain = Retry() --> Retry(Backoff(maximumRetries: 5)) --> mock
        let request = HTTPRequest.plain { ($0.retryStrategy, $0.maximumRetries) = (.immediate, 2) }
        let response = try? await chain.load(request)
        #expect(mock.requests.count == 3 && response?.attempts.count == 3)
    }

    @Test func `the attempts of two clients do not multiply if one is the transport of the other`() async {
        let mock = MockLoader.failing(.connectionLost)
        let inner = HTTPClient(retrying: Backoff(.immediate, maximumRetries: 5), transport: mock)
        let transport = AnyLoader { request in
            do { return try await inner.send(request) } catch { throw HTTPError(error, request: request) }
        }
        let outer = HTTPClient(retrying: Backoff(.immediate, maximumRetries: 2), transport: transport)
        let error = await #expect(throws: HTTPError.self) { try await outer.send(.plain()) }
        #expect(mock.requests.count == 3 && error?.attempts.count == 3)
    }

    @Test func `a template sets the strategy and the maximum`() async throws {
        struct Get: RequestTemplate {
            let path: RequestPath = "x"
        }
        let mock = MockLoader.answering(503, 503, 200)
        let clock = TestClock(isAutomatic: true)
        let client = HTTPClient(retrying: Backoff(clock: clock), transport: mock)
        let template = Get().environment(ServerEnvironment(baseURL: try #require(URL(string: "http://a.test"))))
        let response = try await client.send(template.retry(.delayed(.seconds(1)), maximumRetries: 2))
        #expect(response.attempts.count == 3 && clock.sleeps == [.seconds(1), .seconds(1)])
    }

    @Test func `a client's maximum counts for requests without one, and a request's own wins`() async {
        let scene = RetryScene(.answering(503), maximumRetries: 2)
        _ = await scene.load()
        #expect(scene.sent == 3)
        _ = await scene.load { $0.maximumRetries = 0 }
        #expect(scene.sent == 4)
    }
}
