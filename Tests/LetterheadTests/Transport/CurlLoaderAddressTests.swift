// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import TestKit
    import Testing

    /// The settings that choose between which addresses a connection is made.
    @Suite(.bothCarriers, .timeLimit(.minutes(1)))
    struct CurlLoaderAddressTests {
        @Test func `a connection is made to the address that connectTo specifies for the host`() async throws {
            let heads = Heads()
            let server = RawServer.recording(heads)
            var configuration = TransportConfiguration()
            configuration.connectTo = ["a.example:80": "127.0.0.1:\(server.port)", "b.example:80": "127.0.0.1:1"]
            let loader = Carrier.loader(configuration)
            for _ in 0..<2 {
                let url = try #require(URL(string: "http://a.example/x"))
                #expect(try await loader.load(HTTPRequest(url: url)).status == 204)
            }
            #expect(heads.all.allSatisfy { $0.hasPrefix("GET /x HTTP/1.1\r\nHost: a.example\r\n") })
            #expect(heads.all.count == 2 && server.connectionCount == 1)
            let other = try #require(URL(string: "http://b.example/x"))
            let error = await #expect(throws: HTTPError.self) { try await loader.load(HTTPRequest(url: other)) }
            #expect(error?.code == .cannotConnect && heads.all.count == 2)
        }

        @Test func `a connection uses the version of IP in the configuration`() async throws {
            let server = RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let url = try #require(URL(string: "http://localhost:\(server.port)/"))
            var configuration = TransportConfiguration()
            configuration.addressFamily = .ipv4
            let response = try await Carrier.loader(configuration).load(HTTPRequest(url: url))
            #expect(response.metrics.remoteAddress == "127.0.0.1:\(server.port)")
            configuration.addressFamily = .ipv6
            let error = await failure { try await Carrier.loader(configuration).load(HTTPRequest(url: url)) }
            #expect(error?.code == .cannotConnect)
        }

        @Test(arguments: ["lo", "127.0.0.2"])
        func `a connection is made from the interface in the configuration`(name: String) async throws {
            let server = RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let configuration = TransportConfiguration().with { $0.networkInterface = name }
            let response = try await Carrier.loader(configuration).load(HTTPRequest(url: server.url()))
            #expect(try await response.body.data() == Data("ok".utf8))
        }

        @Test(arguments: ["nowhere0", "192.0.2.1"])
        func `an interface that does not exist is a failed connection`(name: String) async throws {
            let server = RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let configuration = TransportConfiguration().with { $0.networkInterface = name }
            let error = await failure { try await Carrier.loader(configuration).load(HTTPRequest(url: server.url())) }
            #expect(error?.code == .cannotConnect && error?.mayHaveBeenSent == false, "\(String(describing: error))")
            #expect(server.connectionCount == 0)
        }

        @Test(
            arguments: [
                ("a:1", "b"), ("a", "b:1"), ("a:1", "b:0"), ("a:1", "b:65536"), ("a:1", "::1:1"), ("a:1", "b/c:1"),
                ("", ":1"),
            ])
        func `an entry of connectTo that is not host and port is refused`(key: String, value: String) async throws {
            var configuration = TransportConfiguration()
            configuration.connectTo = [key: value]
            let url = try #require(URL(string: "http://127.0.0.1:1/"))
            let error = await failure { try await Carrier.loader(configuration).load(HTTPRequest(url: url)) }
            #expect(error?.code == .invalidRequest && error?.message.contains("connectTo") == true)
            configuration.connectTo = [:]
            configuration.networkInterface = "a b"
            let second = await failure { try await Carrier.loader(configuration).load(HTTPRequest(url: url)) }
            #expect(second?.code == .invalidRequest && second?.message.contains("networkInterface") == true)
        }
    }
#endif
