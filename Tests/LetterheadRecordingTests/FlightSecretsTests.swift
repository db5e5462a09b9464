// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadRecording
import TestKit
import Testing

/// Secrets in bodies and texts of a flight that are hard to find, and what is no secret.
@Suite(.timeLimit(.minutes(3))) struct FlightSecretsTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func client(
        _ recorder: FlightRecorder, _ load: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) -> HTTPClient {
        HTTPClient(environment: .of("https://a.test"), observers: [recorder], transport: AnyLoader(load))
    }

    /// Returns the flight of a request that received a body.
    private func flight(_ body: Data, _ headers: HTTPHeaders, keepsBinary: Bool = false) async throws -> Flight {
        let recorder = FlightRecorder(keepsBinaryBodies: keepsBinary)
        let client = client(recorder) { request in
            HTTPResponse(request: request, status: .ok, headers: headers, body: HTTPResponseBody(body))
        }
        _ = try await client.send(TestEndpoint("a"))
        return try Flight(recorder.dump(around: CancellationError(), to: folder.url))
    }

    /// The kept bytes without zeros.
    private func kept(_ flight: Flight) throws -> [UInt8] {
        let content = try #require(flight.contents.first)
        let text = try #require(content["text"] as? String)
        let data = content["encoding"] == nil ? Data(text.utf8) : try #require(Data(base64Encoded: text))
        return data.filter { $0 != 0 }
    }

    private static let document = Data(#"{"password":"s3cret","n":"é"#.utf8)
    private static let latin = Data(#"{"password":"s3cret","n":""#.utf8) + [0xE9, 0x22, 0x7D]

    private static func wide(_ text: String) -> Data { Data(text.utf8.flatMap { [$0, 0] }) }

    @Test(arguments: [
        (document.dropLast(), "application/json"), (latin, "application/json"), (latin, "text/plain"),
        ([0xFF, 0xFE] + wide(#"{"password":"s3cret"}"#), "application/json; charset=utf-16"),
        (wide(#"{"password":"s3cret"}"#), "application/json; charset=utf-16le"),
        (wide(#"{"password":"s3cret","n""#), "application/json"),
        (Data("password=s3cret&n=".utf8) + [0xE9], "application/x-www-form-urlencoded"),
    ])
    func `a secret in a body that is not UTF-8 is removed`(body: Data, type: String) async throws {
        let kept = try await kept(flight(body, [.contentType: type]))
        #expect(!String(decoding: kept, as: UTF8.self).contains("s3cret"))
        #expect(String(decoding: kept, as: UTF8.self).contains("REDACTED"))
    }

    @Test func `a body that is not UTF-8 and has no secret is kept`() async throws {
        let body = Data(#"{"n":""#.utf8) + [0xE9, 0x22, 0x7D]
        #expect(try await kept(flight(body, [.contentType: "application/json"])) == Array(body))
        let image = Data([0x89, 0x50, 0xFF, 0x0D])
        #expect(try await kept(flight(image, [.contentType: "image/png"], keepsBinary: true)) == Array(image))
    }

    @Test func `the beginning of a stream keeps no secret, wherever it ends`() async throws {
        let recorder = FlightRecorder()
        let client = client(recorder) { request in
            HTTPResponse(
                request: request, status: .ok, headers: [.contentType: "application/json"],
                body: .pieces(of: String(decoding: Self.document, as: UTF8.self), size: Self.document.count - 1))
        }
        for try await _ in try await client.stream(TestEndpoint("a")).body { break }
        let text = try Flight(recorder.dump(around: CancellationError(), to: folder.url)).text
        #expect(!text.contains("s3cret") && !text.contains(Self.document.dropLast().base64EncodedString().prefix(20)))
        #expect(text.contains("REDACTED"))
    }

    @Test(arguments: [false, true]) func `a compressed body is not kept`(keepsBinary: Bool) async throws {
        let recorder = FlightRecorder(keepsBinaryBodies: keepsBinary)
        let client = client(recorder) { request in
            HTTPResponse(
                request: request, status: .ok, headers: [.contentType: "text/plain", .contentEncoding: "br"],
                body: HTTPResponseBody(Data([1, 2, 3])))
        }
        let body = JSONBody(["password": "s3cret"]).compressed(level: 1)
        _ = try await client.send(TestEndpoint("a").with { ($0.method, $0.body) = (.post, body) })
        let flight = try Flight(recorder.dump(around: CancellationError(), to: folder.url))
        #expect(flight.contents[0]["text"] == nil && !flight.text.contains("H4sI"))
        #expect(flight.text.components(separatedBy: "the body was not kept, because it is compressed").count == 3)
    }

    @Test func `names of the request itself are redacted in the error, the summary and the events`() async throws {
        struct Failure: LocalizedError { let errorDescription: String? = "no route to https://a.test/?own=s3cret" }
        let recorder = FlightRecorder()
        let client = client(recorder) { _ in throw Failure() }
        var request = try HTTPRequest("https://a.test/a")
        request.redaction = .standard.adding(parameters: ["own"])
        let sent = request
        let error = try await thrown { _ = try await client.send(sent) }
        let flight = try Flight(recorder.dump(around: error, to: folder.url))
        #expect((flight.log["error"] as? String)?.contains("own=REDACTED") == true)
        #expect(!flight.text.contains("s3cret"))
    }

    @Test func `random text without a name does not refuse a flight`() async throws {
        struct ListMembershipsOfOrganizationV2Page: Decodable { let id: Int }
        let recorder = FlightRecorder()
        let client = client(recorder) { request in
            var response = json(request, #"{"id":"x"}"#)
            response.headers["WWW-Authenticate"] = "Bearer resource_metadata=\"https://a.test/meta\""
            return response
        }
        let template = TestEndpoint(
            "files/\("q83vEjRWeJq83vEjRWeJ0aB7cD9eF2gH4iJ6")", answering: ListMembershipsOfOrganizationV2Page.self)
        let error = try await thrown { _ = try await client.send(template) }
        #expect(try Flight(recorder.dump(around: error, to: folder.url)).entries.count == 1)
    }

    @Test(arguments: [
        "ETag", "Content-Digest", "Upload-Checksum", "Location", "Upload-Metadata", "x-amz-checksum-sha256",
        "X-Amz-Content-Sha256",
    ])
    func `an entity tag, a digest and the metadata of an upload do not refuse a flight`(name: String) async throws {
        let recorder = FlightRecorder()
        let random =
            name == "X-Amz-Content-Sha256"
            ? "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER" : "q83vEjRWeJq83vEjRWeJ0aB7cD9eF2gH4iJ6"
        let value =
            name == "Upload-Metadata"
            ? "filename \(Data("a long name of a film.mp4 é".utf8).base64EncodedString())" : random
        let client = client(recorder) {
            HTTPResponse(request: $0, status: .ok, headers: [HTTPHeaders.Name(name): value])
        }
        _ = try await client.send(TestEndpoint("a").with { $0.headers = [HTTPHeaders.Name(name): value] })
        #expect(try Flight(recorder.dump(around: CancellationError(), to: folder.url)).entries.count == 1)
    }

    @Test func `a secret in the metadata of an upload refuses a flight`() async throws {
        let recorder = FlightRecorder()
        let client = client(recorder) { HTTPResponse(request: $0, status: .ok) }
        let value = "filename YQ==,key\t \(Data("ghp_abcdefghijklmnopqrstuvwxyz".utf8).base64EncodedString()) x"
        _ = try await client.send(TestEndpoint("a").with { $0.headers = ["Upload-Metadata": value] })
        #expect(throws: (any Error).self) { try recorder.dump(around: CancellationError(), to: folder.url) }
    }
}
