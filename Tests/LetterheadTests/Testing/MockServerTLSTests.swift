// SPDX-License-Identifier: MIT
#if os(Linux) || os(macOS)
    import Foundation
    import Letterhead
    import LetterheadTesting
    import TestKit
    import Testing

    /// Whether the server's library is there. On Linux it must be.
    private var canSpeakTLS: Bool {
        #if os(macOS)
            OpenSSL.isInstalled
        #else
            true
        #endif
    }

    @Suite(.timeLimit(.minutes(3)), .enabled(if: CurlCommand.isInstalled && canSpeakTLS)) struct MockServerTLSTests {
        private let trust = ["ca": Certificates.authority]

        private func withServer(
            _ tls: MockServer.TLS = MockServer.TLS(certificate: Certificates.valid, key: Certificates.validKey),
            closure: @escaping MockServer.Closure = { .text($0.bodySize == 0 ? "private" : "\($0.bodySize)") },
            _ body: (MockServer, String) async throws -> Void
        ) async throws {
            let configuration = MockServer.Configuration().with { $0.tls = tls }
            let server = try await MockServer.start(configuration, closure: closure)
            try await body(server, "https://localhost:\(server.port)")
            await server.stop()
        }

        @Test func `a client that trusts the authority receives a response over TLS`() async throws {
            try await withServer { server, url in
                #expect(server.url.scheme == "https")
                let result = try await CurlCommand.run("--cacert", "@ca", url, pem: trust)
                #expect(result.status == 0 && result.text == "private")
                let security = try #require(server.connections.first?.security)
                #expect(security.version == "TLSv1.3" && security.serverName == "localhost" && server.failures.isEmpty)
            }
        }

        @Test func `the certificate contains the address, too`() async throws {
            try await withServer { server, _ in
                let result = try await CurlCommand.run("--cacert", "@ca", server.url.absoluteString, pem: trust)
                #expect(result.status == 0 && server.connections.first?.security?.serverName == nil)
            }
        }

        @Test(arguments: [
            (Certificates.expired, Certificates.expiredKey), (Certificates.wrongHost, Certificates.wrongHostKey),
            (Certificates.selfSigned, Certificates.selfSignedKey),
        ]) func `an invalid certificate is refused by the client`(certificate: String, key: String) async throws {
            try await withServer(MockServer.TLS(certificate: certificate, key: key)) { server, url in
                let status = try await CurlCommand.run("--cacert", "@ca", url, pem: trust).status
                #expect(status == 60 && server.requests.isEmpty)
            }
        }

        @Test func `a refused handshake is a failure in the server's record`() async throws {
            try await withServer { server, url in
                let status = try await CurlCommand.run(url).status
                #expect(status == 60)
                let failures = try await server.record { !$0.failures.isEmpty }.failures
                #expect("\(failures[0])".contains("alert"))
            }
        }

        @Test func `a client must send a certificate if the server requires one`() async throws {
            var tls = MockServer.TLS(certificate: Certificates.valid, key: Certificates.validKey)
            tls.clientAuthority = Certificates.authority
            try await withServer(tls) { server, url in
                let status = try await CurlCommand.run("--cacert", "@ca", url, pem: trust).status
                #expect(status != 0)
                let shown = try await CurlCommand.run(
                    "--cacert", "@ca", "--cert", "@cert", "--key", "@key", url,
                    pem: ["ca": Certificates.authority, "cert": Certificates.client, "key": Certificates.clientKey])
                #expect(shown.text == "private" && server.requests.count == 1)
            }
        }

        @Test func `the server uses the configured versions of TLS`() async throws {
            var tls = MockServer.TLS(certificate: Certificates.valid, key: Certificates.validKey)
            tls.versions = .v1_2 ... .v1_2
            try await withServer(tls) { server, url in
                let status = try await CurlCommand.run("--cacert", "@ca", url, pem: trust).status
                #expect(status == 0 && server.connections.first?.security?.version == "TLSv1.2")
                let refused = try await CurlCommand.run("--cacert", "@ca", "--tlsv1.3", url, pem: trust).status
                #expect(refused == 35)
            }
        }

        @Test func `large bodies are sent in both directions on one connection`() async throws {
            let answer = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0) })
            try await withServer(closure: { .init(body: $0.path == "/down" ? answer : Data("\($0.bodySize)".utf8)) }) {
                server, url in
                let upload = String(repeating: "x", count: 2_000_000)
                let result = try await CurlCommand.run(
                    "--cacert", "@ca", "-H", "Expect:", "-T", "@up", url + "/up", "--next", "--cacert", "@ca",
                    url + "/down",
                    pem: ["ca": Certificates.authority, "up": upload])
                #expect(result.status == 0 && result.output == Data("2000001".utf8) + answer)
                #expect(server.connections.count == 1 && server.requests.count == 2)
            }
        }

        @Test(arguments: [
            (MockServer.Effect.close, MockServer.Moment.requestStart), (.reset, .requestStart),
            (.halfClose, .responseStart), (.close, .responseBody), (.reset, .responseBody), (.halfClose, .responseBody),
        ]) func `faults occur over TLS, too`(effect: MockServer.Effect, moment: MockServer.Moment) async throws {
            try await withServer { server, url in
                server.enqueue(.response(.text("12345678")).fault(effect, at: moment))
                let result = try await CurlCommand.run("--cacert", "@ca", url, pem: trust)
                #expect(result.status != 0 && result.text == (moment == .responseBody ? "1234" : ""))
                // The server continues.
                let text = try await CurlCommand.run("--cacert", "@ca", url, pem: trust).text
                #expect(text == "private")
            }
        }

        @Test func `a response is sent slowly over TLS, too`() async throws {
            var configuration = MockServer.Configuration()
            configuration.tls = MockServer.TLS(certificate: Certificates.valid, key: Certificates.validKey)
            let clock = RecordingClock()
            configuration.clock = clock
            let server = try await MockServer.start(configuration)
            server.enqueue(.response(.text("12345678")).fault(.slow(bytes: 1, every: .seconds(1)), at: .responseBody))
            let result = try await CurlCommand.run("--cacert", "@ca", server.url.absoluteString, pem: trust)
            #expect(result.text == "12345678" && clock.sleeps.count >= 3)
            await server.stop()
        }

        @Test(arguments: [
            ("nonsense", Certificates.validKey, "certificate"), (Certificates.valid, "nonsense", "key"),
            (Certificates.valid, Certificates.clientKey, "key"),
        ]) func `an invalid certificate and a key of another one are reported at the start`(
            certificate: String, key: String, culprit: String
        ) async throws {
            var configuration = MockServer.Configuration()
            configuration.tls = MockServer.TLS(certificate: certificate, key: key)
            do {
                let server = try await MockServer.start(configuration)
                await server.stop()
                Issue.record("such a server must not start")
            } catch {
                #expect("\(error)".contains("MockServer.TLS.\(culprit) "))
            }
        }
    }
#endif
