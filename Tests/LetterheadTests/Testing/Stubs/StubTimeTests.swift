// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

@Suite(.timeLimit(.minutes(3))) struct StubTimeTests {
    private let clock = TestClock()

    @Test func `a timeout passes on the clock of the test`() async throws {
        let stubs = StubLoader(clock: clock)
        stubs.on(GetPerson.self) { _ in .delayed(.seconds(30), .ada) }
        let late = Task { try await HTTPClient.over(stubs).send(GetPerson(login: "late").timeout(.seconds(10))) }
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(11))
        let error = try await #require(throws: HTTPError.self) { try await late.value }
        #expect(error.code == .timedOut)
    }

    @Test(arguments: [true, false])
    func `a deadline passes on the clock of the test, whether or not the client knows the clock`(
        isClientClock: Bool
    ) async throws {
        let stubs = StubLoader(clock: clock)
        stubs.on(GetPerson.self) { _ in .delayed(.seconds(30_000), .ada) }
        let client = HTTPClient.over(stubs, retrying: isClientClock ? Backoff(clock: clock) : Backoff())
        let error = try await #require(throws: HTTPError.self) {
            try await clock.run { try await client.send(GetPerson(login: "a").deadline(in: .seconds(10_000))) }
        }
        #expect(error.code == .timedOut && clock.now.offset == .seconds(10_000))
    }

    @Test func `the attempts of a request share its deadline`() async throws {
        let stubs = StubLoader(clock: clock)
        stubs.on(GetPerson.self) { _ in .delayed(.seconds(4000), .status(.serviceUnavailable)) }
        let client = HTTPClient.over(stubs)
        let request = try StandardRequestBuilder(GetPerson(login: "a").deadline(in: .seconds(10_000))).request()
        let codes = try await clock.run { () async throws -> [String] in
            var codes: [String] = []
            for _ in 0..<3 {
                do { _ = try await client.send(request) } catch let error as HTTPError { codes.append("\(error.code)") }
            }
            return codes
        }
        #expect(codes == ["unacceptableStatus", "unacceptableStatus", "timedOut"])
        #expect(clock.now.offset == .seconds(10_000))
    }

    @Test func `an idle timeout and a stream keep the clock of the test`() async throws {
        let stubs = StubLoader(clock: clock)
        stubs.on(Get<HTTPResponse>.self) { _ in
            .stream([Data("a".utf8), Data("b".utf8)], every: .seconds(20))
        }
        let client = HTTPClient.over(stubs)
        let get = Get<HTTPResponse>("a").idleTimeout(.seconds(30))
        let body = try await clock.run { try await client.stream(get).body.data() }
        #expect(body == Data("ab".utf8))
        let error = try await #require(throws: HTTPError.self) {
            try await clock.run { try await client.stream(get.idleTimeout(.seconds(10))).body.data() }
        }
        #expect(error.code == .timedOut)
    }

    @Test func `a retry scenario of two minutes runs on the clock of the test`() async throws {
        let stubs = StubLoader(clock: clock)
        stubs.on(
            GetPerson.self, inOrder: .status(.serviceUnavailable, headers: ["Retry-After": "60"]),
            .delayed(.seconds(3), .status(.serviceUnavailable, headers: ["Retry-After": "60"])), .value(.ada))
        let client = HTTPClient.over(stubs, retrying: Backoff(maximumRetries: 3, clock: clock))
        let task = Task { try await client.send(GetPerson(login: "a")) }
        try await stubs.waitForCalls(of: GetPerson.self)
        await clock.waitForSleepers(1)
        await clock.runUntilIdle()
        #expect(try await task.value == .ada)
        #expect(clock.now.offset == .seconds(123))
        #expect(stubs.calls(of: GetPerson.self).map(\.time) == [.zero, .seconds(60), .seconds(123)])
    }

    @Test func `running until idle ends at once without sleepers`() async {
        await clock.runUntilIdle()
        #expect(clock.now.offset == .zero)
    }

    @Test func `running an operation returns its error`() async throws {
        await #expect(throws: Refused.self) {
            try await clock.run {
                try await clock.sleep(for: .seconds(3600))
                throw Refused()
            }
        }
        #expect(clock.now.offset == .seconds(3600))
    }

    private struct Refused: Error {}
}
