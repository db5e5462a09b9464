// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

@Suite(.timeLimit(.minutes(3))) struct SocketTransportTests {
    private let transport = SocketTransport()

    private func server() async throws -> MockServer {
        try await MockServer.start { request in
            var response = MockServer.Response(body: Data("\(request.method.rawValue) \(request.body.count)".utf8))
            if request.path == "/trailers" { response.trailers = ["X-Sum": "1"] }
            if request.path == "/missing" { response.status = .notFound }
            return response
        }
    }

    private func request(_ path: String, to server: MockServer) -> HTTPRequest {
        HTTPRequest(url: server.url.appending(path: path))
    }

    @Test func `a buffered response has metrics and trailers`() async throws {
        let server = try await server()
        let response = try await transport.load(request("trailers", to: server))
        #expect(response.body.buffered == Data("GET 0".utf8) && response.trailers["X-Sum"] == "1")
        let metrics = response.metrics
        #expect(metrics.httpVersion == "HTTP/1.1" && metrics.bytesReceived > 5 && metrics.bytesSent > 20)
        #expect(metrics.total >= metrics.firstByte && metrics.remoteAddress == "127.0.0.1:\(server.url.port ?? 0)")
        await server.stop()
    }

    @Test func `a copy of a response keeps its metrics when those of another copy are set`() throws {
        var first = HTTPResponse(request: .plain(), status: .ok)
        first.trailers = ["X-Sum": "1"]
        var second = first
        second.metrics.bytesReceived = 7
        #expect(first.metrics.bytesReceived == 0 && second.metrics.bytesReceived == 7)
        #expect(second.trailers["X-Sum"] == "1")
    }

    @Test func `a streamed body is sent in chunks, and a streamed response has its trailers after its end`()
        async throws
    {
        let server = try await server()
        var request = request("trailers", to: server)
        request.method = .put
        request.body = StreamBody {
            AsyncStream { stream in
                for piece in ["one ", "two"] { stream.yield(Data(piece.utf8)) }
                stream.finish()
            }
        }
        request.responseDelivery = .streamed
        let response = try await transport.load(request)
        #expect(response.body.buffered == nil && response.trailers == [:])
        #expect(try await response.body.data() == Data("PUT 7".utf8))
        #expect(response.trailers["X-Sum"] == "1" && response.metrics.total > .zero)
        await server.stop()
    }

    @Test func `a download replaces its file only if a client has accepted the response`() async throws {
        let server = try await server()
        let file = FileManager.default.temporaryDirectory.appending(path: "public-\(UInt64.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: file) }
        var missing = request("missing", to: server)
        missing.responseDelivery = .file(file)
        #expect(try await transport.load(missing).body.buffered == Data("GET 0".utf8))
        #expect(!FileManager.default.fileExists(atPath: file.path))
        var found = request("found", to: server)
        found.responseDelivery = .file(file)
        do {
            let response = try await transport.load(found)
            #expect(response.savedFile.map { try? Data(contentsOf: $0) } == Data("GET 0".utf8))
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
        let client = HTTPClient(transport: transport)
        #expect(try await client.send(found).savedFile == file)
        #expect(try Data(contentsOf: file) == Data("GET 0".utf8))
        await server.stop()
    }

    @Test func `a request that no transport can send is refused`() async throws {
        let server = try await server()
        var (connect, head, limit) = (request("", to: server), request("", to: server), request("", to: server))
        connect.method = .connect
        head.method = .head
        head.body = TextBody("body")
        limit.responseLimit = -1
        for request in [connect, head, limit] {
            #expect(await failure { try await transport.load(request) }?.code == .invalidRequest)
        }
        #expect(server.requests.isEmpty)
        await server.stop()
    }

    @Test func `each time limit ends a request to a server that does not respond`() async throws {
        let server = try await MockServer.start { _ in
            try await Task.sleep(for: .seconds(60))
            return MockServer.Response()
        }
        var (timeout, idle) = (request("", to: server), request("", to: server))
        timeout.timeout = .milliseconds(20)
        idle.idleTimeout = .milliseconds(20)
        for (limited, name) in [(timeout, "timeout"), (idle, "idleTimeout")] {
            let error = await failure { try await transport.load(limited) }
            #expect(error?.code == .timedOut && error?.message.contains("the \(name) was") == true)
        }
        let chain = Deadline(.milliseconds(20)) --> transport
        let error = await failure { try await chain.load(request("", to: server)) }
        #expect(error?.code == .timedOut && error?.message.contains("deadline") == true)
        await server.stop()
    }
}
