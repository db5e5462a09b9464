// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    @testable import Letterhead
    import TestKit
    import Synchronization

    /// How the transport sets up libcurl, and what it makes of a libcurl that is built otherwise.
    struct Setups {
        let count: Int

        /// Many loaders begin at once, and libcurl is initialized once.
        func initializeOnce() async throws {
            let server = RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<count {
                    group.addTask { _ = try await CurlLoader().load(HTTPRequest(url: server.url())) }
                }
                try await group.waitForAll()
            }
            let calls = Interposed.globalInits.withLock { $0 }
            expect(calls.count == 1 && !calls.hasOverlapped, "curl_global_init was called \(calls.count) times")
            print("ok: \(count) loaders initialized libcurl once")
        }

        /// An initialization that fails is an error of each request.
        func failToInitialize() async throws {
            Interposed.failure.withLock { $0 = 2 }
            let server = RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            for _ in 0..<count {
                do {
                    _ = try await CurlLoader().load(HTTPRequest(url: server.url()))
                    fail("a request succeeded")
                } catch {
                    expect(error.code == .unknown && !error.mayHaveBeenSent, "\(error)")
                }
            }
            expect(server.connectionCount == 0, "a connection was made")
            print("ok: \(count) requests failed")
        }

        /// Without an account of close_notify, the response reports that its end was not authenticated.
        func tellUnauthenticatedEnds() async throws {
            guard let tls = RawTLS() else { return print("ok: without OpenSSL there is no server") }
            var configuration = TransportConfiguration()
            configuration.security.roots = .pem(Data(Certificates.authority.utf8))
            let server = RawServer(tls: tls) { connection, _ in
                guard let head = connection.readHead() else { return }
                let length = head.hasPrefix("GET /length") ? "Content-Length: 4\r\n" : ""
                connection.write("HTTP/1.1 200 OK\r\n\(length)\r\nbody")
                connection.close()
            }
            Interposed.library.withLock { $0 = "OtherSSL/1.0" }
            for delivery in [HTTPResponse.Delivery.buffered, .streamed] {
                for path in ["/", "/length"] {
                    var request = HTTPRequest(url: server.url(path))
                    request.responseDelivery = delivery
                    let response = try await CurlLoader(configuration).load(request)
                    expect(try await response.body.data() == Data("body".utf8), "another body")
                    expect(response.metrics.hasUnauthenticatedEnd == (path == "/"), "\(path): \(response.metrics)")
                }
            }
            print("ok: an end that nothing authenticates is reported")
        }
    }
#endif
