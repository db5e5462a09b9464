// SPDX-License-Identifier: MIT
import AsyncHTTPClient
import Foundation
import Letterhead
import LetterheadAsyncHTTPClient
import LetterheadTesting
import NIOHTTPCompression
import Testing

private typealias HTTPClient = Letterhead.HTTPClient

/// What every transport does alike.
@Suite(.timeLimit(.minutes(3)))
struct TransportTests {
    let loader = AsyncHTTPClientLoader()

    func echo() async throws -> MockServer {
        try await MockServer.start { request in
            switch request.path {
            case "/echo": return MockServer.Response(headers: ["X-Method": request.method.rawValue], body: request.body)
            case "/redirect":
                return MockServer.Response(status: 302, headers: ["Location": "/elsewhere"], body: Data("go".utf8))
            case "/basic":
                return MockServer.Response(
                    status: 401, headers: ["WWW-Authenticate": "Basic realm=\"x\""], body: Data("who".utf8))
            case "/slow":
                try await Task.sleep(for: .seconds(600))
                return MockServer.Response()
            case "/large": return MockServer.Response(body: Data(repeating: 7, count: 3_000_000))
            default: return MockServer.Response(status: HTTPStatus(Int(request.path.dropFirst()) ?? 404))
            }
        }
    }

    func request(_ method: HTTPMethod = .get, _ path: String, on server: MockServer) -> HTTPRequest {
        HTTPRequest(method: method, url: server.url.appendingPathComponent(path))
    }

    @Test func `it keeps the laws of a loader`() async throws {
        try await LoaderLaws(loader: { AsyncHTTPClientLoader() }).check()
    }

    @Test(arguments: [HTTPMethod.get, .post, .put, .patch, .delete, .options, "PURGE"])
    func `the server receives the method, and the client the response`(method: HTTPMethod) async throws {
        let server = try await echo()
        let response = try await loader.load(request(method, "echo", on: server))
        #expect(response.status == .ok && response.headers["x-method"] == method.rawValue)
        await server.stop()
    }

    @Test(arguments: [200, 204, 218, 304, 404, 425, 500, 599])
    func `any status is a response`(code: Int) async throws {
        let server = try await echo()
        #expect(try await loader.load(request(.get, "\(code)", on: server)).status.code == code)
        await server.stop()
    }

    @Test(arguments: [0, 1, 70_000, 3_000_000])
    func `a body in memory is sent and received completely`(size: Int) async throws {
        let server = try await echo()
        let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        var request = request(.post, "echo", on: server)
        request.body = DataBody(bytes)
        #expect(try await loader.load(request).body.data() == bytes)
        #expect(server.requests.first?.headers[.contentLength] == "\(size)")
        await server.stop()
    }

    @Test func `a file is sent with its exact length`() async throws {
        let server = try await echo()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("letterhead-\(UUID().uuidString)")
        try Data(repeating: 9, count: 200_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var request = request(.post, "echo", on: server)
        request.body = FileBody(at: file)
        #expect(try await loader.load(request).body.data().count == 200_000)
        #expect(server.requests.first?.headers[.contentLength] == "200000")
        await server.stop()
    }

    @Test func `a redirect is not followed`() async throws {
        // Even if the configuration follows redirects.
        var configuration = AsyncHTTPClient.HTTPClient.Configuration()
        configuration.redirectConfiguration = .follow(max: 5, allowCycles: true)
        let server = try await echo()
        let response = try await AsyncHTTPClientLoader(configuration).load(request(.get, "redirect", on: server))
        #expect(response.status == .found && response.headers["Location"] == "/elsewhere")
        #expect(server.requests.count == 1)
        await server.stop()
    }

    @Test func `a compressed body is neither requested nor decompressed`() async throws {
        var configuration = AsyncHTTPClient.HTTPClient.Configuration()
        configuration.decompression = .enabled(limit: .none)
        let server = try await MockServer.start { request in
            MockServer.Response(headers: ["Content-Encoding": "gzip"], body: Data([1, 2, 3]))
        }
        let response = try await AsyncHTTPClientLoader(configuration).load(HTTPRequest(url: server.url))
        #expect(response.headers["Content-Encoding"] == "gzip" && response.body.buffered == Data([1, 2, 3]))
        #expect(server.requests.first?.headers.contains(.acceptEncoding) == false)
        await server.stop()
    }

    @Test func `a client follows redirects and stores cookies above it`() async throws {
        let server = try await echo()
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url), transport: loader)
        _ = try? await client.send(Endpoint<Data>(.get, "redirect"))
        #expect(server.requests.map(\.path) == ["/redirect", "/elsewhere"])
        await server.stop()
    }

    @Test(arguments: [HTTPMethod.get, .post])
    func `a challenge is a response`(method: HTTPMethod) async throws {
        let server = try await echo()
        let response = try await loader.load(request(method, "basic", on: server))
        #expect(response.status == .unauthorized && response.body.buffered == Data("who".utf8))
        await server.stop()
    }

    @Test func `the fields of both messages keep their order, spelling and repetitions`() async throws {
        let fields: HTTPHeaders = ["X-B": "1", "x-a": "2", "X-B": "3", "Accept": "a, b", "X-Empty": ""]
        let server = try await MockServer.start { _ in MockServer.Response(headers: fields) }
        var request = HTTPRequest(url: server.url)
        request.headers = fields
        let received = try await loader.load(request).headers.prefix(5)
        let sent = try #require(server.requests.first).headers.prefix(5)
        #expect(received.map(\.name.rawValue) == fields.map(\.name.rawValue) && received.elementsEqual(fields))
        #expect(sent.map(\.name.rawValue) == fields.map(\.name.rawValue) && sent.elementsEqual(fields))
        await server.stop()
    }

    @Test(arguments: [
        "/", "/a", "/a/", "//a//b", "/a%2Fb%20c", "/a?b", "/a?b=", "/a?b=1&b=2&c=%20+%2B", "/?a=b?c=d", "/a;b=1,2",
        "/%E2%82%AC", "/~user/*", "/a%2e%2e/b", "/a?",
    ])
    func `a target keeps its bytes`(target: String) async throws {
        let server = try await MockServer.start { _ in MockServer.Response() }
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var request = HTTPRequest(url: server.url)
        request.path = RequestPath(escaped: String(parts[0]), route: nil)
        if parts.count > 1 { request.query = QueryParameters(escaped: String(parts[1])) }
        request.fragment = "never"
        _ = try await loader.load(request)
        #expect(server.requests.map(\.target) == [target])
        await server.stop()
    }

    @Test(arguments: ["a=|", "a=\"", "a=<>", "a=`", "a=^", "a={}"])
    func `what a URL cannot contain is refused before anything is sent`(query: String) async throws {
        let server = try await MockServer.start { _ in MockServer.Response() }
        var request = HTTPRequest(url: server.url)
        request.query = QueryParameters(escaped: query)
        let sent = request
        let error = await #expect(throws: HTTPError.self) { try await loader.load(sent) }
        #expect(error?.code == .invalidRequest && server.requests.isEmpty)
        await server.stop()
    }

    @Test func `the response to a HEAD keeps its description of the body`() async throws {
        let server = try await MockServer.start { _ in MockServer.Response(body: Data(count: 10)) }
        let response = try await loader.load(HTTPRequest(method: .head, url: server.url))
        #expect(response.headers["Content-Length"] == "10" && response.body.buffered?.isEmpty == true)
        await server.stop()
    }

    @Test func `a 205 with a body is delivered completely, and the connection serves the next request`() async throws {
        let server = try await MockServer.start { request in
            MockServer.Response(status: request.path == "/205" ? 205 : 200, body: Data("body of \(request.path)".utf8))
        }
        for (path, status) in [("205", 205), ("200", 200), ("205", 205)] {
            let response = try await loader.load(request(.get, path, on: server))
            #expect(response.status.code == status && response.body.buffered == Data("body of /\(path)".utf8))
        }
        #expect(server.connections.count == 1)
        await server.stop()
    }

    @Test func `many concurrent requests each receive their own response`() async throws {
        let server = try await echo()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                var request = request(.put, "echo", on: server)
                request.body = DataBody(Data("\(number)".utf8))
                group.addTask { [request] in
                    let data = try await loader.load(request).body.data()
                    #expect(data == Data("\(number)".utf8))
                }
            }
            try await group.waitForAll()
        }
        await server.stop()
    }
}
