// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadResilience
import LetterheadTesting
import TestKit
import Testing

/// Budgets that a response takes from.
@Suite(.timeLimit(.minutes(3))) struct LimitRateCostTests {
    private let clock = TestClock()

    /// 60 units in a minute. The body of a response, if it's in memory, is its cost.
    private func link() -> LimitRate {
        LimitRate(60, per: .seconds(60), backoff: Backoff(clock: clock)) { response in
            response.body.buffered.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        }
    }

    private func costing(_ cost: String, status: HTTPStatus = .ok) -> MockLoader {
        MockLoader { .ok($0) }.then {
            HTTPResponse(request: $0, status: status, body: HTTPResponseBody(Data(cost.utf8)))
        }
    }

    /// Returns how long a request waits, or nil if it is sent at once.
    private func wait(of request: HTTPRequest = request(), _ link: LimitRate) async throws -> Duration? {
        let (mock, count) = (MockLoader { .ok($0) }, clock.sleeps.count)
        let task = Task { [chain = link --> mock] in try await chain.load(request) }
        await until { mock.requests.count + clock.sleepers > 0 }
        let wait = clock.sleeps.count > count ? clock.sleeps.last : nil
        if let wait { clock.advance(by: wait) }
        #expect(try await task.value.status == .ok)
        return wait
    }

    @Test(
        arguments: [
            ("", nil), ("-1", nil), ("0", nil), ("58", nil), ("59", 1), ("119", 61), ("178", 120), ("179", 120),
            ("9223372036854775807", 120),
        ] as [(String, Int?)])
    func `the next request waits until the cost of a response is paid, up to the limit for waits`(
        cost: String, seconds: Int?
    ) async throws {
        let link = link()
        _ = try await (link --> costing(cost)).load(request())
        #expect(try await wait(link) == seconds.map { .seconds($0) })
    }

    @Test func `the budgets of hosts are separate`() async throws {
        let link = link()
        _ = try await (link --> costing("119")).load(request())
        var other = request()
        other.host = "other.test"
        #expect(try await wait(of: other, link) == nil)
    }

    @Test func `a retry costs, too, and waits for the cost of the attempt before`() async throws {
        let mock = costing("59", status: 503).then {
            HTTPResponse(request: $0, status: .ok, body: HTTPResponseBody(Data("10".utf8)))
        }
        let link = link()
        let retry = Retry(Backoff(.immediate, maximumRetries: 1, clock: clock))
        let task = Task { [chain = retry --> link --> mock] in try await chain.load(request()) }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await task.value.status == .ok && clock.sleeps == [.seconds(1)])
        #expect(try await wait(link) == .seconds(11))
    }

    @Test func `a cancelled wait takes nothing`() async throws {
        let link = link()
        _ = try await (link --> costing("119")).load(request())
        let task = Task { [chain = link --> MockLoader()] in try await chain.load(request()) }
        await clock.waitForSleepers(1)
        task.cancel()
        await #expect(throws: HTTPError.self) { try await task.value }
        #expect(try await wait(link) == .seconds(61))
    }

    @Test func `a streamed body stays unread, and its cost is taken when the caller reports it`() async throws {
        let link = link()
        let mock = MockLoader { .ok($0) }.then {
            HTTPResponse(request: $0, status: .ok, body: StreamedBody.of("119", piecesOf: 1))
        }
        let response = try await (link --> mock).load(request())
        #expect(response.body.buffered == nil)
        #expect(try await wait(link) == nil)
        let cost = try #require(Int(String(decoding: try await response.body.data(), as: UTF8.self)))
        try link.take(cost, for: response.request)
        #expect(try await wait(link) == .seconds(62))
    }

    @Test func `a cost fails at once a waiting request whose deadline it passes`() async throws {
        let link = link()
        try link.take(60, for: request())
        let chain = Deadline(.seconds(30), clock: clock) --> link --> MockLoader { .ok($0) }
        let task = Task { try await chain.load(request()) }
        await clock.waitForSleepers(1)
        try link.take(60, for: request())
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .timedOut && error?.mayHaveBeenSent == false)
    }

    @Test func `a reset forgives the debt`() async throws {
        let link = link()
        try link.take(119, for: request())
        await link.reset(next: MockLoader())
        #expect(try await wait(link) == nil)
    }
}
