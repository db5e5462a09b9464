// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadStreaming
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// After a reset of the client, a sequence that has begun delivers nothing that has arrived before.
@Suite(.timeLimit(.minutes(1)))
struct PageResetTests {
    @Test(arguments: [nil, 4])
    func `the remaining items of a page are not delivered after a reset`(size: Int?) async throws {
        let mock = MockLoader { try .ok($0, json: [1, 2, 3]) }
        let client = HTTPClient(environment: .of("https://a.test"), transport: mock)
        let numbers = TestEndpoint("numbers", answering: [Int].self).paginated(size: size)
        var items = client.items(of: numbers).makeAsyncIterator()
        #expect(try await items.next() == 1)
        await client.reset()
        for _ in 1...3 {
            let error = await #expect(throws: HTTPError.self) { try await items.next() }
            expectReset(error)
        }
        #expect(mock.requests.count == 1)
        var fresh = client.items(of: numbers).makeAsyncIterator()
        #expect(try await fresh.next() == 1)
    }

    private func expectReset(_ error: HTTPError?) {
        #expect(error?.code == .cancelled && error?.message.contains("the client was reset") == true)
    }

    @Test func `events and values that have arrived are not delivered after a reset`() async throws {
        let stubs = StubLoader()
            .on(.any("/v1/events")) { _ in
                .stream([Data("data: a\n\ndata: b\n\n".utf8)], headers: [.contentType: "text/event-stream"])
            }
            .on(.any()) { _ in
                .stream([Data("1\n2\n3\n".utf8)], headers: [.contentType: "application/x-ndjson"])
            }
        let client = HTTPClient.over(stubs)
        var events = client.events(of: TestEndpoint("events"), reconnecting: .whenClosed).makeAsyncIterator()
        var values = client.values(of: TestEndpoint("values"), as: Int.self).makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
        #expect(try await values.next() == 1)
        await client.reset()
        let ended = await #expect(throws: HTTPError.self) { try await events.next() }
        expectReset(ended)
        do {
            _ = try await values.next()
            Issue.record("a value was delivered")
        } catch {
            expectReset(error as? HTTPError)
        }
        #expect(try await values.next() == nil)
        #expect(stubs.requests.count == 2)
    }

    /// Iterates over pages with ten minutes between them.
    private func slowWalk(over transport: any HTTPLoader, _ clock: TestClock) -> (HTTPClient, Task<Void, any Error>) {
        let client = HTTPClient(
            environment: .of("https://a.test"), retrying: Backoff(clock: clock), transport: transport)
        let task = Task {
            let numbers = TestEndpoint("numbers", answering: [Int].self).paginated(size: 1)
            for try await _ in client.pages(of: numbers, settings: PageSettings(delay: .seconds(600))) {}
        }
        return (client, task)
    }

    @Test func `a reset ends the delay before a page, and the page is not requested`() async throws {
        let (clock, mock) = (TestClock(), MockLoader { try .ok($0, json: [1]) })
        let (client, load) = slowWalk(over: mock, clock)
        await clock.waitForSleepers(1)
        await client.reset()
        #expect(await failure { try await load.value }?.code == .cancelled && mock.requests.count == 1)
    }

    @Test(arguments: [true, false])
    func `cancelling the task that iterates over pages throws CancellationError`(isBetweenPages: Bool) async {
        let clock = TestClock()
        let mock = MockLoader { request in
            if !isBetweenPages { try await clock.sleep(for: .seconds(600)) }
            return try .ok(request, json: [1])
        }
        let (_, load) = slowWalk(over: mock, clock)
        await clock.waitForSleepers(1)
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
    }

    @Test func `a sequence that has ended remains ended after a reset`() async throws {
        let client = HTTPClient(environment: .of("https://a.test"), transport: MockLoader { try .ok($0, json: [1]) })
        let numbers = TestEndpoint("numbers", answering: [Int].self).paginated(size: 2)
        var items = client.items(of: numbers).makeAsyncIterator()
        while try await items.next() != nil {}
        await client.reset()
        #expect(try await items.next() == nil)
    }

    @Test func `a page is not delivered if the client is reset while its template finds the next page`() async {
        let own = Mutex<HTTPClient?>(nil)
        let mock = MockLoader { try .ok($0, json: [1]) }
        let client = HTTPClient(environment: .of("https://a.test"), transport: mock)
        own.withLock { $0 = client }
        let slow = Slow { await own.withLock { $0 }?.reset() }
        let error = await #expect(throws: HTTPError.self) { try await client.pages(of: slow).collect() }
        #expect(error?.code == .cancelled && mock.requests.count == 1)
    }
}

/// A template that calls a closure before it returns the last page.
private struct Slow: PaginatedTemplate {
    typealias Response = [Int]
    let arrived: @Sendable () async -> Void
    var path: RequestPath { "slow" }
    var page: Int { 1 }
    var position: PagePosition { .number(1) }
    func requestForNextPage() -> Slow { self }
    func resumed(from checkpoint: PageCheckpoint) -> Slow { self }

    func requestForNextPage(after arrival: Page<[Int]>) async -> PageContinuation<Slow> {
        await arrived()
        return .last
    }
}
