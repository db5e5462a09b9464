// SPDX-License-Identifier: MIT
#if os(Linux)
    import Dispatch
    import Foundation
    @testable import Letterhead
    import TestKit
    import Testing

    @Suite(.bothCarriers, .timeLimit(.minutes(2)))
    struct CurlLoaderConnectionTests {
        @Test func `a thousand POSTs in a row use at most two connections`() async throws {
            let server = RawServer { connection, _ in
                while let request = connection.readRequest() {
                    let body = String(decoding: request.body, as: UTF8.self)
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(request.body.count)\r\n\r\n\(body)")
                }
            }
            let loader = Carrier.loader()
            for number in 0..<1000 {
                var request = HTTPRequest(method: .post, url: server.url())
                request.body = DataBody(Data("\(number)".utf8))
                #expect(try await loader.load(request).body.data() == Data("\(number)".utf8))
            }
            #expect(server.connectionCount <= 2)
        }

        @Test func `requests succeed after many at a time and a pause in which the server closes its connections`()
            async throws
        {
            let count = 16
            let (arrived, all) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let (pause, closed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let server = RawServer(tls: RawTLS()) { connection, number in
                while connection.readHead() != nil {
                    if number < count {
                        arrived.signal()
                        all.wait()
                    }
                    connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                    guard number < count else { continue }
                    pause.wait()
                    connection.endOutput()
                    closed.signal()
                    return _ = connection.waitForEnd()
                }
            }
            let loader = Carrier.loader(
                .trusting.with { ($0.httpVersions, $0.maximumConnectionsPerHost) = (.http1, count) })
            try await send(count, over: loader, to: server, arrived, all)
            for _ in 0..<count { pause.signal() }
            for _ in 0..<count { #expect(await closed.isSignaled()) }
            for _ in 0..<8 {
                let response = try await loader.load(HTTPRequest(url: server.url()))
                #expect(response.status == 204)
            }
        }

        /// The second time, the server has connections, or has closed all.
        @Test(arguments: [false, true])
        func `requests over TLS do not wait for the response to an earlier one`(isClosing: Bool) async throws {
            let (arrived, all) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let server = RawServer(tls: RawTLS()) { connection, _ in
                while connection.readHead() != nil {
                    arrived.signal()
                    all.wait()
                    connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                    if isClosing { break }
                }
                connection.close()
            }
            let loader = Carrier.loader(.trusting.with { $0.maximumConnectionsPerHost = 8 })
            try await send(2, over: loader, to: server, arrived, all)
            try await send(8, over: loader, to: server, arrived, all)
        }

        @Test(.enabled("OpenSSL is not installed") { RawTLS() != nil })
        func `a server of HTTP 1 beside servers of HTTP/2 holds up only its own request`() async throws {
            let tls = (try #require(RawTLS()), try #require(RawTLS(choosesHTTP2: true)))
            let (arrived, isTime) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let server = RawServer { connection, number in
                guard connection.secure(number == 0 ? tls.0 : tls.1) else { return connection.close() }
                if number == 0 {
                    while connection.readHead() != nil {
                        arrived.signal()
                        isTime.wait()
                        connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                    }
                } else if connection.beginHTTP2() {
                    while let stream = connection.readHTTP2Request() { connection.write(.success(on: stream)) }
                }
                connection.close()
            }
            let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
            let loader = CurlLoader(.trusting)
            let first = Task { try await loader.load(HTTPRequest(url: url)) }
            #expect(await arrived.isSignaled())
            defer { isTime.signal() }
            for _ in 0..<3 { #expect(try await loader.load(HTTPRequest(url: url)).status == 200) }
            isTime.signal()
            #expect(try await first.value.status == 204)
        }

        @Test func `a body of unknown length is sent although the idle connection is of HTTP 1.0`() async throws {
            let server = RawServer.answering("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n")
            let loader = Carrier.loader()
            #expect(try await loader.load(HTTPRequest(url: server.url())).status == 200)
            var request = HTTPRequest(method: .post, url: server.url())
            request.body = StreamBody(once: AsyncStream<Data> { $0.finish() })
            guard Carrier.current == .direct else {
                let error = await #expect(throws: HTTPError.self) { try await loader.load(request) }
                return #expect(error?.code == .connectionLost && error?.mayHaveBeenSent == false)
            }
            #expect(try await loader.load(request).status == 200)
            #expect(server.connectionCount == 2)
        }

        @Test(.enabled("OpenSSL is not installed") { RawTLS() != nil })
        func `the times of a request that waited for the connection of an earlier one count from its start`()
            async throws
        {
            let tls = try #require(RawTLS())
            let (mayNegotiate, isBegun) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let server = RawServer { connection, _ in
                mayNegotiate.wait()
                guard connection.secure(tls) else { return connection.close() }
                while connection.readRequest() != nil { connection.write("HTTP/1.1 204 No Content\r\n\r\n") }
                connection.close()
            }
            let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
            let loader = Carrier.loader(.trusting)
            let first = Task { try await loader.load(HTTPRequest(url: url)) }
            await until { server.connectionCount == 1 }
            var waiting = HTTPRequest(method: .post, url: url)
            waiting.body = StreamBody {
                AsyncStream<Data> {
                    isBegun.signal()
                    return nil
                }
            }
            let second = Task { [waiting] in try await loader.load(waiting) }
            #expect(await isBegun.isSignaled())
            let (clock, begin) = (ContinuousClock(), ContinuousClock.now)
            await waitForTimeout(of: .milliseconds(100))
            let wait = begin.duration(to: clock.now)
            for _ in 0..<2 { mayNegotiate.signal() }
            #expect(try await first.value.status == 204)
            let metrics = try await second.value.metrics
            #expect(metrics.firstByte >= wait && metrics.total >= metrics.firstByte, "\(wait) \(metrics)")
        }

        @Test func `requests over HTTP/2 with prior knowledge do not wait for the response to an earlier one`()
            async throws
        {
            let (arrived, all) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let server = RawServer.http2(tls: nil) { connection, _, stream in
                arrived.signal()
                // The connection may have further streams.
                Thread.detachNewThread {
                    all.wait()
                    connection.write(.success(on: stream))
                }
            }
            let loader = CurlLoader(TransportConfiguration().with { $0.httpVersions = .http2PriorKnowledge })
            for _ in 0..<2 { try await send(4, over: loader, to: server, arrived, all) }
        }

        /// Sends requests at a time to a server that signals each, and waits before it responds.
        private func send(
            _ count: Int, over loader: CurlLoader, to server: RawServer, _ arrived: DispatchSemaphore,
            _ all: DispatchSemaphore
        ) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<count { group.addTask { _ = try await loader.load(HTTPRequest(url: server.url())) } }
                for _ in 0..<count { #expect(await arrived.isSignaled()) }
                for _ in 0..<count { all.signal() }
                try await group.waitForAll()
            }
        }

        /// The options of the sockets of this process that are connected to a port.
        private func keepAlive(to port: Int) -> [[CInt]] {
            (CInt(3)..<65_536).compactMap { descriptor -> [CInt]? in
                guard peerPort(of: descriptor) == port else { return nil }
                return [
                    (SOL_SOCKET, SO_KEEPALIVE), (CInt(IPPROTO_TCP), TCP_KEEPIDLE), (CInt(IPPROTO_TCP), TCP_KEEPINTVL),
                ]
                .map { level, option in
                    var (value, size) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
                    return getsockopt(descriptor, level, option, &value, &size) == 0 ? value : -1
                }
            }
        }

        @Test(
            arguments: [
                (.seconds(60), [1, 60, 60]), (.milliseconds(1500), [1, 2, 2]), (.never, [1, 32_767, 32_767]),
                (nil, [0]),
            ] as [(Duration?, [CInt])])
        func `TCP probes an idle connection after the configured time`(time: Duration?, options: [CInt]) async throws {
            let server = RawServer.answering("HTTP/1.1 204 No Content\r\n\r\n")
            var configuration = TransportConfiguration()
            #expect(configuration.tcpKeepAlive == .seconds(60))
            configuration.tcpKeepAlive = time
            let loader = Carrier.loader(configuration)
            _ = try await loader.load(HTTPRequest(url: server.url()))
            #expect(keepAlive(to: server.port).map { Array($0.prefix(options.count)) } == [options])
        }

        @Test func `a request without an idle limit outlasts the limit of the transport`() async throws {
            let timedOut = DispatchSemaphore(value: 0)
            let server = RawServer { connection, _ in
                // The patient request is answered when the other one has timed out.
                if connection.readHead()?.hasPrefix("GET /patient") == true {
                    timedOut.wait()
                    connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                }
                _ = connection.waitForEnd()
            }
            let loader = Carrier.loader(TransportConfiguration().with { $0.idleTimeout = .milliseconds(50) })
            let patient = HTTPRequest(url: server.url("/patient")).with { $0.idleTimeout = .never }
            let load = Task { [patient] in try await loader.load(patient).status }
            let error = await failure(loader, HTTPRequest(url: server.url("/other")))
            #expect(error?.code == .timedOut)
            timedOut.signal()
            #expect(try await load.value == 204)
        }

        @Test(arguments: [1, 2])
        func `the total number of connections is limited, and an idle one is replaced`(limit: Int) async throws {
            var configuration = TransportConfiguration()
            (configuration.maximumConnections, configuration.queueTimeout) = (limit, .milliseconds(200))
            let loader = Carrier.loader(configuration)
            let (held, gate) = (Counter(), DispatchSemaphore(value: 0))
            let servers = (0..<3).map { _ in
                RawServer { connection, _ in
                    while let head = connection.readHead() {
                        if head.hasPrefix("GET /held ") {
                            held.next()
                            gate.wait()
                        }
                        connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                    }
                }
            }
            let tasks = servers.prefix(limit).map { server in
                Task { try await loader.load(HTTPRequest(url: server.url("/held"))).status }
            }
            await until { held.value == limit }
            #expect(await failure(loader, HTTPRequest(url: servers[2].url()))?.code == .timedOut)
            #expect(servers[2].connectionCount == 0)
            for _ in tasks { gate.signal() }
            for task in tasks { #expect(try await task.value == 204) }
            for server in servers.reversed() {
                #expect(try await loader.load(HTTPRequest(url: server.url())).status == 204)
            }
        }

        @Test(arguments: [(999, false), (1_000, false), (1_001, true)])
        func `a head over the limit is an error that names the setting`(size: Int, isTooLarge: Bool) async throws {
            let start = "HTTP/1.1 204 No Content\r\nX: "
            let padding = String(repeating: "x", count: size - start.utf8.count - 4)
            let server = RawServer.answering("\(start)\(padding)\r\n\r\n")
            let loader = Carrier.loader(TransportConfiguration().with { $0.maximumHeadSize = 1_000 })
            guard isTooLarge else {
                #expect(try await loader.load(HTTPRequest(url: server.url())).headers["X"] == padding)
                return
            }
            let error = await #expect(throws: HTTPError.self) { try await loader.load(HTTPRequest(url: server.url())) }
            #expect(error?.code == .responseTooLarge && error?.message.contains("maximumHeadSize") == true)
        }

        @Test func `a reset closes idle connections, and the next request opens a new one`() async throws {
            let ended = DispatchSemaphore(value: 0)
            let server = RawServer { connection, _ in
                while connection.readHead() != nil { connection.write("HTTP/1.1 204 No Content\r\n\r\n") }
                ended.signal()
            }
            let loader = Carrier.loader()
            for number in 1...3 {
                #expect(try await loader.load(HTTPRequest(url: server.url())).metrics.isReusedConnection == false)
                #expect(try await loader.load(HTTPRequest(url: server.url())).metrics.isReusedConnection)
                await loader.reset()
                #expect(await ended.isSignaled())
                #expect(server.connectionCount == number)
            }
        }

        @Test func `only a new connection has connection times`() async throws {
            let server = RawServer.answering("HTTP/1.1 204 No Content\r\n\r\n")
            let loader = Carrier.loader()
            let first = try await loader.load(HTTPRequest(url: server.url())).metrics
            #expect(first.connect > .zero && first.secureConnect == .zero && !first.isReusedConnection)
            let second = try await loader.load(HTTPRequest(url: server.url())).metrics
            #expect([second.nameLookup, second.connect, second.secureConnect] == [.zero, .zero, .zero])
            #expect(second.isReusedConnection && second.total > .zero)
        }

        @Test func `a connection is not inherited by programs that the process starts`() async throws {
            let server = RawServer.answering("HTTP/1.1 204 No Content\r\n\r\n")
            let loader = Carrier.loader()
            _ = try await loader.load(HTTPRequest(url: server.url()))
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { CInt($0) }
            let connections = open.filter { peerPort(of: $0) == server.port }
            #expect(!connections.isEmpty)
            for connection in connections { #expect(fcntl(connection, F_GETFD) & FD_CLOEXEC != 0) }
            // It is kept open until here.
            #expect(try await loader.load(HTTPRequest(url: server.url())).metrics.isReusedConnection)
        }

        private func peerPort(of descriptor: CInt) -> Int? {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
            }
            guard result == 0, address.sin_family == sa_family_t(AF_INET) else { return nil }
            return Int(UInt16(bigEndian: address.sin_port))
        }

        @Test(arguments: ["http://a.example/x?y", "http://b.example/x?y"])
        func `a Unix-domain socket is used for every host`(address: String) async throws {
            let path = FileManager.default.temporaryDirectory.path + "/lh-\(UInt32.random(in: 0 ... .max)).sock"
            defer { unlink(path) }
            let heads = Heads()
            let server = RawServer(unixSocket: path) { connection, _ in
                while let head = connection.readHead() {
                    heads.add(head)
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
            defer { server.stop() }
            let url = try #require(URL(string: address))
            let loader = Carrier.loader(TransportConfiguration().with { $0.unixSocketPath = path })
            for _ in 0..<2 { #expect(try await loader.load(HTTPRequest(url: url)).body.data() == Data("ok".utf8)) }
            let host = try #require(url.host)
            #expect(heads.all.allSatisfy { $0.hasPrefix("GET /x?y HTTP/1.1\r\nHost: \(host)\r\n") })
            #expect(server.connectionCount == 1)
        }

        @Test func `a Unix-domain socket that does not exist is a failed connection`() async throws {
            let configuration = TransportConfiguration().with { $0.unixSocketPath = "/nowhere/letterhead.sock" }
            let url = try #require(URL(string: "http://a.example/"))
            let error = await failure(Carrier.loader(configuration), HTTPRequest(url: url))
            #expect(error?.code == .cannotConnect && error?.mayHaveBeenSent == false)
        }

        @Test func `a server that never accepts is timedOut by the connect timeout, and nothing was sent`() async throws
        {
            let hole = try #require(BlackHole())
            let configuration = TransportConfiguration().with { $0.connectTimeout = .milliseconds(200) }
            let request = HTTPRequest(method: .post, url: hole.url).with { $0.timeout = .seconds(30) }
            let error = await #expect(throws: HTTPError.self) { try await Carrier.loader(configuration).load(request) }
            #expect(error?.code == .timedOut && error?.message.contains("connect timeout") == true)
            #expect(error?.mayHaveBeenSent == false)
        }

        /// Forty requests to an https URL, which wait for the first one's connection because HTTP/2 could share it.
        private func fortyFail(at port: Int, connectTimeout: Duration) async {
            let loader = CurlLoader(TransportConfiguration().with { $0.connectTimeout = connectTimeout })
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        guard let url = URL(string: "https://127.0.0.1:\(port)/\(number)") else { return }
                        let error = await failure(loader, HTTPRequest(url: url))
                        #expect(
                            error?.code == .timedOut && error?.mayHaveBeenSent == false, "\(String(describing: error))")
                    }
                }
            }
        }

        @Test func `requests fail with the connection that they wait for if a server never finishes TLS`() async {
            let server = RawServer { connection, _ in _ = connection.waitForEnd() }
            await fortyFail(at: server.port, connectTimeout: .milliseconds(300))
            // libcurl may begin a second one before the failure of the first is known.
            #expect(server.connectionCount <= 2)
        }

        @Test func `requests fail with the connection that they wait for if a host does not answer`() async throws {
            let hole = try #require(BlackHole())
            let port = try #require(hole.url.port)
            // One after the other, they would need 20 seconds.
            let time = await ContinuousClock().measure { await fortyFail(at: port, connectTimeout: .milliseconds(500)) }
            #expect(time < .seconds(10))
        }

        @Test func `a request with a longer connect timeout does not fail with the connection that it waits for`()
            async throws
        {
            let server = RawServer { connection, _ in _ = connection.waitForEnd() }
            let loader = Carrier.loader()
            let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
            func load(_ limit: Duration) async -> HTTPError? {
                return await failure(loader, HTTPRequest(url: url).with { $0.connectTimeout = limit })
            }
            async let short = load(.milliseconds(200))
            while server.connectionCount == 0 { await Task.yield() }
            async let long = load(.milliseconds(400))
            #expect(await [short?.code, long?.code] == [.timedOut, .timedOut])
            #expect(server.connectionCount == 2)
        }

        @Test func `a new host takes the connection that was not used for the longest time`() async throws {
            let servers = (0..<4).map { _ in RawServer.answering("HTTP/1.1 204 No Content\r\n\r\n") }
            let loader = Carrier.loader(TransportConfiguration().with { $0.maximumConnections = 3 })
            for number in [0, 1, 2, 0, 3] {
                _ = try await loader.load(HTTPRequest(url: servers[number].url()))
                // libcurl compares whole milliseconds.
                await waitForTimeout(of: .milliseconds(3))
            }
            for number in [0, 2, 3] {
                #expect(try await loader.load(HTTPRequest(url: servers[number].url())).metrics.isReusedConnection)
            }
            _ = try await loader.load(HTTPRequest(url: servers[1].url()))
            #expect(servers.map(\.connectionCount) == [1, 2, 1, 1])
        }

        private func failure(_ loader: CurlLoader, _ request: HTTPRequest) async -> HTTPError? {
            await #expect(throws: HTTPError.self) { try await loader.load(request) }
        }

        @Test func `the connect timeout of a request applies to that request only`() async throws {
            let hole = try #require(BlackHole())
            let server = RawServer.answering("HTTP/1.1 204 No Content\r\n\r\n")
            let loader = Carrier.loader()
            var request = HTTPRequest(method: .post, url: hole.url)
            (request.timeout, request.connectTimeout) = (.seconds(30), .milliseconds(200))
            let error = await failure(loader, request)
            #expect(error?.code == .timedOut && error?.message.contains("connect timeout") == true)
            #expect(error?.mayHaveBeenSent == false)
            #expect(try await loader.load(HTTPRequest(url: server.url())).status == 204)
            (request.timeout, request.connectTimeout) = (.milliseconds(600), nil)
            let other = await failure(loader, request)
            #expect(other?.message == "the attempt timeout passed while connecting" && other?.mayHaveBeenSent == false)
        }

        @Test(arguments: [Duration.zero, .seconds(-1)])
        func `a connect timeout of zero or less is refused, and the error names it`(limit: Duration) async throws {
            let server = RawServer.answering("HTTP/1.1 204 No Content\r\n\r\n")
            let request = HTTPRequest(url: server.url()).with { $0.connectTimeout = limit }
            let error = await failure(Carrier.loader(), request)
            let rule = "the connectTimeout is zero or less (use nil for the transport's limit)"
            #expect(error?.code == .invalidRequest && error?.message == rule && server.connectionCount == 0)
        }

        @Test func `a template sets the connect timeout of its request`() {
            let template = TestEndpoint("a").connectTimeout(.seconds(2)).timeout(.seconds(9))
            #expect(template.options.connectTimeout == .seconds(2))
        }
    }
#endif
