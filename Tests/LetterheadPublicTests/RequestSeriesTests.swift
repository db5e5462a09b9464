// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct RequestSeriesTests {
    private let clock = TestClock(isAutomatic: true)
    private let mock = MockLoader { .ok($0) }

    private var client: HTTPClient { HTTPClient(retrying: Backoff(clock: clock), transport: mock) }

    @Test func `a loop in a series ends at a reset of its client, and a new series continues`() async throws {
        let client = client
        let series = client.series()
        try await series.client.send(HTTPRequest.plain())
        await client.reset()
        #expect(series.generation.hasEnded)
        #expect(await failure { try await series.pause(for: .seconds(2)) }?.code == .cancelled)
        #expect(await failure { try await series.client.send(HTTPRequest.plain()) }?.code == .cancelled)
        try await client.series().client.send(HTTPRequest.plain())
        #expect(mock.requests.count == 2)
    }

    @Test func `a wait that would pass the deadline fails at once, and a request after it isn't sent`() async throws {
        let series = client.series(within: .seconds(5))
        try await series.client.send(HTTPRequest.plain())
        try await series.pause(for: .seconds(3))
        let request = try series.request(for: Get<HTTPResponse>("next"))
        let error = await failure { try await series.pause(for: .seconds(2), before: request) }
        #expect(error?.code == .timedOut && error?.mayHaveBeenSent == false && error?.request.path.string == "next")
        #expect(clock.sleeps == [.seconds(3)])
        try await clock.sleep(for: .seconds(2))
        #expect(await failure { try await series.client.send(HTTPRequest.plain()) }?.code == .timedOut)
        #expect(mock.requests.count == 1)
    }

    @Test(arguments: [(60, 5), (5, 60)])
    func `a series within a series has the earlier deadline`(outer: Int, inner: Int) async throws {
        let series = client.series(within: .seconds(outer)).client.series(within: .seconds(inner))
        try await series.pause(for: .seconds(4))
        #expect(await failure { try await series.pause(for: .seconds(1)) }?.code == .timedOut)
    }

    @Test func `a failure is the cause of the error for a wait that would pass the deadline`() async throws {
        let series = client.series(within: .seconds(1))
        let refused = HTTPError(.connectionLost, request: .plain("/refused"), message: "closed")
        let error = await failure { try await series.pause(for: .seconds(1), after: refused) }
        #expect(error?.request.path.string == "/refused" && error?.mayHaveBeenSent == true)
        #expect((error?.underlying as? HTTPError)?.code == .connectionLost)
    }

    @Test func `a limit of zero or less is an invalid request`() async throws {
        let series = client.series(within: .zero).client.series(within: .seconds(1))
        #expect(await failure { try await series.client.send(HTTPRequest.plain()) }?.code == .invalidRequest)
        #expect(await failure { try await series.pause(for: .zero) }?.code == .invalidRequest)
        let pages = series.client.pages(of: Get<HTTPResponse>("list").paginated(by: .linkHeader))
        #expect(await failure { for try await _ in pages {} }?.code == .invalidRequest)
        #expect(mock.requests.isEmpty)
    }

    @Test func `a wait of zero ends in a cancelled task`() async throws {
        let series = client.series()
        let task = Task {
            withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await series.pause(for: .zero)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
