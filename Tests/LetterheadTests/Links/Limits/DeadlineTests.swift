// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@Suite struct DeadlineTests {
    private let clock = TestClock()

    /// Answers each request, and records the time that it has left.
    private final class TimeRecorder: HTTPLoader {
        private let recorded = Mutex<[Duration?]>([])

        var left: [Duration?] { recorded.withLock { $0 } }

        func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            recorded.withLock { $0.append(request.timeLeft) }
            return .ok(request)
        }
    }

    private func client(_ transport: any HTTPLoader) -> HTTPClient {
        HTTPClient(
            environment: .of("https://a.test"), links: Deadline(.seconds(60), clock: clock), transport: transport)
    }

    @Test func `links below read the time left, which decreases`() async throws {
        // A loader that keeps no time limits itself.
        let loader = AnyLoader { request in
            #expect(request.timeLeft == .seconds(2))
            clock.advance(by: .seconds(5))
            #expect(request.timeLeft == .seconds(-3))
            return .ok(request)
        }
        let request = try HTTPRequest.to("https://a.test").with { $0.deadline = .seconds(2) }
        #expect(try await (Deadline(.seconds(60), clock: clock) --> loader).load(request).status == .ok)
    }

    @Test func `an explicit nil removes the deadline of the link`() async throws {
        let mock = TimeRecorder()
        let request = try HTTPRequest.to("https://a.test").with { $0.deadline = nil }
        _ = try await (Deadline(.seconds(60), clock: clock) --> mock).load(request)
        let client = client(mock)
        try await client.send(TestEndpoint("x").deadline(in: nil))
        try await client.send(TestEndpoint("x").deadline(in: .seconds(2)).deadline(in: nil))
        #expect(mock.left == [nil, nil, nil])
    }

    @Test func `a request that is sent again has the whole time again`() async throws {
        let left = Mutex<[Duration?]>([])
        let mock = MockLoader { [clock] request in
            left.withLock { $0.append(request.timeLeft) }
            clock.advance(by: .seconds(1))
            if request.path == "/slow" { throw request.deadlinePassed(while: "connecting") }
            return .ok(request)
        }
        let client = client(mock)
        let response = try await client.send(try .to("https://a.test/x"))
        #expect(response.request.timeLeft == nil)
        let error = await #expect(throws: HTTPError.self) { try await client.send(try .to("https://a.test/slow")) }
        let failed = try #require(error?.request)
        #expect(failed.timeLeft == nil)
        clock.advance(by: .seconds(100))
        _ = try? await client.send(failed)
        _ = try await client.send(response.request)
        #expect(left.withLock { $0 } == [.seconds(60), .seconds(60), .seconds(60), .seconds(60)])
    }

    @Test func `a request within the load of another keeps the deadline of the outer load`() async throws {
        let mock = TimeRecorder()
        let inner = HTTPClient(environment: .of("https://a.test"), transport: mock)
        let outer = Deadline(.seconds(60), clock: clock) --> AnyLoader { try await inner.send($0) }
        let response = try await outer.load(try .to("https://a.test"))
        #expect(mock.left[0] == .seconds(60) && response.request.timeLeft == nil)
    }

    @Test func `a deadline does not outlast its load, wherever the request is found afterwards`() async throws {
        let mock = AnyLoader { request in
            if request.path == "/from" {
                return HTTPResponse(request: request, status: .found, headers: ["Location": "/lost"])
            }
            guard request.responseDelivery == .streamed else {
                throw HTTPError(.connectionLost, request: request, response: .ok(request))
            }
            let body = HTTPResponseBody(length: nil) { throw HTTPError(.connectionLost, request: request) }
            return HTTPResponse(request: request, status: .ok, body: body)
        }
        let client = HTTPClient(
            environment: .of("https://a.test"), retrying: Backoff(clock: clock),
            links: Deadline(.seconds(60), clock: clock), transport: mock)
        let redirected = await #expect(throws: HTTPError.self) { try await client.send(Get<Data>("from")) }
        #expect(redirected?.response?.request.path == "/lost")
        let response = try await client.stream(Get<Data>("streamed"))
        #expect(response.request.timeLeft == .seconds(60))
        let reading = await #expect(throws: HTTPError.self) { try await response.body.data() }
        for request in [redirected?.request, redirected?.response?.request, reading?.request, response.request] {
            let request = try #require(request)
            #expect(request.timeLeft == nil)
        }
        let handled = OneShot<HTTPRequest?>()
        (Deadline(.seconds(60), clock: clock) --> mock).start(try .to("https://a.test/lost")) { result in
            if case .failure(let error) = result { handled.set(error.request) } else { handled.set(nil) }
        }
        let failed = try #require(await handled.value)
        #expect(failed.timeLeft == nil)
    }

    @Test func `an explicit nil does not remove the deadline of an outer load`() async throws {
        let mock = TimeRecorder()
        let lift = ModifyRequest { $0.deadline = nil }
        let inner = lift --> Deadline(.seconds(60), clock: clock)
        _ = try await (Deadline(.seconds(5), clock: clock) --> inner --> mock).load(try .to("https://a.test"))
        #expect(mock.left[0] == .seconds(5))
    }

    @Test(arguments: [(nil, nil, nil), (60, nil, 60), (1, 60, 1), (60, 1, 1)] as [(Int?, Int?, Int?)])
    func `of the deadlines of two links the earlier applies to requests that have none`(
        outer: Int?, inner: Int?, left: Int?
    ) async throws {
        let mock = TimeRecorder()
        let links = [outer, inner].map { seconds in Deadline(seconds.map { Duration.seconds($0) }, clock: clock) }
        _ = try await (links[0] --> links[1] --> mock).load(try .to("https://a.test"))
        #expect(mock.left == [left.map { Duration.seconds($0) }])
    }

    @Test(arguments: [0, -1]) func `a deadline of zero or less is an error`(seconds: Int) async throws {
        let mock = MockLoader { .ok($0) }
        let request = try HTTPRequest.to("https://a.test").with { $0.deadline = .seconds(seconds) }
        let error = await #expect(throws: HTTPError.self) { try await (Deadline(clock: clock) --> mock).load(request) }
        #expect(error?.code == .invalidRequest && error?.message.contains("deadline") == true && mock.requests.isEmpty)
    }

    @Test func `a redirect is not followed past the deadline`() async throws {
        let requests = Mutex(0)
        // A loader that keeps no time limits itself.
        let loader = AnyLoader { request in
            requests.withLock { $0 += 1 }
            clock.advance(by: .seconds(1))
            return HTTPResponse(request: request, status: .found, headers: ["Location": "/\(clock.now.offset)"])
        }
        let chain = Deadline(.seconds(3), clock: clock) --> FollowRedirects() --> loader
        let request = try HTTPRequest.to("https://a.test")
        let error = await #expect(throws: HTTPError.self) { try await chain.load(request) }
        #expect(error?.code == .timedOut && error?.message == "the deadline passed while following a redirect")
        #expect(error?.response?.status == .found && requests.withLock { $0 } == 3)
    }

    @Test func `a streamed body is read until the deadline`() async throws {
        let pulls = Observed(0)
        let mock = AnyLoader { request in
            let body = HTTPResponseBody(length: nil) {
                pulls.change { $0 += 1 }
                return Data("x".utf8)
            }
            return HTTPResponse(request: request, status: .ok, body: body)
        }
        let response = try await (Deadline(.seconds(3), clock: clock) --> mock).load(try .to("https://a.test"))
        var count = 0
        let error = await #expect(throws: HTTPError.self) {
            for try await _ in response.body {
                count += 1
                clock.advance(by: .seconds(1))
            }
        }
        #expect(count == 3 && pulls.value == 3 && error?.message == "the deadline passed while reading the body")
    }

    @Test func `a template sets its deadline`() {
        #expect(TestEndpoint("x").deadline(in: .seconds(2)).options.deadline == .seconds(2))
    }

    @Test(arguments: TransportTests.Transport.allCases, [5, 60])
    func `the transport ends an attempt at the deadline, if that is earlier`(
        transport: TransportTests.Transport, timeout: Int
    ) async throws {
        let server = try await MockServer.start { _ in MockServer.Response().fault(.stall, at: .responseStart) }
        let request = HTTPRequest(url: server.url)
            .with { ($0.deadline, $0.timeout) = (.milliseconds(60), .seconds(timeout)) }
        let chain = Deadline() --> transport.loader
        let error = await #expect(throws: HTTPError.self) { try await chain.load(request) }
        #expect(error?.code == .timedOut && error?.message.hasPrefix("the deadline passed while ") == true)
        await server.stop()
    }

    @Test(arguments: TransportTests.Transport.allCases)
    func `the transport sends nothing when the deadline has passed`(transport: TransportTests.Transport) async throws {
        let server = try await MockServer.start { .text($0.path) }
        let request = HTTPRequest(url: server.url).with { $0.deadline = .seconds(1) }
        let late = ModifyRequest { _ in clock.advance(by: .seconds(2)) }
        let chain = Deadline(clock: clock) --> late --> transport.loader
        let error = await #expect(throws: HTTPError.self) { try await chain.load(request) }
        #expect(error?.code == .timedOut && error?.mayHaveBeenSent == false && server.requests.isEmpty)
        await server.stop()
    }

    @Test(arguments: TransportTests.Transport.allCases)
    func `a streamed body that stalls ends at the deadline`(transport: TransportTests.Transport) async throws {
        let server = try await MockServer.start { _ in
            MockServer.Response(body: Data(count: 100_000)).fault(.stall, at: .responseBody)
        }
        let request = HTTPRequest(url: server.url)
            .with { ($0.deadline, $0.responseDelivery) = (.milliseconds(400), .streamed) }
        let chain = Deadline() --> transport.loader
        let error = await #expect(throws: HTTPError.self) { try await chain.load(request).body.data() }
        #expect(error?.code == .timedOut && error?.message.hasPrefix("the deadline passed while ") == true)
        await server.stop()
    }
}
