// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadObserving
import LetterheadRecording
import LetterheadTesting
import TestKit
import Testing

/// The events of the links that wait, share and sign.
@Suite(.timeLimit(.minutes(3))) struct LinkEventsTests {
    private let log = EventRecorder()

    private func client(
        _ link: (any LoaderLink)? = nil, authentication: HTTPAuthentication? = nil,
        _ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) -> HTTPClient {
        HTTPClient(
            environment: .of("https://a.test"), authentication: authentication, attemptLinks: link, observers: [log],
            transport: AnyLoader(respond))
    }

    @Test func `a request that waits for a throttle enters a queue and leaves it`() async throws {
        let throttle = Throttle(limit: 0)
        let client = client(throttle) { HTTPResponse(request: $0, status: .ok) }
        let task = Task { try await client.send(TestEndpoint("a")) }
        while throttle.waiting == 0 { await Task.yield() }
        throttle.limit = 1
        _ = try await task.value
        #expect(log.first("queue.entered")?[.queue] == "throttle" && log.first("queue.left")?[.duration] != nil)
        #expect(ObserverLaws.violations(of: log.events) == [])
    }

    @Test func `equal requests lead and join a load, and share its response`() async throws {
        let (link, held) = (Deduplicate(), HeldLoader())
        let client = client(link) { try await held.load($0) }
        async let one = client.send(TestEndpoint("a"))
        async let other = client.send(TestEndpoint("a"))
        await held.waitForStarted(1)
        while link.waiting < 2 { await Task.yield() }
        held.open()
        _ = try await (one, other)
        let leader = try #require(log.first("deduplication.led"))
        #expect(log.first("deduplication.joined")?.load != leader.load)
        #expect(log.first("deduplication.shared")?[.sharedLoad] == leader.load)
        #expect(ObserverLaws.violations(of: log.events) == [])
    }

    @Test(arguments: [true, false])
    func `an exchange ends although the load that began it was cancelled`(isShared: Bool) async throws {
        let (link, archive, held) = (Deduplicate(), FlightRecorder(), HeldLoader())
        let recorder = StatisticsRecorder()
        let client = HTTPClient(
            environment: .of("https://a.test"), attemptLinks: link, observers: [log, archive, recorder],
            transport: held)
        let first = Task { try await client.send(TestEndpoint("a")) }
        await held.waitForStarted(1)
        let other = isShared ? Task { try await client.send(TestEndpoint("a")) } : nil
        while link.waiting < (isShared ? 2 : 1) { await Task.yield() }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        held.open()
        _ = try await other?.value
        let end: HTTPEvent.Name = isShared ? .exchangeEnd : .exchangeFailed
        while log.first(end) == nil { await Task.yield() }
        #expect(log.first(end)?.load == log.first("deduplication.led")?.load)
        let json = String(decoding: try archive.archive(), as: UTF8.self)
        #expect(archive.count == 1 && json.contains(#""status" : 200"#) == isShared)
        #expect(recorder.statistics.origins["https://a.test"]?.count == 1)
        #expect(ObserverLaws.violations(of: log.events) == [])
    }

    /// Records an event of the request while it receives another event, as a second thread would.
    private final class Interrupting: HTTPObserver {
        let (request, log) = (SharedValue(HTTPRequest?.none), EventRecorder())

        func record(_ event: HTTPEvent) {
            if event.name == "test.first" { request.withLock { $0 }?.record("test.second") }
            log.record(event)
        }
    }

    @Test func `an event that is recorded while another one is delivered is delivered after it`() async throws {
        let observer = Interrupting()
        let link = ModifyRequest { request in
            observer.request.withLock { [request] in $0 = request }
            request.record("test.first")
        }
        let client = HTTPClient(
            environment: .of("https://a.test"), attemptLinks: link, observers: [observer],
            transport: AnyLoader { HTTPResponse(request: $0, status: .ok) })
        _ = try await client.send(TestEndpoint("a"))
        #expect(observer.log.names.filter { $0.rawValue.hasPrefix("test.") } == ["test.first", "test.second"])
        #expect(ObserverLaws.violations(of: observer.log.events) == [])
    }

    @Test func `credentials are needed, obtained and refused, and no event contains them`() async throws {
        let authentication = HTTPAuthentication.bearer { need in need.isRefused ? "s3cret2" : "s3cret1" }
        let client = client(authentication: authentication) { request in
            let isNew = request.headers[.authorization] == "Bearer s3cret2"
            return HTTPResponse(request: request, status: isNew ? .ok : .unauthorized)
        }
        _ = try await client.send(TestEndpoint("a"))
        let names = log.names.filter { $0.rawValue.hasPrefix("credentials.") }
        #expect(
            names == [
                "credentials.needed", "credentials.obtained", "credentials.refused", "credentials.needed",
                "credentials.obtained",
            ])
        #expect(log.events.filter { $0.name == "exchange.start" }.count == 2)
        #expect(!log.events.map(\.description).joined().contains("s3cret"))
        #expect(ObserverLaws.violations(of: log.events) == [])
    }

    @Test func `the request for a token is a load on behalf of another one`() async throws {
        let url = try #require(URL(string: "https://a.test/token"))
        let authentication = HTTPAuthentication.oauth2(
            client: OAuth2.Client(id: "me", secret: "s3cret"), tokenEndpoint: url, grant: .clientCredentials())
        let stubs = StubLoader().on(.any(), times: .any) { _ in
            .json(["access_token": "s3cret", "token_type": "Bearer"])
        }
        let client = client(authentication: authentication) { try await stubs.load($0) }
        _ = try await client.send(TestEndpoint("a"))
        let refresh = try #require(log.events.first { $0[.kind] == "refresh" })
        #expect(refresh.parent == log.events.first?.load && refresh.name == "load.start")
        #expect(log.events.contains { $0.load == refresh.load && $0.name == "load.end" })
        #expect(!log.events.map(\.description).joined().contains("s3cret"))
        #expect(ObserverLaws.violations(of: log.events) == [])
    }

    @Test func `a decoding error is an event`() async throws {
        let client = client { HTTPResponse(request: $0, status: .ok, body: HTTPResponseBody(Data("[]".utf8))) }
        await #expect(throws: HTTPError.self) { try await client.send(TestEndpoint("a", answering: Person.self)) }
        let failed = try #require(log.first("decoding.failed"))
        #expect(failed[.type] == "Person" && failed[.errorType] == "cannotDecodeResponse")
        #expect(log.names.last == "load.failed")
    }

    @Test func `an error knows the route`() async throws {
        let client = client { throw HTTPError(.timedOut, request: $0) }
        #expect(await failure { try await client.send(TestEndpoint("users/\("ada")")) }?.route == "users/{}")
        #expect(await failure { try await HTTPClient().send(TestEndpoint("users/\("..")")) }?.route == "users/{}")
    }
}
