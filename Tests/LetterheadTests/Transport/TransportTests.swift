// SPDX-License-Identifier: MIT
import Foundation
@testable import Letterhead
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// What every transport does alike. One body of tests serves all of them.
@Suite(.timeLimit(.minutes(3)))
struct TransportTests {
    enum Transport: String, CaseIterable, CustomTestStringConvertible {
        #if Foundation || canImport(Darwin)
            case urlSession
        #endif
        #if os(Linux)
            case curl, direct
        #endif

        var loader: any HTTPLoader {
            switch self {
            #if Foundation || canImport(Darwin)
                case .urlSession: URLSessionLoader()
            #endif
            #if os(Linux)
                case .curl: Carrier.$current.withValue(.libcurl) { Carrier.loader() }
                case .direct: Carrier.$current.withValue(.direct) { Carrier.loader() }
            #endif
            }
        }

        var testDescription: String { rawValue }
    }

    func echo() async throws -> MockServer {
        try await MockServer.start { request in
            switch request.path {
            case "/echo": return MockServer.Response(headers: ["X-Method": request.method.rawValue], body: request.body)
            case "/length": return try .json(request.headers["Content-Length"] ?? "none")
            case "/redirect":
                return MockServer.Response(status: 302, headers: ["Location": "/elsewhere"], body: Data("go".utf8))
            case "/basic":
                return MockServer.Response(
                    status: 401, headers: ["WWW-Authenticate": "Basic realm=\"x\""], body: Data("who".utf8))
            case "/slow":
                try await Task.sleep(for: .seconds(60))
                return MockServer.Response()
            case "/large": return MockServer.Response(body: Data(repeating: 7, count: 3_000_000))
            default: return MockServer.Response(status: HTTPStatus(Int(request.path.dropFirst()) ?? 404))
            }
        }
    }

    func request(_ method: HTTPMethod = .get, _ path: String, on server: MockServer) -> HTTPRequest {
        HTTPRequest(method: method, url: server.url.appendingPathComponent(path))
    }

    @Test(arguments: Transport.allCases, [HTTPMethod.get, .post, .put, .patch, .delete])
    func `the server receives the method, and the client the response`(_ transport: Transport, method: HTTPMethod)
        async throws
    {
        let server = try await echo()
        let response = try await transport.loader.load(request(method, "echo", on: server))
        #expect(response.status == .ok && response.headers["x-method"] == method.rawValue)
        await server.stop()
    }

    @Test(arguments: Transport.allCases, [200, 204, 218, 304, 404, 425, 500, 599])
    func `any status is a response`(_ transport: Transport, code: Int) async throws {
        let server = try await echo()
        #expect(try await transport.loader.load(request(.get, "\(code)", on: server)).status.code == code)
        await server.stop()
    }

    @Test(arguments: Transport.allCases, [0, 1, 70_000, 3_000_000])
    func `a body in memory is sent and received completely`(_ transport: Transport, size: Int) async throws {
        let server = try await echo()
        let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let request = request(.post, "echo", on: server).with { $0.body = DataBody(bytes) }
        #expect(try await transport.loader.load(request).body.data() == bytes)
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `a body that is produced in pieces has its exact length`(_ transport: Transport) async throws {
        let server = try await echo()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("letterhead-test-\(UUID().uuidString)")
        try Data(repeating: 9, count: 200_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let request = request(.post, "length", on: server).with { $0.body = FileBody(at: file) }
        #expect(try await transport.loader.load(request).body.data() == Data("\"200000\"".utf8))
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `a redirect is not followed`(_ transport: Transport) async throws {
        let server = try await echo()
        let response = try await transport.loader.load(request(.get, "redirect", on: server))
        #expect(response.status == .found && response.headers["Location"] == "/elsewhere" && server.requests.count == 1)
    }

    @Test(arguments: Transport.allCases, [HTTPMethod.get, .post])
    func `a challenge is a response`(_ transport: Transport, method: HTTPMethod) async throws {
        let server = try await echo()
        let response = try await transport.loader.load(request(method, "basic", on: server))
        #expect(response.status == .unauthorized)
        #expect(try await response.body.data() == Data("who".utf8))
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `a timeout of a fraction of a second is kept and named`(_ transport: Transport) async throws {
        let server = try await echo()
        let request = request(.get, "slow", on: server).with { $0.timeout = .milliseconds(150) }
        #expect(await failure { try await transport.loader.load(request) }?.code == .timedOut)
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `a timeout ends with the head of a streamed response`(_ transport: Transport) async throws {
        let loader = transport.loader
        // A machine so busy that the head comes too late is asked again, with more time.
        for timeout in [Duration.milliseconds(250), .seconds(3), .seconds(40)] {
            let server = try await MockServer.start { _ in
                MockServer.Response(body: Data(count: 8)).fault(.slow(bytes: 1, every: timeout / 4), at: .responseBody)
            }
            let request = HTTPRequest(url: server.url).with { ($0.timeout, $0.responseDelivery) = (timeout, .streamed) }
            let body = try? await loader.load(request).body
            let count = try await body?.data().count
            await server.stop()
            if body == nil { continue }
            return #expect(count == 8)
        }
        Issue.record("no head came in 40 s")
    }

    @Test(arguments: Transport.allCases)
    func `a truncated body is an invalid response`(_ transport: Transport) async throws {
        let server = try await MockServer.start { _ in
            MockServer.Response(body: Data(count: 100_000)).fault(.close, at: .responseBody)
        }
        let error = await failure { try await transport.loader.load(HTTPRequest(url: server.url)) }
        #expect(error?.code == .invalidResponse && error?.response?.status == .ok)
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `cancelling ends the load while the server stalls`(_ transport: Transport) async throws {
        let server = try await echo()
        let (loader, request) = (transport.loader, request(.get, "slow", on: server))
        let load = Task { try await loader.load(request) }
        try await server.record { !$0.requests.isEmpty }
        load.cancel()
        #expect(await failure { try await load.value }?.code == .cancelled)
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `a reset ends requests in flight before it returns, and later loads work`(_ transport: Transport) async throws
    {
        let server = try await echo()
        let (loader, request) = (transport.loader, request(.get, "slow", on: server))
        let load = Task { try await loader.load(request) }
        try await server.record { !$0.requests.isEmpty }
        await loader.reset()
        #expect(await failure { try await load.value }?.code == .cancelled)
        #expect(try await loader.load(self.request(.get, "200", on: server)).status == .ok)
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `a response over its limit is an error`(_ transport: Transport) async throws {
        let server = try await echo()
        let request = request(.get, "large", on: server).with { $0.responseLimit = 1_000_000 }
        #expect(await failure { try await transport.loader.load(request) }?.code == .responseTooLarge)
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `a port without a listener is cannotConnect`(_ transport: Transport) async throws {
        // Not a port that was given back, which another test may take.
        let nobody = HTTPRequest(url: try #require(URL(string: "http://127.0.0.1:1/")))
        #expect(await failure { try await transport.loader.load(nobody) }?.code == .cannotConnect)
    }

    @Test(arguments: Transport.allCases, ["a\r\nX-Injected: 1", "a\nb", "a\0b", "a\u{7F}"])
    func `a malformed header value is refused before anything is sent`(_ transport: Transport, value: String)
        async throws
    {
        let server = try await echo()
        let request = request(.get, "200", on: server).with { $0.headers["X-Bad"] = value }
        let error = await #expect(throws: HTTPError.self) { try await transport.loader.load(request) }
        #expect(error?.code == .invalidRequest && error?.message.contains("X-Bad") == true && server.requests.isEmpty)
    }

    private static let brokenRules: [(name: String, breaks: @Sendable (inout HTTPRequest) -> Void)] = [
        ("CONNECT", { $0.method = .connect }),
        ("HEAD", { ($0.method, $0.body) = (.head, TextBody("x")) }),
        ("TRACE", { ($0.method, $0.body) = (.trace, TextBody("x")) }),
        ("timeout", { $0.timeout = .zero }),
        ("responseLimit", { $0.responseLimit = -1 }),
    ]

    @Test(arguments: Transport.allCases, brokenRules.map(\.name))
    func `a request that no transport supports is refused before anything is sent`(_ transport: Transport, rule: String)
        async throws
    {
        let server = try await echo()
        var request = request(.get, "200", on: server)
        Self.brokenRules.first { $0.name == rule }?.breaks(&request)
        let error = await #expect(throws: HTTPError.self) { try await transport.loader.load(request) }
        #expect(error?.code == .invalidRequest && error?.message.contains(rule) == true && server.requests.isEmpty)
    }

    @Test(arguments: Transport.allCases, [HTTPResponse.Delivery.buffered, .streamed])
    func `a response has the times of its first and its last byte`(
        _ transport: Transport, delivery: HTTPResponse.Delivery
    )
        async throws
    {
        let server = try await echo()
        let request = request(.get, "large", on: server).with { $0.responseDelivery = delivery }
        let response = try await transport.loader.load(request)
        #expect(try await response.body.data().count == 3_000_000)
        #expect(response.metrics.firstByte > .zero && response.metrics.total >= response.metrics.firstByte)
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `the response to a HEAD keeps its description of the body`(_ transport: Transport) async throws {
        let server = try await MockServer.start { _ in
            MockServer.Response(headers: ["Content-Encoding": "gzip"], body: Data(count: 10))
        }
        let response = try await transport.loader.load(HTTPRequest(method: .head, url: server.url))
        #expect(response.headers["Content-Encoding"] == "gzip" && response.headers["Content-Length"] == "10")
        #expect(try await response.body.data().isEmpty)
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `a 205 with a body is delivered completely, and the connection serves the next request`(
        _ transport: Transport
    ) async throws {
        let server = try await MockServer.start { request in
            MockServer.Response(status: request.path == "/205" ? 205 : 200, body: Data("body of \(request.path)".utf8))
        }
        let loader = transport.loader
        for (path, status) in [("205", 205), ("200", 200), ("205", 205)] {
            let response = try await loader.load(request(.get, path, on: server))
            #expect(response.status.code == status)
            #expect(try await response.body.data() == Data("body of /\(path)".utf8))
        }
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `many concurrent requests each receive their own response`(_ transport: Transport) async throws {
        let server = try await echo()
        let loader = transport.loader
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                let request = request(.put, "echo", on: server).with { $0.body = DataBody(Data("\(number)".utf8)) }
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
