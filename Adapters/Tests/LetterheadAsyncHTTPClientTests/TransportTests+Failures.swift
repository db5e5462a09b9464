// SPDX-License-Identifier: MIT
import AsyncHTTPClient
import Foundation
import Letterhead
import LetterheadAsyncHTTPClient
import LetterheadTesting
import NIOCore
import NIOSSL
import Testing

/// Requests that fail, and that end early.
extension TransportTests {
    @Test func `a truncated body is an invalid response`() async throws {
        let server = try await MockServer.start { _ in
            MockServer.Response(body: Data(count: 100_000)).fault(.close, at: .responseBody)
        }
        let error = await #expect(throws: HTTPError.self) { try await loader.load(HTTPRequest(url: server.url)) }
        #expect(error?.code == .invalidResponse && error?.response?.status == .ok && error?.underlying != nil)
        await server.stop()
    }

    @Test func `a port without a listener is cannotConnect, at once`() async throws {
        let nobody = HTTPRequest(url: try #require(URL(string: "http://127.0.0.1:1/")))
        let error = await #expect(throws: HTTPError.self) { try await loader.load(nobody) }
        #expect(error?.code == .cannotConnect && error?.mayHaveBeenSent == false && error?.underlying != nil)
    }

    @Test func `an unknown host is cannotConnect`() async throws {
        let nobody = HTTPRequest(url: try #require(URL(string: "http://nobody.invalid/")))
        let error = await #expect(throws: HTTPError.self) { try await loader.load(nobody) }
        #expect(error?.code == .cannotConnect && error?.mayHaveBeenSent == false)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nX-Frame\r-Options: v\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\n0",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "HTTP/1.1 20 OK\r\n\r\n", "SSH-2.0-OpenSSH\r\n",
    ])
    func `a malformed response is invalid`(text: String) async throws {
        let server = try await MockServer.start()
        server.enqueue(.raw(text), times: 2)
        for delivery in [HTTPResponse.Delivery.buffered, .streamed] {
            var request = HTTPRequest(url: server.url)
            request.responseDelivery = delivery
            let sent = request
            let error = await #expect(throws: HTTPError.self) { try await loader.load(sent).body.data() }
            #expect(error?.code == .invalidResponse, "\(String(describing: error))")
        }
        await server.stop()
    }

    @Test func `a head that is too large is an error`() async throws {
        let server = try await MockServer.start { _ in
            MockServer.Response(headers: ["X-Long": String(repeating: "a", count: 200_000)])
        }
        let error = await #expect(throws: HTTPError.self) { try await loader.load(HTTPRequest(url: server.url)) }
        #expect(error?.code == .responseTooLarge)
        await server.stop()
    }

    @Test func `a response over its limit is an error`() async throws {
        let server = try await echo()
        var request = request(.get, "large", on: server)
        request.responseLimit = 1_000_000
        let error = await #expect(throws: HTTPError.self) { try await loader.load(request) }
        #expect(error?.code == .responseTooLarge && error?.response?.status == .ok)
        await server.stop()
    }

    @Test(arguments: ["a\r\nX-Injected: 1", "a\nb", "a\0b", "a\u{7F}"])
    func `a malformed header value is refused before anything is sent`(value: String) async throws {
        let server = try await echo()
        var request = request(.get, "200", on: server)
        request.headers["X-Bad"] = value
        let error = await #expect(throws: HTTPError.self) { try await loader.load(request) }
        #expect(error?.code == .invalidRequest && error?.message.contains("X-Bad") == true)
        #expect(server.connections.isEmpty)
        await server.stop()
    }

    @Test func `a request's connect timeout is refused, because the client has only one`() async throws {
        let server = try await echo()
        var request = request(.get, "200", on: server)
        request.connectTimeout = .seconds(1)
        let error = await #expect(throws: HTTPError.self) { try await loader.load(request) }
        #expect(error?.code == .invalidRequest && server.connections.isEmpty)
        await server.stop()
    }

    @Test func `cancelling ends the load while the server stalls`() async throws {
        let server = try await echo()
        let load = Task { [request = request(.get, "slow", on: server)] in try await loader.load(request) }
        try await server.record { !$0.requests.isEmpty }
        load.cancel()
        let error = await #expect(throws: HTTPError.self) { try await load.value }
        #expect(error?.code == .cancelled)
        try await server.record { $0.connections.allSatisfy { !$0.isOpen } }
        await server.stop()
    }

    @Test func `a reset ends a client's requests and streamed bodies, and no others`() async throws {
        let server = try await MockServer.start { _ in
            MockServer.Response(chunks: AsyncStream { $0.yield(Data(count: 10)) })
        }
        let environment = ServerEnvironment(baseURL: server.url)
        let (first, second) = (
            Letterhead.HTTPClient(environment: environment, transport: loader),
            Letterhead.HTTPClient(environment: environment, transport: loader)
        )
        var ended = try await first.stream(Get<Data>("a")).body.makeAsyncIterator()
        var kept = try await second.stream(Get<Data>("a")).body.makeAsyncIterator()
        #expect(try await ended.next()?.count == 10)
        await first.reset()
        let error = await #expect(throws: HTTPError.self) { try await ended.next() }
        #expect(error?.code == .cancelled)
        #expect(try await kept.next()?.count == 10)
        await server.stop()
    }

    @Test func `a released loader closes its connections`() async throws {
        let server = try await echo()
        var released: AsyncHTTPClientLoader? = AsyncHTTPClientLoader()
        _ = try await released?.load(request(.get, "200", on: server))
        #expect(server.connections.map(\.isOpen) == [true])
        released = nil
        try await server.record { $0.connections.allSatisfy { !$0.isOpen } }
        await server.stop()
    }
}

/// TLS.
extension TransportTests {
    private func secureServer() async throws -> MockServer {
        var configuration = MockServer.Configuration()
        configuration.tls = MockServer.TLS(certificate: Certificates.valid, key: Certificates.key)
        return try await MockServer.start(configuration) { _ in .text("private") }
    }

    @Test func `a certificate of an unknown authority is an insecure connection`() async throws {
        let server = try await secureServer()
        let error = await #expect(throws: HTTPError.self) { try await loader.load(HTTPRequest(url: server.url)) }
        #expect(error?.code == .insecureConnection && server.requests.isEmpty)
        await server.stop()
    }

    @Test func `the configuration's authority is trusted, and a body without its end is not`() async throws {
        let server = try await secureServer()
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([try NIOSSLCertificate(bytes: Array(Certificates.authority.utf8), format: .pem)])
        let loader = AsyncHTTPClientLoader(AsyncHTTPClient.HTTPClient.Configuration(tlsConfiguration: tls))
        let response = try await loader.load(HTTPRequest(url: server.url))
        #expect(response.body.buffered == Data("private".utf8) && response.metrics.httpVersion == "HTTP/1.1")
        server.enqueue(.raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf of it", then: .close))
        let error = await #expect(throws: HTTPError.self) { try await loader.load(HTTPRequest(url: server.url)) }
        #expect(error?.code == .invalidResponse)
        await server.stop()
    }
}
