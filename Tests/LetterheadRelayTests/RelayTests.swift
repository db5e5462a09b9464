// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadRelay
import LetterheadTesting
import TestKit
import Testing

/// A request and its response travel as data, and all that ends a request holds at both ends.
@Suite(.timeLimit(.minutes(3))) struct RelayTests {
    enum Kind: CaseIterable, Sendable {
        case whole, streaming

        func relay(
            to server: RelayServer, _ form: WireForm = WireForm(), clock: any Clock<Duration> = ContinuousClock()
        )
            -> Relay
        {
            switch self {
            case .whole: Relay(form, clock: clock) { data in await server.answer(data) }
            case .streaming: Relay.streaming(form, clock: clock) { data in server.answers(to: data) }
            }
        }
    }

    private struct Tenant: HTTPRequestOption {
        static let defaultOptionValue: String? = nil
    }

    static let unreachable = AnyLoader { request in
        throw HTTPError(.cannotConnect, request: request, message: "nothing is there", mayHaveBeenSent: false)
    }

    func request(_ path: RequestPath = "a", method: HTTPMethod = .get) -> HTTPRequest {
        var request = HTTPRequest()
        (request.method, request.scheme, request.host, request.path) = (method, "http", "example.com", path)
        return request
    }

    // MARK: What travels

    @Test(arguments: Kind.allCases) func `a relay obeys the laws of a loader`(kind: Kind) async throws {
        try await LoaderLaws(patience: .seconds(40)) { kind.relay(to: RelayServer(HTTPClient.makeTransport(.init()))) }
            .check()
    }

    @Test(arguments: Kind.allCases) func `a request and its response keep all their parts`(kind: Kind) async throws {
        let far = MockLoader { request in
            var response = HTTPResponse(
                request: request, status: 207, headers: ["X-A": "1"], body: HTTPResponseBody(Data([0, 10, 255])))
            response.headers.append("X-A", "é")
            response.headers.append("X-A", "a\u{1}b\u{7F}")
            response.trailers = ["X-T": "t\u{1}"]
            return response
        }
        var sent = request("a%2Fb", method: .post)
        (sent.port, sent.query) = (8080, ["q": "a b", "f": QueryParameters.flag])
        sent.headers.append("X-Two", "1")
        sent.headers.append("X-Two", "2")
        sent.body = TextBody("line\nline")
        let response = try await kind.relay(to: RelayServer(far)).load(sent)
        let arrived = try #require(far.requests.first)
        #expect(try arrived.urlString() == "http://example.com:8080/a%2Fb?q=a%20b&f")
        #expect(arrived.method == .post && arrived.headers.values(for: "X-Two") == ["1", "2"])
        #expect(arrived.headers[.contentType] == TextBody("").additionalHeaders[.contentType])
        #expect(try arrived.body.encode() == Data("line\nline".utf8) && arrived.body.isReplayable)
        #expect(response.status == 207 && response.headers.values(for: "X-A") == ["1", "é", "a\u{1}b\u{7F}"])
        #expect(response.request.id == sent.id && response.trailers == ["X-T": "t\u{1}"])
        #expect(try await response.body.data() == Data([0, 10, 255]))
    }

    @Test func `settings travel, and the deadline as the time that is left`() async throws {
        let left = SharedValue(Duration?.none)
        let far = MockLoader { request in
            left.withLock { $0 = request.timeLeft }
            return .ok(request)
        }
        var sent = request("users/\("ada", name: "login")")
        (sent.timeout, sent.idleTimeout, sent.connectTimeout) = (.seconds(9), .seconds(7), .never)
        (sent.acceptedStatuses, sent.responseLimit) = (HTTPStatusSet.success.union([404]), 100)
        sent.deadline = .seconds(50)
        sent.redaction = .standard.adding(headers: ["X-Hidden"], parameters: ["hidden"])
        sent.removedHeaders = ["X-Origin"]
        _ = try await (Deadline() --> Relay { await RelayServer(far).answer($0) }).load(sent)
        let arrived = try #require(far.requests.first)
        #expect(arrived.timeout == .seconds(9) && arrived.idleTimeout == .seconds(7))
        #expect(arrived.connectTimeout.map { $0 > .seconds(86_400) } == true)
        #expect(arrived.acceptedStatuses == sent.acceptedStatuses && arrived.responseLimit == 100)
        #expect(left.withLock { $0 }.map { $0 > .seconds(20) && $0 <= .seconds(50) } == true)
        #expect(arrived.redaction == sent.redaction && arrived.removedHeaders == ["X-Origin"] && arrived.isRedirected)
        #expect(arrived.path.route == "users/{login}")
        #expect(arrived.responseDelivery == .buffered && !arrived.isSecret)
    }

    @Test func `a secret in a path travels only if secrets do, and stays redacted`() async throws {
        let far = MockLoader { .ok($0) }
        let sent = request("bot\(secret: "1:SECRET")/getMe")
        let error = await failure { try await Relay { await RelayServer(far).answer($0) }.load(sent) }
        #expect(error?.message.contains("a value in the path or the query is secret") == true)
        #expect(error?.code == .invalidRequest)
        let form = WireForm(secrets: .travel)
        _ = try await Relay(form) { await RelayServer(far, form).answer($0) }.load(sent)
        let arrived = try #require(far.requests.first)
        #expect(arrived.path.string.hasSuffix("bot1%3ASECRET/getMe") && far.requests.count == 1)
        #expect(!arrived.description.contains("SECRET") && arrived.description.contains("<redacted>"))
    }

    @Test(arguments: ["SECRET/a", "a?q=SECRET", "a?q=%53ECRET"])
    func `a value that the redaction lists does not travel in a URL or a header`(target: String) async throws {
        var open = try HTTPRequest("https://example.com/SECR")
        open.redaction = .standard.adding(values: ["SECRET"])
        #expect(!String(decoding: try await WireForm().data(of: open), as: UTF8.self).contains("SECRET"))
        var sent = try HTTPRequest("https://example.com/\(target)")
        sent.redaction = open.redaction
        var (named, replaced) = (open, request("bot\(secret: "SECRET")"))
        named.headers["X-A"] = "a SECRET b"
        replaced.path = "bot\(raw: "SECRET")"
        for secret in [sent, named, replaced] {
            let error = await #expect(throws: HTTPError.self) { try await WireForm().data(of: secret) }
            #expect(error?.code == .invalidRequest && error?.message.contains("SECRET") == false)
        }

        let received = open
        let far = AnyLoader { [sent] _ in
            var response = HTTPResponse(
                request: sent, status: 302, headers: ["Location": "/SECRET/b", "X-Target": "/\(target)", "X-A": "1"])
            response.trailers = ["X-T": "SECRET"]
            return response
        }
        let answer = await RelayServer(far).answer(try await WireForm().data(of: received))
        #expect(!String(decoding: answer, as: UTF8.self).replacing("%53", with: "S").contains("SECRET"))
        let response = try WireForm().response(from: answer, to: received)
        #expect(response.headers == ["X-A": "1"] && response.headersLeftOut == [.location, "X-Target", "X-T"])
        #expect(response.request.target == "/SECR")
    }

    @Test func `an option travels if both ends carry it`() async throws {
        let form = WireForm(carrying: [WireForm.Option(Tenant.self, named: "tenant")])
        let far = MockLoader { .ok($0) }
        var sent = request()
        sent[option: Tenant.self] = "north"
        _ = try await Relay(form) { await RelayServer(far, form).answer($0) }.load(sent)
        #expect(far.requests.first?[option: Tenant.self] == "north")
        _ = try await Relay { await RelayServer(far, form).answer($0) }.load(sent)
        #expect(far.requests.last?.options.contains(Tenant.self) == false)
        let error = await failure { try await Relay(form) { await RelayServer(far).answer($0) }.load(sent) }
        #expect(error?.code == .invalidRequest && error?.message.contains("tenant") == true)
        #expect(far.requests.count == 2 && error?.mayHaveBeenSent == false)
    }

    @Test func `secrets are refused unless they are to travel`() async throws {
        let far = MockLoader { request in
            var response = HTTPResponse(request: request, status: 200, headers: ["Set-Cookie": "a=b", "X-A": "1"])
            response.trailers = ["X-T": "t", "X-Auth-Token": "t"]
            return response
        }
        var secret = [request(), request(), request(), request()]
        secret[0].headers[.authorization] = "Bearer t"
        secret[1].headers.setSecret("v", for: "X-Mine")
        secret[2].query["access_token"] = "t"
        secret[3].isSecret = true
        for sent in secret {
            let error = await failure { try await Relay { await RelayServer(far).answer($0) }.load(sent) }
            #expect(
                error?.code == .invalidRequest
                    && error?.message.contains("is secret and is not sent over the relay") == true)
        }
        #expect(far.requests.isEmpty)
        let form = WireForm(secrets: .travel)
        for sent in secret { _ = try await Relay(form) { await RelayServer(far, form).answer($0) }.load(sent) }
        #expect(far.requests[0].headers[.authorization] == "Bearer t")
        #expect(far.requests[1].headers["X-Mine"] == "v" && "\(far.requests[1])".contains("X-Mine: <redacted>"))
        #expect(far.requests[2].query["access_token"] == "t" && far.requests[3].isSecret)

        let refused = try await Relay { await RelayServer(far).answer($0) }.load(request())
        #expect(refused.headers == ["X-A": "1"] && refused.trailers == ["X-T": "t"])
        #expect(refused.headersLeftOut == [.setCookie, "X-Auth-Token"])
        let whole = try await Relay { await RelayServer(far, form).answer($0) }.load(request())
        #expect(whole.headers[.setCookie] == "a=b" && whole.headersLeftOut.isEmpty && whole.trailers.count == 2)
    }

    @Test func `a secret query item is secret in the request of the response`() async throws {
        let form = WireForm(secrets: .travel)
        let server = RelayServer(
            ApplyEnvironment(ServerEnvironment("https://api.example.com", query: ["v": "2"]))
                --> MockLoader { .ok($0) },
            form)
        var sent = HTTPRequest()
        (sent.path, sent.query) = ("a", ["q": "%2f b", "r": "1"])
        sent.query.setSecret("%2f b", for: "q")
        let request = try await Relay(form) { await server.answer($0) }.load(sent).request
        #expect(request.query.map(\.isSecret) == [true, false, false] && request.query["q"] == "%2f b")
        #expect(try request.urlString() == "https://api.example.com/a?q=%252f%20b&r=1&v=2")
    }

    @Test func `the environment of the far end completes a request, and the response has its URL`() async throws {
        let far = MockLoader { HTTPResponse(request: $0, status: 201, headers: ["Location": "../8"]) }
        let environment = ServerEnvironment("https://api.example.com/v2", query: ["access_token": "t"])
        let server = RelayServer(ApplyEnvironment(environment) --> far)
        var sent = HTTPRequest()
        sent.path = "users/7/"
        let response = try await Relay { await server.answer($0) }.load(sent)
        #expect(try far.requests.first?.urlString() == "https://api.example.com/v2/users/7/?access_token=t")
        #expect(response.location?.absoluteString == "https://api.example.com/v2/users/8")
        #expect(response.request.id == sent.id && response.request.query.isEmpty)
    }

    @Test func `the environment of a request is applied before it travels`() async throws {
        let far = MockLoader { .ok($0) }
        var sent = HTTPRequest()
        (sent.path, sent.serverEnvironment) = ("b", ServerEnvironment("https://example.com/a"))
        _ = try await Relay { await RelayServer(far).answer($0) }.load(sent)
        #expect(try far.requests.first?.urlString() == "https://example.com/a/b")
    }

    @Test func `the environment of the far end completes each hop to its origin, and no other`() async throws {
        let far = MockLoader { request in
            let next = ["/v2/a": "/b", "/b": "https://other.example/c"][request.path.string]
            return HTTPResponse(
                request: request, status: next == nil ? 200 : 302, headers: next.map { ["Location": $0] } ?? [:])
        }
        let environment = ServerEnvironment("https://api.example.com/v2", headers: ["X-Tenant": "acme"])
        let server = RelayServer(HTTPClient(environment: environment, transport: far))
        let response = try await HTTPClient(transport: Relay { await server.answer($0) }).send(Get<HTTPResponse>("a"))
        #expect(try response.request.urlString() == "https://other.example/c")
        let urls = ["https://api.example.com/v2/a", "https://api.example.com/b", "https://other.example/c"]
        #expect(try far.requests.map { try $0.urlString() } == urls)
        #expect(far.requests.map { $0.headers["X-Tenant"] } == ["acme", "acme", nil])
    }

    @Test(arguments: Kind.allCases) func `the near end retries, and the far end does not`(kind: Kind) async throws {
        let far = MockLoader { HTTPResponse(request: $0, status: 503) }
        let settings = Backoff(.immediate, maximumRetries: 5)
        let server = RelayServer(HTTPClient(retrying: settings, transport: far))
        let client = HTTPClient(environment: ServerEnvironment("http://api.example"), transport: kind.relay(to: server))
        let error = await #expect(throws: HTTPError.self) {
            try await client.send(Get<HTTPResponse>("a").retry(.immediate, maximumRetries: 2))
        }
        #expect(error?.response?.status == 503 && error?.attempts.count == 3 && far.requests.count == 3)
    }

    @Test(arguments: Kind.allCases) func `a validator of the far end hides no status from the retries of the near end`(
        kind: Kind
    ) async throws {
        struct Impatient: HTTPValidator {
            func validate(response: HTTPResponse, forRequest request: HTTPRequest) -> HTTPValidatorResult {
                .retry(.immediate)
            }
        }
        for (status, attempts) in [(503, 3), (200, 1)] {
            let far = MockLoader { HTTPResponse(request: $0, status: HTTPStatus(status)) }
            let server = RelayServer(HTTPClient(validators: [Impatient()], transport: far))
            let environment = ServerEnvironment("http://api.example")
            let client = HTTPClient(environment: environment, transport: kind.relay(to: server))
            let error = await #expect(throws: HTTPError.self) {
                try await client.send(Get<HTTPResponse>("a").retry(.immediate, maximumRetries: 2))
            }
            // A status that the near end accepts is still refused by the validator.
            #expect(error?.code == (status == 503 ? .unacceptableStatus : .validationFailed))
            #expect(error?.response?.status.code == status && far.requests.count == attempts)
        }
    }

    @Test(arguments: Kind.allCases) func `the next page of a replica at the far end is requested from the origin`(
        kind: Kind
    ) async throws {
        struct Replica: LoaderLink {
            func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
                var response = try await next.load(request)
                response.respondingServer = HTTPOrigin(scheme: "http", host: "replica.example", port: 81)
                return response
            }
        }
        let far = MockLoader { request in
            let isFirst = request.query["page"] == nil
            let next = isFirst ? #","next":"http://replica.example:81/a?page=2""# : ""
            return .ok(request, body: Data(#"{"number":"\#(isFirst ? 1 : 2)"\#(next)}"#.utf8))
        }
        let environment = ServerEnvironment("http://api.example")
        let server = RelayServer(HTTPClient(environment: environment, transport: Replica() --> far))
        let client = HTTPClient(environment: environment, transport: kind.relay(to: server))
        let pages = Get<[String: String]>("a").paginated(by: .nextURL(\.["next"]))
        var numbers: [String?] = []
        for try await page in client.pages(of: pages) { numbers.append(page.value["number"]) }
        #expect(numbers == ["1", "2"] && far.requests.map(\.host) == ["api.example", "api.example"])
    }

    // MARK: Ends

    @Test(arguments: Kind.allCases) func `a cancelled request ends at both ends, even if the closure ignores it`(
        kind: Kind
    ) async throws {
        let far = HeldLoader()
        let server = RelayServer(far)
        let relay = Relay { data in
            // What is not cancelled with its caller, such as a callback.
            await Task {
                switch kind {
                case .whole: return await server.answer(data)
                case .streaming: return await server.answers(to: data).first { _ in true } ?? Data()
                }
            }.value
        }
        let sent = request()
        let task = Task { try await relay.load(sent) }
        await far.waitForRunning(1)
        task.cancel()
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .cancelled && error?.message == "the task was cancelled")
        await far.waitForRunning(0)
    }

    @Test(arguments: Kind.allCases) func `a reset ends what is in flight and resets the far chain`(kind: Kind)
        async throws
    {
        let (far, resets) = (HeldLoader(), Counting())
        let client = HTTPClient(transport: kind.relay(to: RelayServer(resets --> far)))
        let sent = request()
        let task = Task { try await client.send(sent) }
        await far.waitForRunning(1)
        await client.reset()
        #expect(far.running == 0 && resets.count == 1)
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .cancelled && error?.message == "the client was reset")
    }

    /// Counts the resets of a chain.
    private struct Counting: LoaderLink {
        let counter = Counter()
        var count: Int { counter.value }

        func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
            try await next.load(request)
        }

        func reset(next: any HTTPLoader) async {
            counter.next()
            await next.reset()
        }
    }

    @Test(arguments: [true, false]) func `a limit ends a request whose closure does not return`(isDeadline: Bool)
        async throws
    {
        let clock = TestClock()
        let relay = Relay(clock: clock) { _ in
            await Task { try? await Task.sleep(for: .seconds(86_400)) }.value
            return Data()
        }
        var limited = request()
        if isDeadline { limited.deadline = .seconds(5) } else { limited.timeout = .seconds(5) }
        let (loader, sent) = (Deadline(clock: clock) --> relay, limited)
        let task = Task { try await loader.load(sent) }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .timedOut && error?.message.contains(isDeadline ? "deadline" : "timeout") == true)
    }

    @Test func `a deadline that passes while a request is written is not an invalid one`() async throws {
        let clock = TestClock()
        let written = SharedValue(Data())
        let late = AnyLoader { request in
            clock.advance(by: .seconds(5))
            let data = try await WireForm().data(of: request)
            written.withLock { $0 = data }
            return .ok(request)
        }
        var sent = request()
        sent.deadline = .seconds(5)
        _ = try? await (Deadline(clock: clock) --> late).load(sent)
        #expect(String(decoding: written.withLock { $0 }, as: UTF8.self).contains(#""deadline":1"#))
    }

    @Test func `the deadline holds at the far end, whose chain is told the time that is left`() async throws {
        let clock = TestClock()
        let far = MockLoader(clock: clock) { request in
            try await clock.sleep(for: .seconds(3600))
            return .ok(request)
        }
        var sent = request()
        sent.deadline = .seconds(5)
        // No limit applies at the near end, where nothing has set the deadline.
        let answer = try await WireForm().data(of: sent)
        let task = Task { await RelayServer(far, clock: clock).answer(answer) }
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(5))
        let error = await failure { try WireForm().response(from: await task.value, to: request()) }
        #expect(error?.code == .timedOut)
    }
}

extension AsyncStream where Element == Data {
    /// A stream of one piece.
    init(of piece: Data) {
        self.init { continuation in
            continuation.yield(piece)
            continuation.finish()
        }
    }
}
