// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RequestPlanTests {
    struct User: Codable, Sendable, Equatable {
        var login: String
    }

    struct GetUser: RequestTemplate {
        typealias Response = User
        let login: String
        var path: RequestPath { "users/\(login)" }
    }

    struct ListFollowers: RequestTemplate {
        typealias Response = [User]
        let login: String
        var path: RequestPath { "users/\(login)/followers" }
    }

    private func client(
        _ transport: some HTTPLoader, clock: any Clock<Duration> = ContinuousClock(), observers: [any HTTPObserver] = []
    ) -> HTTPClient {
        HTTPClient(
            environment: .of("https://a.test"), retrying: Retry.Settings(clock: clock), observers: observers,
            transport: transport)
    }

    private func stubs() -> StubLoader {
        let stubs = StubLoader()
        stubs.on(GetUser.self, times: .any) { User(login: $0.login) }
        stubs.on(ListFollowers.self, times: .any) { [User(login: "follower of \($0.login)")] }
        return stubs
    }

    @Test func `one request after the other, in any length, with closures of several statements`() async throws {
        let (stubs, plan) = (
            stubs(),
            GetUser(login: "ada").then { user in
                let login = user.login + "!"
                return ListFollowers(login: login)
            }.then { list in
                let first = list.first?.login ?? ""
                return GetUser(login: first)
            }
        )
        #expect(try await client(stubs).send(plan).login == "follower of ada!")
        #expect(stubs.calls.count == 3)
        let nested = GetUser(login: "ada").then { user in
            GetUser(login: "grace").and(ListFollowers(login: user.login))
        }
        let (user, list) = try await client(stubs).send(nested)
        #expect(user.login == "grace" && list.map(\.login) == ["follower of ada"])
    }

    @Test func `both at once, and the first failure cancels the other one`() async throws {
        let held = HeldLoader()
        let waiting = Task { [client = client(held)] in
            try await client.send(Endpoint("a").and(Endpoint("b")).and(Endpoint("c")))
        }
        await held.waitForRunning(3)
        held.open()
        let ((a, _), c) = try await waiting.value
        #expect(a.request.path.string == "/a" && c.request.path.string == "/c")
        for failing in ["a", "b"] {
            let held = HeldLoader()
            let loader = AnyLoader { request in
                if request.path.string == "/\(failing)" {
                    await held.waitForRunning(1)
                    throw HTTPError(.cannotConnect, request: request)
                }
                return try await held.load(request)
            }
            let error = await #expect(throws: HTTPError.self) {
                try await client(loader).send(Endpoint("a").and(Endpoint("b")))
            }
            #expect(error?.code == .cannotConnect && held.running == 0)
        }
    }

    @Test func `the next request if the first fails, but not after a cancellation`() async throws {
        let mock = MockLoader { request in
            request.path.string == "/c" ? .ok(request) : HTTPResponse(request: request, status: .notFound)
        }
        let plan = Endpoint("a").or(Endpoint("b")).or(Endpoint("c")).or(Endpoint("d"))
        #expect(try await client(mock).send(plan).request.path.string == "/c")
        #expect(mock.requests.map(\.path.string) == ["/a", "/b", "/c"])
        let error = await #expect(throws: HTTPError.self) {
            try await client(mock).send(Endpoint("a").or(Endpoint("b")))
        }
        #expect(error?.request.path.string == "/b")
        let held = HeldLoader()
        let task = Task { [client = client(held)] in try await client.send(Endpoint("a").or(Endpoint("b"))) }
        await held.waitForRunning(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(held.started == ["/a"])
    }

    @Test func `an error of a closure ends the plan`() async {
        struct NoFollowers: Error {}
        let stubs = stubs()
        await #expect(throws: NoFollowers.self) {
            try await client(stubs).send(
                GetUser(login: "ada").then { _ -> ListFollowers in throw NoFollowers() })
        }
        #expect(stubs.calls.count == 1)
    }

    @Test func `a reset ends the plan, and nothing else is sent`() async throws {
        for isAlternative in [false, true] {
            let held = HeldLoader()
            let client = client(held)
            let plan = isAlternative ? Endpoint("a").or(Endpoint("b")) : Endpoint("a").then { _ in Endpoint("b") }
            let task = Task { try await client.send(plan) }
            await held.waitForRunning(1)
            await client.reset()
            let error = await #expect(throws: HTTPError.self) { try await task.value }
            #expect(error?.code == .cancelled && held.started == ["/a"])
        }
    }

    @Test func `a client that is reset between two requests of a plan sends no second one`() async throws {
        let mock = MockLoader { .ok($0) }
        let client = client(mock)
        let error = await #expect(throws: HTTPError.self) {
            try await client.send(
                Endpoint("a").then { _ in
                    await client.reset()
                    return Endpoint("b")
                })
        }
        #expect(error?.code == .cancelled && mock.requests.count == 1)
    }

    @Test(arguments: [true, false])
    func `one deadline limits the whole plan`(isOfClient: Bool) async throws {
        let clock = TestClock(isAutomatic: true)
        let mock = MockLoader(clock: clock) { request in
            try await clock.sleep(for: .seconds(3))
            return .ok(request)
        }
        let base = client(mock, clock: clock)
        let limited = isOfClient ? base.deadline(in: .seconds(5)) : base
        let plan = Endpoint("a").then { _ in Endpoint("b") }
        let error = await #expect(throws: HTTPError.self) {
            try await limited.send(isOfClient ? plan : plan.deadline(in: .seconds(5)))
        }
        #expect(error?.code == .timedOut && error?.request.path.string == "/b" && mock.requests.count == 2)
        let refused = await #expect(throws: HTTPError.self) { try await base.send(plan.deadline(in: .zero)) }
        #expect(refused?.code == .invalidRequest && mock.requests.count == 2)
    }

    @Test func `observers see the requests of a plan as one group`() async throws {
        let events = Mutex<[HTTPEvent]>([])
        struct Recorder: HTTPObserver {
            let body: @Sendable (HTTPEvent) -> Void
            func record(_ event: HTTPEvent) { body(event) }
        }
        let recorder = Recorder { event in events.withLock { $0.append(event) } }
        _ = try await client(stubs(), observers: [recorder]).send(
            GetUser(login: "ada").then { ListFollowers(login: $0.login) })
        let starts = events.withLock { $0.filter { $0.name == .loadStart } }
        #expect(starts.count == 2 && starts[1].parent == starts[0].load && starts[1][.kind] == "part")
        events.withLock { $0 = [] }
        _ = try await client(stubs(), observers: [recorder]).send(
            GetUser(login: "a").and(GetUser(login: "b")).and(GetUser(login: "c")))
        #expect(events.withLock { $0.count { $0.name == .loadStart && $0.parent == nil } } == 1)
    }
}
