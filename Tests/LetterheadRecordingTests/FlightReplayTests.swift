// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadRecording
import LetterheadTesting
import TestKit
import Testing

/// What a flight recorder has written, replayed.
@Suite(.timeLimit(.minutes(3))) struct FlightReplayTests {
    private let folder: TemporaryDirectory
    private let recorder = FlightRecorder()

    init() throws { folder = try TemporaryDirectory() }

    private func recording(
        retrying: Backoff = .init(), _ load: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) -> HTTPClient {
        HTTPClient(
            environment: .of("https://a.test"), retrying: retrying, observers: [recorder], transport: AnyLoader(load))
    }

    private func replaying(
        _ error: any Error, clock: any Clock<Duration> = TestClock(isAutomatic: true),
        retrying: Backoff = .init()
    ) throws -> (HTTPClient, Cassette) {
        let cassette = try Cassette(flight: recorder.dump(around: error, to: folder.url), clock: clock)
        let client = HTTPClient(environment: .of("https://a.test"), retrying: retrying, transport: cassette.loader)
        return (client, cassette)
    }

    @Test func `attempts and failures are replayed in their order`() async throws {
        let retrying = Backoff(.immediate, maximumRetries: 3)
        let attempts = Counter()
        let client = recording(retrying: retrying) { request in
            switch attempts.next() {
            case 1: throw HTTPError(.cannotConnect, request: request, mayHaveBeenSent: false)
            case 2: throw HTTPError(.connectionLost, request: request)
            case 3: json(request, "{}", status: .serviceUnavailable)
            default: json(request, #"{"id":"seven"}"#)
            }
        }
        let error = try await thrown { _ = try await client.send(TestEndpoint("a", answering: Person.self)) }
        let (replay, cassette) = try replaying(error, retrying: retrying)
        let again = try #require(await failure { try await replay.send(TestEndpoint("a", answering: Person.self)) })
        #expect(again.code == .cannotDecodeResponse && again.description == "\(error)")
        #expect(again.attempts.map(\.errorCode) == [.cannotConnect, .connectionLost, nil, nil])
        #expect(cassette.unused == 0)
        try cassette.verify()
    }

    @Test(arguments: [0, 1, 7, 10]) func `a lost stream is lost at the same byte`(count: Int) async throws {
        let client = recording { request in
            HTTPResponse(
                request: request, status: .ok, headers: [.contentType: "text/plain", .contentLength: "100"],
                body: .pieces(
                    of: String(repeating: "x", count: count), size: 3,
                    failing: HTTPError(.invalidResponse, request: request)))
        }
        func read(_ client: HTTPClient) async throws -> (count: Int, error: any Error) {
            var read = 0
            let error = try await thrown {
                for try await piece in try await client.stream(TestEndpoint("a")).body { read += piece.count }
            }
            return (read, error)
        }
        let first = try await read(client)
        let second = try await read(replaying(first.error).0)
        #expect(first.count == count && second.count == count)
        #expect((second.error as? HTTPError)?.code == .invalidResponse)
    }

    @Test func `what arrived before a body was lost is in the replayed error`() async throws {
        let client = recording { request in
            throw HTTPError(
                .connectionLost, request: request,
                response: HTTPResponse(
                    request: request, status: .ok, headers: [.contentType: "text/plain"],
                    body: HTTPResponseBody(Data("half".utf8))))
        }
        let error = try await thrown { _ = try await client.send(TestEndpoint("a")) }
        let again = try #require(await failure { try await replaying(error).0.send(TestEndpoint("a")) })
        #expect(again.code == .connectionLost && again.response?.status == .ok)
        #expect(again.response?.body.buffered == Data("half".utf8))
    }

    @Test func `the recorded waits pass on the clock of the test`() async throws {
        let client = recording { json($0, "[]") }
        let error = try await thrown { _ = try await client.send(TestEndpoint("a", answering: Person.self)) }
        let file = try recorder.dump(around: error, to: folder.url)
        let wait = try #require(Flight(file).entries[0]["_wait"] as? Double)
        let clock = TestClock()
        let replay = HTTPClient(
            environment: .of("https://a.test"), transport: try Cassette(flight: file, clock: clock).loader)
        _ = try? await clock.run { try await replay.send(TestEndpoint("a", answering: Person.self)) }
        #expect(wait > 0 && clock.now.offset == Duration.seconds(wait / 1_000))
    }

    @Test(arguments: ["trace", "X-Correlation-ID", "X-Request-ID"])
    func `a flight has the earlier requests of its operation`(kind: String) async throws {
        let transport = AnyLoader { json($0, $0.path.string == "/a" ? "[]" : #"{"id":1,"login":"ada"}"#) }
        let client = HTTPClient(
            environment: .of("https://a.test"), observers: [recorder],
            tracing: TraceContextPropagation(), transport: transport)
        var errors: [any Error] = []
        for id in ["1", "2"] {
            let own = kind == "trace" ? client : client.header(HTTPHeaders.Name(kind), id)
            let trace =
                kind == "trace"
                ? TraceContext(traceparent: "00-\(String(repeating: id, count: 32))-00f067aa0ba902b7-01") : nil
            try await TraceContext.$current.withValue(trace) {
                _ = try await own.send(TestEndpoint("person/\(id)", answering: Person.self))
                errors.append(try await thrown { _ = try await own.send(TestEndpoint("a", answering: Person.self)) })
                _ = try await own.send(TestEndpoint("later"))
            }
        }
        let file = try recorder.dump(around: errors[1], to: folder.url)
        #expect(try Flight(file).urls == ["https://a.test/person/2", "https://a.test/a"])
        let (replay, _) = try replaying(errors[1])
        #expect(try await replay.send(TestEndpoint("person/2", answering: Person.self)).login == "ada")
        let error = try await #require(throws: HTTPError.self) { try await replay.send(TestEndpoint("person/1")) }
        #expect(error.message.hasSuffix("earlier ones with the same trace or X-Correlation-ID"))
    }

    @Test func `a request that differs fails, and names each field`() async throws {
        let client = recording { json($0, "[]") }
        func post(_ json: JSONValue, page: String) -> some RequestTemplate<Person> {
            TestEndpoint("a", answering: Person.self).with {
                ($0.method, $0.query) = (.post, ["page": page])
                $0.body = JSONBody(json)
            }
        }
        let sent: JSONValue = ["name": "ada", "password": "s3cret", "pin_code": 7]
        let error = try await thrown { _ = try await client.send(post(sent, page: "1")) }
        let (replay, cassette) = try replaying(error)
        let other: JSONValue = ["name": "grace", "password": "other", "pin_code": 7]
        let refused = try await #require(throws: HTTPError.self) { try await replay.send(post(other, page: "2")) }
        #expect(refused.code == .unexpectedRequest)
        #expect(refused.message.contains("the query item page=2 is not recorded"))
        #expect(refused.message.contains(#"the body differs at $.name: "grace", not "ada""#))
        let verdict = try await thrown { try cassette.verify() }
        #expect("\(verdict)" == refused.message)
        let same: JSONValue = ["name": "ada", "password": "other", "pin_code": 7]
        let found = try await #require(throws: HTTPError.self) { try await replay.send(post(same, page: "1")) }
        #expect(found.code == .cannotDecodeResponse)
    }

    @Test func `a request body that was not kept is not compared`() async throws {
        let client = recording { json($0, "[]") }
        func upload(_ bytes: [UInt8]) -> some RequestTemplate<Person> {
            TestEndpoint("a", answering: Person.self).with {
                ($0.method, $0.body) = (.post, DataBody(Data(bytes), contentType: "image/png"))
            }
        }
        let error = try await thrown { _ = try await client.send(upload([1])) }
        let again = try await #require(throws: HTTPError.self) { try await replaying(error).0.send(upload([2])) }
        #expect(again.code == .cannotDecodeResponse)
    }

    @Test func `a response without its body is not replayed, and the error says why`() async throws {
        let client = recording { request in
            HTTPResponse(
                request: request, status: .ok, headers: [.contentType: "image/png"],
                body: HTTPResponseBody(Data([1])))
        }
        _ = try await client.send(TestEndpoint("a"))
        let (replay, cassette) = try replaying(CancellationError())
        let refused = try await #require(throws: HTTPError.self) { try await replay.send(TestEndpoint("a")) }
        #expect(
            refused.code == .unexpectedRequest
                && refused.message.contains("the body was not kept, because of its media type"))
        let verdict = try await thrown { try cassette.verify() }
        #expect("\(verdict)" == refused.message && "\(verdict)".contains("GET https://a.test/a"))
    }

    @Test func `a token is fetched again from the recording`() async throws {
        func signedIn(_ transport: any HTTPLoader, _ observers: [any HTTPObserver]) throws -> HTTPClient {
            let server = try #require(URL(string: "https://login.test/token"))
            let oauth = HTTPAuthentication.oauth2(
                client: OAuth2.Client(id: "app", secret: "s3cret"), tokenEndpoint: server, grant: .clientCredentials(),
                allowedOrigins: [try #require(URL(string: "https://a.test"))])
            return HTTPClient(
                environment: .of("https://a.test"), authentication: oauth, observers: observers, transport: transport)
        }
        let server = AnyLoader { request in
            request.host == "login.test"
                ? json(request, #"{"access_token":"s3cret","token_type":"Bearer","expires_in":3600}"#)
                : json(request, "[]")
        }
        let template = TestEndpoint("a", answering: Person.self)
        let error = try await thrown { _ = try await signedIn(server, [recorder]).send(template) }
        let file = try recorder.dump(around: error, to: folder.url)
        let flight = try Flight(file)
        #expect(flight.urls == ["https://login.test/token", "https://a.test/a"] && !flight.text.contains("s3cret"))
        let cassette = try Cassette(flight: file, clock: TestClock(isAutomatic: true))
        let again = try await thrown { _ = try await signedIn(cassette.loader, []).send(template) }
        #expect((again as? HTTPError)?.code == .cannotDecodeResponse, "\(again)")
        #expect(cassette.unused == 0)
    }
}
