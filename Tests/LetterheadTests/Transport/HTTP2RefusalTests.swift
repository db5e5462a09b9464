// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import LetterheadTesting
    import TestKit
    import Synchronization
    import Testing

    /// Requests over HTTP/2 that the server refuses without having processed them (RFC 9113, 8.7), or that an invalid
    /// frame ends.
    @Suite(.timeLimit(.minutes(3)), .enabled("OpenSSL is not installed", { RawTLS(choosesHTTP2: true) != nil }))
    struct HTTP2RefusalTests {
        private func load(_ method: HTTPMethod, _ server: RawServer, over loader: CurlLoader) async throws
            -> HTTPResponse
        {
            let request = HTTPRequest(method: method, url: server.url()).with { $0.body = DataBody(Data("body".utf8)) }
            return try await loader.load(request)
        }

        private var loader: CurlLoader {
            CurlLoader(TransportConfiguration.trusting.with { $0.idleTimeout = .seconds(5) })
        }

        /// A server that refuses the second request on its first connection, and those after it.
        private func serverRefusingSecond() -> RawServer {
            RawServer.http2 { connection, number, stream in
                connection.write(number == 0 && stream > 1 ? .refusal(of: stream) : .success(on: stream))
            }
        }

        @Test(arguments: [HTTP2Frame.refusal(of: 1), .goAway(last: 0)])
        func `a POST that is refused on a new connection is sent again on another one`(refusal: HTTP2Frame) async throws
        {
            let processed = Mutex(0)
            let server = RawServer.http2 { connection, number, stream in
                if number > 0 { processed.withLock { $0 += 1 } }
                connection.write(number == 0 ? refusal : .success(on: stream))
            }
            let response = try await load(.post, server, over: loader)
            #expect(response.status == 200 && response.metrics.httpVersion == "HTTP/2")
            #expect(processed.withLock { $0 } == 1 && server.connectionCount == 2)
        }

        /// libcurl 8.14.1, among others, would use the first connection until the server closes it.
        @Test func `after a frame that is invalid for the whole connection, the next request uses another one`()
            async throws
        {
            let server = RawServer.http2 { connection, number, stream in
                let increment = HTTP2Frame(.windowUpdate, payload: [0, 0, 0, 0])
                connection.write(number == 0 ? increment : .success(on: stream))
            }
            let loader = loader
            let error = await #expect(throws: HTTPError.self) { try await load(.get, server, over: loader) }
            #expect(error?.code == .connectionLost, "\(String(describing: error))")
            #expect(try await load(.get, server, over: loader).status == 200)
            #expect(server.connectionCount == 2)
        }

        /// What a server does with a POST that is the second request on its first connection, on stream 3.
        enum Fate: CaseIterable {
            case refused, leftOut, resetByError, resetWithGoAway, leftInGoAway, ended, reset, invalidFrame

            /// Whether the POST was certainly not processed, and libcurl reports that.
            var isRepeated: Bool {
                switch self {
                case .refused: CurlQuirks.explainsRepetitions
                case .leftOut: CurlQuirks.explainsRepetitions || CurlQuirks.logsStreams
                default: false
                }
            }

            func apply(to connection: RawConnection) {
                switch self {
                case .refused: connection.write(.refusal(of: 3))
                case .leftOut: connection.write(.goAway(last: 1))
                case .resetByError: connection.write(.resetting(3, 2))
                case .resetWithGoAway:
                    connection.write(.goAway(last: 3))
                    connection.write(.resetting(3, 8))
                case .leftInGoAway:
                    connection.write(.goAway(last: 3))
                    connection.close()
                case .ended: connection.close()
                case .reset: connection.reset()
                case .invalidFrame: connection.write(HTTP2Frame(.windowUpdate, payload: [0, 0, 0, 0]))
                }
            }
        }

        @Test(arguments: Fate.allCases, [true, false])
        func `a POST on a reused connection is sent again only if it was certainly not processed`(
            fate: Fate, isReplayable: Bool
        ) async throws {
            let received = Mutex(0)
            let server = RawServer.http2 { connection, number, stream in
                received.withLock { $0 += 1 }
                if number == 0, stream == 3 { return fate.apply(to: connection) }
                connection.write(.success(on: stream))
            }
            let loader = loader
            #expect(try await load(.post, server, over: loader).status == 200)
            var request = HTTPRequest(method: .post, url: server.url())
            request.body = Pulled(isReplayable: isReplayable)
            if fate.isRepeated, isReplayable {
                #expect(try await loader.load(request).status == 200)
                #expect(received.withLock { $0 } == 3 && server.connectionCount == 2)
            } else {
                let error = await #expect(throws: HTTPError.self) { try await loader.load(request) }
                #expect(error?.code == .connectionLost, "\(String(describing: error))")
                #expect(fate.isRepeated || error?.mayHaveBeenSent == true)
                #expect(received.withLock { $0 } == 2)
            }
        }

        /// A body that libcurl pulls, and that may be one-shot.
        private struct Pulled: HTTPBody {
            let isReplayable: Bool
            var contentLength: Int? { 4 }

            func chunks() -> BodyChunks {
                let left = Mutex([Data("body".utf8)])
                return BodyChunks { left.withLock { $0.popLast() } }
            }
        }

        /// libcurl marks a connection as reused as soon as a second request joins it.
        @Test func `a POST on a shared connection that is reset is processed once`() async throws {
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

        /// libcurl would send the request again over HTTP/1.1, and discard what has arrived.
        @Test(arguments: [nil, "100-continue"])
        func `a response that is reset in favor of HTTP 1 is not complete`(expectation: String?) async throws {
            let server = RawServer.http2 { connection, _, stream in
                connection.write(.head(on: stream))
                connection.write(.body(Data("half".utf8), on: stream, isLast: false))
                connection.write(.resetting(stream, 0xD))
            }
            var request = HTTPRequest(method: .post, url: server.url())
            request.headers[.expect] = expectation
            request.body = DataBody(Data("body".utf8))
            let loader = loader
            let error = await #expect(throws: HTTPError.self) { try await loader.load(request).body.data() }
            #expect(error?.code == .connectionLost && error?.mayHaveBeenSent == true, "\(String(describing: error))")
        }

        @Test func `a GET that is refused on a reused connection is sent again`() async throws {
            let server = serverRefusingSecond()
            let loader = loader
            for _ in 0..<2 { #expect(try await load(.get, server, over: loader).status == 200) }
            #expect(server.connectionCount == 2)
        }

        @Test func `a signed GET that is refused is sent again, with another signature unless it was not processed`()
            async throws
        {
            let server = serverRefusingSecond()
            let count = Counter()
            let sign = ModifyRequest { $0.headers["X-Signature"] = "\(count.next())" }
            let chain = Authenticate(.method("count", allowedOrigins: [server.url()], link: sign)) --> loader
            for _ in 0..<2 { #expect(try await chain.load(HTTPRequest(url: server.url())).status == 200) }
            #expect(count.value == (CurlQuirks.explainsRepetitions ? 2 : 3))
            #expect(server.connectionCount >= 2)
        }
    }
#endif
