// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct TestClockTests {
    @Test func `the clock does not advance by itself`() {
        let clock = TestClock()
        #expect(clock.now.offset == .zero)
        clock.advance(by: .seconds(3))
        clock.advance(by: .seconds(-5))
        #expect(clock.now.offset == .seconds(3))
    }

    @Test func `a sleep ends when the clock reaches its end, and not before`() async throws {
        let clock = TestClock()
        let task = Task { try await clock.sleep(for: .seconds(2)) }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        #expect(clock.sleepers == 1)
        clock.advance(by: .seconds(1))
        try await task.value
        #expect(clock.sleepers == 0 && clock.sleeps == [.seconds(2)])
    }

    @Test func `a cancelled sleep ends at once, even if it was cancelled before`() async {
        let clock = TestClock()
        let asleep = Task { try await clock.sleep(for: .seconds(2)) }
        await clock.waitForSleepers(1)
        asleep.cancel()
        await #expect(throws: CancellationError.self) { try await asleep.value }
        let before = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(2))
        }
        await #expect(throws: CancellationError.self) { try await before.value }
        #expect(clock.sleepers == 0)
    }

    @Test func `a sleep until now or earlier does not wait`() async throws {
        let clock = TestClock()
        try await clock.sleep(for: .zero)
        try await clock.sleep(for: .seconds(-1))
        #expect(clock.sleeps == [.zero, .seconds(-1)])
    }

    @Test func `an automatic clock advances by itself`() async throws {
        let clock = TestClock(isAutomatic: true)
        try await clock.sleep(for: .seconds(2))
        try await clock.sleep(for: .seconds(3))
        #expect(clock.now.offset == .seconds(5) && clock.sleeps == [.seconds(2), .seconds(3)])
    }

    @Test func `an automatic clock serves the earliest sleeper first`() async throws {
        let clock = TestClock(isAutomatic: true)
        let order = try await withThrowingTaskGroup(of: Int.self) { group in
            for seconds in [30, 2, 1] {
                group.addTask {
                    try await clock.sleep(for: .seconds(seconds))
                    return seconds
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(order == [1, 2, 30] && clock.now.offset == .seconds(30))
    }

    @Test func `an automatic clock stays where a sleep has ended until the woken task has run on`() async throws {
        for _ in 0..<20 {
            let clock = TestClock(isAutomatic: true)
            let long = Task { try await clock.sleep(for: .seconds(10)) }
            try await clock.sleep(for: .seconds(5))
            long.cancel()
            _ = await long.result
            #expect(clock.now.offset == .seconds(5))
        }
    }

    @Test func `on an automatic clock, the deadline of a client does not end a request that waits for less`()
        async throws
    {
        let clock = TestClock(isAutomatic: true)
        let mock = MockLoader(clock: clock) { .ok($0) }.then { HTTPResponse(request: $0, status: 503) }
        let retrying = Backoff(maximumRetries: 1, clock: clock, random: { 1 })
        let client = HTTPClient(environment: .of("https://h"), retrying: retrying, transport: mock)
        _ = try await client.deadline(in: .seconds(30)).send(
            TestEndpoint().retry(.delayed(.seconds(2)), maximumRetries: 1))
        #expect(mock.requests.count == 2 && clock.now.offset == .seconds(2))
    }

    @Test func `a test can wait for several sleepers, and the wait ends with its task`() async {
        let clock = TestClock()
        let tasks = (1...3).map { number in Task { try await clock.sleep(for: .seconds(number)) } }
        await clock.waitForSleepers(3)
        let waiting = Task { await clock.waitForSleepers(9) }
        waiting.cancel()
        await waiting.value
        clock.advance(by: .seconds(9))
        for task in tasks { try? await task.value }
        #expect(clock.sleepers == 0)
    }
}
