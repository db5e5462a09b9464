// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    import Foundation
    @testable import Letterhead
    import LetterheadTesting
    import TestKit
    import Testing

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// Settings and requests that only one transport refuses.
    extension TransportTests {
        private static let unsupported: [(name: String, change: @Sendable (inout TransportConfiguration) -> Void)] = [
            ("connectTimeout", { $0.connectTimeout = .seconds(1) }), ("connectTimeout", { $0.connectTimeout = nil }),
            ("maximumConnections", { $0.maximumConnections = 1 }), ("queueTimeout", { $0.queueTimeout = nil }),
            ("maximumHeadSize", { $0.maximumHeadSize = 1_000 }),
            ("proxy", { $0.proxy = .direct }), ("security", { $0.security.roots = .pem(Data()) }),
            ("security.addresses", { $0.security.addresses = .public }),
            ("unixSocketPath", { $0.unixSocketPath = "/tmp/x" }),
            ("httpVersions", { $0.httpVersions = .http1 }),
            ("dnsOverHTTPS", { $0.dnsOverHTTPS = URL(string: "https://127.0.0.1/") }),
            ("addressFamily", { $0.addressFamily = .ipv6 }), ("networkInterface", { $0.networkInterface = "lo" }),
            ("connectTo", { $0.connectTo = ["a:1": "b:2"] }), ("decodesContent", { $0.decodesContent = false }),
            ("idleConnectionTimeout", { $0.idleConnectionTimeout = nil }),
            ("maximumConnectionAge", { $0.maximumConnectionAge = nil }),
            ("tcpKeepAlive", { $0.tcpKeepAlive = nil }), ("maximumDecodingRatio", { $0.maximumDecodingRatio = 3 }),
        ]

        @Test(arguments: unsupported.indices)
        func `URLSession refuses an unsupported setting, and the error names it`(index: Int) async throws {
            let server = try await echo()
            var configuration = TransportConfiguration()
            Self.unsupported[index].change(&configuration)
            let loader = URLSessionLoader(configuration)
            let request = request(.get, "200", on: server)
            let error = await #expect(throws: HTTPError.self) { try await loader.load(request) }
            #expect(error?.code == .invalidRequest && error?.mayHaveBeenSent == false && server.requests.isEmpty)
            let rule = "URLSession does not support \(Self.unsupported[index].name) (it supports only "
            #expect(error?.message.hasPrefix(rule) == true)
            await server.stop()
        }

        #if canImport(FoundationNetworking)
            @Test(arguments: [0, 1, 2])
            func `URLSession on Linux refuses pinned keys and checks of certificates`(index: Int) async throws {
                let server = try await echo()
                var configuration = TransportConfiguration()
                switch index {
                case 0: configuration.security.pinnedKeys = [Data(count: 32)]
                case 1: configuration.security.pinnedKeysByHost = ["a": [Data(count: 32)]]
                default: configuration.security.verify { _, _ in }
                }
                let (loader, request) = (URLSessionLoader(configuration), request(.get, "200", on: server))
                let error = await #expect(throws: HTTPError.self) { try await loader.load(request) }
                #expect(error?.code == .invalidRequest && server.requests.isEmpty)
                #expect(error?.message.hasPrefix("URLSession does not support security (it supports only ") == true)
                await server.stop()
            }
        #endif

        @Test func `URLSession accepts the supported settings`() async throws {
            let server = try await echo()
            var configuration = TransportConfiguration()
            configuration.maximumConnectionsPerHost = 2
            configuration.firstByteTimeout = .seconds(30)
            configuration.idleTimeout = .seconds(30)
            #expect(try await URLSessionLoader(configuration).load(request(.get, "echo", on: server)).status == .ok)
            await server.stop()
        }

        @Test func `URLSession refuses a request with a connect timeout before anything is sent`() async throws {
            let server = try await echo()
            let request = request(.get, "200", on: server).with { $0.connectTimeout = .seconds(3) }
            let error = await #expect(throws: HTTPError.self) { try await URLSessionLoader().load(request) }
            #expect(error?.code == .invalidRequest && error?.mayHaveBeenSent == false && server.requests.isEmpty)
            #expect(error?.message == "URLSession does not support connectTimeout (use timeout)")
            await server.stop()
        }

        @Test func `URLSession refuses a GET with a body before anything is sent`() async throws {
            let server = try await echo()
            let request = request(.get, "200", on: server).with { $0.body = TextBody("x") }
            let error = await #expect(throws: HTTPError.self) { try await URLSessionLoader().load(request) }
            #expect(error?.code == .invalidRequest && error?.mayHaveBeenSent == false && server.requests.isEmpty)
        }

        @Test func `a loader applies its session configuration and follows no redirect`() async throws {
            let server = try await echo()
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = ["X-Given": "yes"]
            let loader = URLSessionLoader(sessionConfiguration: configuration)
            configuration.httpAdditionalHeaders = ["X-Given": "no"]
            #expect(try await loader.load(request(.post, "echo", on: server)).status == .ok)
            #expect(try await loader.load(request(.get, "redirect", on: server)).status == 302)
            #expect(server.requests.map { $0.headers["X-Given"] } == ["yes", "yes"])
        }

        @Test func `the idle timeout of a session configuration applies`() async throws {
            let server = try await MockServer.start { _ in
                MockServer.Response(body: Data(count: 8)).fault(.stall, at: .responseBody)
            }
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = 1
            let loader = URLSessionLoader(sessionConfiguration: configuration)
            #expect(await failure { try await loader.load(HTTPRequest(url: server.url)) }?.code == .timedOut)
            await server.stop()
        }
    }
#endif
