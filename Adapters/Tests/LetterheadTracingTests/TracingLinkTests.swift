// SPDX-License-Identifier: MIT
import Foundation
import InMemoryTracing
import Letterhead
import Synchronization
import Testing
import Tracing
import LetterheadTracing

struct TracingLinkTests {
    private let tracer = InMemoryTracer(idGenerator: .incrementing)
    private let received = Received()

    private func client(_ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) -> HTTPClient {
        HTTPClient(
            environment: ServerEnvironment(baseURL: URL(string: "https://a.test") ?? URL(filePath: "/")),
            attemptLinks: TracingLink(tracer),
            transport: AnyLoader { [received] request in
                received.add(request)
                return try await respond(request)
            })
    }

    @Test func `each attempt has a span with its own context and the attributes of OpenTelemetry`() async throws {
        let client = client { HTTPResponse(request: $0, status: .serviceUnavailable) }
        let endpoint = Endpoint<HTTPResponse>(.get, "users/\("ada", name: "login")").query("api_key", "s3cret")
        _ = try? await client.send(endpoint.retry(.immediate, maximumRetries: 1))
        let spans = tracer.finishedSpans
        try #require(spans.count == 2)
        #expect(spans.allSatisfy { $0.operationName == "GET users/{login}" && $0.kind == .client })
        let attributes = spans[0].attributes
        #expect(attributes.get("http.request.method") == .string("GET"))
        #expect(attributes.get("server.address") == .string("a.test"))
        #expect(attributes.get("url.template") == .string("users/{login}"))
        #expect(attributes.get("error.type") == .string("503") && spans[0].status?.code == .error)
        #expect(!"\(spans.map(\.attributes))".contains("s3cret"))
        #expect(received.requests.map { $0.headers["in-memory-span-id"] } == spans.map { $0.spanID })
        #expect(Set(spans.map(\.spanID)).count == 2)
    }

    @Test(arguments: [false, true])
    func `a span after a redirect, a retry or a refused token has the number of earlier ones`(isObserved: Bool)
        async throws
    {
        let answers = Answers([302, 503, 401, 200])
        let client = HTTPClient(
            environment: ServerEnvironment("https://a.test"), authentication: .bearer { _ in "t" },
            attemptLinks: TracingLink(tracer), observers: isObserved ? [EventSink()] : [],
            transport: AnyLoader { request in
                HTTPResponse(request: request, status: answers.next(), headers: ["Location": "/b"])
            })
        _ = try await client.send(Endpoint<HTTPResponse>(.get, "a").retry(.immediate, maximumRetries: 2))
        let counts = tracer.finishedSpans.map { $0.attributes.get("http.request.resend_count") }
        #expect(counts == [nil, .int64(1), .int64(2), .int64(3)])
    }

    @Test func `a span is a child of the current span`() async throws {
        let client = client { HTTPResponse(request: $0, status: .ok) }
        try await tracer.withSpan("work") { _ in _ = try await client.send(Endpoint<HTTPResponse>(.get, "a")) }
        let spans = tracer.finishedSpans
        try #require(spans.map(\.operationName) == ["GET a", "work"])
        #expect(spans[0].parentSpanID == spans[1].spanID && spans[0].traceID == spans[1].traceID)
    }

    @Test func `an error is recorded in the span`() async throws {
        let client = client { throw HTTPError(.timedOut, request: $0) }
        _ = try? await client.send(Endpoint<HTTPResponse>(.get, "a"))
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.attributes.get("error.type") == .string("timedOut"))
        #expect(span.errors.count == 1 && span.status?.code == .error)
    }
}

extension TracingLinkTests {
    @Test func `only allowed origins receive the context, and each request has a span`() async throws {
        let allowed = try #require(URL(string: "https://a.test"))
        let client = HTTPClient(
            attemptLinks: TracingLink(tracer, allowedOrigins: [allowed]),
            transport: AnyLoader { [received] request in
                received.add(request)
                return HTTPResponse(request: request, status: .ok)
            })
        for url in ["https://a.test/1", "https://b.test/2"] { _ = try await client.send(try HTTPRequest(url)) }
        #expect(received.requests.map { $0.headers["in-memory-span-id"] != nil } == [true, false])
        #expect(tracer.finishedSpans.count == 2)
    }

    @Test func `an allowed origin without a host fails before anything is sent`() async throws {
        let client = HTTPClient(
            attemptLinks: TracingLink(tracer, allowedOrigins: [try #require(URL(string: "/path"))]),
            transport: AnyLoader { HTTPResponse(request: $0, status: .ok) })
        await #expect { try await client.send(try HTTPRequest("https://a.test")) } throws: {
            ($0 as? HTTPError)?.code == .invalidRequest
        }
    }

    @Test func `a cancelled request is no error`() async throws {
        let client = client { throw HTTPError(.cancelled, request: $0) }
        _ = try? await client.send(Endpoint<HTTPResponse>(.get, "a"))
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.attributes.get("error.type") == nil && span.errors.isEmpty && span.status == nil)
    }
}

private struct EventSink: HTTPObserver {
    func record(_ event: HTTPEvent) {}
}

/// The statuses of the responses, in order. This type is a class because the transport's calls share it.
private final class Answers: Sendable {
    private let state: Mutex<[HTTPStatus]>

    init(_ statuses: [HTTPStatus]) { state = Mutex(statuses) }

    func next() -> HTTPStatus { state.withLock { $0.removeFirst() } }
}

/// Keeps the requests that arrive. This type is a class because the transport and the test share it.
private final class Received: Sendable {
    private let state = Mutex<[HTTPRequest]>([])

    var requests: [HTTPRequest] { state.withLock { $0 } }

    func add(_ request: HTTPRequest) { state.withLock { $0.append(request) } }
}
