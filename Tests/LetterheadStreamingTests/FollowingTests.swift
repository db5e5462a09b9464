// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadStreaming
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// Streams that another request continues, and streams of a response that the caller has.
@Suite(.timeLimit(.minutes(1)))
struct FollowingTests {
    struct Change: Codable, Sendable, Equatable {
        var revision: Int
    }

    struct Watch: RequestTemplate {
        var after: Int?
        var path: RequestPath { "watch" }
        var query: QueryParameters { ["after": after] }
    }

    private let clock = TestClock(isAutomatic: true)

    private var reconnection: Reconnection {
        .whenClosed(Backoff(.exponential(base: .seconds(1)), clock: clock, random: { 1 }))
    }

    private func client(_ mock: MockLoader) -> HTTPClient {
        HTTPClient(environment: .of("http://a.example"), transport: mock)
    }

    private func stream(
        _ request: HTTPRequest, _ text: String, type: String = "application/x-ndjson",
        failing code: HTTPError.Code? = nil
    ) -> HTTPResponse {
        HTTPResponse(
            request: request, status: .ok, headers: ["Content-Type": type],
            body: StreamedBody.of([Data(text.utf8)], failing: code.map { HTTPError($0, request: request) }))
    }

    private func following(
        _ mock: MockLoader,
        restarting restart: @escaping @Sendable (HTTPError) async throws -> Watch? = { _ in nil }
    ) async -> (elements: [Change], error: (any Error)?) {
        await client(mock).values(
            of: Watch(), as: Change.self, reconnecting: reconnection,
            resuming: { Watch(after: $0.revision) }, restarting: restart
        ).allAndError()
    }

    private func positions(_ mock: MockLoader) -> [String?] { mock.requests.map { $0.query["after"] } }

    @Test func `the next connection continues after the last value, and a value that was cut is requested again`()
        async throws
    {
        let mock = MockLoader()
            .then { stream($0, "{\"revision\":1}\n{\"revision\":2}\n") }
            .then { stream($0, "{\"revision\":3}\n{\"revi", failing: .connectionLost) }
            .then { throw HTTPError(.cannotConnect, request: $0) }
            .then { stream($0, "") }
            .then { stream($0, "{\"revision\":4}\n") }
            .then { HTTPResponse(request: $0, status: .noContent) }
        let (changes, error) = await following(mock)
        #expect(changes.map(\.revision) == [1, 2, 3, 4] && error == nil)
        #expect(positions(mock) == [nil, "2", "3", "3", "3", "4"])
        #expect(clock.sleeps == [1, 1, 2, 4, 1].map { .seconds($0) })
    }

    @Test func `without a closure, the same request is sent once, or again after each end if that is asked for`()
        async throws
    {
        let single = MockLoader().then { stream($0, "{\"revision\":1}\n") }
        let (read, failure) = await client(single).values(of: Watch(), as: Change.self).allAndError()
        #expect(read.map(\.revision) == [1] && failure == nil && positions(single) == [nil])
        let mock = MockLoader()
            .then { stream($0, "{\"revision\":1}\n") }
            .then { stream($0, "{\"revision\":2}\n") }
            .then { HTTPResponse(request: $0, status: .noContent) }
        let (changes, error) = await client(mock).values(of: Watch(), as: Change.self, reconnecting: reconnection)
            .allAndError()
        #expect(changes.map(\.revision) == [1, 2] && error == nil && positions(mock) == [nil, nil, nil])
    }

    @Test func `a position that the server no longer has begins again, also at the first connection`() async throws {
        let mock = MockLoader()
            .then { HTTPResponse(request: $0, status: .gone) }
            .then { stream($0, "{\"revision\":1}\n") }
            .then { HTTPResponse(request: $0, status: .gone) }
            .then { HTTPResponse(request: $0, status: .gone, headers: ["Retry-After": "30"]) }
            .then { stream($0, "{\"revision\":8}\n") }
            .then { HTTPResponse(request: $0, status: .noContent) }
        let (changes, error) = await following(mock) { $0.response?.status == .gone ? Watch(after: 0) : nil }
        #expect(changes.map(\.revision) == [1, 8] && error == nil)
        #expect(positions(mock) == [nil, "0", "1", "0", "0", "8"])
        // A server that refuses every position is not asked without a wait.
        #expect(clock.sleeps == [1, 1, 2, 30, 1].map { .seconds($0) })
    }

    @Test func `an error for which nothing restarts is thrown, and so is an error of the closures`() async {
        struct NoPosition: Error {}
        let mock = MockLoader()
            .then { stream($0, "{\"revision\":1}\n") }
            .then { HTTPResponse(request: $0, status: .forbidden) }
        let (changes, error) = await following(mock)
        #expect(changes.count == 1 && (error as? HTTPError)?.response?.status == .forbidden)
        let closed = MockLoader { stream($0, "{\"revision\":1}\n") }
        let (before, refusal) = await client(closed).values(
            of: Watch(), as: Change.self, reconnecting: reconnection, resuming: { _ in throw NoPosition() }
        ).allAndError()
        #expect(before.count == 1 && refusal is NoPosition && closed.requests.count == 1)
    }

    @Test func `events continue by another request, or by the same one`() async throws {
        let mock = MockLoader()
            .then { stream($0, "data: 5\n\n", type: "text/event-stream") }
            .then { stream($0, "id: x\ndata: keep\n\n", type: "text/event-stream") }
            .then { HTTPResponse(request: $0, status: .noContent) }
        let events = client(mock).events(
            of: Watch(), reconnecting: reconnection, resuming: { Int($0.data).map { Watch(after: $0) } })
        #expect(try await events.all().map(\.data) == ["5", "keep"])
        #expect(positions(mock) == [nil, "5", "5"])
        #expect(mock.requests.map { $0.headers["Last-Event-ID"] } == [nil, nil, "x"])
    }

    @Test(arguments: [true, false])
    func `the events and the values of a response that the caller has`(isStreamed: Bool) async throws {
        let server = try await MockServer.start { request in
            request.path == "/events"
                ? MockServer.Response(headers: ["Content-Type": "text/event-stream"], body: Data("data: a\n\n".utf8))
                : MockServer.Response(
                    headers: ["Content-Type": "application/x-ndjson"], body: Data("{\"revision\":1}\n{}\n".utf8))
        }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
        func response(_ path: RequestPath) async throws -> HTTPResponse {
            isStreamed ? try await client.stream(TestEndpoint(path)) : try await client.send(TestEndpoint(path))
        }
        #expect(try await response("events").events().all().map(\.data) == ["a"])
        let (values, error) = try await response("values").values(as: Change.self).allAndError()
        #expect(values == [Change(revision: 1)] && (error as? HTTPError)?.message.contains("value 2") == true)
        let (none, refusal) = try await response("values").events().allAndError()
        #expect(none.isEmpty && (refusal as? HTTPError)?.code == .invalidResponse)
        await server.stop()
    }

    @Test func `a reset ends the values of a response that the caller has`() async throws {
        let mock = MockLoader { stream($0, "{\"revision\":1}\n{\"revision\":2}\n") }
        let client = client(mock)
        var values = try await client.stream(Watch()).values(as: Change.self).makeAsyncIterator()
        #expect(try await values.next()?.revision == 1)
        await client.reset()
        await #expect(throws: HTTPError.self) { try await values.next() }
    }

    // MARK: Ends of bodies

    @Test(arguments: [
        ("application/x-ndjson", "{\"revision\":1}\n{\"revision\":2}", "{\"revision\":3}"),
        ("application/json-seq", "\u{1E}{\"revision\":1}\n\u{1E}{\"revision\":2}\n", "\u{1E}{\"revision\":3}\n"),
        ("application/json", "[{\"revision\":1},{\"revision\":2}]", "[{\"revision\":3}]"),
    ])
    func `the last value of a body is returned once, with or without an ending`(
        type: String, first: String, second: String
    ) async throws {
        let mock = MockLoader()
            .then { stream($0, first, type: type) }
            .then { stream($0, second, type: type) }
            .then { HTTPResponse(request: $0, status: .noContent) }
        let (changes, error) = await following(mock)
        #expect(changes.map(\.revision) == [1, 2, 3] && error == nil)
        #expect(positions(mock) == [nil, "2", "3"])
    }

    @Test func `a page that is not values is requested once more, and then its error is thrown`() async {
        let mock = MockLoader { stream($0, "<title>502", type: "text/html") }
        let (changes, error) = await following(mock)
        #expect(changes.isEmpty && (error as? HTTPError)?.code == .cannotDecodeResponse)
        #expect(mock.requests.count == 2)
        // A value between two such pages is progress.
        let recovered = MockLoader()
            .then { stream($0, "<title>502") }
            .then { stream($0, "{\"revision\":1}\n<title>502") }
            .then { HTTPResponse(request: $0, status: .noContent) }
        let (values, failure) = await following(recovered)
        #expect(values.map(\.revision) == [1] && failure == nil && recovered.requests.count == 3)
    }

    @Test(arguments: [(3, nil), (nil, .seconds(7))] as [(Int?, Duration?)])
    func `values that cannot be decoded are no progress, so that the attempts and the deadline end a restart`(
        maximumAttempts: Int?, deadline: Duration?
    ) async {
        let mock = MockLoader { stream($0, "<title>502", type: "text/html") }
        let (_, error) = await client(mock).values(
            of: Watch(), as: Change.self,
            reconnecting: .whenClosed(
                Backoff(.exponential(base: .seconds(1)), maximumRetries: maximumAttempts, clock: clock, random: { 1 }),
                deadline: deadline),
            restarting: { _ in Watch(after: 0) }
        ).allAndError()
        #expect((error as? HTTPError)?.code == (deadline == nil ? .cannotDecodeResponse : .timedOut))
        #expect(clock.sleeps == [1, 2, 4].prefix(mock.requests.count - 1).map { .seconds($0) })
        #expect(mock.requests.count == (deadline == nil ? 4 : 3))
    }

    @Test(arguments: ["{\"revision\":1}\n{\"revi", "[{\"revision\":1},{\"revi"])
    func `a value that the end of a body has cut is requested again`(text: String) async throws {
        let type = text.hasPrefix("[") ? "application/json" : "application/x-ndjson"
        let mock = MockLoader()
            .then { stream($0, text, type: type) }
            .then { stream($0, "{\"revision\":2}\n") }
            .then { HTTPResponse(request: $0, status: .noContent) }
        let (changes, error) = await following(mock)
        #expect(changes.map(\.revision) == [1, 2] && error == nil)
        #expect(positions(mock) == [nil, "1", "2"])
    }

    // MARK: Restarts

    @Test func `a value of another form can restart the stream, and is an error otherwise`() async throws {
        func mock() -> MockLoader {
            MockLoader()
                .then { stream($0, "{\"revision\":1}\n{\"type\":\"ERROR\"}\n{\"revision\":2}\n") }
                .then { stream($0, "{\"revision\":7}\n") }
                .then { HTTPResponse(request: $0, status: .noContent) }
        }
        let restarting = mock()
        let (changes, error) = await following(restarting) { $0.code == .cannotDecodeResponse ? Watch(after: 0) : nil }
        #expect(changes.map(\.revision) == [1, 7] && error == nil && positions(restarting) == [nil, "0", "7"])
        let (before, failure) = await following(mock())
        #expect(before.count == 1 && (failure as? HTTPError)?.code == .cannotDecodeResponse)
        #expect((failure as? HTTPError)?.message.contains("value 2") == true)
    }

    @Test func `what fails to restart for a while is asked again after a wait, and other errors end the stream`() async
    {
        struct NoList: Error {}
        let asked = Counter()
        let mock = MockLoader()
            .then { HTTPResponse(request: $0, status: .gone) }
            .then { stream($0, "{\"revision\":4}\n") }
            .then { HTTPResponse(request: $0, status: .gone) }
        let (changes, error) = await following(mock) { cause in
            let number = asked.next()
            if number < 3 { throw HTTPError(.cannotConnect, request: cause.request) }
            if number > 3 { throw NoList() }
            return Watch(after: 3)
        }
        #expect(changes.map(\.revision) == [4] && error is NoList)
        #expect(positions(mock) == [nil, "3", "4"] && asked.value == 4)
        #expect(clock.sleeps == [1, 2, 1].map { .seconds($0) })
    }

    @Test func `another request is sent without the identifier of the stream before`() async throws {
        let mock = MockLoader()
            .then { stream($0, "id: 9\ndata: a\n\n", type: "text/event-stream") }
            .then { HTTPResponse(request: $0, status: .gone) }
            .then { stream($0, "data: b\n\n", type: "text/event-stream") }
            .then { HTTPResponse(request: $0, status: .noContent) }
        let events = client(mock).events(
            of: Watch(), reconnecting: reconnection, resuming: { _ in nil },
            restarting: { $0.response?.status == .gone ? Watch(after: 0) : nil })
        #expect(try await events.all().map(\.data) == ["a", "b"])
        #expect(mock.requests.map { $0.headers["Last-Event-ID"] } == [nil, "9", nil, nil])
    }

    // MARK: Methods

    struct PostWatch: RequestTemplate {
        var after: Int?
        var method: HTTPMethod { .post }
        var path: RequestPath { "watch" }
        var query: QueryParameters { ["after": after] }
    }

    @Test func `a POST is followed by other requests, and is not sent again`() async throws {
        let mock = MockLoader()
            .then { stream($0, "{\"revision\":1}\n") }
            .then { stream($0, "{\"revision\":2}\n") }
            .then { stream($0, "") }
        let (changes, error) = await client(mock).values(
            of: PostWatch(), as: Change.self, reconnecting: reconnection,
            resuming: { PostWatch(after: $0.revision) }
        ).allAndError()
        #expect(changes.map(\.revision) == [1, 2] && positions(mock) == [nil, "1", "2"])
        let message = try #require((error as? HTTPError)?.message)
        #expect(message.contains("POST is not idempotent") && message.contains("idempotent(key: .none)"))
    }

    /// A status, and a body that fails before its first value. Both errors are temporary, and nothing may repeat the POST.
    @Test(arguments: [HTTPError.Code.unacceptableStatus, .connectionLost])
    func `a POST that fails for a time is restarted, or ends the stream`(code: HTTPError.Code) async throws {
        for restarts in [true, false] {
            let mock = MockLoader()
                .then { stream($0, "{\"revision\":1}\n") }
                .then {
                    code == .connectionLost
                        ? stream($0, "", failing: code) : HTTPResponse(request: $0, status: .serviceUnavailable)
                }
                .then { stream($0, "{\"revision\":7}\n") }
                .then { HTTPResponse(request: $0, status: .noContent) }
            let asked = Counter()
            let (changes, error) = await client(mock).values(
                of: PostWatch(), as: Change.self, reconnecting: reconnection,
                resuming: { PostWatch(after: $0.revision) },
                restarting: { _ in
                    asked.next()
                    return restarts ? PostWatch(after: 6) : nil
                }
            ).allAndError()
            #expect(changes.map(\.revision) == (restarts ? [1, 7] : [1]) && asked.value == 1)
            #expect(positions(mock) == (restarts ? [nil, "1", "6", "7"] : [nil, "1"]))
            #expect((error as? HTTPError)?.code == (restarts ? nil : code))
        }
    }

    @Test func `a value over the limit restarts the stream`() async throws {
        let mock = MockLoader()
            .then { stream($0, "{\"revision\":1}\n{\"revision\":12345678901234567890}\n") }
            .then { stream($0, "{\"revision\":3}\n") }
            .then { HTTPResponse(request: $0, status: .noContent) }
        let codes = Mutex<[HTTPError.Code]>([])
        let values = client(mock).values(
            of: Watch(), as: Change.self, limit: 30, reconnecting: reconnection,
            resuming: { Watch(after: $0.revision) },
            restarting: { error in
                codes.withLock { $0.append(error.code) }
                return Watch(after: 2)
            })
        #expect(try await values.all().map(\.revision) == [1, 3])
        #expect(positions(mock) == [nil, "2", "3"] && codes.withLock { $0 } == [.responseTooLarge])
    }

    @Test func `a marked POST with a body that can be sent once names the body and not the method`() async throws {
        let mock = MockLoader { stream($0, "") }
        let once = PostWatch().body(StreamBody(once: AsyncStream<Data> { $0.finish() })).idempotent()
        let (_, error) = await client(mock).values(
            of: once, as: Change.self, reconnecting: reconnection, resuming: { _ in once }
        ).allAndError()
        #expect((error as? HTTPError)?.message.contains("the body can be sent only once") == true)
    }

    @Test func `a POST of which nothing was sent is sent again, and so is one that is marked`() async throws {
        let unsent = MockLoader()
            .then { stream($0, "{\"revision\":1}\n") }
            .then { throw HTTPError(.cannotConnect, request: $0, mayHaveBeenSent: false) }
            .then { HTTPResponse(request: $0, status: .noContent) }
        let (changes, error) = await client(unsent).values(
            of: PostWatch(), as: Change.self, reconnecting: reconnection,
            resuming: { PostWatch(after: $0.revision) }
        ).allAndError()
        #expect(changes.count == 1 && error == nil && positions(unsent) == [nil, "1", "1"])
        let marked = MockLoader()
            .then { stream($0, "{\"revision\":1}\n") }
            .then { stream($0, "") }
            .then { HTTPResponse(request: $0, status: .noContent) }
        let values = client(marked).values(
            of: PostWatch().idempotent(key: .none), as: Change.self, reconnecting: reconnection,
            resuming: { _ in nil })
        #expect(try await values.all().count == 1 && marked.requests.count == 3)
    }

    @Test func `a limit without an end is no trap`() async throws {
        let mock = MockLoader { stream($0, "{\"revision\":1}") }
        let values = client(mock).values(of: Watch(), as: Change.self, limit: .max)
        #expect(try await values.all().count == 1)
    }
}
