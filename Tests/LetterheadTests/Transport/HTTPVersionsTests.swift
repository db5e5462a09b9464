// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import TestKit
    import Testing

    /// The versions of HTTP that a configuration allows.
    @Suite(.timeLimit(.minutes(1)))
    struct HTTPVersionsTests {
        private func configuration(_ versions: TransportConfiguration.HTTPVersions) -> TransportConfiguration {
            TransportConfiguration.trusting.with {
                ($0.httpVersions, $0.proxy, $0.idleTimeout) = (versions, .direct, .seconds(20))
            }
        }

        /// A server of HTTP/1.1 and of HTTP/2, whichever the client begins with.
        private static func server(tls: RawTLS? = nil) -> RawServer {
            RawServer(tls: tls) { connection, _ in
                while let head = connection.readHead() {
                    guard head.hasPrefix("PRI * HTTP/2.0\r\n") else {
                        connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                        continue
                    }
                    guard connection.read(6) == Data("SM\r\n\r\n".utf8), connection.write(HTTP2Frame(.settings)) else {
                        return
                    }
                    while let stream = connection.readHTTP2Request() { connection.write(.success(on: stream)) }
                }
            }
        }

        @Test(arguments: [
            (TransportConfiguration.HTTPVersions.http1, "HTTP/1.1"), (.http2, "HTTP/1.1"),
            (.http2PriorKnowledge, "HTTP/2"),
        ])
        func `without TLS, HTTP/2 is used with prior knowledge only`(
            versions: TransportConfiguration.HTTPVersions, expected: String
        ) async throws {
            let server = Self.server()
            let loader = CurlLoader(configuration(versions))
            for method in [HTTPMethod.get, .post, .head] {
                let response = try await loader.load(HTTPRequest(method: method, url: server.url()))
                #expect(response.status == 200 && response.metrics.httpVersion == expected)
            }
            let isReused = expected == "HTTP/1.1" || CurlQuirks.reusesHTTP2WithoutTLS
            #expect(server.connectionCount == (isReused ? 1 : 3))
        }

        @Test(
            .enabled("OpenSSL is not installed", { RawTLS() != nil }),
            arguments: [
                (TransportConfiguration.HTTPVersions.http1, true, "HTTP/1.1"), (.http2, true, "HTTP/2"),
                (.http2PriorKnowledge, true, "HTTP/2"), (.http2PriorKnowledge, false, "HTTP/1.1"),
                (.http2, false, "HTTP/1.1"),
            ])
        func `over TLS, HTTP/2 is used if it is allowed and negotiated`(
            versions: TransportConfiguration.HTTPVersions, choosesHTTP2: Bool, expected: String
        ) async throws {
            let server = Self.server(tls: RawTLS(choosesHTTP2: choosesHTTP2))
            let loader = CurlLoader(configuration(versions))
            for _ in 0..<3 {
                let response = try await loader.load(HTTPRequest(url: server.url()))
                #expect(response.status == 200 && response.metrics.httpVersion == expected)
            }
            #expect(server.connectionCount == 1)
        }

        @Test(.enabled("libcurl sends several requests over one connection", { !CurlQuirks.reusesHTTP2WithoutTLS }))
        func `with prior knowledge and a connection for each request, each receives its own response`() async throws {
            let server = RawServer { connection, _ in
                guard connection.beginHTTP2() else { return }
                while let requests = connection.readHTTP2Requests(1) {
                    connection.write(.head(on: requests[0].stream))
                    connection.write(.body(requests[0].body, on: requests[0].stream, isLast: true))
                }
            }
            let loader = CurlLoader(configuration(.http2PriorKnowledge))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for number in 0..<24 {
                    tasks.addTask {
                        for turn in 0..<4 {
                            let text = "request \(number).\(turn)"
                            let request = HTTPRequest(method: .put, url: server.url()).with { $0.body = TextBody(text) }
                            let response = try await loader.load(request)
                            #expect(try await response.body.data() == Data(text.utf8))
                        }
                    }
                }
                try await tasks.waitForAll()
            }
        }

        @Test(.enabled("libcurl opens a connection for each request", { CurlQuirks.reusesHTTP2WithoutTLS }))
        func `with prior knowledge, requests share one connection, and each receives its own response`() async throws {
            let server = RawServer { connection, _ in
                guard connection.beginHTTP2() else { return }
                // All requests of a group arrive before the first response. The last one is answered first.
                for count in [1, 24, 24, 1] {
                    guard let requests = connection.readHTTP2Requests(count) else { return }
                    for request in requests.reversed() { connection.write(.head(on: request.stream)) }
                    for request in requests {
                        connection.write(.body(request.body.prefix(3), on: request.stream, isLast: false))
                    }
                    for request in requests.reversed() {
                        connection.write(.body(request.body.dropFirst(3), on: request.stream, isLast: true))
                    }
                }
                // Closing a socket with unread bytes would discard the last response.
                _ = connection.waitForEnd()
            }
            let loader = CurlLoader(configuration(.http2PriorKnowledge))
            for (group, count) in [1, 24, 24, 1].enumerated() {
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    for number in 0..<count {
                        tasks.addTask {
                            let text = "request \(group).\(number)"
                            var request = HTTPRequest(method: .put, url: server.url("/\(number)"))
                            request.body = TextBody(text)
                            request.responseDelivery = number % 2 == 0 ? .buffered : .streamed
                            let response = try await loader.load(request)
                            #expect(try await response.body.data() == Data(text.utf8))
                            #expect(response.metrics.httpVersion == "HTTP/2")
                            #expect(response.metrics.isReusedConnection == (group > 0))
                        }
                    }
                    try await tasks.waitForAll()
                }
            }
            #expect(server.connectionCount == 1)
        }

        @Test(arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/2 200 OK\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "",
        ])
        func `with prior knowledge, a server without HTTP/2 is an error`(text: String) async throws {
            let server = RawServer.answering(text, closing: true)
            let loader = CurlLoader(configuration(.http2PriorKnowledge))
            for method in [HTTPMethod.get, .post] {
                let error = await failure { try await loader.load(HTTPRequest(method: method, url: server.url())) }
                #expect(
                    error?.code == .connectionLost || error?.code == .invalidResponse, "\(String(describing: error))")
                #expect(error?.response == nil)
            }
        }

        @Test func `without TLS, a refused POST is not sent again, because another request may share its connection`()
            async throws
        {
            let heads = Heads()
            let server = RawServer.http2(tls: nil) { connection, number, stream in
                heads.add("request")
                connection.write(number == 0 ? .refusal(of: stream) : .success(on: stream))
            }
            let loader = CurlLoader(configuration(.http2PriorKnowledge))
            let error = await failure { try await loader.load(HTTPRequest(method: .post, url: server.url())) }
            #expect(error?.code == .connectionLost && error?.mayHaveBeenSent == true, "\(String(describing: error))")
            #expect(heads.all.count == 1)
        }

        @Test func `a version that cannot be used is refused before anything is sent`() async throws {
            let server = RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            var throughProxy = configuration(.http2PriorKnowledge)
            throughProxy.proxy = .http("127.0.0.1", port: server.port)
            let error = await failure { try await CurlLoader(throughProxy).load(HTTPRequest(url: server.url())) }
            #expect(error?.code == .invalidRequest && error?.mayHaveBeenSent == false)
            #expect(error?.message.contains("httpVersions is .http2PriorKnowledge") == true)
            #expect(server.connectionCount == 0)

            // The libcurl of this machine may have been built with HTTP/3. Then HTTP/1.1 is used without TLS.
            let loader = CurlLoader(configuration(.http3))
            switch await Task(operation: { try await loader.load(HTTPRequest(url: server.url())) }).result {
            case .success(let response):
                #expect(response.metrics.httpVersion == "HTTP/1.1" && server.connectionCount == 1)
            case .failure(let failure):
                let error = try #require(failure as? HTTPError)
                #expect(error.code == .invalidRequest && error.mayHaveBeenSent == false)
                #expect(error.message.contains("httpVersions is .http3") && server.connectionCount == 0)
            }
        }
    }
#endif
