// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadStreaming
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// Events that are decoded as they arrive.
@Suite(.timeLimit(.minutes(1)))
struct EventValuesTests {
    struct Overload: Decodable, Sendable, Equatable {
        var type: String
        var message: String
    }

    struct Completion: RequestTemplate {
        typealias Failure = Overload
        var method = HTTPMethod.get
        var path: RequestPath { "completions" }
    }

    private static let overload = "event: error\ndata: {\"type\":\"overloaded\",\"message\":\"too many users\"}\n\n"

    private let clock = TestClock(isAutomatic: true)

    private func client(_ mock: any HTTPLoader, maximumRetries: Int = 0) -> HTTPClient {
        HTTPClient(
            environment: .of("http://a.example"),
            retrying: Backoff(maximumRetries: maximumRetries, clock: clock, random: { 1 }), transport: mock)
    }

    private func stream(_ request: HTTPRequest, _ pieces: [String], failing code: HTTPError.Code? = nil)
        -> HTTPResponse
    {
        HTTPResponse(
            request: request, status: .ok, headers: ["Content-Type": "text/event-stream"],
            body: StreamedBody.of(pieces.map { Data($0.utf8) }, failing: code.map { HTTPError($0, request: request) }))
    }

    private func stream(_ request: HTTPRequest, _ text: String) -> HTTPResponse { stream(request, [text]) }

    // MARK: The choice of events

    @Test func `comments, pings and events without data are skipped`() async throws {
        let text = ": hello\n\ndata: 1\n\nevent: ping\ndata: {}\n\ndata:\n\nid: 4\n\n: ping\nevent: delta\ndata: 2\n\n"
        let mock = MockLoader { stream($0, text) }
        #expect(try await client(mock).events(of: TestEndpoint(), as: Int.self).all() == [1, 2])
        #expect(mock.requests.count == 1)
    }

    @Test func `only the named events are decoded`() async throws {
        let text = "event: start\ndata: {}\n\nevent: delta\ndata: 1\n\ndata: x\n\nevent: delta\ndata: 2\n\n"
        let mock = MockLoader { stream($0, text) }
        #expect(try await client(mock).events(of: TestEndpoint(), as: Int.self, named: ["delta"]).all() == [1, 2])
    }

    @Test func `an error event is a value if it is named`() async throws {
        let mock = MockLoader { stream($0, "data: x\n\nevent: error\ndata: 7\n\n") }
        #expect(try await client(mock).events(of: TestEndpoint(), as: Int.self, named: ["error"]).all() == [7])
    }

    @Test(arguments: [
        "data: [DONE]\n\ndata: 3\n\n", "event: [DONE]\ndata: {}\n\ndata: 3\n\n", "data: [DONE]\n", "data: [DONE]",
        "event: [DONE]\ndata:",
    ])
    func `values end at the data or the name that ends the stream, also without its blank line`(last: String)
        async throws
    {
        let mock = MockLoader { stream($0, "data: 1\n\ndata: 2\n\n\(last)") }
        for reconnection in [Reconnection.never, .whenClosed(Backoff(clock: TestClock(isAutomatic: true)))] {
            let values = client(mock).events(
                of: TestEndpoint(), as: Int.self, endingWith: "[DONE]", reconnecting: reconnection)
            #expect(try await values.all() == [1, 2])
        }
        #expect(mock.requests.count == 2)
    }

    @Test func `a stream that ends without its final event is an error after its values`() async throws {
        let mock = MockLoader { stream($0, "data: 1\n\n") }
        let (values, error) = await client(mock).events(of: TestEndpoint(), as: Int.self, endingWith: "[DONE]")
            .allAndError()
        #expect(values == [1])
        #expect((error as? HTTPError)?.code == .invalidResponse)
        #expect(try await client(mock).events(of: TestEndpoint(), as: Int.self).all() == [1])
    }

    @Test func `malformed JSON ends the values with an error that names the event`() async throws {
        let mock = MockLoader { stream($0, "data: 1\n\nevent: delta\ndata: {\"a\":\n\ndata: 3\n\n") }
        let (values, failure) = await client(mock).events(of: TestEndpoint(), as: Int.self).allAndError()
        let error = try #require(failure as? HTTPError)
        #expect(values == [1] && error.code == .cannotDecodeResponse)
        #expect(error.message.contains("event \"delta\": decoding Int"))
    }

    @Test func `an event that cannot be decoded is skipped if the caller wants it, with its error`() async throws {
        let mock = MockLoader { stream($0, "data: 1\n\nevent: delta\ndata: x\n\ndata: 3\n\n") }
        let errors = Mutex<[HTTPError]>([])
        let values = client(mock).events(
            of: TestEndpoint(), as: Int.self, undecodable: .skip { error in errors.withLock { $0.append(error) } })
        #expect(try await values.all() == [1, 3])
        #expect(errors.withLock { $0.map(\.code) } == [.cannotDecodeResponse])
        #expect(errors.withLock { $0.first?.message.contains("event \"delta\"") } == true)
    }

    @Test func `events that are skipped are no progress of a stream that reconnects`() async {
        let mock = MockLoader { stream($0, "event: ping\ndata: {}\n\ndata: x\n\n") }
        let values = client(mock).events(
            of: TestEndpoint(), as: Int.self, undecodable: .skip { _ in },
            reconnecting: .whenClosed(Backoff(maximumRetries: 2, clock: clock, random: { 1 })))
        #expect(await values.allAndError().elements.isEmpty)
        #expect(mock.requests.count == 3)
    }

    @Test(arguments: ["text/plain", nil] as [String?])
    func `a stream of another content type is read if the caller wants it`(type: String?) async throws {
        let mock = MockLoader { request in
            var response = stream(request, "data: 1\n\n")
            response.headers[.contentType] = type
            return response
        }
        let (client, endpoint) = (client(mock, maximumRetries: 1), TestEndpoint())
        #expect(try await client.events(of: endpoint, as: Int.self, contentTypes: .any).all() == [1])
        #expect(try await client.events(of: endpoint, contentTypes: .any).all().map(\.data) == ["1"])
        #expect(try await client.stream(endpoint).events(contentTypes: .any).all().count == 1)
        let (_, error) = await client.events(of: endpoint, as: Int.self).allAndError()
        #expect((error as? HTTPError)?.message.contains("set contentTypes to .any") == true)
    }

    // MARK: Failures

    /// The error of OpenAI's form.
    struct Problem: Decodable, Sendable, Equatable {
        var error: Overload
    }

    /// A value that any object is.
    struct Vague: Decodable, Sendable, Equatable {
        var id: Int?
    }

    struct Whole: Decodable, Sendable, Equatable {
        var id: Int
    }

    private static let problem = #"{"error":{"type":"overloaded","message":"too many users"}}"#

    private func failure<Value: Decodable & Sendable>(
        of template: some RequestTemplate, as type: Value.Type, named names: Set<String>? = nil, _ text: String
    ) async -> (values: [Value], error: HTTPError?) {
        let (values, error) = await client(MockLoader { stream($0, text) })
            .events(of: template, as: type, named: names).allAndError()
        return (values, error as? HTTPError)
    }

    @Test(arguments: ["data: ", "event: chunk\ndata: "])
    func `an event of any name that decodes as the failure of the template is a reported failure`(start: String) async {
        let template = TestEndpoint().failure(as: Problem.self)
        let text = "data: {\"id\":1}\n\n\(start)\(Self.problem)\n\ndata: {\"id\":2}\n\n"
        let (values, error) = await failure(of: template, as: Whole.self, text)
        #expect(values == [Whole(id: 1)] && error?.code == .reportedFailure)
        #expect(error?.failure(as: Problem.self)?.error.type == "overloaded")
        #expect(error.map { "\($0)".contains("the server wrote \"too many users\"") } == true)
        // Also if every object is a value, and if the event is not among the named ones.
        let (vague, vagueError) = await failure(of: template, as: Vague.self, text)
        #expect(vague == [Vague(id: 1)] && vagueError?.code == .reportedFailure)
        let (named, namedError) = await failure(of: template, as: Whole.self, named: ["delta"], text)
        #expect(named.isEmpty && namedError?.code == .reportedFailure)
    }

    @Test func `an event that is a value, or a failure type that every object has, reports no failure`() async {
        // Each value decodes as the failure, too.
        struct Message: Decodable, Sendable { var type, message: String }
        let text = #"data: {"type":"delta","message":"hi"}"# + "\n\n"
        let (messages, error) = await failure(of: Completion(), as: Message.self, text)
        #expect(messages.count == 1 && error == nil)
        let (_, undecodable) = await failure(
            of: TestEndpoint().failure(as: Vague.self), as: Whole.self, "data: \(Self.problem)\n\n")
        #expect(undecodable?.code == .cannotDecodeResponse)
        // Without a type for failures, the data is no failure.
        let (_, plain) = await failure(of: TestEndpoint(), as: Whole.self, "data: \(Self.problem)\n\n")
        #expect(plain?.code == .cannotDecodeResponse)
    }

    @Test func `an unnamed failure before the first value is retried`() async throws {
        let mock = MockLoader()
            .then { stream($0, ": hello\n\ndata: \(Self.problem)\n\n") }
            .then { stream($0, "data: {\"id\":1}\n\n") }
        let values = client(mock, maximumRetries: 1).events(
            of: TestEndpoint().failure(as: Problem.self), as: Whole.self)
        #expect(try await values.all() == [Whole(id: 1)])
        #expect(clock.sleeps == [.seconds(1)])
    }

    @Test func `an error event ends the values with the failure of the template and the words of the server`()
        async throws
    {
        let mock = MockLoader { stream($0, "data: 1\n\n" + Self.overload + "data: 2\n\n") }
        let (values, thrown) = await client(mock).events(of: Completion(), as: Int.self).allAndError()
        let error = try #require(thrown as? HTTPError)
        #expect(values == [1])
        #expect(error.code == .reportedFailure)
        #expect(error.failure(of: Completion.self) == Overload(type: "overloaded", message: "too many users"))
        #expect(error.description.hasSuffix("; the server wrote \"too many users\""))
        #expect(error.response?.status == .ok)
    }

    @Test func `an error event with a text that is not JSON is quoted`() async {
        let mock = MockLoader { stream($0, "event: error\ndata: too many users\n\n") }
        let (_, error) = await client(mock).events(of: Completion(), as: Int.self).allAndError()
        #expect((error as? HTTPError)?.failure(of: Completion.self) == nil)
        #expect(error.map { "\($0)" }?.hasSuffix("; the server wrote \"too many users\"") == true)
    }

    @Test func `a secret request does not show what the server wrote`() async {
        let mock = MockLoader { stream($0, Self.overload) }
        let (_, error) = await client(mock).events(of: Completion().secret(), as: Int.self).allAndError()
        #expect(error.map { "\($0)" }?.contains("too many") == false)
    }

    // MARK: Failures before the first value

    @Test func `an error event before the first value is retried, with the waits of a status`() async throws {
        let mock = MockLoader()
            .then { stream($0, "event: start\ndata: {}\n\n" + Self.overload) }
            .then { stream($0, Self.overload) }
            .then { stream($0, "event: start\ndata: {}\n\nevent: delta\ndata: 1\n\n") }
        let values = client(mock, maximumRetries: 2).events(of: Completion(), as: Int.self, named: ["delta"])
        #expect(try await values.all() == [1])
        #expect(clock.sleeps == [.seconds(1), .seconds(2)])
    }

    @Test(arguments: [(HTTPMethod.get, 0), (.post, 2)])
    func `without a retry that is allowed and safe, the failure is thrown`(method: HTTPMethod, maximum: Int) async {
        let mock = MockLoader { stream($0, Self.overload) }
        let (_, error) = await client(mock, maximumRetries: maximum).events(
            of: Completion(method: method), as: Int.self
        ).allAndError()
        #expect((error as? HTTPError)?.failure(of: Completion.self)?.type == "overloaded")
        #expect(mock.requests.count == 1)
    }

    @Test func `a POST is retried if refusals are`() async throws {
        let mock = MockLoader().then { stream($0, Self.overload) }.then { stream($0, "data: 1\n\n") }
        let template = Completion(method: .post).retry(.exponential.retryingRefusals(), maximumRetries: 1)
        #expect(try await client(mock).events(of: template, as: Int.self).all() == [1])
        #expect(mock.requests.count == 2)
    }

    private static let comment = String(repeating: ":", count: 40_000) + "\n"

    /// An error event after a value, and one after more than 64 KiB, is not retried.
    @Test(
        arguments: [
            ([overload], 3), (["data: 1\n\n", overload], 1), ([comment, comment, overload], 1),
        ] as [([String], Int)])
    func `when no retry is left or possible, the last failure is thrown with all attempts`(
        pieces: [String], requests: Int
    ) async {
        let mock = MockLoader { stream($0, pieces) }
        let (values, error) = await client(mock, maximumRetries: 2).events(of: Completion(), as: Int.self).allAndError()
        #expect(values == (pieces.count == 2 ? [1] : []))
        #expect((error as? HTTPError)?.code == .reportedFailure && mock.requests.count == requests)
        #expect(requests == 1 || (error as? HTTPError)?.attempts.count == requests)
    }

    @Test(arguments: [1, 7, 1 << 16])
    func `a stream that may be retried delivers all its values`(size: Int) async throws {
        let text = ": hello\n\ndata: 1\n\ndata: 2\n\ndata: [DONE]\n\n"
        let mock = MockLoader { request in
            HTTPResponse(
                request: request, status: .ok, headers: ["Content-Type": "text/event-stream"],
                body: StreamedBody.of(text, piecesOf: size))
        }
        let values = client(mock, maximumRetries: 1).events(of: Completion(), as: Int.self, endingWith: "[DONE]")
        #expect(try await values.all() == [1, 2])
        #expect(mock.requests.count == 1)
    }

    @Test func `a piece that was looked at is released when the next one was read`() async throws {
        let releases = Counter()
        let (pieces, sending) = AsyncStream.makeStream(of: Data.self)
        sending.yield(Self.piece(": a piece that is not stored inline\ndata: 1\n\n") { releases.next() })
        sending.yield(Data("data: 2\n\n".utf8))
        let mock = MockLoader { request in
            let body = HTTPResponseBody(length: nil, pull: { await pieces.first { _ in true } })
            return HTTPResponse(
                request: request, status: .ok, headers: ["Content-Type": "text/event-stream"], body: body)
        }
        var values = client(mock, maximumRetries: 1).events(of: Completion(), as: Int.self).makeAsyncIterator()
        #expect(try await values.next() == 1)
        #expect(releases.value == 0)
        #expect(try await values.next() == 2)
        #expect(releases.value == 1)
    }

    /// A piece that tells when its memory is freed.
    private static func piece(_ text: String, onFree: @escaping @Sendable () -> Void) -> Data {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
        bytes.copyBytes(from: text.utf8)
        return Data(
            bytesNoCopy: bytes.baseAddress.unsafelyUnwrapped, count: bytes.count,
            deallocator: .custom { bytes, _ in
                bytes.deallocate()
                onFree()
            })
    }

    @Test func `a connection that is lost before the first value reconnects, also if retries are allowed`()
        async throws
    {
        let mock = MockLoader()
            .then { stream($0, [": hello\n"], failing: .connectionLost) }
            .then { stream($0, "data: 1\n\n") }
            .then { HTTPResponse(request: $0, status: .noContent) }
        let values = client(mock, maximumRetries: 1).events(
            of: Completion(), as: Int.self, reconnecting: .whenClosed(Backoff(clock: clock)))
        #expect(try await values.all() == [1])
        #expect(mock.requests.count == 3)
    }

    @Test func `a reconnection sends the identifier of the last event`() async throws {
        let mock = MockLoader()
            .then { stream($0, "id: 7\ndata: 1\n\nid: 8\nevent: ping\ndata: {}\n\n") }
            .then { stream($0, "data: 2\n\n") }
            .then { HTTPResponse(request: $0, status: .noContent) }
        let values = client(mock).events(
            of: Completion(), as: Int.self, reconnecting: .whenClosed(Backoff(clock: clock)))
        #expect(try await values.all() == [1, 2])
        #expect(mock.requests.map { $0.headers["Last-Event-ID"] } == [nil, "8", "8"])
    }

    // MARK: Ending early

    /// Sends the beginning of a stream that doesn't end.
    private func endlessServer(_ beginning: String) async throws -> MockServer {
        let (chunks, sending) = AsyncStream.makeStream(of: Data.self)
        sending.yield(Data(beginning.utf8))
        return try await MockServer.start { _ in
            MockServer.Response(headers: ["Content-Type": "text/event-stream"], chunks: chunks)
        }
    }

    /// A client that looks for a failure as soon as the semaphore is signaled.
    private func client(_ server: MockServer, signaling arrived: DispatchSemaphore) -> HTTPClient {
        HTTPClient(
            environment: ServerEnvironment(baseURL: server.url), retrying: Backoff(maximumRetries: 1),
            attemptLinks: ModifyResponse { _ in arrived.signal() })
    }

    @Test func `a validator can refuse a stream that doesn't end, and the error has its beginning`() async throws {
        let server = try await endlessServer(": hello\n\n")
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: server.url),
            validators: [ClosureValidator { _, _ in .failChain(URLError(.unknown)) }])
        let (_, thrown) = await client.events(of: Completion().idleTimeout(.never), as: Int.self).allAndError()
        let error = try #require(thrown as? HTTPError)
        #expect(error.code == .validationFailed && error.response?.body.buffered == Data(": hello\n\n".utf8))
        _ = try await server.record { $0.connections.first?.isOpen == false }
        await server.stop()
    }

    @Test func `cancelling the task before the first value closes the connection`() async throws {
        let (server, arrived) = (try await endlessServer(": hello\n\n"), DispatchSemaphore(value: 0))
        let client = client(server, signaling: arrived)
        let reading = Task { try await client.events(of: Completion(), as: Int.self).all() }
        #expect(await arrived.isSignaled())
        reading.cancel()
        await #expect(throws: CancellationError.self) { _ = try await reading.value }
        _ = try await server.record { $0.connections.first?.isOpen == false }
        await server.stop()
    }
}
