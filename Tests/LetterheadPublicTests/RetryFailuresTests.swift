// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(3))) struct RetryFailuresTests {
    private let clock = TestClock(isAutomatic: true)

    private func failing(_ times: Int) -> MockLoader {
        let mock = MockLoader { .ok($0) }
        for _ in 0..<times { mock.then { throw HTTPError(.connectionLost, request: $0) } }
        return mock
    }

    @Test func `each attempt has its number, and the result is no attempt`() async throws {
        let mock = failing(2)
        let response = try await (RetryFailures(clock: clock) --> mock).load(.plain())
        #expect(mock.requests.map(\.attemptNumber) == [1, 2, 3])
        #expect(response.request.attemptNumber == nil)
        #expect(response.attempts.map(\.errorCode) == [.connectionLost, .connectionLost, nil])
        #expect(clock.sleeps == [.seconds(1), .seconds(1)])
    }

    @Test(arguments: [true, false]) func `two retry links do not multiply their retries`(isAbove: Bool) async throws {
        let mock = failing(9)
        let custom = RetryFailures(clock: clock)
        let standard = Retry(Backoff(.immediate, maximumRetries: 2, clock: clock))
        let links: [any LoaderLink] = isAbove ? [custom, standard] : [standard, custom]
        let chain: any HTTPLoader = links[0] --> (links[1] --> mock)
        let error = await failure { try await chain.load(.plain()) }
        #expect(error?.code == .connectionLost && error?.attempts.count == 3 && error?.request.attemptNumber == nil)
        #expect(mock.requests.count == 3)
    }

    @Test func `a wait that would pass the deadline fails at once`() async throws {
        let mock = failing(9)
        let chain = Deadline(.seconds(2), clock: clock) --> RetryFailures(wait: .seconds(5), clock: clock) --> mock
        #expect(await failure { try await chain.load(.plain()) }?.code == .timedOut)
        #expect(mock.requests.count == 1 && clock.sleeps == [])
    }

    @Test func `a validator sees the head of a stream only, and the caller reads all of it`() async throws {
        let reader = ClosureValidator { response, _ in
            #expect(await body(of: response) == HTTPBodyError.withheld)
            var marked = response
            marked.headers["X-Seen"] = "1"
            return .nextValidatorWithResponse(marked)
        }
        let chain = RetryFailures(clock: clock, validators: [reader]) --> StreamEach() --> MockLoader { .ok($0) }
        let response = try await chain.load(.plain())
        #expect(response.headers["X-Seen"] == "1")
        #expect(try await response.body.data() == Data("one two".utf8))
    }

    @Test func `a request on behalf of another one shares its deadline`() async throws {
        let mock = failing(1)
        let refresh = HTTPRequest.plain("/token")
        let retry = RetryFailures(clock: clock, refresh: refresh)
        let left = Mutex<[Duration?]>([])
        let time = ModifyRequest { request in left.withLock { $0.append(request.timeLeft) } }
        _ = try await (Deadline(.seconds(9), clock: clock) --> retry --> time --> mock).load(.plain())
        #expect(mock.requests.map(\.path.string) == ["/", "/token", "/"])
        #expect(left.withLock { $0 } == [.seconds(9), .seconds(8), .seconds(8)])
        #expect(mock.requests[1].attemptNumber == 1 && refresh.timeLeft == nil)
        var free = mock.requests[1]
        free.inheritDeadline(from: nil)
        #expect(free.timeLeft == nil)
    }
}

/// Returns the error of reading a body.
private func body(of response: HTTPResponse) async -> HTTPBodyError? {
    do { _ = try await response.body.data() } catch { return error as? HTTPBodyError }
    return nil
}
