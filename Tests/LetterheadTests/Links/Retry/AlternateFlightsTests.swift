// SPDX-License-Identifier: MIT
@testable import Letterhead
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// A service whose token can be held back. A class, because the test and the chain share it.
private final class TokenService: HTTPLoader {
    private struct State {
        var token = 1
        var refreshes = 0
        var waiting = 0
        var isOpen = false
    }

    private let state = Mutex(State())
    var refreshes: Int { state.withLock { $0.refreshes } }
    /// How many were refused and have not gone again.
    var refused: Int { state.withLock { $0.waiting } }

    func expire() { state.withLock { $0.token += 1 } }
    func open() { state.withLock { $0.isOpen = true } }
    func close() { state.withLock { $0.isOpen = false } }

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        guard request.path == "/token" else {
            let isRight = state.withLock { state in
                let isRight = request.headers["Authorization"] == "\(state.token)"
                state.waiting += isRight ? 0 : 1
                return isRight
            }
            return HTTPResponse(request: request, status: isRight ? 200 : 401)
        }
        state.withLock { $0.refreshes += 1 }
        while !state.withLock({ $0.isOpen }) {
            if Task.isCancelled { throw HTTPError(.cancelled, request: request) }
            await Task.yield()
        }
        return HTTPResponse(
            request: request, status: 200, headers: ["X-Token": "\(state.withLock { $0.token })"])
    }
}

@Suite(.timeLimit(.minutes(3))) struct AlternateFlightsTests {
    private let service = TokenService()
    private let heard = Journal()
    private let sharing = HTTPRetryStrategy.Sharing()

    private func chain(
        _ clock: TestClock = TestClock(isAutomatic: true),
        key: @escaping @Sendable (HTTPRequest) -> String = { _ in "" }
    ) -> any HTTPLoader { Deadline(clock: clock) --> retry(clock, key: key) --> service }

    private func retry(
        _ clock: TestClock = TestClock(isAutomatic: true),
        key: @escaping @Sendable (HTTPRequest) -> String = { _ in "" }
    ) -> Retry {
        let refresh = AltRequestValidator(
            key: key, request: { _, _ in .plain(.post) { $0.path = "/token" } },
            onResponse: { [heard] original, answer in
                heard.write(original.headers["X-Load"] ?? "")
                original.headers["Authorization"] = answer.headers["X-Token"]
            }, onError: { [heard] error in heard.write("\(error)") })
        return Retry(validators: [refresh], Retry.Settings(maximumRetries: 1, clock: clock))
    }

    private func start(
        _ chain: any HTTPLoader, _ name: String, _ configure: (inout HTTPRequest) -> Void = { _ in }
    ) -> Task<Result<HTTPResponse, HTTPError>, Never> {
        var request = HTTPRequest.plain(.post)
        request.headers["X-Load"] = name
        configure(&request)
        return Task { [request] in
            do throws(HTTPError) { return .success(try await chain.load(request)) } catch { return .failure(error) }
        }
    }

    @Test func `twenty loads that are refused at once send one refresh, and each is called with its own original`()
        async
    {
        let chain = chain()
        let tasks = (1...20).map { start(chain, "\($0)") }
        await until { [service] in service.refused == 20 && service.refreshes == 1 }
        service.open()
        for task in tasks { #expect(await task.value.status == 200) }
        #expect(service.refreshes == 1)
        #expect(Set(heard.all) == Set((1...20).map(String.init)) && heard.all.count == 20)
    }

    @Test func `a cancelled load does not end the refresh of the others, and the last one does`() async {
        let retry = retry()
        let chain = retry --> service
        let (one, other) = (start(chain, "1"), start(chain, "2"))
        // Who is refused does not wait yet: were the first alone, its leaving would end the refresh.
        await until { [service] in retry.flights.waiting == 2 && service.refreshes == 1 }
        one.cancel()
        #expect(await one.value.code == .cancelled)
        service.open()
        #expect(await other.value.status == 200)
        #expect(service.refreshes == 1)
    }

    @Test func `the last cancelled load ends the refresh, and the next load starts a new one`() async {
        let chain = chain()
        let one = start(chain, "1")
        await until { [service] in service.refreshes == 1 }
        one.cancel()
        #expect(await one.value.code == .cancelled)
        service.open()
        #expect(await start(chain, "2").value.status == 200)
        #expect(service.refreshes == 2 && heard.all == ["2"])
    }

    @Test func `an attempt that began before a refresh ended uses its response`() async throws {
        let held = Mutex(true)
        let slow = Tally()
        let refresh = AltRequestValidator(
            request: { _, _ in .plain(.post) { $0.path = "/token" } },
            onResponse: { original, answer in original.headers["Authorization"] = answer.headers["X-Token"] })
        let gate = AnyLoader { [service] request in
            if request.headers["X-Load"] == "slow", slow.next() == 1 {
                while held.withLock({ $0 }) { await Task.yield() }
            }
            return try await service.load(request)
        }
        let chain = Retry(validators: [refresh], Retry.Settings(maximumRetries: 1)) --> gate
        service.open()
        let late = start(chain, "slow")
        await until { slow.value == 1 }
        #expect(await start(chain, "1").value.status == 200)
        held.withLock { $0 = false }
        #expect(await late.value.status == 200)
        #expect(service.refreshes == 1)
        service.expire()
        #expect(await start(chain, "2").value.status == 200)
        #expect(service.refreshes == 2)
    }

    @Test func `loads with another key have a separate refresh`() async {
        let chain = chain(key: { $0.headers["X-User"] ?? "" })
        let tasks = ["a", "b", "a", "b"].map { user in start(chain, user) { $0.headers["X-User"] = user } }
        await until { [service] in service.refused == 4 && service.refreshes == 2 }
        service.open()
        for task in tasks { #expect(await task.value.status == 200) }
        #expect(service.refreshes == 2)
    }

    @Test func `a load whose deadline passes first is timedOut`() async {
        let clock = TestClock()
        let chain = chain(clock)
        let hasty = start(chain, "hasty") { $0.deadline = .seconds(1) }
        let patient = start(chain, "patient")
        await until { [service] in service.refused == 2 && service.refreshes == 1 }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        #expect(await hasty.value.code == .timedOut)
        service.open()
        #expect(await patient.value.status == 200)
    }

    @Test func `a reset ends the refresh and the loads that wait for it, and later loads work`() async {
        let chain = chain()
        let task = start(chain, "1")
        await until { [service] in service.refreshes == 1 }
        await chain.reset()
        #expect(await task.value.code == .cancelled && heard.all == [])
        service.open()
        #expect(await start(chain, "2").value.status == 200)
    }

    @Test func `two validators do not share`() async {
        let first = HTTPRetryStrategy.Sharing()
        #expect(heard.all.isEmpty && first.forKey("a").key == first.forKey("a").key)
        #expect(first.key != HTTPRetryStrategy.Sharing().key && first.forKey("a").key != first.forKey("b").key)
    }

    private func outcome(
        _ flights: AlternateFlights, _ name: String, since mark: AlternateFlights.Mark, status: Int = 200
    ) async throws -> HTTPStatus? {
        let key = AlternateFlights.Key(sharing: sharing.forKey(name).key, identity: RequestIdentity(HTTPRequest()))
        let outcome = await flights.outcome(of: key, since: mark, within: nil) {
            .success(HTTPResponse(request: HTTPRequest(), status: HTTPStatus(status)))
        }
        guard case .value(let value) = outcome else { return nil }
        return try value.answer.get().status
    }

    @Test func `the last response is used by the attempts that began before it, and stored while attempts run`()
        async throws
    {
        let flights = AlternateFlights(clock: ContinuousClock())
        let first = flights.begin()
        for number in 0..<3 {
            let attempt = flights.begin()
            #expect(try await outcome(flights, "a", since: attempt, status: 201 + number) == .init(201 + number))
            flights.end(attempt)
        }
        let second = flights.begin()
        #expect(try await outcome(flights, "a", since: first, status: 500) == .init(203))
        #expect(try await outcome(flights, "b", since: first, status: 204) == .init(204))
        #expect(try await outcome(flights, "a", since: second, status: 205) == .init(205))
        flights.end(first)
        #expect(flights.answerCount == 2)
        flights.end(second)
        #expect(flights.answerCount == 0)
    }

    @Test func `a response stays as long as an attempt that began before it`() async throws {
        let flights = AlternateFlights(clock: ContinuousClock())
        let (first, twin) = (flights.begin(), flights.begin())
        for number in 0..<100 { _ = try await outcome(flights, "\(number)", since: first) }
        let second = flights.begin()
        #expect(try await outcome(flights, "later", since: second, status: 201) == .init(201))
        flights.end(first)
        #expect(flights.answerCount == 101)
        flights.end(twin)
        #expect(flights.answerCount == 1)
        #expect(try await outcome(flights, "later", since: second, status: 202) == .init(201))
        flights.end(second)
        #expect(flights.answerCount == 0)
    }

    @Test func `many attempts end beside an early one, in linear time`() async throws {
        let flights = AlternateFlights(clock: ContinuousClock())
        let early = flights.begin()
        let attempts = (0..<20_000).map { _ in flights.begin() }
        for number in 0..<20_000 { _ = try await outcome(flights, "\(number)", since: nil) }
        let later = flights.begin()
        for attempt in attempts { flights.end(attempt) }
        #expect(flights.answerCount == 20_000)
        flights.end(early)
        #expect(flights.answerCount == 0)
        flights.end(later)
    }

    @Test func `an attempt that began before a reset receives no response from after it`() async throws {
        let flights = AlternateFlights(clock: ContinuousClock())
        let early = flights.begin()
        _ = try await outcome(flights, "a", since: early, status: 201)
        flights.reset()
        #expect(flights.answerCount == 0)
        let late = flights.begin()
        #expect(try await outcome(flights, "a", since: late, status: 202) == .init(202))
        #expect(try await outcome(flights, "a", since: early, status: 203) == .init(203))
    }

    @Test func `no response is stored when all loads have ended`() async {
        let retry = retry()
        service.open()
        for number in 1...3 {
            service.expire()
            #expect(await start(retry --> service, "\(number)").value.status == 200)
        }
        #expect(retry.flights.answerCount == 0)
    }
}
