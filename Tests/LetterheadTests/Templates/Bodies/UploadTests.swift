// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// Bodies over a wire: what a server gets of them, and that it gets nothing of those that are refused.
@Suite(.timeLimit(.minutes(3)))
struct UploadTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Sends a body, and returns the requests that the server recorded.
    private func requests(
        of body: any HTTPBody, headers: HTTPHeaders = [:], answer: @escaping MockServer.Closure = { _ in .init() }
    ) async throws -> (requests: [MockServer.Request], error: HTTPError?) {
        let server = try await MockServer.start(closure: answer)
        let request = HTTPRequest(method: .post, url: server.url).with { ($0.headers, $0.body) = (headers, body) }
        let error = await failure { try await (FollowRedirects() --> HTTPClient.defaultTransport).load(request) }
        await server.stop()
        return (server.requests, error)
    }

    @Test func `a multipart body with a file arrives byte for byte, with its exact length`() async throws {
        let file = try directory.file("photo.jpg", noise(300_000))
        let body = MultipartBody([.text("hi", name: "caption"), .file(at: file, name: "photo")])
        let request = try #require(try await requests(of: body).requests.first)
        #expect(request.body == (try body.encode()))
        #expect(request.headers["Content-Length"] == "\(request.body.count)")
        #expect(request.headers.values(for: "Content-Type") == ["multipart/form-data; boundary=\(body.boundary)"])
        #expect(!request.headers.contains("Transfer-Encoding"))
    }

    #if os(Linux)
        @Test func `a part of unknown length is sent completely, in chunks`() async throws {
            let stream = AsyncStream<Data> {
                $0.yield(noise(100_000))
                $0.finish()
            }
            let body = MultipartBody([.body(StreamBody(once: stream), name: "s", filename: "s.bin")], boundary: "b")
            let request = try #require(try await requests(of: body).requests.first)
            #expect(request.headers["Transfer-Encoding"] == "chunked" && !request.headers.contains("Content-Length"))
            #expect(request.body.suffix(100_000 + 9) == noise(100_000) + Data("\r\n--b--\r\n".utf8))
        }
    #endif

    @Test func `a stream that was sent is refused before a second request reaches the server`() async throws {
        let server = try await MockServer.start { _ in MockServer.Response() }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
        var request = HTTPRequest(method: .post, url: server.url)
        request.body = StreamBody(once: AsyncStream<Data> { $0.finish() })
        _ = try await client.send(request)
        let error = await #expect(throws: HTTPError.self) { try await client.send(request) }
        #expect(error?.code == .invalidRequest && error?.mayHaveBeenSent == false && server.connections.count == 1)
        #expect(server.requests.count == 1)
    }

    @Test func `a body that cannot be encoded is an invalid request, and nothing is sent`() async throws {
        let missing = directory.url.appendingPathComponent("missing")
        let bodies: [any HTTPBody] = [
            JSONBody([Double.nan]), FileBody(at: missing), FileBody(at: directory.url),
            MultipartBody([.file(at: missing, name: "f")]), MultipartBody([.text("no name")]),
            MultipartBody([.data(Data([1]), filename: "no name")]),
            MultipartBody([], boundary: "a\r\nb"), TextBody("é", contentType: "text/plain; charset=us-ascii"),
            StreamBody(length: -1) { AsyncStream<Data> { $0.finish() } }, FormBody(encoding: ["no", "names"]),
            DataBody(Data([1]), additionalHeaders: ["X": "a\r\nX-Injected: 1"]),
            DataBody(Data([1]), contentType: "none"),
        ]
        for body in bodies {
            let sent = try await requests(of: body)
            #expect(sent.error?.code == .invalidRequest && sent.error?.mayHaveBeenSent == false, "\(type(of: body))")
            #expect(sent.requests.isEmpty, "\(type(of: body))")
        }
    }

    @Test(arguments: [70_000, 300_001])
    func `a file that changes its size while it is sent is never received as a complete body`(size: Int) async throws {
        let file = try directory.file("a.bin", noise(300_000))
        let body = MultipartBody([
            .file(at: file, name: "f"),
            .stream(length: 0, name: "last") { AsyncStream<Data> { $0.finish() } },
        ])
        let changing = MultipartBody([
            .stream(length: 1, name: "first") {
                let handle = try FileHandle(forWritingTo: file)
                try handle.truncate(atOffset: UInt64(size))
                try handle.close()
                return AsyncStream<Data> {
                    $0.yield(Data([1]))
                    $0.finish()
                }
            }, .body(body, name: "rest"),
        ])
        let sent = try await requests(of: changing)
        #expect(sent.error?.code == .invalidRequest && sent.error?.underlying is HTTPBodyError)
        #expect(!sent.requests.contains { $0.isComplete })
    }

    @Test func `a range of a file arrives with its length, and nothing arrives of a range past the end`() async throws {
        let file = try directory.file("a.bin", noise(200_000))
        let sent = try await requests(of: FileBody(at: file, range: 70_000..<170_001))
        #expect(sent.requests.first?.body == noise(200_000)[70_000..<170_001])
        #expect(sent.requests.first?.headers["Content-Length"] == "100001")
        let refused = try await requests(of: FileBody(at: file, range: 70_000..<200_001))
        #expect(refused.error?.code == .invalidRequest && refused.requests.isEmpty)
        #expect(refused.error?.description.contains("the file has 200000 bytes, and the range ends at 200001") == true)
    }
}
