// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import LetterheadTesting
    import RawServer
    import Synchronization
    import Testing

    /// Requests over HTTP/2 that the server refuses without having processed them (RFC 9113, 8.7), or that an invalid frame
    /// ends.
    @Suite(
        .timeLimit(.minutes(3)),
        .enabled("OpenSSL is not installed", { RawTLS(choosesHTTP2: true) != nil }))
    struct HTTP2RefusalTests {
        private func load(_ method: HTTPMethod, _ server: RawServer, over loader: CurlLoader) async throws
            -> HTTPResponse
        {
            var request = HTTPRequest(method: method, url: server.url())
            request.body = DataBody(Data("body".utf8))
            return try await loader.load(request)
        }

        private var loader: CurlLoader {
            var configuration = TransportConfiguration()
            configuration.security.roots = .pem(Data(Certificates.authority.utf8))
            configuration.idleTimeout = .seconds(5)
            return CurlLoader(configuration)
        }

        @Test func `A POST that is refused on a new connection is sent again on another one`() async throws {
            let processed = Mutex(0)
            let server = RawServer(tls: RawTLS(choosesHTTP2: true)) { connection, number in
                guard connection.beginHTTP2() else { return }
                while let stream = connection.readHTTP2Request() {
                    if number == 0 {
                        connection.write(.refusal(of: stream))
                    } else {
                        processed.withLock { $0 += 1 }
                        connection.write(.success(on: stream))
                    }
                }
            }
            let response = try await load(.post, server, over: loader)
            #expect(response.status == 200 && response.metrics.httpVersion == "HTTP/2")
            #expect(processed.withLock { $0 } == 1 && server.connectionCount == 2)
        }

        /// libcurl 8.14.1, among others, would use the first connection until the server closes it.
        @Test func `After a frame that is invalid for the whole connection, the next request uses another one`()
            async throws
        {
            let server = RawServer(tls: RawTLS(choosesHTTP2: true)) { connection, number in
                guard connection.beginHTTP2() else { return }
                while let stream = connection.readHTTP2Request() {
                    let increment = HTTP2Frame(.windowUpdate, payload: [0, 0, 0, 0])
                    connection.write(number == 0 ? increment : .success(on: stream))
                }
            }
            let loader = loader
            let error = await #expect(throws: HTTPError.self) { try await load(.get, server, over: loader) }
            #expect(error?.code == .connectionLost, "\(String(describing: error))")
            #expect(try await load(.get, server, over: loader).status == 200)
            #expect(server.connectionCount == 2)
        }

        @Test func `A POST on a reused connection that ends is not sent again`() async throws {
            let received = Mutex(0)
            let server = RawServer(tls: RawTLS(choosesHTTP2: true)) { connection, _ in
                guard connection.beginHTTP2() else { return }
                while let stream = connection.readHTTP2Request() {
                    let number = received.withLock { received in
                        received += 1
                        return received
                    }
                    guard number == 1 else { return connection.close() }
                    connection.write(.success(on: stream))
                }
            }
            let loader = loader
            #expect(try await load(.post, server, over: loader).status == 200)
            let error = await #expect(throws: HTTPError.self) { try await load(.post, server, over: loader) }
            #expect(error?.code == .connectionLost && error?.mayHaveBeenSent == true, "\(String(describing: error))")
            #expect(received.withLock { $0 } == 2)
        }

        /// Not every version of libcurl reports that a GOAWAY frame has left the request unprocessed.
        @Test func `A POST that a GOAWAY refuses is sent again or lost, and is processed at most once`()
            async throws
        {
            let processed = Mutex(0)
            let server = RawServer(tls: RawTLS(choosesHTTP2: true)) { connection, number in
                guard connection.beginHTTP2() else { return }
                while let stream = connection.readHTTP2Request() {
                    if number == 0 {
                        connection.write(.goAway(last: 0))
                    } else {
                        processed.withLock { $0 += 1 }
                        connection.write(.success(on: stream))
                    }
                }
            }
            let wasSentAgain: Bool
            do {
                wasSentAgain = try await load(.post, server, over: loader).status == 200
            } catch {
                let error = error as? HTTPError
                #expect(
                    error?.code == .connectionLost && error?.mayHaveBeenSent == true, "\(String(describing: error))")
                wasSentAgain = false
            }
            #expect(processed.withLock { $0 } == (wasSentAgain ? 1 : 0))
        }

        /// libcurl marks a connection as reused as soon as a second request joins it.
        @Test func `A POST on a shared connection that is reset is processed once`() async throws {
            let posts = Mutex(0)
            for _ in 0..<12 {
                posts.withLock { $0 = 0 }
                let server = RawServer(tls: RawTLS(choosesHTTP2: true)) { connection, _ in
                    guard connection.beginHTTP2() else { return }
                    while let frame = connection.readFrame() {
                        if frame.kind == .data, frame.flags & 1 != 0 { posts.withLock { $0 += 1 } }
                        if frame.kind == .headers, frame.flags & 1 != 0 {
                            // The GET has come: the POST's stream is processed, and neither gets a response.
                            return connection.reset()
                        }
                    }
                }
                let loader = loader
                let post = Task { try await load(.post, server, over: loader) }
                while posts.withLock({ $0 }) == 0 { await Task.yield() }
                let get = Task { try await loader.load(HTTPRequest(url: server.url())) }
                let outcomes = (await post.result, await get.result)
                #expect(throws: HTTPError.self) { try outcomes.0.get() }
                #expect(posts.withLock { $0 } == 1, "the POST was sent again")
                server.stop()
            }
        }

        @Test func `A GET that is refused on a reused connection is sent again`() async throws {
            let server = RawServer(tls: RawTLS(choosesHTTP2: true)) { connection, number in
                guard connection.beginHTTP2() else { return }
                while let stream = connection.readHTTP2Request() {
                    connection.write(number == 0 && stream > 1 ? .refusal(of: stream) : .success(on: stream))
                }
            }
            let loader = loader
            for _ in 0..<2 { #expect(try await load(.get, server, over: loader).status == 200) }
            #expect(server.connectionCount == 2)
        }
    }
#endif
