#if os(Linux)
    import Foundation
    import Letterhead
    import LetterheadTesting
    import RawServer
    import Testing

    /// Names of hosts that a resolver looks up over HTTPS (RFC 8484).
    @Suite(.timeLimit(.minutes(1)))
    struct DNSOverHTTPSTests {
        /// A resolver for which each name has the address 127.0.0.1.
        private func resolver(
            _ closure: @escaping MockServer.Closure = { .init(headers: mediaType, body: answer(to: $0.body)) }
        ) async throws -> MockServer {
            var configuration = MockServer.Configuration()
            configuration.tls = MockServer.TLS(certificate: Certificates.valid, key: Certificates.validKey)
            return try await MockServer.start(configuration, closure: closure)
        }

        private static let mediaType: HTTPHeaders = ["Content-Type": "application/dns-message"]

        /// Returns the answer to a question of type A, and no address for other types (RFC 1035, 4.1).
        private static func answer(to query: Data) -> Data {
            let bytes = [UInt8](query)
            guard bytes.count > 16 else { return Data() }
            let isA = bytes[bytes.count - 3] == 1
            let address: [UInt8] = [0xC0, 0x0C, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]
            let head = [bytes[0], bytes[1], 0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0]
            return Data(head + bytes[12...] + (isA ? address : []))
        }

        private func configuration(_ resolver: MockServer) -> TransportConfiguration {
            var configuration = TransportConfiguration()
            configuration.proxy = .direct
            configuration.security.roots = .pem(Data(Certificates.authority.utf8))
            configuration.dnsOverHTTPS = resolver.url.appending(path: "dns-query")
            return configuration
        }

        private let server = RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

        private func request(_ host: String = "a.example") throws -> HTTPRequest {
            HTTPRequest(url: try #require(URL(string: "http://\(host):\(server.port)/")))
        }

        @Test func `The resolver looks up the names of hosts, over a connection of its own`() async throws {
            let resolver = try await resolver()
            var configuration = configuration(resolver)
            configuration.maximumConnections = 1
            let loader = CurlLoader(configuration)
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

        @Test func `Names are looked up at the same time`() async throws {
            let resolver = try await resolver()
            let loader = CurlLoader(configuration(resolver))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<24 {
                    let request = try request("host-\(number).example")
                    group.addTask {
                        let response = try await loader.load(request)
                        #expect(response.status == 200)
                    }
                }
                try await group.waitForAll()
            }
            await resolver.stop()
        }

        @Test func `A resolver whose certificate is not trusted is not used, and nothing is sent`() async throws {
            let resolver = try await resolver()
            var configuration = configuration(resolver)
            configuration.security.roots = .system
            let request = try request()
            let error = await #expect(throws: HTTPError.self) { try await CurlLoader(configuration).load(request) }
            #expect(error?.code == .cannotConnect && error?.mayHaveBeenSent == false)
            #expect(resolver.requests.isEmpty && server.connectionCount == 0)
            await resolver.stop()
        }

        @Test(arguments: [
            MockServer.Response(status: 500), MockServer.Response(headers: mediaType),
            MockServer.Response(headers: mediaType, body: Data(repeating: 0xFF, count: 600)),
            MockServer.Response(headers: mediaType, body: Data(count: 5_000)),
        ])
        func `A resolver without a usable answer is an error`(answer: MockServer.Response) async throws {
            let resolver = try await resolver { _ in answer }
            let loader = CurlLoader(configuration(resolver))
            let request = try request()
            let error = await #expect(throws: HTTPError.self) { try await loader.load(request) }
            #expect(error?.code == .cannotConnect && error?.mayHaveBeenSent == false)
            #expect(server.connectionCount == 0)
            await resolver.stop()
        }

        @Test func `A lookup ends with its request: at the time limit, by a cancellation and by a reset`() async throws
        {
            let resolver = RawServer(tls: RawTLS()) { connection, _ in _ = connection.waitForEnd() }
            var configuration = TransportConfiguration()
            configuration.proxy = .direct
            configuration.security.roots = .pem(Data(Certificates.authority.utf8))
            configuration.dnsOverHTTPS = resolver.url()
            configuration.connectTimeout = .milliseconds(200)
            let (limited, unlimited) = (configuration, TransportConfiguration.with(configuration, connectTimeout: nil))
            let request = try request()
            let late = await #expect(throws: HTTPError.self) { try await CurlLoader(limited).load(request) }
            #expect(late?.code == .timedOut, "\(String(describing: late))")

            let loader = CurlLoader(unlimited)
            for isReset in [false, true, false] {
                let count = resolver.connectionCount
                let task = Task { try await loader.load(request) }
                while resolver.connectionCount == count { await Task.yield() }
                if isReset { await loader.reset() } else { task.cancel() }
                let error = await #expect(throws: HTTPError.self) { try await task.value }
                #expect(error?.code == .cancelled)
            }
        }

        @Test(arguments: [
            "http://127.0.0.1/dns-query", "https:///dns-query", "dns-query", "https://user@127.0.0.1/",
            "https://u:secret@127.0.0.1/", "https://127.0.0.1/#a", "https://127.0.0.1:0/", "ftp://127.0.0.1/",
        ])
        func `A resolver that is not an https URL is refused before anything is sent`(text: String) async throws {
            var configuration = TransportConfiguration()
            configuration.dnsOverHTTPS = URL(string: text)
            let request = try request("127.0.0.1")
            let error = await #expect(throws: HTTPError.self) { try await CurlLoader(configuration).load(request) }
            #expect(error?.code == .invalidRequest && error?.message.contains("dnsOverHTTPS") == true)
            #expect(error?.description.contains("secret") == false && server.connectionCount == 0)
        }
    }

    extension TransportConfiguration {
        fileprivate static func with(_ configuration: Self, connectTimeout: Duration?) -> Self {
            var configuration = configuration
            configuration.connectTimeout = connectTimeout
            return configuration
        }
    }
#endif
