// SPDX-License-Identifier: MIT
import Foundation
@testable import Letterhead
import LetterheadTesting
import Synchronization
import TestKit
import Testing

private let api = URL(string: "https://api.example.com/me") ?? URL(filePath: "/")
private let home = ApplyEnvironment(ServerEnvironment(baseURL: api))

/// Answers 200 to the tokens that are good, 401 to all others.
private func server(good: CredentialGate.Tokens) -> MockLoader {
    MockLoader { request in
        let token = request.headers["Authorization"]?.split(separator: " ").last.map(String.init)
        return HTTPResponse(request: request, status: good.contains(token) ? .ok : .unauthorized)
    }
}

@Suite(.timeLimit(.minutes(3))) struct SharedCredentialTests {
    @Test func `ten waiting requests call the provider once`() async throws {
        let gate = CredentialGate()
        let mock = server(good: gate.tokens)
        let chain = home --> Authenticate(.bearer { _ in await gate.next() }) --> mock
        let loads = (0..<10).map { _ in Task { try await chain.load(HTTPRequest(url: api)).status } }
        try await gate.opened(after: 1)
        gate.tokens.insert("t1")
        gate.give("t1")
        for load in loads { #expect(try await load.value == .ok) }
        #expect(gate.asked == 1)
    }

    @Test func `a provider may await the reset of its chain`() async throws {
        let whole = Observed<(any HTTPLoader)?>(nil)
        let mock = MockLoader { .ok($0) }
        let ask = HTTPAuthentication.bearer { _ in
            await whole.value?.reset()
            return nil
        }
        let chain = ResetGuard() --> Autocancel() --> home --> Authenticate(ask) --> mock
        whole.change { $0 = chain }
        #expect(await failure { try await chain.load(HTTPRequest(url: api)) }?.code == .cancelled)
        whole.change { $0 = nil }
        #expect(mock.requests.isEmpty)
    }

    /// A client whose provider sends something over the client itself.
    private func client(
        _ holder: Observed<HTTPClient?>, _ mock: MockLoader,
        login: @escaping @Sendable (HTTPClient?) async throws -> Void
    ) -> HTTPClient {
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: api),
            authentication: .bearer { _ in
                try await login(holder.value)
                return "t"
            }, transport: mock)
        holder.change { $0 = client }
        return client
    }

    @Test func `a provider that sends over its own client fails, and the error names the remedy`() async throws {
        let (holder, mock) = (Observed<HTTPClient?>(nil), MockLoader { .ok($0) })
        let client = client(holder, mock) { _ = try await $0?.send(Get<String>("login")) }
        defer { holder.change { $0 = nil } }
        let error = await #expect(throws: HTTPError.self) { try await client.send(Get<String>("me")) }
        #expect(error?.code == .cannotAuthenticate && error?.description.contains("send it to need.next") == true)
        #expect(
            ((error?.underlying as? HTTPError)?.underlying as? HTTPAuthentication.Failure)?.reason == .misconfigured)
        #expect(mock.requests.isEmpty)
    }

    @Test func `a provider may send anonymous requests over its own client`() async throws {
        let (holder, mock) = (Observed<HTTPClient?>(nil), MockLoader { .ok($0) })
        let login = TestEndpoint<HTTPResponse>("login").authenticated(by: .anonymous)
        let client = client(holder, mock) { _ = try await $0?.send(login) }
        defer { holder.change { $0 = nil } }
        _ = try await client.send(TestEndpoint<HTTPResponse>("me"))
        #expect(mock.requests.map { $0.headers[.authorization] } == [nil, "Bearer t"])
    }

    @Test func `a provider that returns nil fails all waiting requests before anything is sent`() async throws {
        let gate = CredentialGate()
        let mock = server(good: gate.tokens)
        let chain = home --> Authenticate(.bearer { _ in await gate.next() }) --> mock
        let loads = (0..<3).map { _ in Task { await failure { try await chain.load(HTTPRequest(url: api)) } } }
        try await gate.opened(after: 1)
        for _ in loads { gate.give(nil) }  // One for each: a load that begins after the others failed asks again.
        for load in loads { #expect(await load.value?.code == .cannotAuthenticate) }
        #expect(mock.requests.isEmpty)
    }

    @Test func `a 401 for a stored credential calls the provider once more, and marks it as refused`() async throws {
        let asked = Mutex<[Bool]>([])
        let mock = StubLoader().on(.any(), inOrder: .status(.unauthorized), .status(.ok))
        let basic = HTTPAuthentication.basic { need in
            asked.withLock { $0.append(need.isRefused) }
            return (username: need.isRefused ? "new" : "old", password: "p")
        }
        let response = try await (home --> Authenticate(basic) --> mock).load(HTTPRequest(url: api))
        #expect(response.status == .ok)
        #expect(asked.withLock { $0 } == [false, true])
        #expect(mock.requests.map { $0.headers["Authorization"] } == ["Basic b2xkOnA=", "Basic bmV3OnA="])
    }

    @Test func `a failed refresh does not count as a 401`() async throws {
        let needs = Journal()
        let provider = FailingRefresh(needs: needs)
        let chain = home --> Authenticate(.shared(provider)) --> MockLoader { .ok($0) }
        for _ in 1...3 { _ = await failure { try await chain.load(HTTPRequest(url: api)) } }
        #expect(needs.all == ["none false", "t1 false", "t1 false"])
    }

    @Test func `cancelling one waiting request cancels no other`() async throws {
        let gate = CredentialGate()
        gate.tokens.insert("t1")
        let chain = home --> Authenticate(.bearer { _ in await gate.next() }) --> server(good: gate.tokens)
        let first = Task { await failure { try await chain.load(HTTPRequest(url: api)) } }
        try await gate.opened(after: 1)
        let second = Task { try await chain.load(HTTPRequest(url: api)).status }
        first.cancel()
        #expect(await first.value?.code == .cancelled)
        gate.give("t1")
        #expect(try await second.value == .ok)
        #expect(gate.asked == 1)
    }

    @Test func `a provider's error is the underlying error, and the next request calls it again`() async throws {
        let counter = Atomic(0)
        let bearer = HTTPAuthentication.bearer { _ in
            guard counter.add(1, ordering: .relaxed).newValue > 1 else { throw Broken() }
            return "t"
        }
        let chain = home --> Authenticate(bearer) --> MockLoader { HTTPResponse(request: $0, status: .ok) }
        let error = await failure { try await chain.load(HTTPRequest(url: api)) }
        #expect(error?.code == .cannotAuthenticate && error?.underlying is Broken && error?.mayHaveBeenSent == false)
        #expect(try await chain.load(HTTPRequest(url: api)).status == .ok)
    }

    @Test func `requests that wait for credentials whose request is cancelled are cancelled, too`() async throws {
        let bearer = HTTPAuthentication.bearer { need in throw HTTPError(.cancelled, request: need.request) }
        let chain = home --> Authenticate(bearer) --> MockLoader { HTTPResponse(request: $0, status: .ok) }
        let error = await failure { try await chain.load(HTTPRequest(url: api)) }
        #expect(error?.code == .cancelled && error?.mayHaveBeenSent == false)
        #expect((error?.underlying as? HTTPError)?.code == .cancelled)
    }

    @Test func `a failure after a 401 contains the 401`() async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: .unauthorized) }
        let bearer = HTTPAuthentication.bearer { need in
            if need.isRefused { throw Broken() }
            return "t"
        }
        let error = await failure { try await (home --> Authenticate(bearer) --> mock).load(HTTPRequest(url: api)) }
        #expect(error?.code == .cannotAuthenticate && error?.response?.status == .unauthorized)
    }

    @Test func `a reset fails all waiting requests, and the next request calls the provider again`() async throws {
        let gate = CredentialGate()
        gate.tokens.insert("t2")
        let mock = server(good: gate.tokens)
        let chain = home --> Authenticate(.bearer { _ in await gate.next() }) --> mock
        let waiting = Task { await failure { try await chain.load(HTTPRequest(url: api)) } }
        try await gate.opened(after: 1)
        await chain.reset()
        #expect(await waiting.value?.code == .cancelled)
        #expect(mock.requests.isEmpty)
        let next = Task { try await chain.load(HTTPRequest(url: api)).status }
        try await gate.opened(after: 2)
        gate.give("t2")
        #expect(try await next.value == .ok)
    }

    @Test func `a request from before a reset is not sent again as another user`() async throws {
        let gate = CredentialGate()
        let (arrived, answer) = (CredentialBell(), CredentialBell())
        let mock = MockLoader { request in
            arrived.ring()
            await answer.wait()
            return HTTPResponse(request: request, status: .unauthorized)
        }
        let chain = home --> Authenticate(.bearer { _ in await gate.next() }) --> mock
        gate.give("old")
        let load = Task { await failure { try await chain.load(HTTPRequest(url: api)) } }
        await arrived.wait()
        await chain.reset()
        gate.give("new")
        answer.ring()
        #expect(await load.value?.code == .cancelled)
        #expect(mock.requests.count == 1)
    }

    @Test func `two concurrent resets both return, and the chain works afterwards`() async throws {
        let chain =
            home --> Authenticate(.bearer { _ in "t" }) --> MockLoader { HTTPResponse(request: $0, status: .ok) }
        async let first: Void = chain.reset()
        async let second: Void = chain.reset()
        _ = await (first, second)
        #expect(try await chain.load(HTTPRequest(url: api)).status == .ok)
    }

    @Test func `a request waits no longer than its deadline, and the others continue to wait`() async throws {
        let (gate, clock) = (CredentialGate(), TestClock())
        gate.tokens.insert("t1")
        let bearer = HTTPAuthentication.bearer(clock: clock) { _ in await gate.next() }
        let chain = Deadline(clock: clock) --> home --> Authenticate(bearer) --> server(good: gate.tokens)
        let hurried = HTTPRequest(url: api).with { $0.deadline = .seconds(5) }
        let first = Task { [hurried] in await failure { try await chain.load(hurried) } }
        try await gate.opened(after: 1)
        let second = Task { try await chain.load(HTTPRequest(url: api)).status }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        #expect(await first.value?.code == .timedOut)
        gate.give("t1")
        #expect(try await second.value == .ok)
    }
}

private struct Broken: Error {}

/// Provides a credential that expires at once, and no other.
private struct FailingRefresh: CredentialProvider {
    let needs: Journal

    func credential(for need: HTTPAuthentication.Need<Secret>) async throws -> Secret? {
        needs.write("\(need.previous?.reveal() ?? "none") \(need.isRefused)")
        if need.previous != nil { throw Broken() }
        return "t1"
    }

    func sign(_ request: inout HTTPRequest, with credential: Secret) throws {}

    func freshness(of credential: Secret, for request: HTTPRequest) -> HTTPAuthentication.Freshness { .expired }
}
