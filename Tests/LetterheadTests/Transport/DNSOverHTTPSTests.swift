// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import LetterheadTesting
    import TestKit
    import Testing

    @testable import Letterhead

    /// Names of hosts that a resolver looks up over HTTPS (RFC 8484).
    @Suite(.timeLimit(.minutes(1)), .enabled("libcurl is older than 8.10") { CurlQuirks.endsLookups })
    struct DNSOverHTTPSTests {
        /// A resolver that returns the address 127.0.0.1 for each name.
        private func resolver(
            _ closure: @escaping MockServer.Closure = { .init(headers: mediaType, body: answer(to: $0.body)) }
        ) async throws -> MockServer { try await MockServer.secure(.valid, closure) }

        private static let mediaType: HTTPHeaders = ["Content-Type": "application/dns-message"]

        /// Returns the answer to a question of type A, 127.0.0.1 unless told otherwise, and no address for other types
        /// (RFC 1035, 4.1).
        private static func answer(to query: Data, lastByte: UInt8 = 1) -> Data {
            let bytes = [UInt8](query)
            guard bytes.count > 16 else { return Data() }
            let isA = bytes[bytes.count - 3] == 1
            let address: [UInt8] = [0xC0, 0x0C, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, lastByte]
            let head = [bytes[0], bytes[1], 0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0]
            return Data(head + bytes[12...] + (isA ? address : []))
        }

        private func configuration(_ resolver: MockServer) -> TransportConfiguration {
            TransportConfiguration.trusting.with {
                ($0.proxy, $0.dnsOverHTTPS) = (.direct, resolver.url.appending(path: "dns-query"))
            }
        }

        private let server = RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

        private func request(_ host: String = "a.example") throws -> HTTPRequest {
            HTTPRequest(url: try #require(URL(string: "http://\(host):\(server.port)/")))
        }

        @Test func `the resolver looks up the names of hosts, over a connection of its own`() async throws {
            let resolver = try await resolver()
            let loader = CurlLoader(configuration(resolver).with { $0.maximumConnections = 1 })
            for host in ["a.example", "b.example", "a.example"] {
                let response = try await loader.load(try request(host))
                #expect(try await response.body.data() == Data("ok".utf8))
                #expect(response.metrics.remoteAddress == "127.0.0.1:\(server.port)")
            }
            let queries = resolver.requests
            #expect(queries.allSatisfy { $0.method == .post && $0.path == "/dns-query" })
            #expect(queries.allSatisfy { $0.headers[.contentType] == "application/dns-message" })
            #expect(queries.contains { $0.body.firstRange(of: Data("\u{1}b\u{7}example".utf8)) != nil })
            await resolver.stop()
        }

        @Test func `names are looked up at the same time`() async throws {
            let resolver = try await resolver()
            let loader = CurlLoader(configuration(resolver))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<24 {
                    let request = try request("host-\(number).example")
                    group.addTask {
                        let status = try await loader.load(request).status
                        #expect(status == 200)
                    }
                }
                try await group.waitForAll()
            }
            await resolver.stop()
        }

        @Test func `a resolver whose certificate is not trusted is not used, and nothing is sent`() async throws {
            let resolver = try await resolver()
            let configuration = configuration(resolver).with { $0.security.roots = .system }
            let request = try request()
            let error = await #expect(throws: HTTPError.self) { try await CurlLoader(configuration).load(request) }
            #expect(error?.code == .cannotConnect && error?.mayHaveBeenSent == false)
            #expect(resolver.requests.isEmpty && server.connectionCount == 0)
        }

        @Test(arguments: [
            MockServer.Response(status: 500), MockServer.Response(headers: mediaType),
            MockServer.Response(headers: mediaType, body: Data(repeating: 0xFF, count: 600)),
            MockServer.Response(headers: mediaType, body: Data(count: 5_000)),
        ])
        func `a resolver without a usable answer is an error`(answer: MockServer.Response) async throws {
            let resolver = try await resolver { _ in answer }
            let loader = CurlLoader(configuration(resolver))
            let request = try request()
            let error = await #expect(throws: HTTPError.self) { try await loader.load(request) }
            #expect(error?.code == .cannotConnect && error?.mayHaveBeenSent == false && server.connectionCount == 0)
            await resolver.stop()
        }

        @Test func `a lookup ends with its request: at the time limit, by a cancellation and by a reset`() async throws
        {
            let request = try request()
            var configuration = rawConfiguration(RawServer(tls: RawTLS(), silence))
            configuration.connectTimeout = .milliseconds(200)
            let limited = CurlLoader(configuration)
            let late = await #expect(throws: HTTPError.self) { try await limited.load(request) }
            #expect(late?.code == .timedOut, "\(String(describing: late))")

            for isReset in [false, true] {
                let resolver = RawServer(tls: RawTLS(), silence)
                let loader = CurlLoader(rawConfiguration(resolver))
                let task = Task { try await loader.load(request) }
                // The lookup has begun when its connection is open.
                await until { resolver.connectionCount > 0 }
                if isReset { await loader.reset() } else { task.cancel() }
                #expect(await failure { try await task.value }?.code == .cancelled)
            }
        }

        @Test func `a later answer does not change which addresses are allowed`() async throws {
            let resolver = RawServer(tls: RawTLS()) { connection, _ in
                while let query = connection.readRequest()?.body {
                    let isFirst = query.firstRange(of: Data("\u{1}a\u{7}example".utf8)) != nil
                    let answer = Self.answer(to: query, lastByte: isFirst ? 1 : 2)
                    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/dns-message\r\n"
                    connection.write("\(head)Content-Length: \(answer.count)\r\n\r\n")
                    connection.write(Array(answer))
                }
            }
            var configuration = rawConfiguration(resolver)
            configuration.addressFamily = .ipv4
            let ranges = AddressRange.special.filter { $0 != .v4(127, 0, 0, 0, length: 8) }
            configuration.security.addresses = .init(
                refused: ranges + [.v4(127, 0, 0, 2, length: 32)], proxies: .refused)
            let loader = CurlLoader(configuration)
            #expect(try await loader.load(try request("a.example")).status == 200)
            let error = await #expect(throws: HTTPError.self) { try await loader.load(try request("b.example")) }
            #expect(error?.message.hasPrefix("security.addresses refused each address of b.example ") == true)
        }

        @Test func `a request does not reach the resolver over the connection of a lookup`() async throws {
            let resolver = try await resolver()
            let loader = CurlLoader(configuration(resolver).with { $0.security.addresses = .public })
            for request in [try request(), HTTPRequest(url: resolver.url), HTTPRequest(url: resolver.url)] {
                let error = await #expect(throws: HTTPError.self) { try await loader.load(request) }
                #expect(error?.message.hasPrefix("security.addresses refused each address of ") == true)
            }
            #expect(!resolver.requests.isEmpty && resolver.requests.allSatisfy { $0.path == "/dns-query" })
        }

        @Test func `the answer to a cancelled lookup reaches no other one`() async throws {
            let (arrived, mayAnswer) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let resolver = RawServer(tls: RawTLS()) { connection, _ in
                while let query = connection.readRequest()?.body {
                    let isCancelled = query.firstRange(of: Data("\u{1}a\u{7}example".utf8)) != nil
                    if isCancelled {
                        arrived.signal()
                        mayAnswer.wait()
                    }
                    let answer = Self.answer(to: query, lastByte: isCancelled ? 2 : 1)
                    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/dns-message\r\n"
                    connection.write("\(head)Content-Length: \(answer.count)\r\n\r\n")
                    connection.write(Array(answer))
                }
            }
            var configuration = rawConfiguration(resolver)
            configuration.addressFamily = .ipv4
            let loader = CurlLoader(configuration)
            let (first, second) = (try request("a.example"), try request("b.example"))
            let cancelled = Task { try await loader.load(first) }
            #expect(await arrived.isSignaled())
            cancelled.cancel()
            _ = await cancelled.result
            mayAnswer.signal()
            #expect(try await loader.load(second).metrics.remoteAddress == "127.0.0.1:\(server.port)")
        }

        private func rawConfiguration(_ resolver: RawServer) -> TransportConfiguration {
            TransportConfiguration.trusting.with {
                ($0.proxy, $0.connectTimeout, $0.dnsOverHTTPS) = (.direct, nil, resolver.url())
            }
        }

        /// Reads what arrives until the client closes the connection.
        private let silence: @Sendable (RawConnection, Int) -> Void = { connection, _ in
            _ = connection.waitForEnd()
        }
    }

    struct RefusedDNSOverHTTPSTests {
        @Test(arguments: [
            "http://127.0.0.1/dns-query", "https:///dns-query", "dns-query", "https://user@127.0.0.1/",
            "https://u:secret@127.0.0.1/", "https://127.0.0.1/#a", "https://127.0.0.1:0/", "ftp://127.0.0.1/",
        ])
        func `a resolver that is not an https URL is refused before anything is sent`(text: String) async throws {
            let server = RawServer.answering("HTTP/1.1 204 No Content\r\n\r\n")
            let loader = CurlLoader(TransportConfiguration().with { $0.dnsOverHTTPS = URL(string: text) })
            let error = await failure { try await loader.load(HTTPRequest(url: server.url())) }
            #expect(error?.code == .invalidRequest && error?.message.contains("dnsOverHTTPS") == true)
            #expect(error?.description.contains("secret") == false && server.connectionCount == 0)
        }

        /// An older libcurl could deliver the answer for one name to the lookup of another.
        @Test(.enabled("libcurl is 8.10 or later") { !CurlQuirks.endsLookups })
        func `a libcurl older than 8.10 is refused before anything is sent`() async throws {
            let server = RawServer.answering("HTTP/1.1 204 No Content\r\n\r\n")
            var configuration = TransportConfiguration()
            configuration.dnsOverHTTPS = URL(string: "https://127.0.0.1/dns-query")
            let loader = CurlLoader(configuration)
            let error = await failure { try await loader.load(HTTPRequest(url: server.url())) }
            #expect(error?.code == .invalidRequest && error?.mayHaveBeenSent == false)
            #expect(error?.message == "dnsOverHTTPS requires libcurl 8.10 or later, and the system's libcurl is older")
            #expect(server.connectionCount == 0)
        }
    }
#endif
