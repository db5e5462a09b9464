// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import LetterheadTesting
    import TestKit
    import Testing

    /// Requests that wait for a free connection.
    @Suite(.bothCarriers, .timeLimit(.minutes(2)))
    struct CurlLoaderWaitingTests {
        private func loader(_ change: (inout TransportConfiguration) -> Void = { _ in }) -> CurlLoader {
            var configuration = TransportConfiguration.trusting
            configuration.maximumConnectionsPerHost = 1
            change(&configuration)
            return Carrier.loader(configuration)
        }

        /// A server that holds the first request until it is released, and responds to the others at once. A class,
        /// because the threads of the server share it.
        private final class Holding: Sendable {
            let server: RawServer
            private let gate: DispatchSemaphore
            private let counted: Counter
            var count: Int { counted.value }

            init(tls: RawTLS? = nil) {
                let (gate, counted) = (DispatchSemaphore(value: 0), Counter())
                (self.gate, self.counted) = (gate, counted)
                server = RawServer(tls: tls) { connection, _ in
                    while connection.readHead() != nil {
                        if counted.next() == 1 { gate.wait() }
                        connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                    }
                }
            }

            func release() { gate.signal() }
        }

        private func load(_ loader: CurlLoader, _ server: RawServer) -> Task<HTTPResponse, any Error> {
            Task { try await loader.load(HTTPRequest(url: server.url())) }
        }

        private func failure(_ loader: any HTTPLoader, _ request: HTTPRequest) async -> HTTPError? {
            await #expect(throws: HTTPError.self) { try await loader.load(request) }
        }

        @Test func `if a waiting request is cancelled, the next one is sent`() async throws {
            let (holding, loader) = (Holding(), loader())
            let first = load(loader, holding.server)
            await until { holding.count == 1 }
            let waiting = (0..<3).map { _ in load(loader, holding.server) }
            waiting[1].cancel()
            let error = await #expect(throws: HTTPError.self) { try await waiting[1].value }
            #expect(error?.code == .cancelled)
            holding.release()
            for task in [first, waiting[0], waiting[2]] { #expect(try await task.value.status == 204) }
            #expect(holding.count == 3 && holding.server.connectionCount == 1)
        }

        @Test func `a reset ends waiting requests, and later requests are sent`() async throws {
            let (holding, loader) = (Holding(), loader())
            let first = load(loader, holding.server)
            await until { holding.count == 1 }
            let limited = HTTPRequest(url: holding.server.url()).with { $0.timeout = .milliseconds(100) }
            let waiting = (0..<3).map { _ in load(loader, holding.server) }
            // When it has timed out, the others wait too.
            _ = await failure(loader, limited)
            await loader.reset()
            for task in [first] + waiting {
                let error = await #expect(throws: HTTPError.self) { try await task.value }
                #expect(error?.code == .cancelled)
            }
            #expect(holding.count == 1)
            holding.release()
            #expect(try await load(loader, holding.server).value.status == 204)
        }

        @Test func `the deadline of a request includes its wait`() async throws {
            let (holding, loader) = (Holding(), loader())
            let first = load(loader, holding.server)
            await until { holding.count == 1 }
            var request = HTTPRequest(method: .post, url: holding.server.url())
            request.deadline = .milliseconds(100)
            let error = await failure(Deadline() --> loader, request)
            #expect(error?.message == "the deadline passed while waiting for a free connection")
            #expect(error?.code == .timedOut && error?.mayHaveBeenSent == false)
            holding.release()
            #expect(try await first.value.status == 204)
        }

        @Test func `the connect timeout does not run while a request waits, and the metrics include the wait`()
            async throws
        {
            let (holding, loader) = (Holding(), loader { $0.connectTimeout = .milliseconds(150) })
            let first = load(loader, holding.server)
            await until { holding.count == 1 }
            let begun = Counter()
            let second = Task {
                begun.next()
                return try await loader.load(HTTPRequest(url: holding.server.url()))
            }
            await until { begun.value == 1 }
            _ = await failure(loader, HTTPRequest(url: holding.server.url()).with { $0.timeout = .milliseconds(600) })
            holding.release()
            #expect(try await first.value.status == 204)
            let metrics = try await second.value.metrics
            #expect(metrics.total >= .milliseconds(300) && metrics.firstByte >= .milliseconds(300))
            #expect(metrics.secureConnect == .zero)
        }

        @Test func `a request for which no connection becomes free fails, and its error counts the held responses`()
            async throws
        {
            let server = RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome")
            let loader = loader { ($0.maximumConnectionsPerHost, $0.queueTimeout) = (2, .milliseconds(200)) }
            let log = EventRecorder()
            let client = HTTPClient(
                environment: ServerEnvironment(baseURL: server.url()), observers: [log], transport: loader)
            var held: [HTTPResponse] = []
            for number in 0..<2 { held.append(try await client.stream(Get<Data>("exports/\(number)"))) }
            let error = await #expect(throws: HTTPError.self) { try await client.send(Get<Data>("last")) }
            #expect(error?.code == .timedOut && error?.mayHaveBeenSent == false)
            let text = "no connection became free within 0.2 seconds: 2 responses of this host are still being read ("
            #expect(error?.message.hasPrefix(text) == true, "\(String(describing: error))")
            let left = log.events.first { $0.name == .queueLeft }
            #expect(left?[.holders] == ["GET exports/{} (2)"])
            held = []
            #expect(try await client.stream(Get<Data>("last")).status == 200)
        }

        @Test func `requests wait longer than the limit while connections become free`() async throws {
            let never = DispatchSemaphore(value: 0)
            let server = RawServer { connection, _ in
                while connection.readHead() != nil {
                    // All requests together need longer than the limit, in the real time that the transport measures.
                    _ = never.wait(timeout: .now() + .milliseconds(800))
                    connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                }
            }
            let loader = loader { $0.queueTimeout = .seconds(2) }
            let tasks = (0..<4).map { _ in load(loader, server) }
            for task in tasks { #expect(try await task.value.status == 204) }
        }

        @Test func `the body of a waiting request is not read`() async throws {
            let (holding, loader) = (Holding(), loader())
            let first = load(loader, holding.server)
            await until { holding.count == 1 }
            let read = Counter()
            var request = HTTPRequest(method: .post, url: holding.server.url())
            request.timeout = .milliseconds(200)
            request.body = StreamBody {
                AsyncStream<Data> {
                    read.next()
                    return nil
                }
            }
            _ = await failure(loader, request)
            #expect(read.value == 0)
            holding.release()
            #expect(try await first.value.status == 204)
        }

        /// A server of HTTP/2 that allows one stream at a time, and holds each stream but the first of a connection until
        /// it is released.
        private func serverOfOneStream(_ arrived: DispatchSemaphore, _ isTime: DispatchSemaphore) -> RawServer {
            RawServer(tls: RawTLS(choosesHTTP2: true)) { connection, _ in
                guard connection.beginHTTP2() else { return connection.close() }
                connection.write(HTTP2Frame(.settings, payload: [0, 3, 0, 0, 0, 1]))
                while let stream = connection.readHTTP2Request() {
                    if stream > 1 {
                        arrived.signal()
                        isTime.wait()
                    }
                    connection.write(.success(on: stream))
                }
                connection.close()
            }
        }

        @Test(.enabled("OpenSSL is not installed") { RawTLS() != nil })
        func `a request that libcurl holds back until a stream is free has a queue timeout and no connect timeout`()
            async throws
        {
            let limit = Duration.milliseconds(300)
            for queueTimeout in [limit, nil] {
                let (arrived, isTime) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                let server = serverOfOneStream(arrived, isTime)
                let configuration = TransportConfiguration.trusting.with {
                    ($0.maximumConnectionsPerHost, $0.queueTimeout) = (1, queueTimeout)
                }
                let loader = CurlLoader(configuration)
                #expect(try await load(loader, server).value.status == 200)
                let first = load(loader, server)
                #expect(await arrived.isSignaled())
                let waiting = HTTPRequest(url: server.url()).with { $0.connectTimeout = limit }
                let second = Task { try await loader.load(waiting) }
                if queueTimeout == nil {
                    await waitForTimeout(of: limit * 3)
                } else {
                    let error = await #expect(throws: HTTPError.self) { try await second.value }
                    #expect(error?.code == .timedOut && error?.mayHaveBeenSent == false)
                    #expect(error?.message.hasPrefix("no connection became free within") == true, "\(error as Any)")
                }
                for _ in 0..<2 { isTime.signal() }
                #expect(try await first.value.status == 200)
                if queueTimeout == nil { #expect(try await second.value.status == 200) }
            }
        }

        @Test(.enabled("OpenSSL is not installed") { RawTLS() != nil })
        func `over TLS without HTTP/2, requests over the limit wait too, and all are sent`() async throws {
            let (holding, loader) = (Holding(tls: RawTLS()), loader())
            let tasks = (0..<40).map { _ in load(loader, holding.server) }
            await until { holding.count == 1 }
            let limited = HTTPRequest(url: holding.server.url()).with { $0.timeout = .milliseconds(100) }
            let error = await failure(loader, limited)
            #expect(error?.message == "the attempt timeout passed while waiting for a free connection")
            holding.release()
            for task in tasks { #expect(try await task.value.status == 204) }
            #expect(holding.count == 40 && holding.server.connectionCount == 1)
        }

        @Test(.enabled("OpenSSL is not installed") { RawTLS() != nil })
        func `a request that waits while the first connection negotiates TLS is not connecting`() async throws {
            let tls = try #require(RawTLS())
            let (mayNegotiate, mayAnswer) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let server = RawServer { connection, _ in
                mayNegotiate.wait()
                guard connection.secure(tls) else { return connection.close() }
                while connection.readHead() != nil {
                    mayAnswer.wait()
                    connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                }
            }
            let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
            let loader = loader { $0.connectTimeout = nil }
            let first = Task { try await loader.load(HTTPRequest(url: url)) }
            await until { server.connectionCount == 1 }
            var waiting = HTTPRequest(url: url)
            waiting.connectTimeout = .milliseconds(150)
            let second = Task { [waiting] in try await loader.load(waiting) }
            waiting.timeout = .milliseconds(500)
            let error = await failure(loader, waiting)
            #expect(error?.message == "the attempt timeout passed while waiting for a free connection")
            mayNegotiate.signal()
            mayAnswer.signal()
            #expect(try await first.value.status == 204)
            mayAnswer.signal()
            #expect(try await second.value.status == 204)
            #expect(server.connectionCount == 1)
        }
    }
#endif
