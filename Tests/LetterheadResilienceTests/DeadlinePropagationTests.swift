// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadResilience
import LetterheadTesting
import Testing

@Suite(.timeLimit(.minutes(2))) struct DeadlinePropagationTests {
    private let clock = TestClock()

    private func header(
        _ name: HTTPHeaders.Name, as form: DeadlinePropagation.Form, within limit: Duration,
        after wait: Duration = .zero
    ) async throws -> String? {
        let mock = MockLoader { .ok($0) }
        let waits = ModifyRequest { [clock] _ in clock.advance(by: wait) }
        let chain = Deadline(limit, clock: clock) --> waits --> DeadlinePropagation(name, as: form) --> mock
        _ = try await chain.load(request())
        return mock.requests.first?.headers[name]
    }

    @Test func `the remaining time is written in each form`() async throws {
        let left = Duration.milliseconds(2_045)
        #expect(try await header("X-Left", as: .milliseconds, within: left, after: .milliseconds(40)) == "2005")
        #expect(try await header("X-Left", as: .seconds, within: left, after: .milliseconds(40)) == "2.005")
        #expect(try await header("grpc-timeout", as: .grpc, within: left, after: .milliseconds(40)) == "2005m")
        #expect(try await header("grpc-timeout", as: .grpc, within: .seconds(100_000)) == "100000S")
        #expect(try await header("grpc-timeout", as: .grpc, within: .seconds(1_000_000_000)) == "277777H")
    }

    @Test func `each attempt has the time that is left`() async throws {
        let mock = MockLoader { [clock] request in
            clock.advance(by: .seconds(1))
            return HTTPResponse(request: request, status: .badGateway)
        }
        let client = HTTPClient(
            retrying: Backoff(.immediate, maximumRetries: 2, clock: clock),
            attemptLinks: DeadlinePropagation("X-Left"), transport: mock)
        _ = try? await client.deadline(in: .seconds(5)).send(request())
        #expect(mock.requests.map { $0.headers["X-Left"] } == ["5000", "4000", "3000"])
    }

    @Test func `nothing is sent after the deadline`() async throws {
        let error = await #expect(throws: HTTPError.self) {
            try await header("X-Left", as: .milliseconds, within: .seconds(1), after: .seconds(1))
        }
        #expect(error?.code == .timedOut && error?.mayHaveBeenSent == false)
    }

    @Test func `a header of the request and a request without a deadline are not changed`() async throws {
        let mock = MockLoader { .ok($0) }
        var own = request()
        own.headers["X-Left"] = "7"
        let link = DeadlinePropagation("X-Left")
        _ = try await (Deadline(.seconds(1), clock: clock) --> link --> mock).load(own)
        _ = try await (link --> mock).load(request())
        #expect(mock.requests.map { $0.headers["X-Left"] } == ["7", nil])
    }

    @Test func `it keeps the laws of a link`() async throws {
        try await LoaderLaws(patience: .seconds(40), link: { DeadlinePropagation.grpc }).check()
    }
}
