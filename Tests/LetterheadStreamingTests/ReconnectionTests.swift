// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadStreaming
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ReconnectionTests {
    private let clock = TestClock(isAutomatic: true)

    private func client(_ mock: MockLoader) -> HTTPClient {
        HTTPClient(environment: .of("http://a.example"), transport: mock)
    }

    private func stream(_ request: HTTPRequest, _ text: String, failing code: HTTPError.Code? = nil) -> HTTPResponse {
        let error = code.map { HTTPError($0, request: request) }
        return HTTPResponse(
            request: request, status: .ok, headers: ["Content-Type": "text/event-stream"],
            body: StreamedBody.of([Data(text.utf8)], failing: error))
    }

    private func ending(_ request: HTTPRequest) -> HTTPResponse { HTTPResponse(request: request, status: .noContent) }

    private func reconnection(
        maximumAttempts: Int? = nil, deadline: Duration? = nil, allowsAnyMethod: Bool = false,
        strategy: HTTPRetryStrategy = .exponential(base: .seconds(1))
    ) -> Reconnection {
        .whenClosed(
            Backoff(
                strategy, maximumRetries: maximumAttempts, clock: clock,
                now: { [clock] in Date(timeIntervalSince1970: 784_111_777 + clock.now.offset / .seconds(1)) },
                random: { 1 }), deadline: deadline, allowsAnyMethod: allowsAnyMethod)
    }

    @Test func `a stream that closes reconnects with the last identifier after the wait of the server`() async throws {
        let mock = MockLoader()
            .then { stream($0, "retry: 250\nid: 7\ndata: a\n\n") }
            .then { stream($0, "data: b\n\nid: 9\n") }
            .then { stream($0, "id\ndata: c\n\n") }
            .then { stream($0, "data: d\n\n") }
            .then { ending($0) }
        let events = try await client(mock).events(of: TestEndpoint(), reconnecting: reconnection()).all()
        #expect(events.map(\.data) == ["a", "b", "c", "d"])
        #expect(events.map(\.id) == ["7", "7", nil, nil])
        // An identifier without a blank line after it has not happened.
        #expect(mock.requests.map { $0.headers["Last-Event-ID"] } == [nil, "7", "7", nil, nil])
        #expect(clock.sleeps == Array(repeating: .milliseconds(250), count: 4))
    }

    @Test func `by default a stream ends with its connection, and an error is thrown after the events before it`() async
    {
        let mock = MockLoader { stream($0, "data: a\n\ndata: b\n", failing: .connectionLost) }
        let (events, error) = await client(mock).events(of: TestEndpoint()).allAndError()
        #expect(events.map(\.data) == ["a"])
        #expect((error as? HTTPError)?.code == .connectionLost)
        #expect(mock.requests.count == 1)
    }

    @Test(arguments: [HTTPError.Code.connectionLost, .timedOut, .invalidResponse])
    func `a stream whose connection is lost reconnects, and delivers no part of an event`(code: HTTPError.Code)
        async throws
    {
        let mock = MockLoader()
            .then { stream($0, "data: a\n\ndata: lost\n", failing: code) }
            .then { stream($0, "data: b\n\n") }
            .then { ending($0) }
        let events = try await client(mock).events(of: TestEndpoint(), reconnecting: reconnection()).all()
        #expect(events.map(\.data) == ["a", "b"])
    }

    @Test(arguments: [HTTPError.Code.responseTooLarge, .cancelled, .cannotDecodeResponse])
    func `other errors end the stream`(code: HTTPError.Code) async throws {
        let mock = MockLoader { stream($0, "data: a\n\n", failing: code) }
        let (events, error) = await client(mock).events(of: TestEndpoint(), reconnecting: reconnection()).allAndError()
        #expect(events.count == 1)
        #expect((error as? HTTPError)?.code == code)
        #expect(mock.requests.count == 1)
    }

    @Test func `waits grow while no event arrives, and restart after an event`() async throws {
        let mock = MockLoader()
            .then { stream($0, "data: a\n\n") }
            .then { throw HTTPError(.cannotConnect, request: $0) }
            .then { HTTPResponse(request: $0, status: .serviceUnavailable) }
            .then { stream($0, ": nothing\n\n") }
            .then { stream($0, "retry: 100\ndata: b\n\n") }
            .then { throw HTTPError(.connectionLost, request: $0) }
            .then { throw HTTPError(.connectionLost, request: $0) }
            .then { ending($0) }
        let events = try await client(mock).events(of: TestEndpoint(), reconnecting: reconnection()).all()
        #expect(events.map(\.data) == ["a", "b"])
        #expect(
            clock.sleeps == [
                .seconds(1), .seconds(2), .seconds(4), .seconds(8), .milliseconds(100), .milliseconds(1100),
                .milliseconds(2100),
            ])
    }

    @Test func `a Retry-After extends the wait, up to the longest one`() async throws {
        let mock = MockLoader()
            .then { stream($0, "data: a\n\n") }
            // A minute after the date that was passed.
            .then {
                HTTPResponse(
                    request: $0, status: .serviceUnavailable, headers: ["Retry-After": "Sun, 06 Nov 1994 08:50:37 GMT"])
            }
            .then { HTTPResponse(request: $0, status: .serviceUnavailable, headers: ["Retry-After": "30"]) }
            .then { HTTPResponse(request: $0, status: .serviceUnavailable, headers: ["Retry-After": "9999"]) }
            .then { ending($0) }
        _ = try await client(mock).events(of: TestEndpoint(), reconnecting: reconnection()).all()
        #expect(clock.sleeps == [.seconds(1), .seconds(59), .seconds(30), .seconds(120)])
    }

    @Test func `a reconnection time of the server is bounded`() async throws {
        let mock = MockLoader()
            .then { stream($0, "retry: 99999999999999999999999999\ndata: a\n\n") }
            .then { ending($0) }
        _ = try await client(mock).events(of: TestEndpoint(), reconnecting: reconnection()).all()
        #expect(clock.sleeps == [.seconds(120)])
    }

    @Test func `attempts without an event are bounded by the maximum, and the last error is thrown`() async throws {
        let mock = MockLoader { request in
            if request.headers["Last-Event-ID"] == nil { return stream(request, "id: 1\ndata: a\n\n") }
            throw HTTPError(.cannotConnect, request: request)
        }
        let (events, error) = await client(mock).events(
            of: TestEndpoint(), reconnecting: reconnection(maximumAttempts: 3)
        )
        .allAndError()
        #expect(events.count == 1)
        #expect((error as? HTTPError)?.code == .cannotConnect)
        #expect(mock.requests.count == 4)
        let closing = MockLoader { stream($0, "") }
        #expect(
            try await client(closing).events(of: TestEndpoint(), reconnecting: reconnection(maximumAttempts: 3)).all()
                .isEmpty)
        #expect(closing.requests.count == 4)
    }

    @Test func `a strategy that has no further wait ends the stream`() async throws {
        let mock = MockLoader { stream($0, "") }
        let settings = reconnection(strategy: .delays([.seconds(1), .seconds(2)]))
        #expect(try await client(mock).events(of: TestEndpoint(), reconnecting: settings).all().isEmpty)
        #expect(clock.sleeps == [.seconds(1), .seconds(2)])
    }

    @Test func `a reconnection after the deadline is not attempted`() async throws {
        let mock = MockLoader { stream($0, "data: a\n\n") }
        let (events, error) = await client(mock)
            .events(of: TestEndpoint(), reconnecting: reconnection(deadline: .milliseconds(3500))).allAndError()
        #expect(events.count == 4)
        // The caller must not send it again as if no connection had sent it.
        #expect((error as? HTTPError)?.code == .timedOut && (error as? HTTPError)?.mayHaveBeenSent == true)
        #expect((error as? HTTPError)?.response?.status == .ok)
        #expect(mock.requests.count == 4)
    }

    @Test func `an error of the first connection is thrown`() async throws {
        let mock = MockLoader { throw HTTPError(.cannotConnect, request: $0) }
        let (_, error) = await client(mock).events(of: TestEndpoint(), reconnecting: reconnection()).allAndError()
        #expect((error as? HTTPError)?.code == .cannotConnect)
        #expect(mock.requests.count == 1)
    }

    /// The last response has another content type.
    @Test(arguments: [HTTPStatus.forbidden, .notFound, .unauthorized, .ok])
    func `a permanent status and another content type end the stream`(status: HTTPStatus) async throws {
        let mock = MockLoader().then { stream($0, "data: a\n\n") }.then { HTTPResponse(request: $0, status: status) }
        let (events, error) = await client(mock).events(of: TestEndpoint(), reconnecting: reconnection()).allAndError()
        #expect(events.count == 1)
        #expect((error as? HTTPError)?.response?.status == status && mock.requests.count == 2)
        #expect((error as? HTTPError)?.code == (status == .ok ? .invalidResponse : .unacceptableStatus))
    }

    @Test func `a POST reconnects only if it is marked or the caller allows it`() async throws {
        let post = TestEndpoint().with { $0.method = .post }
        func requests(_ template: some RequestTemplate, _ settings: Reconnection) async throws -> Int {
            let mock = MockLoader().then { stream($0, "data: a\n\n") }.then { ending($0) }
            #expect(try await client(mock).events(of: template, reconnecting: settings).all().count == 1)
            return mock.requests.count
        }
        #expect(try await requests(post, reconnection()) == 1)
        #expect(try await requests(post, reconnection(allowsAnyMethod: true)) == 2)
        #expect(try await requests(post.idempotent(), reconnection()) == 2)
        let once = StreamBody(once: AsyncStream<Data> { $0.finish() })
        let oneShot = post.with { $0.body = once }
        #expect(try await requests(oneShot, reconnection(allowsAnyMethod: true)) == 1)
    }

    @Test func `an identifier that a header cannot contain is not sent`() async throws {
        let mock = MockLoader { stream($0, "id: a\u{1}b\ndata: a\n\n") }
        let (events, error) = await client(mock).events(of: TestEndpoint(), reconnecting: reconnection()).allAndError()
        #expect(events.count == 1)
        #expect((error as? HTTPError)?.code == .invalidResponse)
        #expect(mock.requests.count == 1)
    }

    @Test(
        arguments: [
            Reconnection.whenClosed(Backoff(maximumRetries: -1)), .whenClosed(deadline: .zero),
            .whenClosed(Backoff(longestServerDelay: .seconds(-1))),
            .whenClosed(Backoff(.afterTask { _ in })),
        ])
    func `a setting out of its range is an error before anything is sent`(settings: Reconnection) async throws {
        let mock = MockLoader { stream($0, "data: a\n\n") }
        let (_, error) = await client(mock).events(of: TestEndpoint(), reconnecting: settings).allAndError()
        #expect((error as? HTTPError)?.code == .invalidRequest)
        #expect(mock.requests.isEmpty)
    }

    @Test(arguments: [true, false])
    func `a reset and a cancellation end the wait before a reconnection`(isReset: Bool) async throws {
        let clock = TestClock()
        let mock = MockLoader { stream($0, "data: a\n\n") }
        let client = client(mock)
        let reading = Task {
            await client.events(of: TestEndpoint(), reconnecting: .whenClosed(Backoff(clock: clock))).allAndError()
        }
        await clock.waitForSleepers(1)
        if isReset { await client.reset() } else { reading.cancel() }
        let (events, error) = await reading.value
        #expect(events.count == 1)
        #expect(isReset ? (error as? HTTPError)?.code == .cancelled : error is CancellationError)
        #expect(clock.sleepers == 0)
        #expect(mock.requests.count == 1)
    }
}
