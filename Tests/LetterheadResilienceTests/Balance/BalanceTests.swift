// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadCaching
import LetterheadResilience
import LetterheadSigning
import LetterheadTesting
import TestKit
import Testing

let replicas: [Replica] = ["https://a.test", "https://b.test", "https://c.test:8080"]

@Suite(.timeLimit(.minutes(2))) struct BalanceTests {
    let clock = TestClock()

    func balance(
        _ policy: Balance.Policy = .roundRobin, among list: [Replica] = replicas, restingAfter limit: Int = 3,
        random: @escaping @Sendable () -> Double = { 0 }
    ) -> Balance {
        Balance(
            among: list, by: policy, for: logical, restingAfter: limit, rest: .seconds(10), clock: clock, random: random
        )
    }

    @Test(arguments: [Balance.Policy.roundRobin, .lessBusyOfTwo, .ordered, .sticky { $0.path.string }])
    func `the answer to a nonce is sent to the replica that knows it`(policy: Balance.Policy) async throws {
        let mock = MockLoader { request in
            let host = request.host ?? ""
            if request.headers[.authorization]?.contains("nonce=\"\(host)\"") == true { return .ok(request) }
            return HTTPResponse(
                request: request, status: 401,
                headers: ["WWW-Authenticate": "Digest realm=r, stale=true, nonce=\(host)"])
        }
        let client = HTTPClient(
            environment: ServerEnvironment("https://orders.test"),
            authentication: .digest(user: "ada", password: "secret"), attemptLinks: balance(policy), transport: mock)
        for path in ["a", "b", "c"] as [RequestPath] {
            #expect(try await client.send(Get<HTTPResponse>(path)).status == .ok)
        }
        let hosts = mock.hosts
        for index in hosts.indices where mock.requests[index].headers[.authorization]?.contains(hosts[index]) == false {
            #expect(hosts[index] == hosts[index + 1])
        }
        #expect(hosts[0] == hosts[1])
    }

    // MARK: Choosing

    @Test func `round robin sends to one after the other`() async throws {
        let mock = MockLoader.answering { _ in .ok }
        _ = await (balance() --> mock).outcomes(7)
        #expect(mock.hosts == ["a.test", "b.test", "c.test", "a.test", "b.test", "c.test", "a.test"])
        #expect(mock.requests[2].scheme == "https" && mock.requests[2].port == 8_080 && mock.requests[0].port == nil)
    }

    @Test func `of two replicas, the one with fewer requests in progress receives the next`() async throws {
        let mock = MockLoader { [clock] request in
            if request.host == "a.test" { try await clock.sleep(for: .seconds(1)) }
            return .ok(request)
        }
        let chain = balance(.lessBusyOfTwo, among: ["https://a.test", "https://b.test"]) --> mock
        let slow = Task { await chain.outcome(of: request()) }
        await clock.waitForSleepers(1)
        _ = await chain.outcomes(3)
        #expect(mock.hosts == ["a.test", "b.test", "b.test", "b.test"])
        clock.advance(by: .seconds(1))
        _ = await slow.value
        let next = Task { await chain.outcome(of: request()) }
        await clock.waitForSleepers(1)
        #expect(mock.hosts.last == "a.test")
        clock.advance(by: .seconds(1))
        _ = await next.value
    }

    @Test func `a replica that hangs under a hedge counts as busy until it responds or has rested`() async throws {
        let (hangs, isHeld) = (Flag(true), Flag(true))
        let mock = MockLoader { [clock] request in
            if hangs.value, request.host == "a.test" { try await clock.sleep(for: .seconds(60)) }
            if request.path.string == "/held" { await until { !isHeld.value } }
            return .ok(request)
        }
        // The first of the two is chosen if both are equally busy.
        let balance = balance(.lessBusyOfTwo, among: ["https://a.test", "https://b.test"])
        let hedged = Hedge(after: .fixed(.milliseconds(40)), share: 1, clock: clock) --> balance --> mock
        let plain = balance --> mock
        for _ in 0..<2 { _ = try await clock.run { try await hedged.load(request()) } }
        #expect(mock.hosts == ["a.test", "b.test", "b.test"])
        clock.advance(by: .seconds(10))
        _ = try await clock.run { try await hedged.load(request()) }
        #expect(mock.hosts.suffix(2) == ["a.test", "b.test"])
        hangs.value = false
        let held = Task { await plain.outcome(of: request("/held")) }
        await until { mock.hosts.count == 6 }
        #expect(mock.hosts.last == "b.test")
        // Both are equally busy, so that the replica receives one request and responds.
        _ = await plain.outcomes(1)
        isHeld.value = false
        #expect(await held.value == "200")
        _ = await plain.outcomes(1)
        #expect(mock.hosts.suffix(2) == ["a.test", "a.test"])
    }

    @Test func `a hedge that loses does not make its replica busier`() async throws {
        let isHeld = Flag(true)
        let mock = MockLoader { [clock] request in
            switch request.path.string {
            case "/held": await until { !isHeld.value }
            case "/next": break
            default: try await clock.sleep(for: request.host == "a.test" ? .milliseconds(60) : .seconds(60))
            }
            return .ok(request)
        }
        let balance = balance(.lessBusyOfTwo, among: ["https://a.test", "https://b.test"])
        let hedged = Hedge(after: .fixed(.milliseconds(40)), share: 1, clock: clock) --> balance --> mock
        _ = try await clock.run { try await hedged.load(request()) }
        #expect(mock.hosts == ["a.test", "b.test"])
        let held = Task { await (balance --> mock).outcome(of: request("/held")) }
        await until { mock.hosts.count == 3 }
        // One request is in progress at the first replica, and none at the second.
        #expect(await (balance --> mock).outcome(of: request("/next")) == "200")
        #expect(mock.hosts.suffix(2) == ["a.test", "b.test"])
        isHeld.value = false
        #expect(await held.value == "200")
    }

    @Test func `a streamed response is in progress until its body has ended`() async throws {
        let mock = MockLoader { request in
            let first = Flag(true)
            let body = HTTPResponseBody(length: 1) {
                defer { first.value = false }
                return first.value ? Data("x".utf8) : nil
            }
            return HTTPResponse(request: request, status: .ok, body: body)
        }
        let chain = balance(.lessBusyOfTwo, among: ["https://a.test", "https://b.test"]) --> mock
        let response = try await chain.load(request())
        _ = try await (chain.load(request())).body.data()
        #expect(mock.hosts == ["a.test", "b.test"])
        _ = try await response.body.data()
        _ = try await (chain.load(request())).body.data()
        #expect(mock.hosts.last == "a.test")
    }

    @Test func `weights determine the shares`() async throws {
        let mock = MockLoader.answering { _ in .ok }
        let step = Flag(0)
        let chain =
            balance(
                .weighted, among: [Replica("https://a.test"), Replica("https://b.test", weight: 3)],
                random: {
                    defer { step.value += 1 }
                    return Double(step.value % 100) / 100
                }) --> mock
        _ = await chain.outcomes(100)
        #expect(mock.hosts.count { $0 == "b.test" } == 75)
    }

    @Test func `a key stays at its replica, and only the keys of a failing one move`() async throws {
        let down = Flag("")
        let mock = MockLoader { request in
            if request.host == down.value { throw HTTPError(.cannotConnect, request: request, mayHaveBeenSent: false) }
            return .ok(request)
        }
        let chain = balance(.sticky { $0.headers["X-Tenant"] ?? "" }, restingAfter: 1) --> mock
        func homes() async throws -> [String] {
            var homes: [String] = []
            for tenant in 0..<60 {
                var request = request()
                request.headers["X-Tenant"] = "tenant \(tenant)"
                _ = try await chain.load(request)
                homes.append(mock.hosts.last ?? "")
            }
            return homes
        }
        let before = try await homes()
        #expect(try await homes() == before)
        for host in ["a.test", "b.test", "c.test"] { #expect(before.count { $0 == host } > 5) }
        down.value = "b.test"
        let after = try await homes()
        for (old, new) in zip(before, after) { #expect(old == "b.test" ? new != "b.test" : new == old) }
    }

    @Test func `ordered prefers the first replica that is well`() async throws {
        let down = Flag(true)
        let mock = MockLoader { request in
            if down.value, request.host == "a.test" {
                throw HTTPError(.cannotConnect, request: request, mayHaveBeenSent: false)
            }
            return .ok(request)
        }
        let balance = balance(.ordered, restingAfter: 1)
        let chain = balance --> mock
        #expect(await chain.outcomes(2) == ["200", "200"])
        #expect(mock.hosts == ["a.test", "b.test", "b.test"])
        #expect(balance.resting.map(\.host) == ["a.test"])
        down.value = false
        clock.advance(by: .seconds(10))
        #expect(await chain.outcomes(2) == ["200", "200"])
        #expect(mock.hosts.suffix(2) == ["a.test", "a.test"] && balance.resting.isEmpty)
    }

    @Test func `a new list applies to the next request, and keeps what is known`() async throws {
        let mock = MockLoader.answering { $0.host == "a.test" ? .badGateway : .ok }
        let balance = balance(.ordered, restingAfter: 1)
        let chain = balance --> mock
        _ = await chain.outcomes(1)
        balance.replicas = ["https://a.test", "https://d.test"]
        _ = await chain.outcomes(1)
        #expect(mock.hosts == ["a.test", "d.test"] && balance.resting.map(\.host) == ["a.test"])
        #expect("\(balance)" == "Balance(2, ordered)")
    }

    // MARK: Failing replicas

    @Test func `the attempts of a load are sent to different replicas while others are left`() async throws {
        let mock = MockLoader.answering { _ in .badGateway }
        let settings = Backoff(.immediate, maximumRetries: 5, clock: clock)
        // A random source that would always choose the first two.
        let chain = Retry(settings) --> balance(.lessBusyOfTwo) --> mock
        #expect(await chain.outcome(of: request()) == "502")
        #expect(Set(mock.hosts.prefix(3)) == ["a.test", "b.test", "c.test"] && mock.hosts.count == 6)
    }

    @Test func `a request that is sent again has its full choice`() async throws {
        let mock = MockLoader.answering { $0.host == "a.test" ? .badGateway : .ok }
        let client = HTTPClient(
            retrying: Backoff(.immediate, maximumRetries: 1, clock: clock),
            attemptLinks: balance(.ordered, restingAfter: 100), transport: mock)
        let response = try await client.send(request())
        try await client.send(response.request)
        #expect(mock.hosts == ["a.test", "b.test", "a.test", "b.test"])
    }

    @Test(arguments: [HTTPError.Code.circuitOpen, .cannotConnect, .queueFull])
    func `if nothing was sent, the next replica is tried at once, with any method`(_ code: HTTPError.Code) async throws
    {
        let mock = MockLoader { request in
            if request.host != "c.test" { throw HTTPError(code, request: request, mayHaveBeenSent: false) }
            return .ok(request)
        }
        let chain = balance() --> mock
        #expect(await chain.outcome(of: request(method: .post)) == "200")
        #expect(mock.hosts == ["a.test", "b.test", "c.test"])
    }

    @Test func `if no replica can be reached, the last error is returned`() async throws {
        let mock = MockLoader { throw HTTPError(.cannotConnect, request: $0, mayHaveBeenSent: false) }
        let error = await #expect(throws: HTTPError.self) { try await (balance() --> mock).load(request()) }
        #expect(error?.code == .cannotConnect && mock.hosts.count == 3)
        #expect(error?.request.origin == logical && error?.mayHaveBeenSent == false)
    }

    @Test func `what may have been sent is not sent again by this link`() async throws {
        let mock = MockLoader { throw HTTPError(.connectionLost, request: $0) }
        #expect(await (balance() --> mock).outcome(of: request(method: .post)) == "connectionLost")
        #expect(mock.hosts.count == 1)
    }

    @Test func `a replica that fails in a row rests, and one request finds out whether it is well`() async throws {
        let state = Flag("down")
        let mock = MockLoader { [clock] request in
            guard request.host == "a.test" else { return .ok(request) }
            switch state.value {
            case "down": return HTTPResponse(request: request, status: .badGateway)
            case "slow": try await clock.sleep(for: .seconds(1))
            default: break
            }
            return .ok(request)
        }
        let chain = balance(.ordered, among: ["https://a.test", "https://b.test"]) --> mock
        #expect(await chain.outcomes(5) == ["502", "502", "502", "200", "200"])
        clock.advance(by: .seconds(10))
        // The probe fails: the replica rests again at once.
        #expect(await chain.outcomes(2) == ["502", "200"])
        clock.advance(by: .seconds(10))
        state.value = "slow"
        let cancelled = Task { await chain.outcome(of: request()) }
        await clock.waitForSleepers(1)
        #expect(await chain.outcomes(2) == ["200", "200"])
        #expect(mock.hosts.suffix(2) == ["b.test", "b.test"])
        // A cancelled probe makes room for the next one, after another rest.
        cancelled.cancel()
        #expect(await cancelled.value == "cancelled")
        state.value = "well"
        #expect(await chain.outcomes(2) == ["200", "200"])
        #expect(mock.hosts.suffix(2) == ["b.test", "b.test"])
        clock.advance(by: .seconds(10))
        _ = await chain.outcomes(2)
        #expect(mock.hosts.suffix(2) == ["a.test", "a.test"])
    }

    @Test func `if all replicas rest, all are used`() async throws {
        let mock = MockLoader.answering { _ in .badGateway }
        let balance = balance(restingAfter: 1)
        let chain = balance --> mock
        _ = await chain.outcomes(9)
        #expect(balance.resting.count == 3)
        for host in ["a.test", "b.test", "c.test"] { #expect(mock.hosts.count { $0 == host } == 3) }
        await chain.reset()
        #expect(balance.resting.isEmpty)
    }
}
