// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import LetterheadTesting
    import TestKit
    import Synchronization
    import Testing

    /// Checks of certificates that the caller adds, over real TLS.
    @Suite(.bothCarriers, .timeLimit(.minutes(2)), .enabled("OpenSSL is not installed", { RawTLS() != nil }))
    struct CertificateCheckTests {
        /// The calls of a check. It refuses the ones with a number in `refused`, counted from 0.
        final class Record: Sendable {
            struct Refusal: LocalizedError {
                let errorDescription: String? = "the key is on the list of revoked keys"
            }

            private let state = Mutex<[(chain: [Data], host: String)]>([])
            private let refused: Range<Int>

            init(refusing refused: Range<Int> = 0..<0) { self.refused = refused }

            var calls: [(chain: [Data], host: String)] { state.withLock { $0 } }

            func check(_ chain: [Data], _ host: String) throws {
                let number = state.withLock { calls in
                    calls.append((chain, host))
                    return calls.count - 1
                }
                if refused.contains(number) { throw Refusal() }
            }
        }

        private static let everything = 0..<Int.max
        private func configuration(_ records: Record...) -> TransportConfiguration {
            var configuration = TransportConfiguration.trusting
            for record in records { configuration.security.verify { try record.check($0, $1) } }
            return configuration
        }

        private func request(_ host: String, _ port: Int) throws -> HTTPRequest {
            HTTPRequest(url: try #require(URL(string: "https://\(host):\(port)/")))
        }

        private func failure(_ loader: CurlLoader, _ request: HTTPRequest) async -> HTTPError? {
            await #expect(throws: HTTPError.self) { try await loader.load(request) }
        }

        private static func der(_ pem: String) throws -> Data {
            try #require(Data(base64Encoded: pem.split(separator: "\n").dropFirst().dropLast().joined()))
        }

        @Test func `a check that refuses the connection for sending again says that the request may have been sent`()
            async throws
        {
            let server = RawServer(tls: RawTLS()) { connection, _ in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                _ = connection.readHead()
                connection.close()
            }
            let loader = Carrier.loader(configuration(Record(refusing: 1..<2)))
            #expect(try await loader.load(HTTPRequest(url: server.url())).status == 204)
            let error = await failure(loader, HTTPRequest(url: server.url()))
            #expect(error?.code == .insecureConnection && error?.mayHaveBeenSent == true, "\(error as Any)")
        }

        @Test func `a check receives the verified chain and the host once for a connection`() async throws {
            let (server, record) = (try await MockServer.secure(), Record())
            let loader = Carrier.loader(configuration(record))
            for _ in 0..<3 {
                let response = try await loader.load(try request("LocalHost", server.port))
                #expect(try await response.body.data() == Data("private".utf8))
            }
            let expected = [try Self.der(Certificates.valid), try Self.der(Certificates.authority)]
            #expect(record.calls.map(\.chain) == [expected] && record.calls.map(\.host) == ["localhost"])
            _ = try await loader.load(try request("127.0.0.1", server.port))
            #expect(record.calls.map(\.host) == ["localhost", "127.0.0.1"] && server.connections.count == 2)
        }

        @Test func `a refused certificate is the error of the check, and nothing is sent`() async throws {
            let (server, record) = (try await MockServer.secure(), Record(refusing: Self.everything))
            let loader = Carrier.loader(configuration(record))
            let error = await failure(loader, try request("localhost", server.port))
            #expect(error?.code == .insecureConnection && error?.mayHaveBeenSent == false)
            #expect(error?.underlying is Record.Refusal && server.requests.isEmpty)
            let expected =
                "security.verify refused the certificate of localhost: the key is on the list of revoked keys"
            #expect(error?.message == expected && error?.description.hasSuffix(expected) == true)
            // The connection is not used later.
            _ = await failure(loader, try request("localhost", server.port))
            #expect(record.calls.count == 2 && server.connections.count == 2 && server.requests.isEmpty)
        }

        @Test func `a refused certificate is not retried`() async throws {
            let (server, record) = (try await MockServer.secure(), Record(refusing: Self.everything))
            let client = HTTPClient(transport: HTTPClient.makeTransport(configuration(record)))
                .retry(.immediate, maximumRetries: 3)
            let request = try request("localhost", server.port)
            let error = await #expect(throws: HTTPError.self) { try await client.send(request) }
            #expect(error?.code == .insecureConnection && record.calls.count == 1)
        }

        @Test(arguments: [
            MockServer.TLS(certificate: Certificates.expired, key: Certificates.expiredKey),
            MockServer.TLS(certificate: Certificates.wrongHost, key: Certificates.wrongHostKey),
            MockServer.TLS(certificate: Certificates.selfSigned, key: Certificates.selfSignedKey),
        ])
        func `a check cannot accept what is refused, and is not asked`(tls: MockServer.TLS) async throws {
            let (server, record) = (try await MockServer.secure(tls), Record())
            let error = await failure(Carrier.loader(configuration(record)), try request("localhost", server.port))
            #expect(error?.code == .insecureConnection && record.calls.isEmpty && server.requests.isEmpty)
        }

        @Test func `all checks must pass`() async throws {
            let server = try await MockServer.secure()
            let (first, second, third) = (Record(), Record(refusing: Self.everything), Record())
            let loader = Carrier.loader(configuration(first, second, third))
            #expect(await failure(loader, try request("localhost", server.port))?.code == .insecureConnection)
            #expect([first, second, third].map(\.calls.count) == [1, 1, 0])
        }

        @Test func `transports with different checks share no connection`() async throws {
            let (server, accepting, refusing) = (
                try await MockServer.secure(), Record(), Record(refusing: Self.everything)
            )
            let settings = [configuration(), configuration(accepting), configuration(refusing)]
            #expect(Set(settings).count == 3 && settings[1] == settings[1])
            let loaders = settings.map { Carrier.loader($0) }
            let request = try request("localhost", server.port)
            for loader in loaders.prefix(2) { #expect(try await loader.load(request).status == 200) }
            #expect(await failure(loaders[2], request)?.code == .insecureConnection)
            #expect(accepting.calls.count == 1 && refusing.calls.count == 1 && server.requests.count == 2)
        }

        /// Without a check, the second handshake of these servers resumes the session of the first.
        @Test(arguments: [MockServer.TLS.Version.v1_2, .v1_3])
        func `each further connection is checked with its whole chain`(version: MockServer.TLS.Version) async throws {
            var tls = MockServer.TLS.valid
            tls.versions = version...version
            let server = try await MockServer.secure(tls) { _ in
                var response = MockServer.Response.text("private")
                response.headers["Connection"] = "close"
                return response
            }
            let record = Record(refusing: 2..<3)
            let loader = Carrier.loader(configuration(record))
            for _ in 0..<2 { #expect(try await loader.load(try request("localhost", server.port)).status == 200) }
            #expect(await failure(loader, try request("localhost", server.port))?.code == .insecureConnection)
            #expect(record.calls.map(\.chain.count) == [2, 2, 2] && server.requests.count == 2)
        }

        @Test func `requests over one connection of HTTP/2 are checked once`() async throws {
            let server = RawServer.http2 { connection, _, stream in connection.write(.success(on: stream)) }
            let record = Record()
            let loader = CurlLoader(configuration(record))
            try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await loader.load(HTTPRequest(url: server.url())).metrics.httpVersion }
                }
                for try await version in group { #expect(version == "HTTP/2") }
            }
            #expect(record.calls.count == server.connectionCount && server.connectionCount == 1)
        }

        @Test func `a refused connection of HTTP/2 carries no request and is closed`() async throws {
            let streams = Mutex(0)
            let ended = DispatchSemaphore(value: 0)
            let server = RawServer(tls: RawTLS(choosesHTTP2: true)) { connection, _ in
                defer { ended.signal() }
                guard connection.beginHTTP2() else { return }
                while let stream = connection.readHTTP2Request() {
                    streams.withLock { $0 += 1 }
                    connection.write(.success(on: stream))
                }
            }
            let record = Record(refusing: 0..<1)
            let loader = CurlLoader(configuration(record))
            #expect(await failure(loader, HTTPRequest(url: server.url()))?.code == .insecureConnection)
            #expect(await ended.isSignaled())
            #expect(streams.withLock { $0 } == 0)
            let response = try await loader.load(HTTPRequest(url: server.url()))
            #expect(response.metrics.httpVersion == "HTTP/2" && response.metrics.isReusedConnection == false)
            #expect(record.calls.count == 2 && server.connectionCount == 2 && streams.withLock { $0 } == 1)
        }

        @Test func `a check receives the certificate of the server, and not that of a proxy over TLS`() async throws {
            let server = try await MockServer.secure(
                MockServer.TLS(certificate: Certificates.selfSigned, key: Certificates.selfSignedKey))
            let port = server.port
            let proxy = RawServer(tls: RawTLS()) { connection, _ in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\n\r\n")
                connection.relay(toPort: port)
                connection.close()
            }
            let record = Record()
            var configuration = configuration(record)
            configuration.security.roots = .pem(Data((Certificates.authority + "\n" + Certificates.selfSigned).utf8))
            configuration.proxy = .https("127.0.0.1", port: proxy.port)
            let loader = Carrier.loader(configuration)
            for _ in 0..<2 { #expect(try await loader.load(try request("localhost", port)).status == 200) }
            #expect(record.calls.map(\.chain) == [[try Self.der(Certificates.selfSigned)]])
            #expect(record.calls.map(\.host) == ["localhost"] && proxy.connectionCount == 1)
        }

        @Test func `a request without TLS is not checked`() async throws {
            let server = RawServer.answering("HTTP/1.1 204 No Content\r\n\r\n")
            let record = Record(refusing: Self.everything)
            #expect(try await Carrier.loader(configuration(record)).load(HTTPRequest(url: server.url())).status == 204)
            #expect(record.calls.isEmpty)
        }

        @Test func `a check and HTTP/3 are refused together`() async throws {
            let configuration = configuration(Record()).with { $0.httpVersions = .http3 }
            let error = await failure(Carrier.loader(configuration), try request("localhost", 1))
            #expect(error?.code == .invalidRequest && error?.message.contains("security.verify") == true)
        }
    }
#endif
