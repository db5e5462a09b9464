// SPDX-License-Identifier: MIT
import Foundation
import LetterheadResilience
import LetterheadTesting
import TestKit
import Testing

@testable import Letterhead
import LetterheadStreaming

/// A transport that ends the requests of a client that was reset.
private struct EndsItsRequests: HTTPLoader {
    var endsItsRequests: Bool { true }

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse { .ok(request) }
}

/// A reset of a client. Its links and transport end what they hold, without a task for each request.
@Suite(.timeLimit(.minutes(3))) struct ClientResetTests {
    let gate = OneShot<Void>()
    let reached = OneShot<Void>()

    private func client(
        _ server: MockServer, validators: [any HTTPValidator] = [DefaultValidator()], links: (any LoaderLink)? = nil,
        attemptLinks: (any LoaderLink)? = nil, observers: [any HTTPObserver] = [], retrying: Backoff = Backoff()
    ) -> HTTPClient {
        HTTPClient(
            environment: ServerEnvironment(baseURL: server.url), validators: validators,
            retrying: retrying, links: links, attemptLinks: attemptLinks, observers: observers,
            transport: HTTPClient.makeTransport(TransportConfiguration()))
    }

    func expectCancelled<Value: Sendable>(_ load: Task<Value, any Error>) async {
        #expect(await failure { try await load.value }?.code == .cancelled && !load.isCancelled)
    }

    /// Resets a client while a validator looks at the response, which waits regardless of a cancellation, as code of a
    /// caller may. Requires that the load ends with `.cancelled`, and that the client works afterwards.
    private func expectTooLate<Value: Sendable>(
        status: HTTPStatus = 200, asksForRetry: Bool = false,
        _ send: @escaping @Sendable (HTTPClient) async throws -> Value
    ) async throws {
        let server = try await MockServer.start { _ in MockServer.Response(status: status, body: Data("a".utf8)) }
        let (reached, gate) = (reached, gate)
        let waiting = ClosureValidator(response: { _, _ in
            reached.set(())
            await gate.value
            return asksForRetry ? .retry(.immediate) : .nextValidator
        })
        let client = client(server, validators: [waiting], retrying: Backoff(maximumRetries: asksForRetry ? 3 : 0))
        let load = Task { try await send(client) }
        await reached.value
        await client.reset()
        gate.set(())
        await expectCancelled(load)
        #expect(server.requests.count == 1)
        _ = try? await client.send(Get<String>("a"))
        #expect(server.requests.count > 1)
    }

    @Test(arguments: [true, false])
    func `a reset does not wait for a validator, and what it decides is too late`(asksForRetry: Bool) async throws {
        try await expectTooLate(asksForRetry: asksForRetry) { try await $0.send(Get<String>("a")) }
    }

    @Test(arguments: [200, 500])
    func `a template receives nothing of the previous user but .cancelled`(status: Int) async throws {
        let ends = Journal()
        try await expectTooLate(status: HTTPStatus(status)) { try await $0.send(Recorded(ends: ends)) }
        #expect(ends.all == ["cancelled"])
    }

    @Test func `a download that a reset overtakes leaves no file`() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "saved")
        try await expectTooLate { try await $0.download(TestEndpoint<HTTPResponse>("a"), to: file) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    /// Records what the load of the template ends with.
    private struct Recorded: RequestTemplate {
        let ends: Journal
        var path: RequestPath { "a" }

        func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
            switch result {
            case .success(let response): ends.write("\(response.status.code)")
            case .failure(let error): ends.write(error.code.rawValue)
            }
            return try result.get()
        }

        func decode(_ response: HTTPResponse) async throws -> String {
            ends.write("decoded")
            return ""
        }
    }

    @Test func `what ends with a generation ends at once if that has ended`() {
        let client = ClientIdentity()
        let (generation, ends) = (client.generation, Journal())
        let remove = generation.onEnd { ends.write("kept") }
        generation.onEnd { ends.write("removed") }()
        client.endGeneration()
        #expect(ends.all == ["kept"])
        remove()
        generation.onEnd { ends.write("late") }()
        #expect(ends.all == ["kept", "late"])
        client.endGeneration()
        #expect(ends.all == ["kept", "late"])
    }

    @Test func `a request whose environment arrives after a reset is not sent`() async throws {
        let server = try await MockServer.start { _ in .text("a") }
        let (reached, gate) = (reached, gate)
        let client = HTTPClient(
            environment: .provided { _ in
                reached.set(())
                await gate.value
                return ServerEnvironment(baseURL: server.url)
            }, transport: HTTPClient.makeTransport(TransportConfiguration()))
        let load = Task { try await client.send(Get<String>("a")) }
        await reached.value
        await client.reset()
        gate.set(())
        await expectCancelled(load)
        #expect(server.requests.isEmpty)
        #expect(try await client.send(Get<String>("a")) == "a")
        await server.stop()
    }

    @Test(arguments: [nil, Throttle()], [true, false]) func `the error of a request that a reset ends names the reset`(
        attemptLinks: Throttle?, isStreamed: Bool
    ) async throws {
        let (reached, gate) = (reached, gate)
        let server = try await MockServer.start { _ in
            if isStreamed { return MockServer.Response(chunks: AsyncStream<Data> { $0.yield(Data("a".utf8)) }) }
            reached.set(())
            await gate.value
            return .text("a")
        }
        let client = client(server, attemptLinks: attemptLinks)
        let load = Task {
            let response = try await client.stream(Get<HTTPResponse>("a"))
            for try await _ in response.body { reached.set(()) }
        }
        await reached.value
        await client.reset()
        let error = await #expect(throws: HTTPError.self) { try await load.value }
        #expect(error?.message.contains("was reset") == true, "\(error.map { "\($0)" } ?? "")")
        gate.set(())
        await server.stop()
    }

    @Test(arguments: [nil, Throttle()]) func `a validator may reset its client`(attemptLinks: Throttle?) async throws {
        let server = try await MockServer.start { _ in .text("a") }
        let holder = Observed<HTTPClient?>(nil)
        let resetting = ClosureValidator(response: { _, _ in
            await Task { await holder.value?.reset() }.value
            return .nextValidator
        })
        let client = client(server, validators: [resetting], attemptLinks: attemptLinks)
        holder.change { $0 = client }
        await expectCancelled(Task { try await client.send(Get<String>("a")) })
        holder.change { $0 = nil }
        await server.stop()
    }

    @Test func `a reset ends the wait for a retry`() async throws {
        let clock = TestClock()
        let server = try await MockServer.start { _ in MockServer.Response(status: 503) }
        let client = client(server, retrying: Backoff(maximumRetries: 1, clock: clock))
        let load = Task { try await client.send(Get<String>("a").retry(.delayed(.seconds(600)))) }
        await clock.waitForSleepers(1)
        await client.reset()
        await expectCancelled(load)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [false, true], [0, 1]) func `a body ends with a reset, read or not, and what it holds is released`(
        isCustom: Bool, pieces: Int
    ) async throws {
        let server = try await MockServer.start { _ in MockServer.Response(body: Data(count: 1_000_000)) }
        let (throttle, log) = (Throttle(limit: 1), EventRecorder())
        let client = client(server, links: throttle, attemptLinks: isCustom ? Throttle() : nil, observers: [log])
        let response = try await client.stream(TestEndpoint<HTTPResponse>("a"))
        var chunks = response.body.makeAsyncIterator()
        for _ in 0..<pieces { #expect(try await chunks.next() != nil) }
        #expect(throttle.running == 1)
        await client.reset()
        #expect(throttle.running == 0 && log.names.last == "load.cancelled")
        let error = await #expect(throws: HTTPError.self) { try await chunks.next() }
        #expect(error?.code == .cancelled && error?.message == "the client was reset while the body was read")
        #expect(error?.request.id == response.request.id)
        #expect(try await chunks.next() == nil)
        await server.stop()
    }

    @Test func `a load during the reset of the client's links is refused`() async throws {
        let (slow, mock) = (HeldReset(), MockLoader { .ok($0) })
        let client = HTTPClient(environment: .of("https://a.test"), links: slow, transport: mock)
        async let reset: Void = client.reset()
        await slow.waitForResets(1)
        let error = await #expect(throws: HTTPError.self) { try await client.send(Get<String>("a")) }
        #expect(error?.code == .resetInProgress && mock.requests.isEmpty)
        slow.open()
        await reset
        _ = try await client.send(Get<String>("a"))
    }

    @Test func `a request that code of the caller creates belongs to the client`() async throws {
        struct SendsAnother: LoaderLink {
            let another: HTTPRequest

            func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
                _ = try await next.load(another)
                return try await next.load(request)
            }
        }
        let mock = MockLoader { request in
            guard request.path.string == "/a" else { return .ok(request) }
            return HTTPResponse(request: request, status: .found, headers: ["Location": "/b"])
        }
        let client = HTTPClient(
            environment: .of("https://a.test"),
            authentication: .bearer { need in
                _ = try await need.next.load(.to("https://a.test/token"))
                return "t"
            }, links: SendsAnother(another: try .to("https://a.test/link")),
            attemptLinks: ModifyRequest { $0 = try .to("https://a.test\($0.path.string)") },
            transport: mock)
        let redirects = RedirectPolicy.custom { _, _ in try .to("https://a.test/chosen") }
        _ = try await client.redirects(redirects).send(HTTPRequest.to("https://a.test/a"))
        #expect(mock.requests.map(\.path.string) == ["/token", "/link", "/a", "/chosen"])
        #expect(mock.requests.allSatisfy { $0.client === client.parts.identity })
    }

    @Test func `an event stream reconnects in the generation in which it began`() async throws {
        struct Resetting: RequestTemplate {
            let reset: @Sendable () -> Void
            var path: RequestPath { "events" }
            var headers: HTTPHeaders {
                reset()
                return [:]
            }
        }
        let holder = Observed<ClientIdentity?>(nil)
        let mock = MockLoader { request in
            HTTPResponse(
                request: request, status: .ok, headers: ["Content-Type": "text/event-stream"],
                body: HTTPResponseBody(Data("id: 1\nretry: 0\ndata: a\n\n".utf8)))
        }
        let client = HTTPClient(environment: .of("https://a.test"), transport: mock)
        var events = client.events(
            of: Resetting { holder.value?.endGeneration() },
            reconnecting: .whenClosed(Backoff(clock: TestClock(isAutomatic: true)))
        ).makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
        // The reset comes when the request for the reconnection is built.
        holder.change { $0 = client.parts.identity }
        do {
            _ = try await events.next()
            Issue.record("the stream continued")
        } catch let error as HTTPError {
            #expect(error.code == .cancelled && mock.requests.count == 1)
        }
    }

    @Test func `a client has a task for each request only if its code cannot end itself`() {
        let custom = HTTPClient(attemptLinks: Throttle(), transport: HTTPClient.makeTransport(TransportConfiguration()))
        for client in [custom, HTTPClient(transport: MockLoader())] { #expect("\(client)".contains("Autocancel")) }
        for client in [HTTPClient(), HTTPClient(links: Throttle()), HTTPClient(transport: EndsItsRequests())] {
            #expect(!"\(client)".contains("Autocancel"))
        }
    }

    /// Returns a request of a generation that has ended.
    private func ended(_ url: URL?) throws -> HTTPRequest {
        let identity = ClientIdentity()
        defer { identity.endGeneration() }
        return HTTPRequest(url: try #require(url)).of(identity)
    }

    @Test(arguments: [Autocancel(), Authenticate()] as [any LoaderLink])
    func `a request of an ended generation reaches no custom transport, and obtains no credential`(
        link: any LoaderLink
    ) async throws {
        let (mock, calls) = (MockLoader { .ok($0) }, Observed(0))
        var request = try ended(URL(string: "https://a.test/"))
        request.authentication = .bearer { _ in
            calls.change { $0 += 1 }
            return "t"
        }
        let sent = request
        let error = await failure { try await (link --> mock).load(sent) }
        #expect(error?.code == .cancelled && mock.requests.isEmpty && calls.value == 0)
    }

    @Test(arguments: TransportTests.Transport.allCases)
    func `a request of an ended generation reaches no socket`(_ transport: TransportTests.Transport) async throws {
        let server = try await MockServer.start { _ in .text("a") }
        let request = try ended(server.url)
        let error = await failure { try await transport.loader.load(request) }
        #expect(error?.code == .cancelled && error?.mayHaveBeenSent == false && server.connections.isEmpty)
    }

    #if os(Linux)
        @Test func `a transfer that is queued after the sweep of a reset reaches no socket`() async throws {
            let server = try await MockServer.start { _ in .text("a") }
            let identity = ClientIdentity()
            let request = HTTPRequest(url: server.url).of(identity)
            let configuration = TransportConfiguration()
            let engine = CurlEngine(configuration)
            #expect(engine.start())
            let transfer = Exchange(CurlPlan(request, body: nil, configuration), for: request, engine: engine)
            identity.endGeneration()
            await engine.sweep(transfersWithoutClient: false)
            guard case .failure(let failure) = await transfer.run() else {
                Issue.record("the transfer was sent")
                return
            }
            #expect(failure.code == .cancelled && server.connections.isEmpty)
        }
    #endif

    // MARK: What links hold and store of an ended generation

    /// Links that let one load pass.
    static var queues: [any LoaderLink] {
        [Throttle(limit: 1), LimitRate(1, per: .seconds(3_600), backoff: Backoff(clock: TestClock()))]
    }

    @Test(arguments: queues)
    func `a link of two clients ends the waits of the one that is reset`(link: any LoaderLink) async throws {
        let (held, one, other) = (HeldLoader(), ClientIdentity(), ClientIdentity())
        let chain = link --> held
        let start = { (path: String, client: ClientIdentity?) -> Task<HTTPResponse, any Error> in
            let request = try HTTPRequest.to("https://a.test" + path).of(client)
            return Task { try await chain.load(request) }
        }
        let waiting = { @Sendable in (link as? Throttle)?.waiting ?? (link as? LimitRate)?.waiting ?? 0 }
        let first = try start("/first", other)
        await held.waitForRunning(1)
        var loads: [Task<HTTPResponse, any Error>] = []
        for client in [one, other, nil] {
            loads.append(try start("/waiting", client))
            await until { [count = loads.count] in waiting() == count }
        }
        one.endGeneration()
        await chain.reset()
        await expectCancelled(loads[0])
        await expectCancelled(loads[2])
        held.open("/first")
        #expect(try await first.value.status == .ok)
        await held.waitForRunning(1)
        held.open("/waiting")
        #expect(try await loads[1].value.status == .ok)
    }

    @Test(arguments: queues)
    func `a request of an ended generation enters no queue`(link: any LoaderLink) async throws {
        let held = HeldLoader()
        let chain = link --> held
        let first = Task { try await chain.load(HTTPRequest.to("https://a.test/first")) }
        await held.waitForRunning(1)
        let request = try ended(URL(string: "https://a.test/"))
        await expectCancelled(Task { try await chain.load(request) })
        held.open("/first")
        #expect(try await first.value.status == .ok && held.started == ["/first"])
    }

    @Test func `a rate limit that is reported to an ended generation is not applied`() async throws {
        let (clock, identity) = (TestClock(isAutomatic: true), ClientIdentity())
        let mock = MockLoader { .ok($0) }
            .then { request in
                identity.endGeneration()
                return HTTPResponse(request: request, status: .tooManyRequests, headers: ["Retry-After": "30"])
            }
        let chain = LimitRate(backoff: Backoff(clock: clock)) --> mock
        let request = try HTTPRequest.to("https://a.test/").of(identity)
        #expect(try await chain.load(request).status == .tooManyRequests)
        #expect(try await chain.load(HTTPRequest.to("https://a.test/")).status == .ok)
        #expect(clock.sleeps.isEmpty)
    }

    @Test(arguments: [false, true]) func `a cookie of an earlier generation is not stored`(hasFile: Bool) async throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "jar")
        let jar = hasFile ? CookieJar(file: file) : CookieJar()
        let (identity, gate, reached) = (ClientIdentity(), gate, reached)
        let chain =
            jar
            --> AnyLoader { request in
                reached.set(())
                await gate.value
                return HTTPResponse(request: request, status: .ok, headers: ["Set-Cookie": "id=1; Max-Age=60"])
            }
        let request = try HTTPRequest.to("https://a.test/").of(identity)
        let load = Task { try await chain.load(request) }
        await reached.value
        identity.endGeneration()
        await chain.reset()
        gate.set(())
        _ = try await load.value
        #expect(jar.cookies.isEmpty && !FileManager.default.fileExists(atPath: file.path))
    }
}

extension HTTPRequest {
    /// The request as one of the current generation of a client.
    func of(_ client: ClientIdentity?) -> HTTPRequest {
        var request = self
        request.context.generation = client?.generation
        return request
    }
}
