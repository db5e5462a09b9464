// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadResilience
import LetterheadTesting
import Testing

@Suite(.timeLimit(.minutes(2))) struct ResilienceTests {
    private let environment = ServerEnvironment("https://orders.test")

    @Test func `the description of a client shows each part in its order`() {
        let client = HTTPClient(environment: environment, resilience: .standard, transport: MockLoader())
        let text = "\(client)"
        let parts = [
            "Deadline(30.0 seconds)", "Retry", "FollowRedirects", "CircuitBreaker", "Throttle(64, streams: 64)",
            "AttemptTimeout(10.0 seconds)", "MockLoader",
        ]
        let places = parts.compactMap { text.range(of: $0)?.lowerBound }
        #expect(places.count == parts.count && places == places.sorted(), "\(text)")
    }

    @Test func `a part that is nil is left out, and others are added`() {
        var resilience = Resilience()
        (resilience.breaker, resilience.concurrency, resilience.deadline) = (nil, nil, nil)
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
        resilience.retrying.budget = .unlimited
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
