// SPDX-License-Identifier: MIT
#if os(Linux)
    import Dispatch
    import Foundation
    @testable import Letterhead
    import LetterheadTesting
    import TestKit
    import Testing

    /// The direct carrier: which requests it carries, and how it keeps connections. The suites of the transport test
    /// what it has in common with libcurl.
    @Suite(.timeLimit(.minutes(2)))
    struct DirectConnectionTests {
        private typealias Change = @Sendable (inout TransportConfiguration) -> Void

        private static let rows: [(url: String, change: Change, isDirect: Bool)] = [
            ("http://a.example/", { _ in }, true),
            ("HTTP://127.0.0.1:8080/x?y", { _ in }, true),
            ("http://[::1]/", { _ in }, true),
            ("https://a.example/", { _ in }, false),
            ("https://a.example/", { $0.httpVersions = .http1 }, true),
            ("HTTPS://a.example/", { $0.httpVersions = .http3 }, false),
            ("https://a.example/", { ($0.httpVersions, $0.maximumConnections) = (.http1, 513) }, false),
            ("http://a.example/", { $0.maximumConnections = 513 }, true),
            ("https://a.example/", { ($0.httpVersions, $0.proxy) = (.http1, .http("p.example", port: 80)) }, false),
            ("https://a.example/", { ($0.httpVersions, $0.proxy) = (.http1, .socks5("p.example", port: 80)) }, true),
            ("http://[fe80::1%25eth0]/", { _ in }, false),
            ("http://a.example/", { $0.sendsHTTP1Directly = false }, false),
            ("http://a.example/", { $0.httpVersions = .http1 }, true),
            ("http://a.example/", { $0.httpVersions = .http3 }, true),
            ("http://a.example/", { $0.httpVersions = .http2PriorKnowledge }, false),
            ("http://a.example/", { $0.proxy = .http("proxy.example", port: 80) }, false),
            ("http://a.example/", { $0.proxy = .https("proxy.example", port: 80) }, false),
            ("http://a.example/", { $0.proxy = .socks5("proxy.example", port: 80) }, true),
            ("http://a.example/", { $0.proxy = .direct }, true),
            ("http://a.example/", { $0.unixSocketPath = "/run/a.sock" }, true),
            ("http://a.example/", { $0.connectTo = ["a.example:80": "b.example:80"] }, true),
            ("http://a.example/", { $0.networkInterface = "eth0" }, true),
        ]

        @Test(arguments: rows.indices)
        func `requests are direct if they certainly use HTTP/1.1, without an HTTP proxy`(row: Int) throws {
            let (url, change, isDirect) = Self.rows[row]
            var configuration = TransportConfiguration()
            change(&configuration)
            let request = HTTPRequest(url: try #require(URL(string: url)))
            #expect(configuration.isCarriedDirectly(request) == isDirect)
            #expect(CurlPlan(request, body: nil, configuration).isDirect == isDirect)
        }

        private static let empty = "HTTP/1.1 204 No Content\r\n\r\n"

        @Test func `an idle connection over TLS does not hold up another name of its server`() async throws {
            let server = try await MockServer.secure()
            let configuration = TransportConfiguration.trusting.with {
                ($0.httpVersions, $0.maximumConnectionsPerHost, $0.connectTimeout) = (.http1, 1, .seconds(20))
                $0.connectTo = ["localhost:\(server.port)": "127.0.0.1:\(server.port)"]
            }
            let loader = CurlLoader(configuration)
            for (host, isReused) in [("localhost", false), ("127.0.0.1", false), ("localhost", true)] {
                let url = try #require(URL(string: "https://\(host):\(server.port)/"))
                #expect(try await loader.load(HTTPRequest(url: url)).metrics.isReusedConnection == isReused)
            }
        }

        @Test(arguments: ["x", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""])
        func `a connection whose server sends more than the response, or ends it, is closed and not used again`(
            excess: String
        ) async throws {
            for isIdle in [true, false] {
                let (answered, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                let server = RawServer { connection, _ in
                    guard connection.readHead() != nil else { return }
                    connection.write(isIdle ? Self.empty : Self.empty + excess)
                    if isIdle {
                        answered.wait()
                        connection.write(excess)
                    }
                    if excess.isEmpty { connection.endOutput() }
                    if connection.waitForEnd() { ended.signal() }
                }
                let loader = CurlLoader()
                for number in 1...2 {
                    let request = HTTPRequest(method: .post, url: server.url())
                    #expect(try await loader.load(request).status == 204)
                    answered.signal()
                    #expect(await ended.isSignaled())
                    #expect(server.connectionCount == number)
                }
            }
        }

        @Test(
            arguments: [
                { $0.idleConnectionTimeout = .milliseconds(30) }, { $0.maximumConnectionAge = .milliseconds(30) },
            ] as [Change])
        private func `an idle connection is closed at its time, although no request arrives`(
            change: Change
        ) async throws {
            let ended = DispatchSemaphore(value: 0)
            let server = RawServer { connection, _ in
                while connection.readHead() != nil { connection.write(Self.empty) }
                ended.signal()
            }
            var configuration = TransportConfiguration()
            (configuration.idleConnectionTimeout, configuration.maximumConnectionAge) = (nil, nil)
            change(&configuration)
            let loader = CurlLoader(configuration)
            for number in 1...3 {
                #expect(try await loader.load(HTTPRequest(url: server.url())).status == 204)
                #expect(await ended.isSignaled())
                #expect(server.connectionCount == number)
            }
        }

        @Test func `connections that are opened together end at different times in the last tenth of the age`() throws {
            let configuration = TransportConfiguration().with { $0.maximumConnectionAge = .seconds(600) }
            let loop = try CurlLoop(#require(CurlMailbox(configuration)))
            let ages = (0..<1000).map { _ in loop.lastUseOfNewConnection() }
            #expect(ages.allSatisfy { (540_000_000_000...600_000_000_000).contains($0) })
            // On average, 16.7 of them end in each of the sixty seconds.
            let counts = Dictionary(grouping: ages) { $0 / 1_000_000_000 }.values.map(\.count)
            #expect(counts.count >= 60 && counts.allSatisfy { $0 <= 21 })
        }

        @Test func `the whole body is sent although the response was complete before`() async throws {
            let received = DispatchSemaphore(value: 0)
            let server = RawServer { connection, _ in
                guard let head = connection.readHead() else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                if connection.skipBody(of: head) { received.signal() }
                while connection.readHead() != nil { connection.write(Self.empty) }
            }
            let loader = CurlLoader()
            var request = HTTPRequest(method: .post, url: server.url())
            request.body = DataBody(Data(repeating: 7, count: 20 << 20))
            #expect(try await loader.load(request).body.data() == Data("ok".utf8))
            #expect(await received.isSignaled())
            #expect(try await loader.load(HTTPRequest(url: server.url())).metrics.isReusedConnection)
        }

        @Test func `a connection is closed if its request was not sent whole, although the response is complete`()
            async throws
        {
            let (failed, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let server = RawServer { connection, _ in
                guard connection.readHead() != nil else { return }
                connection.write(Self.empty)
                failed.wait()
                if connection.waitForEnd() { ended.signal() }
            }
            var request = HTTPRequest(method: .post, url: server.url())
            request.body = DataBody(Data(repeating: 7, count: 20 << 20))
            request.timeout = .milliseconds(200)
            let loader = CurlLoader()
            let error = await #expect(throws: HTTPError.self) { try await loader.load(request) }
            for _ in 0..<2 { failed.signal() }
            #expect(error?.code == .timedOut && error?.mayHaveBeenSent == true)
            #expect(await ended.isSignaled())
            #expect(try await loader.load(HTTPRequest(url: server.url())).status == 204)
            #expect(server.connectionCount == 2)
        }

        @Test func `a connection is used again after an error if the body was sent, although its end is not known yet`()
            async throws
        {
            let server = RawServer { connection, _ in
                while connection.readHead() != nil {
                    connection.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
                }
            }
            let request = HTTPRequest(method: .put, url: server.url()).with { $0.body = Unending() }
            let loader = CurlLoader()
            for isReused in [false, true] {
                let response = try await loader.load(request)
                #expect(response.status == 413 && response.metrics.isReusedConnection == isReused)
            }
        }

        @Test func `hosts that differ only in spelling share connections and their limit`() async throws {
            let server = RawServer.answering(Self.empty)
            let loader = CurlLoader(TransportConfiguration().with { $0.maximumConnectionsPerHost = 1 })
            let urls = try ["127.0.0.1", "localhost", "LocalHost"].map { host in
                try #require(URL(string: "http://\(host):\(server.url().port ?? 0)/"))
            }
            try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
                for number in 0..<12 {
                    group.addTask { try await loader.load(HTTPRequest(url: urls[number % 3])).status }
                }
                for try await status in group { #expect(status == 204) }
            }
            #expect(server.connectionCount == 2)
        }

        @Test func `connect timeouts leave the idle connections`() async throws {
            let hole = try #require(BlackHole())
            let servers = (0..<2).map { _ in RawServer.answering(Self.empty) }
            let loader = CurlLoader(TransportConfiguration().with { $0.maximumConnections = 3 })
            for server in servers { _ = try await loader.load(HTTPRequest(url: server.url())) }
            for _ in 0..<4 {
                let request = HTTPRequest(url: hole.url).with { $0.connectTimeout = .milliseconds(50) }
                await #expect(throws: HTTPError.self) { try await loader.load(request) }
            }
            for server in servers { _ = try await loader.load(HTTPRequest(url: server.url())) }
            #expect(servers.map(\.connectionCount) == [1, 1])
        }

        @Test func `a slow reader receives the bytes of a response in order, although the upload was reset`()
            async throws
        {
            let (content, ended) = (Data.patterned(2 << 20), DispatchSemaphore(value: 0))
            let server = RawServer { connection, _ in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\n\r\n")
                connection.write(Array(content))
                connection.close()
                ended.signal()
            }
            var request = HTTPRequest(method: .post, url: server.url())
            request.body = DataBody(Data(repeating: 7, count: 64 << 20))
            request.responseDelivery = .streamed
            let response = try await CurlLoader().load(request)
            _ = await ended.isSignaled()
            var received = Data()
            var isWhole = false
            do {
                for try await piece in response.body { received += piece }
                isWhole = true
            } catch {}
            #expect(content.starts(with: received) && (!isWhole || received.count == content.count))
        }

        @Test func `a connection whose request asks the server to close it is not used again`() async throws {
            let server = RawServer.answering(Self.empty)
            let loader = CurlLoader()
            for (number, value) in ["Close", "keep-alive", "x, close", "keep-alive"].enumerated() {
                var request = HTTPRequest(url: server.url())
                request.headers[.connection] = value
                #expect(try await loader.load(request).status == 204)
                #expect(server.connectionCount == 1 + (number + 1) / 2)
            }
        }

        @Test(arguments: [
            ("HTTP/1.1 100 Continue\r\n\r\n", 1), ("", 1), ("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", 0),
        ])
        func `a body with Expect is sent after consent or a second, and not after a refusal`(
            reaction: String, bodies: Int
        ) async throws {
            let (counter, ended) = (Counter(), DispatchSemaphore(value: 0))
            let server = RawServer { connection, _ in
                guard let head = connection.readHead() else { return }
                connection.write(reaction)
                if connection.skipBody(of: head) {
                    counter.next()
                    connection.write(Self.empty)
                }
                ended.signal()
            }
            var request = HTTPRequest(method: .put, url: server.url())
            request.headers[.expect] = "100-continue"
            request.body = DataBody(Data(repeating: 7, count: 100))
            #expect(try await CurlLoader().load(request).status == (bodies == 1 ? 204 : 403))
            #expect(await ended.isSignaled())
            #expect(counter.value == bodies)
        }
    }

    /// A body of no bytes that doesn't end before it is cancelled.
    private struct Unending: HTTPBody {
        let contentLength: Int? = 0

        func chunks() -> BodyChunks {
            BodyChunks(length: 0) {
                for await _ in AsyncStream<Void>.makeStream().stream {}
                return nil
            }
        }
    }
#endif
