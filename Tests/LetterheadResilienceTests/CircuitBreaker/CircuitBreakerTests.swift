// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadResilience
import LetterheadTesting
import Testing

@Suite(.timeLimit(.minutes(2))) struct CircuitBreakerTests {
    private let clock = TestClock()

    private func breaker(
        per scope: CircuitBreaker.Scope = .host, _ rule: CircuitBreaker.Rule = .consecutiveFailures(3), probes: Int = 1
    ) -> CircuitBreaker {
        CircuitBreaker(
            per: scope, opening: rule, openTime: .seconds(30), probes: probes,
            backoff: Backoff(clock: clock, now: { [clock] in date(after: clock.now.offset) }))
    }

    private func server(_ headers: HTTPHeaders = [:]) -> (MockLoader, set: @Sendable (Bool) -> Void) {
        let isDown = Flag(true)
        let mock = MockLoader { request in
            isDown.value ? HTTPResponse(request: request, status: .serviceUnavailable, headers: headers) : .ok(request)
        }
        return (mock, { isDown.value = $0 })
    }

    @Test func `after three failures in a row, nothing is sent`() async throws {
        let (mock, _) = server()
        let chain = breaker() --> mock
        #expect(await chain.outcomes(5) == ["503", "503", "503", "circuitOpen", "circuitOpen"])
        #expect(mock.requests.count == 3)
        let error = await #expect(throws: HTTPError.self) { try await chain.load(request()) }
        #expect(error?.mayHaveBeenSent == false)
        #expect(error?.message == "the circuit of https://orders.test is open and refuses requests for the next 30 s")
    }

    @Test func `a negative limit of the server delay is refused before anything is sent`() async throws {
        let (mock, _) = server()
        let chain = CircuitBreaker(per: .host, backoff: Backoff(longestServerDelay: .seconds(-1))) --> mock
        let error = await #expect(throws: HTTPError.self) { try await chain.load(request()) }
        #expect(error?.code == .invalidRequest && error?.message.contains("longestServerDelay is negative") == true)
        #expect(mock.requests.isEmpty)
    }

    @Test func `a success between them begins the count anew`() async throws {
        let (mock, set) = server()
        let chain = breaker() --> mock
        #expect(await chain.outcomes(2) == ["503", "503"])
        set(false)
        #expect(await chain.outcomes(1) == ["200"])
        set(true)
        #expect(await chain.outcomes(3) == ["503", "503", "503"])
        #expect(await chain.outcomes(1) == ["circuitOpen"])
    }

    @Test func `a ratio counts only the last period, and not before its minimum`() async throws {
        let (mock, set) = server()
        let chain = breaker(.failureRatio(0.5, minimum: 4, within: .seconds(10))) --> mock
        #expect(await chain.outcomes(3) == ["503", "503", "503"])
        clock.advance(by: .seconds(11))
        #expect(await chain.outcomes(1) == ["503"])
        set(false)
        #expect(await chain.outcomes(2) == ["200", "200"])
        set(true)
        // Two of four in the last period.
        #expect(await chain.outcomes(2) == ["503", "circuitOpen"])
    }

    @Test func `after the open time, a success closes the circuit and a failure opens it again`() async throws {
        let (mock, set) = server()
        let breaker = breaker()
        let chain = breaker --> mock
        _ = await chain.outcomes(3)
        clock.advance(by: .seconds(29))
        #expect(await chain.outcomes(1) == ["circuitOpen"])
        clock.advance(by: .seconds(1))
        #expect(await chain.outcomes(2) == ["503", "circuitOpen"])
        clock.advance(by: .seconds(30))
        set(false)
        #expect(breaker.states == ["https://orders.test": .open])
        #expect(await chain.outcomes(3) == ["200", "200", "200"])
        #expect(breaker.states.isEmpty)
    }

    @Test func `of many requests at once, only the probes are sent`() async throws {
        let (mock, set) = server()
        let slow = MockLoader { [clock] request in
            try await clock.sleep(for: .seconds(1))
            return try await mock.load(request)
        }
        let breaker = breaker(probes: 2)
        let isSlow = Flag(false)
        let chain = breaker --> AnyLoader { isSlow.value ? try await slow.load($0) : try await mock.load($0) }
        _ = await chain.outcomes(3)
        set(false)
        isSlow.value = true
        clock.advance(by: .seconds(30))
        async let outcomes = withTaskGroup(of: String.self) { group in
            for _ in 0..<100 { group.addTask { await chain.outcome(of: request()) } }
            return await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        await clock.waitForSleepers(2)
        #expect(breaker.states == ["https://orders.test": .halfOpen])
        while slow.requests.count < 2 { await Task.yield() }
        // The other requests fail without waiting for the probes.
        await clock.runUntilIdle()
        #expect(await outcomes == ["200": 2, "circuitOpen": 98])
        #expect(breaker.states.isEmpty)
    }

    @Test func `a cancelled probe makes room for the next one`() async throws {
        let (mock, set) = server()
        let hangs = Flag(false)
        let chain =
            breaker()
            --> AnyLoader { [clock] request in
                if hangs.value { try await clock.sleep(for: .seconds(600)) }
                return try await mock.load(request)
            }
        _ = await chain.outcomes(3)
        set(false)
        hangs.value = true
        clock.advance(by: .seconds(30))
        let probe = Task { await chain.outcome(of: request()) }
        await clock.waitForSleepers(1)
        #expect(await chain.outcomes(1) == ["circuitOpen"])
        probe.cancel()
        #expect(await probe.value == "cancelled")
        hangs.value = false
        #expect(await chain.outcomes(2) == ["200", "200"])
    }

    @Test func `an outcome of an earlier phase does not count`() async throws {
        let (mock, set) = server()
        let hangs = Flag(true)
        let breaker = breaker()
        let chain =
            breaker
            --> AnyLoader { [clock] request in
                if hangs.value { try await clock.sleep(for: .seconds(31)) }
                return try await mock.load(request)
            }
        let late = Task { await chain.outcome(of: request()) }
        await clock.waitForSleepers(1)
        hangs.value = false
        _ = await chain.outcomes(3)
        clock.advance(by: .seconds(30))
        set(false)
        #expect(await chain.outcomes(1) == ["200"])
        // It was sent before the circuit opened, and fails after it has closed.
        set(true)
        clock.advance(by: .seconds(1))
        #expect(await late.value == "503")
        #expect(await chain.outcomes(2) == ["503", "503"])
        #expect(breaker.states.isEmpty)
    }

    @Test(arguments: [("5", 30), ("60", 60), ("3600", 120), ("Sun, 06 Nov 1994 08:50:37 GMT", 60)])
    func `a longer Retry-After applies, up to a limit`(_ asked: String, _ seconds: Int) async throws {
        let (mock, set) = server(["Retry-After": asked])
        let chain = breaker() --> mock
        _ = await chain.outcomes(3)
        set(false)
        clock.advance(by: .seconds(seconds) - .milliseconds(1))
        #expect(await chain.outcomes(1) == ["circuitOpen"])
        clock.advance(by: .milliseconds(1))
        #expect(await chain.outcomes(1) == ["200"])
    }

    @Test func `what does not reach the server counts neither as a failure nor as a success`() async throws {
        let codes: [HTTPError.Code] = [.cancelled, .invalidRequest, .cannotAuthenticate, .queueFull, .circuitOpen]
        let next = Flag(0)
        let chain =
            breaker()
            --> AnyLoader { request in
                let count = next.value
                next.value = count + 1
                if count % 2 == 0, count / 2 < codes.count { throw HTTPError(codes[count / 2], request: request) }
                throw HTTPError(.cannotConnect, request: request)
            }
        #expect(
            await chain.outcomes(7) == [
                "cancelled", "cannotConnect", "invalidRequest", "cannotConnect", "cannotAuthenticate", "cannotConnect",
                "circuitOpen",
            ])
        #expect(next.value == 6)
    }

    @Test func `what counts is a condition`() async throws {
        let chain =
            CircuitBreaker(
                per: .host, opening: .consecutiveFailures(2), counting: .statuses([404]), backoff: Backoff(clock: clock)
            )
            --> MockLoader.answering { $0.path.string == "/lost" ? .notFound : .serviceUnavailable }
        #expect(await chain.outcomes(3) == ["503", "503", "503"])
        #expect(await chain.outcomes(3, of: request("/lost")) == ["404", "404", "circuitOpen"])
    }

    @Test(arguments: [
        ("host", CircuitBreaker.Scope.host, false, true), ("route", .route, false, false),
        ("key", .key { "\($0.path.string.last == "1")" }, true, true),
    ])
    func `requests share the circuit of their scope`(
        _ name: String, _ scope: CircuitBreaker.Scope, otherPort: Bool, otherRoute: Bool
    ) async throws {
        let (mock, _) = server()
        let chain = breaker(per: scope) --> mock
        let id = 1
        _ = await chain.outcomes(3, of: request("/orders/\(id)"))
        var port = request("/orders/\(id)")
        port.port = 8_443
        #expect(await chain.outcome(of: request("/orders/\(id)")) == "circuitOpen")
        #expect(await chain.outcome(of: request("/orders/\(11)")) == "circuitOpen")
        #expect(await (chain.outcome(of: port) == "circuitOpen") == otherPort)
        #expect(await (chain.outcome(of: request("/users/\(id)")) == "circuitOpen") == otherRoute)
    }

    @Test func `isolated circuits pass nothing until they are closed, also after a reset`() async throws {
        let (mock, set) = server()
        set(false)
        let breaker = breaker()
        let chain = breaker --> mock
        breaker.isolate()
        await chain.reset()
        clock.advance(by: .seconds(3_600))
        #expect(breaker.isIsolated)
        #expect(await chain.outcomes(1) == ["circuitOpen"])
        breaker.close()
        #expect(await chain.outcomes(1) == ["200"])
    }

    @Test func `a reset closes the circuits, and requests from before it do not count`() async throws {
        let (mock, _) = server()
        let breaker = breaker()
        let hangs = Flag(true)
        let chain =
            breaker
            --> AnyLoader { [clock] request in
                if hangs.value { try await clock.sleep(for: .seconds(1)) }
                return try await mock.load(request)
            }
        let late = Task { await chain.outcome(of: request()) }
        await clock.waitForSleepers(1)
        hangs.value = false
        _ = await chain.outcomes(3)
        #expect(breaker.states.count == 1)
        await chain.reset()
        #expect(breaker.states.isEmpty)
        clock.advance(by: .seconds(1))
        #expect(await late.value == "503")
        #expect(await chain.outcomes(4) == ["503", "503", "503", "circuitOpen"])
    }

    @Test func `each reader receives each change in order`() async throws {
        let (mock, set) = server()
        let breaker = breaker()
        let chain = breaker --> mock
        var (first, second) = (breaker.changes().makeAsyncIterator(), breaker.changes().makeAsyncIterator())
        _ = await chain.outcomes(3)
        clock.advance(by: .seconds(30))
        set(false)
        _ = await chain.outcomes(1)
        breaker.isolate()
        breaker.close()
        let expected = [
            "https://orders.test: open", "https://orders.test: halfOpen", "https://orders.test: closed",
            "all circuits: isolated", "all circuits: closed",
        ]
        for change in expected {
            #expect(await first.next()?.description == change)
            #expect(await second.next()?.description == change)
        }
    }

    @Test func `each change that a request makes is an event of its load`() async throws {
        let (mock, set) = server()
        let recorder = EventRecorder()
        let client = HTTPClient(attemptLinks: breaker(), observers: [recorder], transport: mock)
        for _ in 0..<3 { _ = try? await client.send(request()) }
        clock.advance(by: .seconds(30))
        set(false)
        try await client.send(request())
        let changes = recorder.events.filter { $0.name == .circuitChanged }
        #expect(changes.map { $0[.state] } == ["open", "halfOpen", "closed"])
        #expect(changes.allSatisfy { $0[.circuit] == "https://orders.test" })
    }

    @Test func `it keeps the laws of a link`() async throws {
        try await LoaderLaws(patience: .seconds(40), link: { CircuitBreaker(per: .route) }).check()
    }
}
