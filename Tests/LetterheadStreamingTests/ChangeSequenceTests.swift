// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadCaching
import LetterheadStreaming
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ChangeSequenceTests {
    struct Job: Codable, Sendable, Equatable {
        var state: String
        var isDone: Bool { state == "done" }
    }

    private let getJob = Get<Job>("job")
    private let clock = TestClock(isAutomatic: true)

    private func client(_ mock: MockLoader) -> HTTPClient {
        HTTPClient(environment: .of("http://a.example"), transport: mock)
    }

    private func reconnection(maximumAttempts: Int? = 5, deadline: Duration? = nil) -> Reconnection {
        .whenClosed(
            Backoff(
                .exponential(base: .seconds(1)), maximumRetries: maximumAttempts, clock: clock,
                now: { [clock] in Date(timeIntervalSince1970: 784_111_777 + clock.now.offset / .seconds(1)) },
                random: { 1 }), deadline: deadline)
    }

    private func job(_ request: HTTPRequest, _ state: String, headers: HTTPHeaders = [:]) throws -> HTTPResponse {
        var response = try HTTPResponse.ok(request, json: Job(state: state))
        response.headers.replace(with: headers)
        return response
    }

    /// The states of the job until it is done.
    private func states(over client: HTTPClient, every interval: Duration = .seconds(2)) async throws -> [String] {
        try await client.changes(of: getJob, every: interval, until: \.isDone, reconnecting: reconnection()).all()
            .map(\.state)
    }

    @Test func `each change is one value, and the last one ends the sequence`() async throws {
        let mock = MockLoader()
            .then { try job($0, "queued") }
            .then { try job($0, "queued") }
            .then { try job($0, "running") }
            .then { try job($0, "done") }
        #expect(try await states(over: client(mock)) == ["queued", "running", "done"])
        #expect(clock.sleeps == Array(repeating: .seconds(2), count: 3))
    }

    @Test func `the requests are conditional over a socket, and a response that is not modified is no change`()
        async throws
    {
        let seen = Mutex<[String?]>([])
        let server = try await MockServer.start { request in
            let tag = request.headers["If-None-Match"]
            let number = seen.withLock { seen in
                seen.append(tag)
                return seen.count
            }
            if number == 2 { return MockServer.Response(status: 304, headers: ["ETag": "\"1\""]) }
            return MockServer.Response(
                headers: ["ETag": "\"\(number)\"", "Content-Type": "application/json"],
                body: Data("{\"state\":\"\(number == 1 ? "queued" : "done")\"}".utf8))
        }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url)).accepting([200])
        #expect(try await states(over: client) == ["queued", "done"])
        #expect(seen.withLock { $0 } == [nil, "\"1\"", "\"1\""])
        await server.stop()
    }

    @Test func `the server extends the wait, and failures let it grow`() async throws {
        let mock = MockLoader()
            // A minute after the date that was passed.
            .then { try job($0, "queued", headers: ["Retry-After": "Sun, 06 Nov 1994 08:50:37 GMT"]) }
            .then { try job($0, "queued", headers: ["Retry-After": "30"]) }
            .then { HTTPResponse(request: $0, status: .serviceUnavailable) }
            .then { throw HTTPError(.cannotConnect, request: $0) }
            .then { try job($0, "queued", headers: ["Retry-After": "9999"]) }
            .then { try job($0, "done") }
        #expect(try await states(over: client(mock), every: .seconds(1)) == ["queued", "done"])
        #expect(clock.sleeps == [60, 30, 1, 2, 120].map { .seconds($0) })
    }

    @Test func `too many failures in a row, and any other error, end the sequence`() async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: .badGateway) }.then { try job($0, "queued") }
        let (jobs, error) = await client(mock)
            .changes(of: getJob, every: .seconds(2), reconnecting: reconnection(maximumAttempts: 2)).allAndError()
        #expect(jobs.count == 1 && (error as? HTTPError)?.response?.status == .badGateway && mock.requests.count == 4)
        let gone = MockLoader().then { try job($0, "queued") }.then { HTTPResponse(request: $0, status: .notFound) }
        let (before, end) = await client(gone)
            .changes(of: getJob, every: .seconds(2), reconnecting: reconnection()).allAndError()
        #expect(before.count == 1 && (end as? HTTPError)?.response?.status == .notFound)
    }

    @Test func `a deadline ends the sequence`() async throws {
        let mock = MockLoader { try job($0, "queued") }
        let (jobs, error) = await client(mock).changes(
            of: getJob, every: .seconds(2), reconnecting: reconnection(deadline: .seconds(5))
        ).allAndError()
        #expect(jobs.count == 1 && (error as? HTTPError)?.code == .timedOut && mock.requests.count == 3)
        #expect((error as? HTTPError)?.mayHaveBeenSent == true)
    }

    @Test func `what must not be sent again, and an interval of zero, are errors before anything is sent`() async throws
    {
        let mock = MockLoader { try job($0, "queued") }
        let (_, error) = await client(mock).changes(of: Post<Job>("job"), every: .seconds(1)).allAndError()
        #expect((error as? HTTPError)?.message.contains("idempotent(key: .none)") == true)
        let (_, zero) = await client(mock).changes(of: getJob, every: .zero).allAndError()
        #expect((zero as? HTTPError)?.code == .invalidRequest && mock.requests.isEmpty)
        let marked = client(mock).changes(
            of: Post<Job>("job").idempotent(key: .none), every: .seconds(1), until: { _ in true },
            reconnecting: reconnection())
        #expect(try await marked.all().count == 1)
    }

    @Test func `a reset and a cancellation end the wait`() async throws {
        for isReset in [true, false] {
            let clock = TestClock()
            let mock = MockLoader { try job($0, "queued") }
            let client = client(mock)
            let task = Task {
                await client.changes(of: getJob, every: .seconds(2), reconnecting: .whenClosed(Backoff(clock: clock)))
                    .allAndError()
            }
            await clock.waitForSleepers(1)
            if isReset { await client.reset() } else { task.cancel() }
            let (jobs, error) = await task.value
            #expect(jobs.count == 1 && clock.sleepers == 0 && mock.requests.count == 1)
            if isReset {
                #expect((error as? HTTPError)?.code == .cancelled)
            } else {
                #expect(error is CancellationError)
            }
        }
    }

    @Test func `a template that examines the body is not asked about a response without one`() async throws {
        struct Strict: RequestTemplate {
            typealias Response = Job
            var path: RequestPath { "job" }
            func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
                let response = try result.get()
                guard response.body.buffered?.isEmpty == false else {
                    throw HTTPError(.invalidResponse, request: response.request)
                }
                return response
            }
        }
        let mock = MockLoader()
            .then { try job($0, "queued", headers: ["ETag": "\"1\""]) }
            .then { HTTPResponse(request: $0, status: .notModified) }
            .then { try job($0, "done") }
        let jobs = try await client(mock)
            .changes(of: Strict(), every: .seconds(2), until: \.isDone, reconnecting: reconnection()).all()
        #expect(jobs.map(\.state) == ["queued", "done"])
    }

    @Test func `a failing server is not asked more often than another one, and the deadline keeps the failure`()
        async throws
    {
        let mock = MockLoader { HTTPResponse(request: $0, status: .serviceUnavailable) }
        let (_, error) = await client(mock).changes(
            of: getJob, every: .seconds(3_600), reconnecting: reconnection(deadline: .seconds(9_000))
        ).allAndError()
        #expect(clock.sleeps == [3_600, 3_600].map { .seconds($0) } && mock.requests.count == 3)
        #expect((error as? HTTPError)?.code == .timedOut)
        #expect((error as? HTTPError)?.response?.status == .serviceUnavailable)
    }

    @Test(
        arguments: [["ETag": "\"1\"", "Cache-Control": "max-age=60"], ["Cache-Control": "max-age=60"]] as [HTTPHeaders])
    func `only the first request can be answered from a cache, with and without a validator`(
        headers: HTTPHeaders
    ) async throws {
        let tag = headers[.eTag]
        let mock = MockLoader()
            .then { try job($0, "queued", headers: headers) }
            .then { tag == nil ? try job($0, "queued") : HTTPResponse(request: $0, status: .notModified) }
            .then { try job($0, "done") }
        let caching = HTTPClient(
            environment: .of("http://a.example"), cache: ResponseCache(store: .memory(bytes: 1 << 20)), transport: mock)
        #expect(try await states(over: caching) == ["queued", "done"])
        #expect(mock.requests.map { $0.headers["If-None-Match"] } == [nil, tag, tag])
    }
}
