// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadObserving
import LetterheadRecording
import LetterheadSigning
import LetterheadTesting
import TestKit
import Testing

/// Which bytes the readers of one request see if each encoding of its body differs, as each encoding of a dictionary
/// does without sorted keys.
@Suite(.timeLimit(.minutes(3))) struct EncodedOnceTests {
    /// A body of a user, which numbers its encodings.
    private struct NumberedBody: HTTPBody {
        let count = Counter()
        func encode() -> Data { Data("\(count.next())".utf8) }
    }

    private struct NumberingEncoder: HTTPBodyEncoder {
        let count = Counter()
        func encode<Value: Encodable>(_ value: Value) -> Data { Data("\(count.next())".utf8) }
    }

    /// A body of a user with other bytes in pieces, which is not in memory.
    private struct PiecesBody: HTTPBody {
        let count = Counter()
        var isReplayable = true
        func encode() -> Data { Data("\(count.next())".utf8) }

        func chunks() -> BodyChunks {
            count.next()
            return BodyChunks { nil }
        }
    }

    private static let kinds = [
        "custom", "JSON", "encoded", "client", "compressed", "multipart", "large multipart", "compressed multipart",
        "parameters",
    ]

    private func body(_ kind: String) throws -> any HTTPBody {
        switch kind {
        case "JSON": return JSONBody(1, encoder: NumberingEncoder(), contentType: .json)
        case "encoded": return EncodedBody(1, encoder: NumberingEncoder(), contentType: "text/plain")
        case "client": return JSONBody(1)
        case "compressed": return NumberedBody().compressed()
        case "multipart": return MultipartBody([.body(NumberedBody(), name: "a"), .text("b", name: "b")])
        case "large multipart":
            return MultipartBody([.body(NumberedBody(), name: "a"), .data(Data(count: 1 << 20), name: "b")])
        case "compressed multipart":
            return MultipartBody([
                .body(NumberedBody().compressed(), name: "a"), .data(Data(count: 1 << 20), name: "b"),
            ]).compressed()
        default: return NumberedBody()
        }
    }

    private func template(_ kind: String) throws -> TestEndpoint<HTTPResponse> {
        let body = try body(kind)
        guard kind != "parameters" else {
            return TestEndpoint("a").with { template in
                template.method = .post
                for number in 0..<64 { template.parameters["name\(number)"] = number }
            }
        }
        return TestEndpoint("a").with {
            $0.method = .post
            $0.body = body
        }
    }

    /// Adds the hash of the body, as a server would check it.
    private static func sign(_ request: inout HTTPRequest) {
        request.headers["X-Hash"] = (try? request.body.encode()).map(hash)
    }

    private static func hash(_ data: Data) -> String { SHA256Hash.hash(Array(data)).description }

    @Test(arguments: kinds)
    func `every attempt, redirect and record has the bytes that a link hashes`(kind: String) async throws {
        let count = Counter()
        let server = try await MockServer.start { request in
            switch count.next() {
            case ...5: MockServer.Response(status: 503)
            case 6: MockServer.Response(status: 307, headers: ["Location": "/b"])
            default: MockServer.Response()
            }
        }
        let recorder = FlightRecorder(bytes: 256 << 20, keepsBinaryBodies: true)
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: server.url),
            attemptLinks: ModifyRequest { Self.sign(&$0) },
            observers: [recorder]
        )
        .encoder(NumberingEncoder())
        let response = try await client.send(try template(kind).idempotent().retry(.immediate, maximumRetries: 5))
        await server.stop()
        #expect(server.requests.count == 7)
        let sent = try #require(server.requests.first?.body)
        for request in server.requests {
            #expect(request.body == sent && request.headers["X-Hash"] == Self.hash(sent))
        }
        #expect(try response.request.body.encode() == sent)
        guard let text = String(bytes: sent, encoding: .utf8), !kind.contains("multipart") else { return }
        let archive = try JSONDecoder().decode(JSONValue.self, from: recorder.archive())
        guard case .array(let entries) = archive["log"]["entries"] else {
            Issue.record("the archive has no entries")
            return
        }
        #expect(entries.map { $0["request"]["postData"]["text"] } == Array(repeating: .string(text), count: 7))
        #expect(response.request.curlCommand().contains(text))
    }

    @Test func `a builder over a chain hashes what is sent, with the encoder of the template`() async throws {
        struct SignedBuilder<Template: RequestTemplate>: RequestBuilder {
            let template: Template
            func request() throws(HTTPError) -> HTTPRequest {
                var request = try StandardRequestBuilder(template).request()
                EncodedOnceTests.sign(&request)
                return request
            }
        }
        let mock = MockLoader { .ok($0) }
        let template = TestEndpoint("a").with {
            $0.baseURL = URL(string: "https://a.example")
            $0.body = JSONBody(1)
        }
        let builder = SignedBuilder(template: template.encoder(NumberingEncoder()))
        _ = try await SendableRequest(builder, over: mock).send()
        let sent = try #require(mock.requests.first)
        #expect(try sent.body.encode() == Data("1".utf8) && sent.headers["X-Hash"] == Self.hash(Data("1".utf8)))
    }

    @Test func `a digest proves the bytes that are sent`() async throws {
        var proofs: [String?] = []
        for body in [NumberedBody(), TextBody("1")] as [any HTTPBody] {
            let mock = MockLoader { request in
                _ = try request.framedBody()
                guard request.headers[.authorization] == nil else { return .ok(request) }
                let challenge = #"Digest realm=r, nonce=n, qop="auth-int""#
                return HTTPResponse(request: request, status: 401, headers: ["WWW-Authenticate": challenge])
            }
            var request = try HTTPRequest(method: .post, "https://a.example/")
            request.authentication = .digest(user: "u", password: "p") { Array(repeating: 1, count: $0) }
            request.body = body
            _ = try await HTTPClient(transport: mock).send(request)
            proofs.append(mock.requests.last?.headers[.authorization])
        }
        #expect(proofs.count == 2 && proofs[0] != nil && proofs[0] == proofs[1])
    }

    @Test func `a description does not choose the encoder`() async throws {
        let mock = MockLoader { .ok($0) }
        var request = try HTTPRequest(method: .post, "https://a.example/")
        request.body = JSONBody("text")
        #expect(request.curlCommand().contains("text") && request.description.contains("6 bytes"))
        let client = HTTPClient(transport: mock)
        _ = try await client.encoder(NumberingEncoder()).send(request)
        _ = try await client.send(request)
        #expect(try mock.requests.map { try $0.body.encode() } == [Data("1".utf8), Data(#""text""#.utf8)])
    }

    @Test(arguments: ["one", "compressed", "multipart"])
    func `bytes that were read are sent, whatever the encoder of the client`(kind: String) async throws {
        let mock = MockLoader { .ok($0) }
        let client = HTTPClient(transport: mock).encoder(NumberingEncoder())
        let body: any HTTPBody =
            switch kind {
            case "compressed": JSONBody("text").compressed()
            case "multipart": MultipartBody([.body(JSONBody("text"), name: "a")], boundary: "b")
            default: JSONBody("text")
            }
        for isRead in [true, false] {
            var request = try HTTPRequest(method: .post, "https://a.example/")
            request.body = body
            _ = (request.description, request.curlCommand(), Redaction.standard.body(of: request))
            if isRead { _ = try request.body.encode() }
            _ = try await client.send(request)
            #expect((try mock.requests.last?.body.encode() == body.encode()) == isRead)
        }
    }

    @Test func `an encoding that fails is thrown and not kept`() throws {
        struct FailingOnce: HTTPBody {
            let count = Counter()
            func encode() throws -> Data {
                guard count.next() > 1 else { throw CancellationError() }
                return Data("a".utf8)
            }
        }
        let request = HTTPRequest().with { $0.body = FailingOnce() }
        #expect(throws: CancellationError.self) { try request.body.encode() }
        #expect(try request.body.encode() == Data("a".utf8))
    }

    @Test func `concurrent readers have the same bytes`() async throws {
        let request = HTTPRequest().with { $0.body = NumberedBody() }
        let all = try await withThrowingTaskGroup(of: Data?.self) { [request] group in
            for number in 0..<64 {
                group.addTask { number % 2 == 0 ? try request.body.encode() : try request.framedBody().data }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(all.count == 1)
    }

    @Test func `a body that is not in memory, or that can be sent only once, is not kept`() throws {
        for isReplayable in [true, false] {
            var request = HTTPRequest()
            let body = PiecesBody(isReplayable: isReplayable)
            request.body = body
            #expect(try request.body.chunks().data == nil && body.count.value == 1)
            #expect(try request.body.encode() == Data((isReplayable ? "3" : "2").utf8))
        }
        var request = HTTPRequest()
        request.body = FileBody(at: URL(filePath: "/nowhere"))
        #expect(request.body is FileBody)
        request.body = MultipartBody([])
        #expect(request.body is MultipartBody)
    }

    @Test func `the default JSON is the same text each time, with plain slashes`() async throws {
        let value = ["b": "x/y", "a": "é", "c": "z"]
        let text = #"{"a":"é","b":"x/y","c":"z"}"#
        #expect(try JSONBody(value).encode() == Data(text.utf8))
        let lines = NDJSONBody {
            AsyncStream {
                $0.yield(value)
                $0.finish()
            }
        }
        #expect(try await lines.walked() == Data("\(text)\n".utf8))
        let template = TestEndpoint("a").with {
            $0.method = .post
            $0.parameters = ["b": "x/y", "a": 1]
        }
        let sent = try StandardRequestBuilder(template).request().body.encode()
        #expect(String(decoding: sent, as: UTF8.self) == #"{"a":1,"b":"x/y"}"#)
    }
}
