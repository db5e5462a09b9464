// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import LetterheadTesting
    import TestKit
    import Testing

    @Suite(.bothCarriers, .timeLimit(.minutes(3)))
    struct TransportSecurityTests {
        private let trusting = TransportConfiguration.trusting

        private func failure(_ configuration: TransportConfiguration, _ server: MockServer) async -> HTTPError? {
            await #expect(throws: HTTPError.self) {
                try await Carrier.loader(configuration).load(HTTPRequest(url: server.url))
            }
        }

        @Test func `requests to a server with a trusted certificate share one connection`() async throws {
            let server = try await MockServer.secure()
            let loader = Carrier.loader(trusting)
            for number in 0..<3 {
                let response = try await loader.load(HTTPRequest(url: server.url))
                #expect(try await response.body.data() == Data("private".utf8))
                #expect(response.metrics.isReusedConnection == (number > 0))
                #expect((response.metrics.secureConnect > .zero) == (number == 0))
            }
            #expect(server.connections.count == 1)
        }

        @Test func `roots can be read from a file`() async throws {
            let server = try await MockServer.secure()
            let file = FileManager.default.temporaryDirectory.appending(
                path: "roots-\(UInt64.random(in: 0 ... .max)).pem")
            try Data(Certificates.authority.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let configuration = TransportConfiguration().with { $0.security.roots = .file(file) }
            #expect(try await Carrier.loader(configuration).load(HTTPRequest(url: server.url)).status == 200)
        }

        @Test(arguments: [
            MockServer.TLS(certificate: Certificates.expired, key: Certificates.expiredKey),
            MockServer.TLS(certificate: Certificates.wrongHost, key: Certificates.wrongHostKey),
            MockServer.TLS(certificate: Certificates.selfSigned, key: Certificates.selfSignedKey),
        ])
        func `an invalid certificate is refused before anything is sent`(tls: MockServer.TLS) async throws {
            let server = try await MockServer.secure(tls)
            let error = await failure(trusting, server)
            #expect(error?.code == .insecureConnection && error?.mayHaveBeenSent == false && server.requests.isEmpty)
        }

        @Test func `the system's store does not trust a test's authority`() async throws {
            #expect(await failure(TransportConfiguration(), try await MockServer.secure())?.code == .insecureConnection)
        }

        @Test func `a version older than allowed is refused`() async throws {
            var tls = MockServer.TLS.valid
            tls.versions = .v1_2 ... .v1_2
            let server = try await MockServer.secure(tls)
            #expect(try await Carrier.loader(trusting).load(HTTPRequest(url: server.url)).status == 200)
            let configuration = trusting.with { $0.security.minimumVersion = .tls13 }
            #expect(await failure(configuration, server)?.code == .insecureConnection)
        }

        @Test func `a server that requests a certificate receives the identity`() async throws {
            var tls = MockServer.TLS.valid
            tls.clientAuthority = Certificates.authority
            let server = try await MockServer.secure(tls)
            var configuration = trusting
            configuration.security.identity = TransportConfiguration.Security.Identity(
                certificate: Data(Certificates.client.utf8), key: Data(Certificates.clientKey.utf8))
            #expect(try await Carrier.loader(configuration).load(HTTPRequest(url: server.url)).status == 200)
            #expect(await failure(trusting, server) != nil)
        }

        @Test func `a pinned key is accepted, also among several`() async throws {
            let server = try await MockServer.secure()
            var configuration = trusting
            configuration.security.pinnedKeys = [try #require(Data(base64Encoded: Certificates.validPin))]
            #expect(try await Carrier.loader(configuration).load(HTTPRequest(url: server.url)).status == 200)
            configuration.security.pinnedKeys.insert(Data(count: 32), at: 0)
            #expect(try await Carrier.loader(configuration).load(HTTPRequest(url: server.url)).status == 200)
        }

        @Test func `a key that is not pinned is refused`() async throws {
            let server = try await MockServer.secure()
            var configuration = trusting
            configuration.security.pinnedKeys = [Data(count: 32)]
            let error = await failure(configuration, server)
            #expect(error?.code == .insecureConnection && error?.mayHaveBeenSent == false && server.requests.isEmpty)
            let host = try #require(server.url.host())
            let expected = "pinnedKeys for \(host), and the server's key is sha256//\(Certificates.validPin)"
            #expect(error?.message.contains(expected) == true, "\(String(describing: error))")
            configuration.security.pinnedKeys = [Data(count: 31)]
            #expect(await failure(configuration, server)?.code == .invalidRequest)
        }

        @Test func `the keys of a host are pinned for that host only`() async throws {
            let server = try await MockServer.secure()
            var configuration = trusting
            let pin = try #require(Data(base64Encoded: Certificates.validPin))
            configuration.security.pinnedKeys = [Data(count: 32)]
            configuration.security.pinnedKeysByHost = ["localhost": [pin]]
            let loader = Carrier.loader(configuration)
            for _ in 0..<2 {
                for host in ["localhost", "LocalHost"] {
                    let url = try #require(URL(string: "https://\(host):\(server.port)/"))
                    #expect(try await loader.load(HTTPRequest(url: url)).status == 200)
                }
                let other = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
                let error = await #expect(throws: HTTPError.self) { try await loader.load(HTTPRequest(url: other)) }
                #expect(error?.message.contains("pinnedKeys for 127.0.0.1, ") == true)
            }
            configuration.security.pinnedKeysByHost = ["localhost": [Data(count: 32)], "127.0.0.1": [pin]]
            let url = try #require(URL(string: "https://localhost:\(server.port)/"))
            let error = await #expect(throws: HTTPError.self) {
                try await Carrier.loader(configuration).load(HTTPRequest(url: url))
            }
            let expected = "pinnedKeysByHost for localhost, and the server's key is sha256//\(Certificates.validPin)"
            #expect(error?.code == .insecureConnection && error?.message.contains(expected) == true)
        }

        @Test(arguments: [true, false])
        func `a body that ends with its connection is complete only with a close_notify`(hasGoodbye: Bool) async throws
        {
            let text = String(repeating: "A", count: 1000)
            let server = try await MockServer.secure()
            // Without a length the body ends with its connection.
            server.enqueue(
                .raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + text, then: hasGoodbye ? .halfClose : .close),
                times: 2)
            for delivery in [HTTPResponse.Delivery.buffered, .streamed] {
                let request = HTTPRequest(url: server.url).with { $0.responseDelivery = delivery }
                let loader = Carrier.loader(trusting)
                if hasGoodbye {
                    #expect(try await loader.load(request).body.data() == Data(text.utf8))
                } else {
                    let error = await #expect(throws: HTTPError.self) { try await loader.load(request).body.data() }
                    // Newer versions of libcurl report the missing end themselves.
                    #expect(error?.code == .invalidResponse || error?.code == .connectionLost)
                }
            }
        }
    }

    extension MockServer.TLS {
        /// A certificate of ``Certificates/authority`` for this machine.
        static let valid = MockServer.TLS(certificate: Certificates.valid, key: Certificates.validKey)
    }

    extension MockServer {
        /// A server over TLS.
        static func secure(
            _ tls: TLS = .valid, _ closure: @escaping Closure = { _ in .text("private") }
        ) async throws -> MockServer { try await start(Configuration().with { $0.tls = tls }, closure: closure) }
    }

    extension TransportConfiguration {
        /// Trusts ``Certificates/authority``.
        static var trusting: TransportConfiguration {
            TransportConfiguration().with { $0.security.roots = .pem(Data(Certificates.authority.utf8)) }
        }
    }
#endif
