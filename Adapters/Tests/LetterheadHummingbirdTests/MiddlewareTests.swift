// SPDX-License-Identifier: MIT
import Foundation
import HTTPTypes
import Hummingbird
import InMemoryLogging
import Letterhead
import LetterheadHummingbird
import LetterheadResilience
import LetterheadServiceLifecycle
import LetterheadSigning
import Logging
import Testing

struct MiddlewareTests {
    /// A context without a channel.
    private struct Context: RequestContext {
        struct Source: RequestContextSource { let logger: Logger }

        var coreContext: CoreRequestContextStorage
        init(source: Source) { coreContext = CoreRequestContextStorage(source: source) }
    }

    private let logs = InMemoryLogHandler()

    /// The response to a request that passes a middleware.
    private func respond(
        _ middleware: some RouterMiddleware<Context>, _ fields: [(String, String)] = [], body: String = "",
        handler: @escaping @Sendable (Request, Context) async throws -> Response
    ) async throws -> Response {
        var head = HTTPTypes.HTTPRequest(method: .post, scheme: "http", authority: "a.test", path: "/")
        for (name, value) in fields {
            head.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        let router = Router(context: Context.self)
        router.add(middleware: middleware).post("/", use: handler)
        var logger = Logger(label: "test") { [logs] _ in logs }
        logger.logLevel = .info
        return try await router.buildResponder().respond(
            to: Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body))),
            context: Context(source: Context.Source(logger: logger)))
    }

    // MARK: The context of the caller

    /// What a client of a handler sends, or the code of its error.
    private func sent(
        _ fields: [(String, String)], as form: DeadlinePropagation.Form = .milliseconds, deadline: Duration? = nil
    ) async throws -> Letterhead.HTTPRequest {
        let base = HTTPClient(
            environment: ServerEnvironment("https://b.test"), links: CallerContextLink(),
            tracing: TraceContextPropagation(),
            transport: AnyLoader { Letterhead.HTTPResponse(request: $0, status: .ok) })
        let client = deadline.map { base.deadline(in: $0) } ?? base
        let (requests, continuation) = AsyncThrowingStream<Letterhead.HTTPRequest, any Error>.makeStream()
        _ = try await respond(CallerContextMiddleware(timeLeft: "X-Left", as: form), fields) { _, _ in
            do { continuation.yield(try await client.send(Get<Letterhead.HTTPResponse>("b")).request) } catch {
                continuation.finish(throwing: error)
            }
            return Response(status: .ok)
        }
        for try await request in requests { return request }
        throw CancellationError()
    }

    @Test(arguments: [
        (DeadlinePropagation.Form.milliseconds, "5000", 5.0), (.milliseconds, "60001", 60),
        (.milliseconds, "+5000", 60), (.milliseconds, "-1", 60), (.milliseconds, "5000, 1", 60),
        (.milliseconds, "5e3", 60), (.milliseconds, "", 60),
        (.milliseconds, "99999999999999999999", 60), (.milliseconds, "٥٠٠٠", 60),
        (.seconds, "5", 5), (.seconds, "5.250", 5.25), (.seconds, "5.", 60), (.seconds, ".5", 60),
        (.seconds, "1.2.3", 60), (.seconds, "inf", 60), (.seconds, "0x5", 60), (.seconds, "999999999999", 60),
        (.grpc, "5000m", 5), (.grpc, "5S", 5), (.grpc, "1M", 60), (.grpc, "99999999H", 60), (.grpc, "5000000u", 5),
        (.grpc, "99999999n", 0.099), (.grpc, "123456789m", 60), (.grpc, "5", 60), (.grpc, "m", 60), (.grpc, "", 60),
    ])
    func `a request has the time of the caller, and at most the limit`(
        form: DeadlinePropagation.Form, field: String, seconds: Double
    ) async throws {
        let left = try #require(try await sent([("X-Left", field)], as: form).deadline)
        #expect(left <= .seconds(seconds + 0.001) && left > .seconds(seconds - (seconds < 1 ? 0.099 : 4)))
    }

    @Test func `a caller without a field has the limit, and an earlier deadline of a request stays`() async throws {
        let left = try #require(try await sent([]).deadline)
        #expect(left <= .seconds(60) && left > .seconds(50))
        #expect(try await sent([], deadline: .seconds(2)).deadline == .seconds(2))
        let shortened = try #require(try await sent([("X-Left", "2000")], deadline: .seconds(30)).deadline)
        #expect(shortened <= .seconds(2))
    }

    @Test func `a request of a caller that doesn't wait any longer isn't sent`() async throws {
        let error = await #expect(throws: Letterhead.HTTPError.self) { _ = try await sent([("X-Left", "0")]) }
        #expect(error?.code == .timedOut && error?.mayHaveBeenSent == false)
    }

    @Test(arguments: [
        ("u=1, i", "u=1, i"), ("i=?1,u=0", "u=0, i"), ("u=7", "u=7"), ("i", "i"), ("i=?0", nil), ("u=2,x=y", "u=2"),
        ("u=1, i=?0", "u=1"), ("\tu=4 ,  i ", "u=4, i"), ("u=8, i", "i"), ("u=1, u=9", nil), ("u=1, i=1", "u=1"),
        ("u=-1", nil), ("u=10", nil), ("u", nil), ("", nil), ("u=1;a=2", nil), (#"a="b, u=0""#, nil), ("u=1,", nil),
        ("u = 1, i", nil), ("u=1 i", nil), ("U=1, i", nil), ("u=1, " + String(repeating: "x", count: 300), nil),
    ])
    func `a priority is sent with its valid parameters only`(field: String, sent: String?) async throws {
        let request = try await self.sent([("Priority", field)])
        #expect(request.headers["Priority"] == sent)
    }

    @Test(arguments: [
        ("00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01", true), ("00-aaaa-bbbbbbbbbbbbbbbb-01", false),
        ("00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01\"", false),
        ("00-00000000000000000000000000000000-bbbbbbbbbbbbbbbb-01", false),
    ])
    func `a trace continues if its field is well-formed`(field: String, continues: Bool) async throws {
        let request = try await sent([("traceparent", field), ("tracestate", "a=1"), ("baggage", "b=2")])
        let trace = try #require(request.headers["traceparent"])
        #expect(trace.contains(String(repeating: "a", count: 32)) == continues)
        #expect(request.headers["tracestate"] == (continues ? "a=1" : nil))
        #expect(request.headers["baggage"] == (continues ? "b=2" : nil))
    }

    @Test func `two traces are none`() async throws {
        let field = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01"
        let trace = try await sent([("traceparent", field), ("Traceparent", field)]).headers["traceparent"]
        #expect(trace?.contains("aaaa") == false)
    }

    // MARK: Errors of an upstream

    private func error(
        _ code: Letterhead.HTTPError.Code, _ status: HTTPStatus? = nil, retryAfter: String? = nil
    ) throws -> Letterhead.HTTPError {
        let request = try Letterhead.HTTPRequest("https://b.test/b")
        let response = status.map {
            Letterhead.HTTPResponse(
                request: request, status: $0, headers: HTTPHeaders(retryAfter.map { ["Retry-After": $0] } ?? [:]),
                body: HTTPResponseBody(Data("the table is missing".utf8)))
        }
        return Letterhead.HTTPError(code, request: request, response: response, message: "the cause")
    }

    @Test(arguments: [
        (Letterhead.HTTPError.Code.cannotConnect, 502), (.connectionLost, 502), (.invalidResponse, 502),
        (.cannotDecodeResponse, 502), (.cannotAuthenticate, 502), (.insecureConnection, 502), (.unknown, 502),
        (.timedOut, 504), (.circuitOpen, 503), (.queueFull, 503), (.shuttingDown, 503), (.cancelled, 503),
        (.resetInProgress, 503), (.invalidRequest, 500), (.cannotSaveResponse, 500),
    ])
    func `an error of a client has the status of a gateway`(code: Letterhead.HTTPError.Code, status: Int) async throws {
        let failure = try error(code)
        let response = try await respond(UpstreamErrorMiddleware()) { _, _ in throw failure }
        #expect(response.status.code == status && response.body.contentLength == 0)
        #expect(response.headers[.retryAfter] == nil)
        #expect(logs.entries.count == 1 && logs.entries.first?.level == .error)
        #expect(logs.entries.first.map { "\($0.message)".contains("the cause") } == true)
    }

    @Test(arguments: [
        (503, "7", 503, "7"), (429, "7", 503, "7"), (529, nil, 503, nil), (503, "86400", 503, "3600"),
        (503, "Fri, 31 Dec 1999 23:59:59 GMT", 503, "0"), (503, "-1", 503, nil),
        (503, "99999999999999999999", 503, "3600"), (503, "soon", 503, nil), (500, "7", 502, nil), (504, "7", 504, nil),
        (401, nil, 502, nil), (404, nil, 404, nil),
        (410, nil, 502, nil),
    ])
    func `a refusal by an upstream is passed on without its text`(
        upstream: Int, delay: String?, status: Int, passed: String?
    ) async throws {
        let failure = try error(.unacceptableStatus, HTTPStatus(upstream), retryAfter: delay)
        let response = try await respond(UpstreamErrorMiddleware(passingOn: [.notFound])) { _, _ in throw failure }
        #expect(response.status.code == status && response.body.contentLength == 0)
        #expect(response.headers[.retryAfter] == passed)
        #expect(logs.entries.map(\.level) == [status == 404 ? .info : .error])
    }

    @Test func `errors of other types aren't changed`() async throws {
        let response = try await respond(UpstreamErrorMiddleware()) { _, _ in throw Hummingbird.HTTPError(.conflict) }
        #expect(response.status == .conflict && logs.entries.isEmpty)
    }

    // MARK: Webhooks

    private static let now = Date(timeIntervalSince1970: 1_700_000_000)
    private static let secret: Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    @Test(arguments: [
        Webhook.standard(secret, now: { now }), .sha256(secret), .slack(secret, now: { now }),
        .timestamped(secret, header: "Stripe-Signature", now: { now }),
    ])
    func `a webhook reaches its handler only with its signature`(webhook: Webhook) async throws {
        let body = #"{"login": "ada"}"#
        let signed = try webhook.sign(Data(body.utf8)).map { ($0.name.rawValue, $0.value) }
        let middleware = WebhookMiddleware<Context>(webhook, limit: 20)
        func status(_ fields: [(String, String)], body: String) async throws -> Int {
            try await respond(middleware, fields, body: body) { request, _ in
                let read = try await request.body.collect(upTo: 20)
                #expect(read == ByteBuffer(string: body))
                return Response(status: .noContent)
            }.status.code
        }
        #expect(try await status(signed, body: body) == 204)
        #expect(try await status(signed, body: body + " ") == 401)
        #expect(try await status(signed.map { ($0, $1 + "0") }, body: body) == 401)
        #expect(try await status([], body: body) == 401)
        #expect(try await status(signed, body: body + "     ") == 413)
        #expect(logs.entries.count == 3)
    }

    @Test(arguments: [-301, -300, 300, 301])
    func `an old webhook is refused without a reason`(age: Int) async throws {
        let body = "{}"
        let sender = Webhook.standard(Self.secret) { Self.now.addingTimeInterval(Double(-age)) }
        let fields = try sender.sign(Data(body.utf8)).map { ($0.name.rawValue, $0.value) }
        let middleware = WebhookMiddleware<Context>(.standard(Self.secret) { Self.now })
        let response = try await respond(middleware, fields, body: body) { _, _ in Response(status: .ok) }
        #expect(response.status == (abs(age) > 300 ? .unauthorized : .ok) && response.body.contentLength == 0)
    }

    @Test func `a malformed secret is the fault of the program`() async throws {
        let fields = [("webhook-id", "1"), ("webhook-timestamp", "1700000000"), ("webhook-signature", "v1,a")]
        let middleware = WebhookMiddleware<Context>(.standard("whsec_?") { Self.now })
        let response = try await respond(middleware, fields) { _, _ in Response(status: .ok) }
        #expect(response.status == .internalServerError && response.body.contentLength == 0)
        #expect(logs.entries.map(\.level) == [.error])
    }
}
