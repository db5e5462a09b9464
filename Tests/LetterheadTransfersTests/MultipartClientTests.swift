// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import LetterheadTransfers
import Testing

/// Multipart responses over a connection.
@Suite(.timeLimit(.minutes(2))) struct MultipartClientTests {
    private static let template = Get<HTTPResponse>("parts")
    private static let type: HTTPHeaders = ["Content-Type": "multipart/mixed; boundary=b"]

    /// A server that sends what a test adds.
    private func server() async throws -> (server: MockServer, chunks: AsyncStream<Data>.Continuation) {
        let (stream, chunks) = AsyncStream.makeStream(of: Data.self)
        let server = try await MockServer.start { _ in MockServer.Response(headers: Self.type, chunks: stream) }
        return (server, chunks)
    }

    @Test func `parts arrive while the server sends`() async throws {
        let (server, chunks) = try await server()
        chunks.yield(Data("--b\r\nContent-ID: 1\r\n\r\none".utf8))
        var parts = server.client().parts(of: Self.template).makeAsyncIterator()
        let first = try #require(try await parts.next())
        #expect(first.headers["Content-ID"] == "1")
        var body = first.body.makeAsyncIterator()
        #expect(try await body.next() == Data("one".utf8))
        chunks.yield(Data(" more\r\n--b\r\n\r\n".utf8))
        #expect(try await body.next() == Data(" more".utf8))
        #expect(try await body.next() == nil)
        let second = try #require(try await parts.next())
        chunks.yield(Data("two\r\n--b--".utf8))
        chunks.finish()
        #expect(try await second.body.data() == Data("two".utf8))
        #expect(try await parts.next() == nil)
        await server.stop()
    }

    @Test func `asking for the first part sends the request, and each iteration sends another one`() async throws {
        let server = try await MockServer.start { _ in
            MockServer.Response(headers: Self.type, body: Data("--b\r\n\r\none\r\n--b--\r\nepilogue".utf8))
        }
        let parts = server.client().parts(of: Self.template)
        #expect(server.requests.isEmpty)
        for _ in 1...2 { #expect(await parts.readAll().parts == [ReadPart("one")]) }
        #expect(server.requests.count == 2)
        // The epilogue was read, so the connection could be used again.
        #expect(server.connections.count == 1)
    }

    @Test(arguments: [("partLimit", 0, 1), ("headLimit", 1, -1)])
    func `a limit below 1 is refused before anything is sent`(name: String, partLimit: Int, headLimit: Int) async throws
    {
        let server = try await MockServer.start { _ in MockServer.Response(headers: Self.type, body: Data("--b--".utf8))
        }
        let parts = server.client().parts(of: Self.template, partLimit: partLimit, headLimit: headLimit)
        let error = try #require(await parts.readAll().error as? HTTPError)
        #expect(error.code == .invalidRequest && error.message == "\(name) is less than 1" && server.requests.isEmpty)
    }

    @Test func `leaving the loop ends the transfer`() async throws {
        let (server, chunks) = try await server()
        chunks.yield(Data("--b\r\n\r\none\r\n--b\r\n\r\ntwo".utf8))
        for try await part in server.client().parts(of: Self.template) {
            #expect(try await part.body.data() == Data("one".utf8))
            break
        }
        try await server.record { $0.connections.first?.isOpen == false }
        await server.stop()
    }

    @Test(arguments: [true, false])
    func `a connection that is lost in a part is an error, and the earlier parts arrive`(isChunked: Bool) async throws {
        struct Lost: Error {}
        let beginning = Data("--b\r\n\r\none\r\n--b\r\n\r\ntwo".utf8)
        let server = try await MockServer.start { _ in
            guard isChunked else {
                var response = MockServer.Response(headers: Self.type, body: beginning)
                response.headers[.contentLength] = "200"
                return response
            }
            let chunks = AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(beginning)
                continuation.finish(throwing: Lost())
            }
            return MockServer.Response(headers: Self.type, chunks: chunks)
        }
        let (parts, error) = await server.client().parts(of: Self.template).readAll()
        #expect(parts == [ReadPart("one")])
        #expect((error as? HTTPError)?.code == .invalidResponse, "\(String(describing: error))")
        await server.stop()
    }

    /// What Letterhead sends as a body, it also reads.
    @Test func `a multipart body that is sent back has the same parts`() async throws {
        let server = try await MockServer.start { request in
            MockServer.Response(headers: ["Content-Type": request.headers[.contentType] ?? ""], body: request.body)
        }
        let (picture, name) = (Data((0...255).map { UInt8($0) }), "a \"b\"\r\nc\u{E9}")
        let template = Post<HTTPResponse>("echo").multipart([
            .text("hi", name: name), .data(picture, name: "picture", filename: "a.png"), .text("", name: "none"),
        ])
        var read: [String?: Data] = [:]
        for try await part in server.client().parts(of: template) { read[part.name] = try await part.body.data() }
        #expect(read == [name: Data("hi".utf8), "picture": picture, "none": Data()])
        await server.stop()
    }
}
