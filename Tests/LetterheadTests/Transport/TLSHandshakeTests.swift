// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import LetterheadStreaming
    import LetterheadTesting
    import TestKit
    import Testing

    /// Connections that TLS refuses, and connections that end before TLS is established.
    @Suite(.bothCarriers, .timeLimit(.minutes(2)))
    struct TLSHandshakeTests {
        private let trusting = TransportConfiguration.trusting

        private func failure(_ configuration: TransportConfiguration, _ request: HTTPRequest) async -> HTTPError? {
            await #expect(throws: HTTPError.self) { try await Carrier.loader(configuration).load(request) }
        }

        private func responding(_ version: RawTLS.Version) -> RawServer {
            RawServer(tls: RawTLS(maximumVersion: version)) { connection, _ in
                while connection.readHead() != nil { connection.write("HTTP/1.1 204 No Content\r\n\r\n") }
            }
        }

        /// How a connection ends: at the first record of the server that the client does not receive whole.
        struct Cut: Sendable, CustomTestStringConvertible {
            /// The number of records that the client receives, or nil if the server does not even read.
            let records: Int?
            let isInside: Bool
            let isReset: Bool

            /// The client's handshake ends with the server's sixth record (TLS 1.3), or with its seventh (TLS 1.2).
            static let all: [Cut] = [nil, 0, 1, 2, 3, 4, 5].flatMap { (records: Int?) in
                [false, true].flatMap { isInside in
                    [false, true].map { Cut(records: records, isInside: isInside, isReset: $0) }
                }
            }

            var testDescription: String {
                "after \(records.map(String.init) ?? "no") records\(isInside ? " and a part" : "")"
                    + (isReset ? " by a reset" : "")
            }

            func carry(_ connection: RawConnection, to port: Int) {
                if let records { connection.relay(toPort: port, records: records, isInside: isInside) }
                if isReset { return connection.reset() }
                connection.endOutput()
                _ = connection.waitForEnd()
            }
        }

        @Test(arguments: [RawTLS.Version.tls12, .tls13], [false, true])
        func `a connection or a tunnel that ends during the TLS handshake is cannotConnect, and nothing was sent`(
            version: RawTLS.Version, isTunnel: Bool
        ) async throws {
            let server = responding(version)
            for cut in Cut.all {
                let front = RawServer { connection, _ in
                    if isTunnel {
                        guard connection.readHead() != nil else { return }
                        connection.write("HTTP/1.1 200 Connected\r\n\r\n")
                    }
                    cut.carry(connection, to: server.port)
                }
                defer { front.stop() }
                var configuration = trusting
                if isTunnel { configuration.proxy = .http("127.0.0.1", port: front.port) }
                let url = try #require(URL(string: "https://127.0.0.1:\(isTunnel ? server.port : front.port)/"))
                let error = await failure(configuration, HTTPRequest(method: .post, url: url))
                #expect(error?.code == .cannotConnect && error?.mayHaveBeenSent == false, "\(cut): \(error as Any)")
                let words = error?.underlying.map { "\($0)" } ?? ""
                if !isTunnel { #expect(!words.isEmpty && error?.message.contains(words) == true) }
            }
        }

        @Test func `a stream of events continues after a connection that ended during the TLS handshake`() async throws
        {
            let server = RawServer(tls: RawTLS()) { connection, number in
                guard connection.readHead() != nil else { return }
                guard number < 3 else { return _ = connection.write("HTTP/1.1 204 No Content\r\n\r\n") }
                // The second connection does not get here.
                connection.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: \(number)\n\n")
                connection.close()
            }
            let front = RawServer { connection, number in
                connection.relay(toPort: server.port, records: number == 1 ? 0 : nil)
                if number == 1 { connection.reset() }
            }
            let url = try #require(URL(string: "https://127.0.0.1:\(front.port)/"))
            let client = HTTPClient(environment: ServerEnvironment(baseURL: url), transport: Carrier.loader(trusting))
            let reconnection = Reconnection.whenClosed(Backoff(clock: TestClock(isAutomatic: true)))
            var events: [String] = []
            for try await event in client.events(of: TestEndpoint(), reconnecting: reconnection) {
                events.append(event.data)
            }
            #expect(events == ["0", "2"] && front.connectionCount == 4)
        }

        @Test func `a server that does not speak TLS is insecureConnection, with the words of the TLS library`()
            async throws
        {
            let server = RawServer { connection, _ in
                _ = connection.read(1)
                connection.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                connection.endOutput()
                _ = connection.waitForEnd()
            }
            let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
            let error = await failure(trusting, HTTPRequest(url: url))
            #expect(error?.code == .insecureConnection && error?.mayHaveBeenSent == false)
            #expect(error?.underlying.map { "\($0)" }?.contains("wrong version number") == true)
        }

        struct Identity: Sendable, CustomTestStringConvertible {
            let identity: TransportConfiguration.Security.Identity?
            let alert: String
            var testDescription: String { alert }

            static let refused = [
                Identity(identity: nil, alert: "certificate required"),
                Identity(
                    identity: TransportConfiguration.Security.Identity(
                        certificate: Data(Certificates.selfSigned.utf8), key: Data(Certificates.selfSignedKey.utf8)),
                    alert: "unknown CA"),
                Identity(
                    identity: TransportConfiguration.Security.Identity(
                        certificate: Data(Certificates.valid.utf8), key: Data(Certificates.validKey.utf8)),
                    alert: "unsupported certificate"),
            ]
        }

        private func demanding(_ version: MockServer.TLS.Version) async throws -> MockServer {
            var tls = MockServer.TLS.valid
            (tls.clientAuthority, tls.versions) = (Certificates.authority, version...version)
            return try await MockServer.secure(tls)
        }

        @Test(arguments: Identity.refused, [TransportConfiguration.HTTPVersions.http1, .http2])
        func `a server that refuses the client's certificate after the handshake is insecureConnection`(
            identity: Identity, versions: TransportConfiguration.HTTPVersions
        ) async throws {
            let server = try await demanding(.v1_3)
            var configuration = trusting
            (configuration.security.identity, configuration.httpVersions) = (identity.identity, versions)
            let upload = HTTPRequest(method: .post, url: server.url).with { $0.body = DataBody(Data(count: 1_000)) }
            for request in [HTTPRequest(url: server.url), upload] {
                let error = await failure(configuration, request)
                let expected =
                    "the server refused the client's certificate with the alert \(identity.alert) (set security.identity)"
                #expect(error?.code == .insecureConnection && error?.message == expected, "\(error as Any)")
                #expect(error?.mayHaveBeenSent == true && error?.underlying != nil)
            }
        }

        @Test func `a server that refuses the client's certificate during the handshake is insecureConnection`()
            async throws
        {
            let server = try await demanding(.v1_2)
            for refused in Identity.refused {
                let configuration = trusting.with { $0.security.identity = refused.identity }
                let error = await failure(configuration, HTTPRequest(url: server.url))
                let alert = refused.identity == nil ? "alert handshake failure" : "with the alert \(refused.alert)"
                #expect(error?.code == .insecureConnection && error?.message.contains(alert) == true)
                #expect(error?.mayHaveBeenSent == false && error?.underlying != nil)
            }
        }

        @Test(arguments: [HTTPResponse.Delivery.buffered, .streamed])
        func `the close_notify of an earlier connection does not complete the body of a request that was sent again`(
            delivery: HTTPResponse.Delivery
        ) async throws {
            let server = RawServer(tls: RawTLS()) { connection, number in
                guard connection.readHead() != nil else { return }
                guard number > 0 else {
                    connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                    _ = connection.readHead()
                    return connection.close()
                }
                connection.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf")
                connection.endOutput(isTruncated: true)
                _ = connection.waitForEnd()
            }
            let loader = Carrier.loader(trusting)
            #expect(try await loader.load(HTTPRequest(url: server.url())).status == 204)
            let request = HTTPRequest(url: server.url()).with { $0.responseDelivery = delivery }
            let error = await #expect(throws: HTTPError.self) { try await loader.load(request).body.data() }
            #expect(error?.code == .invalidResponse || error?.code == .connectionLost)
            #expect(server.connectionCount == 2)
        }
    }
#endif
