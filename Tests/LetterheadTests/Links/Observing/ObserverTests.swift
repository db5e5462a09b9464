// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Synchronization
import Testing

private struct ReadPerson: RequestTemplate {
    typealias Response = Person
    let login: String
    var path: RequestPath { "users/\(login)" }
}

@Suite(.timeLimit(.minutes(3))) struct ObserverTests {
    private let log = EventRecorder()

    private func client(_ server: MockServer, transport: any HTTPLoader = HTTPClient.defaultTransport) -> HTTPClient {
        HTTPClient(environment: ServerEnvironment(baseURL: server.url), observers: [log], transport: transport)
    }

    @Test func `the name of an event is a constant or a literal, and a string where only a string fits`() {
        let event = HTTPEvent(.exchangeEnd)
        #expect(event.name == .exchangeEnd && event.name == "exchange.end" && event.name != "exchange.failed")
        #expect("\(event.name)" == "exchange.end" && event.description.contains(" exchange.end"))
        let names: [String] = [event, HTTPEvent("shard.chosen")].map(\.name)
        #expect(names == ["exchange.end", "shard.chosen"] && event.name.hasPrefix("exchange."))
        switch event.name {
        case .exchangeFailed, "load.end": Issue.record("another event")
        case .exchangeEnd: break
        default: Issue.record("no event")
        }
    }

    @Test func `a load that is decoded has its events in order`() async throws {
        let server = try await MockServer.start { _ in .text(#"{"id":1,"login":"ada"}"#) }
        _ = try await client(server, transport: HTTPClient.makeTransport(.init())).send(ReadPerson(login: "ada"))
        await server.stop()
        var expected: [HTTPEvent.Name] = [
            "load.start", "attempt.start", "exchange.start", "lookup.start", "lookup.end", "connect.start",
            "connect.end", "connection.opened", "request.sent", "response.head", "body.end", "exchange.end",
            "attempt.end", "validator.verdict", "decoding.start", "decoding.end", "load.end",
        ]
        #if !os(Linux)
            expected = expected.filter { log.names.contains($0) }
        #endif
        #expect(log.names == expected && ObserverLaws.violations(of: log.events) == [])
        #expect(log.events.allSatisfy { $0.template == "ReadPerson" && $0.route == "users/{}" && $0.parent == nil })
        let end = try #require(log.first("exchange.end"))
        #expect(end[.status] == 200 && end[.method] == "GET" && end[.bytes] == 22 && end[.port] == server.port)
        #expect(end[.resendCount] == 0 && end[.exchange] == 1 && (end[.duration] ?? .zero) > .zero)
        #expect(log.first("decoding.end")?[.type] == "Person")
    }

    @Test func `a retry is decided with a reason and a wait, and a refused one with a reason`() async throws {
        let server = try await MockServer.start { _ in .init(status: .serviceUnavailable) }
        let template = TestEndpoint("down").retry(.immediate, maximumRetries: 1)
        await #expect(throws: HTTPError.self) { try await client(server).send(template) }
        await server.stop()
        let decisions = log.events.filter { $0.name == "retry.decided" }
        try #require(decisions.count == 2)
        #expect(decisions.map { $0[.isRetried] } == [true, false] && decisions[0][.wait] == .zero)
        #expect(decisions[1][.reason] == "not retried: the one allowed retry was made")
        #expect(decisions.map { $0[.budgetLeft] } == [495, 495])
        #expect(log.events.filter { $0.name == "attempt.start" }.map(\.attempt) == [1, 2])
        #expect(log.names.last == "load.failed" && log.events.last?[.errorType] == "unacceptableStatus")
        #expect(log.events.last?[.status] == 503 && ObserverLaws.violations(of: log.events) == [])
    }

    @Test func `a redirect is decided with its target and the headers that it does not receive`() async throws {
        let other = try await MockServer.start { _ in .text("here") }
        let location = other.url.appending(path: "next").absoluteString + "?token=s3cret"
        let server = try await MockServer.start { _ in .init(status: .found, headers: [.location: location]) }
        let template = TestEndpoint("old").header("Authorization", "Bearer s3cret")
        _ = try await client(server).send(template)
        _ = try await client(server).send(template.redirects(.never).accepting([302]))
        await server.stop()
        await other.stop()
        let decisions = log.events.filter { $0.name == "redirect.decided" }
        #expect(decisions.map { $0[.isFollowed] } == [true, false] && decisions[0][.port] == other.port)
        #expect(decisions[0][.withheld] == ["Authorization"] && decisions[1][.reason]?.contains("policy") == true)
        #expect(log.events.filter { $0.name == "exchange.start" }.map { $0[.exchange] } == [1, 2, 1])
        #expect(!log.events.map(\.description).joined().contains("s3cret"))
        #expect(ObserverLaws.violations(of: log.events) == [])
    }

    @Test func `a streamed body is recorded piece by piece, and the load ends with it`() async throws {
        let server = try await MockServer.start { _ in .text(String(repeating: "x", count: 300_000)) }
        let response = try await client(server).stream(TestEndpoint("big"))
        #expect(!log.names.contains("load.end"))
        for try await _ in response.body {}
        await server.stop()
        #expect(log.names.last == "load.end" && log.first("body.end")?[.bytes] == 300_000)
        let pieces: [Int] = log.events.filter { $0.name == "body.piece" }.compactMap { $0[.bytes] }
        #expect(pieces.reduce(0, +) == 300_000 && ObserverLaws.violations(of: log.events) == [])
    }

    @Test func `a streamed body that is dropped ends the load`() async throws {
        let server = try await MockServer.start { _ in .text(String(repeating: "x", count: 3_000_000)) }
        _ = try await client(server).stream(TestEndpoint("big")).status
        await server.stop()
        #expect(log.names.last == "load.end" && log.first("body.end")?[.isComplete] == false)
        #expect(ObserverLaws.violations(of: log.events) == [])
    }

    @Test func `a request that cannot be built has a start and an end`() async throws {
        let client = HTTPClient(observers: [log])
        await #expect(throws: HTTPError.self) { try await client.send(TestEndpoint("a/\("..")")) }
        #expect(log.names.first == "load.start" && log.names.last == "load.failed")
        #expect(ObserverLaws.violations(of: log.events) == [])
    }

    @Test func `a cancelled load is cancelled and not failed`() async throws {
        let started = SharedValue(false)
        let transport = AnyLoader { request in
            started.withLock { $0 = true }
            try await Task.sleep(for: .seconds(600))
            return HTTPResponse(request: request, status: .ok)
        }
        let client = HTTPClient(environment: .of("https://a.test"), observers: [log], transport: transport)
        let task = Task { try await client.send(TestEndpoint("a")) }
        while !started.withLock({ $0 }) { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(log.names.last == "load.cancelled" && ObserverLaws.violations(of: log.events) == [])
    }

    @Test func `a failed connection has an exchange that failed`() async throws {
        let server = try await MockServer.start()
        let client = client(server)
        await server.stop()
        await #expect(throws: HTTPError.self) { try await client.send(TestEndpoint("a")) }
        #expect(log.first("exchange.failed")?[.errorType] == "cannotConnect")
        #expect(!log.names.contains { $0.rawValue.hasPrefix("connection.") })
        #expect(ObserverLaws.violations(of: log.events) == [])
    }

    @Test func `a streamed body that breaks off is a failed exchange`() async throws {
        let server = try await MockServer.start { _ in MockServer.Response(body: Data(count: 100_000)) }
        server.enqueue(.closure.fault(.close, at: .responseBody))
        let response = try await client(server).stream(TestEndpoint("a"))
        await #expect(throws: HTTPError.self) { try await response.body.data() }
        await server.stop()
        let failed = try #require(log.first("exchange.failed"))
        #expect(failed[.status] == 200 && failed[.errorType] == "invalidResponse" && failed[.error] != nil)
        #expect(log.first("exchange.end") == nil && log.first("body.end")?[.isComplete] == false)
        #expect(log.names.last == "load.failed" && ObserverLaws.violations(of: log.events) == [])
    }

    @Test func `interim responses and trailers are events`() async throws {
        var reply = MockServer.Response.text("done")
        let fields: HTTPHeaders = ["Link": "</a.css?token=hidden>; rel=preload", "Set-Cookie": "id=hidden"]
        reply.informational = [.init(status: HTTPStatus(103), headers: fields)]
        let answer = reply
        let server = try await MockServer.start { _ in answer }
        _ = try await client(server).send(TestEndpoint("a"))
        await server.stop()
        #if os(Linux)
            let event = try #require(log.first("response.interim"))
            #expect(event[.status] == 103)
            #expect(event[.headers] == ["Link: </a.css?token=<redacted>>; rel=preload", "Set-Cookie: <redacted>"])
        #endif
    }

    #if os(Linux)
        @Test func `TLS has a version and a cipher suite`() async throws {
            let server = try await MockServer.secure()
            let url = try #require(URL(string: "https://localhost:\(server.port)"))
            let client = HTTPClient(
                environment: ServerEnvironment(baseURL: url), observers: [log],
                transport: HTTPClient.makeTransport(.trusting))
            _ = try await client.send(TestEndpoint("a"))
            await server.stop()
            let end = try #require(log.first("tls.end"))
            #expect(end[.tlsVersion] == "TLSv1.3" && end[.tlsCipher]?.hasPrefix("TLS_") == true)
            #expect(ObserverLaws.violations(of: log.events) == [])
        }
    #endif

    @Test func `the pages of a sequence have the first page as their parent`() async throws {
        let stubs = StubLoader().on(TestEndpoint<[Int]>.self) { _ in .pages([[1, 2], [1, 2]]) }
        let client = HTTPClient(environment: .of("https://a.test"), observers: [log], transport: stubs)
        let template = TestEndpoint("list", answering: [Int].self).paginated(by: .page())
        for try await _ in client.pages(of: template) {}
        let starts = log.events.filter { $0.name == "load.start" }
        #expect(starts.count == 3 && starts[0].parent == nil)
        #expect(starts.dropFirst().allSatisfy { $0.parent == starts[0].load && $0[.kind] == "page" })
        #expect(ObserverLaws.violations(of: log.events) == [])
    }

    @Test func `a custom link records its own events, and only if the load is observed`() async throws {
        let link = ModifyRequest { request in request.record("shard.chosen") { $0[.init("shard")] = 3 } }
        let transport = AnyLoader { HTTPResponse(request: $0, status: .ok) }
        let client = HTTPClient(
            environment: .of("https://a.test"), attemptLinks: link, observers: [log], transport: transport)
        _ = try await client.send(TestEndpoint("a"))
        #expect(log.first("shard.chosen")?[HTTPEvent.Fact<Int>("shard")] == 3)
        HTTPRequest().record("never") { _ in Issue.record("the request is not observed") }
    }

    @Test func `a request of an earlier response belongs to no load any more`() async throws {
        let transport = AnyLoader { HTTPResponse(request: $0, status: .ok) }
        let client = HTTPClient(environment: .of("https://a.test"), observers: [log], transport: transport)
        let response = try await client.send(HTTPRequest("https://a.test/1"))
        let count = log.events.count
        _ = try await HTTPClient(transport: transport).send(response.request)
        #expect(log.events.count == count)
        _ = try await client.send(response.request)
        #expect(Set(log.events.map(\.load)).count == 2)
    }

    @Test(arguments: LoaderLawsTests.links)
    func `the events of our links are in order`(_ link: LoaderLawsTests.Named<any LoaderLink>) async throws {
        try await ObserverLaws(link: link.make).check()
    }
}
