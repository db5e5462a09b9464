// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadResilience
import LetterheadTesting
import TestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct ResilienceTests {
    private let environment = ServerEnvironment("https://orders.test")

    @Test func `the description of a client shows each part in its order`() {
        let client = HTTPClient(environment: environment, resilience: .standard, transport: MockLoader())
        let text = "\(client)"
        let parts = [
            "Deadline(30.0 seconds)", "Retry", "FollowRedirects", "CircuitBreaker", "Throttle(64, streams: 64)",
            "AttemptTimeout(10 s)", "MockLoader",
        ]
        let places = parts.compactMap { text.range(of: $0)?.lowerBound }
        #expect(places.count == parts.count && places == places.sorted(), "\(text)")
    }

    @Test func `a part that is nil is left out, and others are added`() {
        var resilience = Resilience()
        (resilience.breaker, resilience.throttle, resilience.deadline) = (nil, nil, nil)
        resilience.hedge = Hedge(after: .fixed(.milliseconds(40)))
        resilience.balance = Balance(among: ["https://a.test"])
        let text = "\(HTTPClient(environment: environment, resilience: resilience))"
        #expect(!text.contains("CircuitBreaker") && !text.contains("Throttle") && !text.contains("Deadline("))
        #expect(text.contains("Hedge(0.04 seconds, share 0.1) --> Balance(1, lessBusyOfTwo) --> AttemptTimeout"))
    }

    @Test func `failures are retried, and a server that keeps failing is left alone`() async throws {
        let clock = TestClock(isAutomatic: true)
        let mock = MockLoader { HTTPResponse(request: $0, status: .serviceUnavailable) }
        var resilience = Resilience(clock: clock)
        resilience.retryBudget = .unlimited
        let client = HTTPClient(environment: environment, resilience: resilience, transport: mock)
        var codes: [HTTPError.Code] = []
        for _ in 0..<10 {
            do {
                try await client.send(HTTPRequest())
            } catch let error as HTTPError {
                codes.append(error.code)
            }
        }
        // 20 failures of at least 20 requests open the circuit, in the middle of the seventh call.
        #expect(mock.requests.count == 20)
        #expect(codes.prefix(6).allSatisfy { $0 == .unacceptableStatus })
        #expect(codes.suffix(4).allSatisfy { $0 == .circuitOpen }, "\(codes)")
    }

    @Test func `clients of one value share its breaker and its throttle, and clients of two values share nothing`()
        async throws
    {
        let clock = TestClock()
        var (resilience, separate) = (Resilience(clock: clock), Resilience(clock: clock))
        (resilience.retrying.maximumRetries, separate.retrying.maximumRetries) = (0, 0)
        resilience.throttle?.limit = 1
        resilience.breaker = CircuitBreaker(
            per: .host, opening: .consecutiveFailures(1), backoff: Backoff(clock: clock))
        // The number of requests that the server responds to.
        let (allowed, count) = (Flag(0), Flag(0))
        let mock = MockLoader { request in
            let number = count.next()
            await until { number < allowed.value }
            return HTTPResponse(request: request, status: .serviceUnavailable)
        }
        let clients = [resilience, resilience, separate].map {
            HTTPClient(environment: environment, resilience: $0, transport: mock)
        }
        let first = Task { try await clients[0].send(HTTPRequest()) }
        await until { mock.requests.count == 1 }
        let second = Task { try await clients[1].send(HTTPRequest()) }
        await until { [throttle = resilience.throttle] in throttle?.waiting == 1 }
        let other = Task { try await clients[2].send(HTTPRequest()) }
        await until { mock.requests.count == 2 }
        allowed.value = 2
        await #expect(throws: HTTPError.self) { try await first.value }
        await #expect(throws: HTTPError.self) { try await other.value }
        // The second request has passed the breaker, and has waited for its slot.
        await until { mock.requests.count == 3 }
        allowed.value = 3
        await #expect(throws: HTTPError.self) { try await second.value }
        let error = await #expect(throws: HTTPError.self) { try await clients[1].send(HTTPRequest()) }
        #expect(error?.code == .circuitOpen && mock.requests.count == 3)
    }

    @Test func `a Retry-After that is a date is compared with the date that was passed`() async throws {
        let clock = TestClock()
        let mock = MockLoader {
            HTTPResponse(
                request: $0, status: .serviceUnavailable, headers: ["Retry-After": "Sun, 06 Nov 1994 08:50:37 GMT"])
        }
        var resilience = Resilience(clock: clock) { date(after: clock.now.offset) }
        resilience.deadline = .seconds(70)
        resilience.retrying.maximumRetries = 1
        let client = HTTPClient(environment: environment, resilience: resilience, transport: mock)
        let load = Task { try await client.send(HTTPRequest()) }
        await clock.waitForSleepers(1)
        #expect(clock.sleeps == [.seconds(60)])
        load.cancel()
        _ = await load.result
    }

    @Test func `an attempt has a limit unless the request sets one or is streamed`() async throws {
        let mock = MockLoader { .ok($0) }
        let client = HTTPClient(environment: environment, resilience: .standard, transport: mock)
        var (own, streamed) = (HTTPRequest(), HTTPRequest())
        own.timeout = .seconds(1)
        streamed.responseDelivery = .streamed
        for request in [HTTPRequest(), own, streamed] { try await client.send(request) }
        #expect(mock.requests.map(\.timeout) == [.seconds(10), .seconds(1), nil])
    }
}
