// SPDX-License-Identifier: MIT
import Bookshop
import Foundation
import Letterhead
import LetterheadRecording
import LetterheadTesting
import LetterheadTestingSupport
import Testing

/// The client of an app is often a constant. In tests its transport is a `ScopedLoader`.
private let clock = TestClock()
private let shared = Bookshop(
    retrying: Backoff(maximumRetries: 3, clock: clock), transport: ScopedLoader())

/// From a failure in production to a test: the program fails and writes a file, the file becomes a failing test, and the
/// fix makes the test pass.
@Suite struct FlightTests {
    /// The client before the fix: it passed the error of a removed book on.
    private func beforeTheFix(_ observers: [any HTTPObserver] = [], over transport: any HTTPLoader) -> HTTPClient {
        HTTPClient(
            environment: Bookshop.environment, retrying: Backoff(.immediate, maximumRetries: 3),
            observers: observers, transport: transport)
    }

    @Test func `a failure becomes a file, the file a failing test, and the fix makes it pass`() async throws {
        // 1. In production, the shop is busy and then answers that the book was removed. The program fails.
        let production = StubLoader().on(.get("/v1/books/7"), inOrder: .status(.serviceUnavailable), .status(.gone))
        let recorder = FlightRecorder()
        let failure = try await #require(throws: HTTPError.self) {
            try await beforeTheFix([recorder], over: production).send(Get<Book>("books/7"))
        }
        let reports = FileManager.default.temporaryDirectory.appending(path: "reports-\(UUID())")
        defer { try? FileManager.default.removeItem(at: reports) }
        let file = try recorder.dump(around: failure, to: reports)

        // 2. In a test, the file fails for the same reason.
        let before = try Cassette(flight: file, clock: TestClock(isAutomatic: true))
        let again = try await #require(throws: HTTPError.self) {
            try await beforeTheFix(over: before.loader).send(Get<Book>("books/7"))
        }
        #expect(again.description == failure.description)

        // 3. The fix makes it pass.
        let clock = TestClock()
        let fixed = try Cassette(flight: file, clock: clock)
        let shop = Bookshop(retrying: Backoff(maximumRetries: 3, clock: clock), transport: fixed.loader)
        await #expect(throws: Bookshop.Failure.unknownBook) { try await clock.run { try await shop.book("7") } }
        try fixed.verify()
        #expect(fixed.unused == 0)
    }

    /// The file of a program in production stays in the repository.
    @Test(.replaying("Flights/removed-book.har", clock: clock)) func `a removed book is unknown`() async throws {
        await #expect(throws: Bookshop.Failure.unknownBook) { try await shared.book("7") }
    }
}
