// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// Updates end when their request ends, with any outcome.
@Suite(.timeLimit(.minutes(1)))
struct ProgressUpdatesTests {
    struct Import: RequestTemplate {
        typealias Response = Data
        var path: RequestPath = "import"
        var method: HTTPMethod { .post }
        var body: any HTTPBody { DataBody(Data(count: 200_000)) }
    }

    /// Runs the example of the documentation, and returns the updates and the error.
    private func updates(
        over transport: any HTTPLoader, _ template: Import = Import(), retries: Int = 0,
        base: URL? = URL(string: "https://a.test")
    ) async -> (steps: [HTTPRequest.Progress], code: HTTPError.Code?) {
        let environment = base.map { ServerEnvironment(baseURL: $0) }
        let client = HTTPClient(
            environment: environment,
            retrying: Backoff(maximumRetries: retries, clock: TestClock(isAutomatic: true)), transport: transport
        )
        let updates = ProgressUpdates()
        async let receipt = client.send(template.idempotent().onProgress(updates))
        var steps: [HTTPRequest.Progress] = []
        for await progress in updates { steps.append(progress) }
        do {
            _ = try await receipt
            return (steps, nil)
        } catch {
            return (steps, (error as? HTTPError)?.code)
        }
    }

    private static func chunked(_ count: Int) -> MockServer.Response {
        let chunks = AsyncStream<Data> { continuation in
            continuation.yield(Data(count: count))
            continuation.finish()
        }
        return MockServer.Response(chunks: chunks)
    }

    @Test(arguments: TransportTests.Transport.allCases, ["length", "chunked", "gzip", "empty", "404", "close"])
    func `updates end with every response`(transport: TransportTests.Transport, kind: String) async throws {
        let zipped = try await DataBody(Data(count: 100_000)).compressed().chunks().reduce(into: Data()) { $0 += $1 }
        let server = try await MockServer.start { _ in
            switch kind {
            case "chunked": Self.chunked(100_000)
            case "gzip": MockServer.Response(headers: ["Content-Encoding": "gzip"], body: zipped)
            case "empty": MockServer.Response(status: 204)
            case "404": MockServer.Response(status: 404, body: Data(count: 10))
            default: MockServer.Response(body: Data(count: 100_000))
            }
        }
        // Nothing listens on port 1. The port of a stopped server may be another test's by now.
        let base = kind == "close" ? URL(string: "http://127.0.0.1:1") : server.url
        let (steps, code) = await updates(over: transport.loader, base: base)
        #expect(code == ["404": .unacceptableStatus, "close": .cannotConnect][kind])
        if kind == "length" { #expect(steps.last?.fractionCompleted == 1 && steps.last?.direction == .download) }
        await server.stop()
    }

    @Test func `updates continue until the last attempt has ended, without the body of a refusal`() async throws {
        let attempts = Counter()
        let server = try await MockServer.start { _ in
            MockServer.Response(status: attempts.next() == 1 ? 503 : 200, body: Data(count: 1_000))
        }
        let (steps, code) = await updates(over: HTTPClient.defaultTransport, retries: 1, base: server.url)
        #expect(code == nil && steps.count { $0.direction == .download && $0.fractionCompleted == 1 } == 1)
        await server.stop()
    }

    @Test func `updates end if nothing could be sent`() async {
        let mock = MockLoader { try .ok($0, json: 1) }
        #expect(await updates(over: mock, base: nil).code == .invalidRequest)
        #expect(await updates(over: mock, Import(path: "\("..")")).code == .invalidRequest)
        #expect(await updates(over: MockLoader()).code == .cannotConnect)
        #expect(mock.requests.isEmpty)
    }

    @Test func `updates end when the task is cancelled`() async {
        let started = CredentialBell()
        let mock = MockLoader { request in
            started.ring()
            try await Task.sleep(for: .seconds(600))
            return .ok(request)
        }
        let client = HTTPClient(environment: .of("https://a.test"), transport: mock)
        let updates = ProgressUpdates()
        let call = Task { try await client.send(Import().onProgress(updates)) }
        await started.wait()
        call.cancel()
        for await _ in updates {}
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test func `updates of a request that shares a load end, too`() async {
        let (held, deduplicate) = (HeldLoader(), Deduplicate())
        let client = HTTPClient(environment: .of("https://a.test"), attemptLinks: deduplicate, transport: held)
        let both = [ProgressUpdates(), ProgressUpdates()]
        let calls = both.map { updates in Task { try await client.send(TestEndpoint("a").onProgress(updates)) } }
        await held.waitForRunning(1)
        await until { deduplicate.waiting == 2 }
        held.open()
        for updates in both { for await _ in updates {} }
        for call in calls { _ = await call.result }
    }

    @Test(arguments: [true, false])
    func `updates of a stream end when its body was read or dropped`(isRead: Bool) async throws {
        let server = try await MockServer.start { _ in Self.chunked(50_000) }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
        let updates = ProgressUpdates()
        var response: HTTPResponse? = try await client.stream(Import().onProgress(updates))
        let count = isRead ? try await response?.body.data().count : 50_000
        response = nil
        let last = try await updates.all().last?.completedBytes
        #expect(count == 50_000 && (!isRead || last == 50_000))
        await server.stop()
    }

    @Test func `updates of a template whose value is a streamed response end when it has been read`() async throws {
        let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
        let server = try await MockServer.start { _ in MockServer.Response(chunks: chunks) }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
        let updates = ProgressUpdates()
        let template = Raw().onProgress(updates).responseDelivery(.streamed)
        var response: HTTPResponse? = try await client.send(template)
        continuation.yield(Data(count: 50_000))
        continuation.finish()
        let count = try await response?.body.data().count
        response = nil
        let last = try await updates.all().last?.completedBytes
        #expect(count == 50_000 && last == 50_000)
        await server.stop()
    }

    @Test func `updates of a plain request and of a started request end with it`() async throws {
        for code in [200, 404] {
            let updates = ProgressUpdates()
            var request = try HTTPRequest.to("https://a.test")
            request.reportProgress(to: updates)
            let sent = request
            let answering = MockLoader { HTTPResponse(request: $0, status: HTTPStatus(code)) }
            let call = Task { try await HTTPClient(transport: answering).send(sent) }
            for await _ in updates {}
            _ = await call.result
        }
        let updates = ProgressUpdates()
        var request = try HTTPRequest.to("https://a.test")
        request.reportProgress(to: updates)
        MockLoader().start(request) { _ in }
        for await _ in updates {}
    }

    @Test func `a closure is called in addition to the updates`() async throws {
        let server = try await MockServer.start { _ in MockServer.Response(body: Data(count: 10)) }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
        let (updates, calls) = (ProgressUpdates(), Counter())
        async let receipt = client.send(Import().onProgress { _ in _ = calls.next() }.onProgress(updates))
        let count = try await updates.all().count
        _ = try await receipt
        #expect(count > 0 && calls.value >= count)
        await server.stop()
    }
}

/// A template with the response as its value.
private struct Raw: RequestTemplate {
    typealias Response = HTTPResponse
    var path: RequestPath { "a" }
}
