// SPDX-License-Identifier: MIT
import Foundation
import TestKit
import Testing

@testable import Letterhead

/// Which addresses are public.
struct TransportAddressesTests {
    /// Each range with its first and last address, and the addresses before and after it.
    @Test(arguments: [
        (nil, "0.0.0.0", "0.255.255.255", "1.0.0.0"), ("9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"),
        ("100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"),
        ("126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"),
        ("168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17"),
        ("169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"),
        ("172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"),
        ("191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"),
        ("192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"),
        ("192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"),
        ("192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"),
        ("198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"),
        ("198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"),
        ("203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"),
        ("223.255.255.255", "224.0.0.0", "255.255.255.255", nil),
        (nil, "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"),
        ("2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"),
        (
            "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
            "2001:db9::"
        ),
        ("2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"),
        ("3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"),
        ("3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "4000::", "7fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nil),
        (nil, "8000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nil),
    ])
    func `a range contains its first and its last address, and no other`(
        before: String?, first: String, last: String, after: String?
    ) throws {
        for text in [first, last] {
            let address = try #require(IPAddress(text))
            #expect(!TransportConfiguration.Security.Addresses.public.allows(address), "\(text)")
            #expect(TransportConfiguration.Security.Addresses.any.allows(address))
        }
        for text in [before, after].compactMap(\.self) {
            #expect(TransportConfiguration.Security.Addresses.public.allows(IPAddress(text)), "\(text)")
        }
    }

    @Test(arguments: [
        // Loopback, IPv4-compatible, local-use NAT64, discard-only, unique-local, link-local, site-local, multicast.
        "::1", "::7f00:1", "::808:808", "64:ff9b:1::808:808", "64:ff9b::1:808:808", "100::1", "fc00::1",
        "fd00:ec2::254",
        "fe80::1", "febf::1", "fec0::1", "ff02::1", "5f00::1",
        // 6to4 and Teredo, whatever IPv4 address they contain.
        "2002:808:808::1", "2002:7f00:1::1", "2001:0:808:808::1",
        // Addresses of metadata services.
        "169.254.169.254", "100.100.100.200", "192.0.0.192", "fd20:ce::254",
        // IPv4 addresses as IPv6.
        "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:0.0.0.0", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
        "64:ff9b::10.0.0.1",
    ])
    func `an address that is not reachable in the whole internet is not public`(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(!TransportConfiguration.Security.Addresses.public.allows(address))
    }

    @Test(arguments: ["8.8.8.8", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"])
    func `a public address is allowed, also one of IPv4 as IPv6`(text: String) {
        #expect(TransportConfiguration.Security.Addresses.public.allows(IPAddress(text)))
    }

    @Test func `what is not an IP address is allowed only with any address`() {
        for address in [IPAddress("localhost"), IPAddress(""), IPAddress("1"), IPAddress(bytes: [1, 2, 3])] {
            #expect(address == nil)
            #expect(!TransportConfiguration.Security.Addresses.public.allows(address))
            #expect(TransportConfiguration.Security.Addresses.any.allows(address))
        }
    }

    @Test func `a description names the policy`() {
        let all: [TransportConfiguration.Security.Addresses] = [.any, .public, .public(proxies: .trusted)]
        #expect(all.map(\.description) == ["any", "public", "public(proxies: trusted)"])
        #expect(Set(all).count == 3)
    }
}

#if os(Linux)
    /// Which connections are opened.
    @Suite(.bothCarriers, .timeLimit(.minutes(1)))
    struct TransportAddressesConnectionTests {
        private let server = RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

        /// A configuration that allows public addresses, and 127.0.0.1 but no other address of this computer.
        private var allowingFirst: TransportConfiguration {
            let loopback = AddressRange.v4(127, 0, 0, 0, length: 8)
            var ranges = AddressRange.special.filter { $0 != loopback }
            ranges.append(.v4(127, 0, 0, 2, length: 31))
            var configuration = TransportConfiguration()
            configuration.security.addresses = .init(refused: ranges, proxies: .refused)
            return configuration
        }

        private func url(_ host: String, scheme: String = "http") throws -> URL {
            try #require(URL(string: "\(scheme)://\(host):\(server.port)/"))
        }

        @Test(arguments: [
            "127.0.0.1", "127.1", "2130706433", "0x7f.1", "0x7f000001", "0177.0.0.1", "017700000001", "0.0.0.0", "0",
            "localhost", "LOCALHOST", "a.localhost", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
            "[::127.0.0.1]", "[0:0:0:0:0:ffff:7f00:1]", "169.254.169.254", "2852039166", "100.64.0.1",
            "100.100.100.200", "168.63.129.16", "[64:ff9b::7f00:1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::1]",
            "[fd00:ec2::254]", "[2002:7f00:1::]", "10.0.0.1", "192.168.1.1",
        ])
        func `a host without a public address is refused before a connection`(host: String) async throws {
            let configuration = TransportConfiguration().with { $0.security.addresses = .public }
            let client = HTTPClient(transport: Carrier.loader(configuration))
            for scheme in ["http", "https"] {
                var request = HTTPRequest(url: try url(host, scheme: scheme))
                (request.retryStrategy, request.maximumRetries) = (.immediate, 2)
                let retried = request
                let error = try #require(await #expect(throws: HTTPError.self) { try await client.send(retried) })
                #expect(error.code == .invalidRequest && !error.mayHaveBeenSent)
                #expect(error.message.hasPrefix("security.addresses refused each address of "), "\(error)")
                #expect(error.attempts.count == 1)
            }
            #expect(server.connectionCount == 0)
        }

        @Test func `a host is reached over those of its addresses that are allowed`() async throws {
            let response = try await Carrier.loader(allowingFirst).load(HTTPRequest(url: url("localhost")))
            #expect(response.metrics.remoteAddress == "127.0.0.1:\(server.port)")
        }

        @Test func `a connection to an allowed address is reused`() async throws {
            let loader = Carrier.loader(allowingFirst)
            for _ in 0..<3 { #expect(try await loader.load(HTTPRequest(url: server.url())).status == 200) }
            #expect(server.connectionCount == 1)
        }

        @Test func `an allowed address that refuses the connection is a failed connection`() async throws {
            let loader = Carrier.loader(allowingFirst)
            let url = try #require(URL(string: "http://localhost:1/"))
            let error = await #expect(throws: HTTPError.self) { try await loader.load(HTTPRequest(url: url)) }
            #expect(error?.code == .cannotConnect)
        }

        @Test func `a request that fails for its address does not affect the next one`() async throws {
            let loader = Carrier.loader(allowingFirst)
            for _ in 0..<2 {
                await #expect(throws: HTTPError.self) { try await loader.load(HTTPRequest(url: url("127.0.0.2"))) }
                #expect(try await loader.load(HTTPRequest(url: server.url())).status == 200)
            }
        }

        @Test func `a redirect to an address that is not public is refused`() async throws {
            let inner = RawServer(host: "127.0.0.2") { connection, _ in connection.close() }
            let outer = RawServer.answering(
                "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:\(inner.port)/\r\nContent-Length: 0\r\n\r\n")
            let client = HTTPClient(transport: Carrier.loader(allowingFirst))
            let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest(url: outer.url())) }
            #expect(error?.code == .invalidRequest)
            #expect(error?.message.contains("security.addresses refused each address of 127.0.0.2") == true)
            #expect(outer.connectionCount == 1 && inner.connectionCount == 0)
        }

        @Test(arguments: ["127.0.0.2", "localhost", "[::ffff:127.0.0.2]"])
        func `the address in connectTo is judged`(host: String) async throws {
            var configuration = allowingFirst
            configuration.addressFamily = host == "localhost" ? .ipv6 : .any
            configuration.connectTo = ["a.example:80": "\(host):\(server.port)"]
            let loader = Carrier.loader(configuration)
            let url = try #require(URL(string: "http://a.example/"))
            let error = await #expect(throws: HTTPError.self) { try await loader.load(HTTPRequest(url: url)) }
            #expect(error?.message.hasPrefix("security.addresses refused each address of a.example ") == true)
            #expect(server.connectionCount == 0)
        }

        @Test func `a Unix-domain socket is refused before anything is sent`() async throws {
            let configuration = allowingFirst.with { $0.unixSocketPath = "/tmp/letterhead-none.sock" }
            let loader = Carrier.loader(configuration)
            let error = await failure { try await loader.load(HTTPRequest(url: server.url())) }
            #expect(error?.code == .invalidRequest && error?.mayHaveBeenSent == false)
            #expect(error?.message.hasPrefix("security.addresses excludes unixSocketPath") == true)
        }

        @Test(arguments: [
            TransportConfiguration.Proxy.http("127.0.0.1", port: 1), .https("127.0.0.1", port: 1),
            .socks5("127.0.0.1", port: 1),
        ])
        func `a proxy is refused before anything is sent`(proxy: TransportConfiguration.Proxy) async throws {
            let configuration = TransportConfiguration().with { ($0.security.addresses, $0.proxy) = (.public, proxy) }
            let loader = Carrier.loader(configuration)
            let error = await failure { try await loader.load(HTTPRequest(url: server.url())) }
            #expect(error?.code == .invalidRequest && error?.mayHaveBeenSent == false)
            #expect(error?.message.hasPrefix("security.addresses excludes the proxy ") == true)
        }

        @Test func `a trusted proxy receives the requests, and has no exceptions`() async throws {
            var configuration = TransportConfiguration()
            configuration.security.addresses = .public(proxies: .trusted)
            configuration.proxy = .http("127.0.0.1", port: server.port)
            let inner = try #require(URL(string: "http://127.0.0.2:1/"))
            #expect(try await Carrier.loader(configuration).load(HTTPRequest(url: inner)).status == 200)
            configuration.proxy = configuration.proxy.except(["127.0.0.2"])
            let loader = Carrier.loader(configuration)
            let error = await #expect(throws: HTTPError.self) { try await loader.load(HTTPRequest(url: inner)) }
            #expect(error?.message == "security.addresses excludes exceptions of a trusted proxy")
            configuration.proxy = .direct
            let direct = Carrier.loader(configuration)
            let refused = await #expect(throws: HTTPError.self) { try await direct.load(HTTPRequest(url: inner)) }
            #expect(refused?.message.hasPrefix("security.addresses refused ") == true)
        }

        @Test(arguments: ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", ""])
        func `a proxy from the environment is refused unless it is trusted`(name: String) async throws {
            var environment = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].reduce(into: [:]) {
                $0[$1] = ""
            }
            environment["no_proxy"] = "127.0.0.1"
            if !name.isEmpty { environment[name] = "http://127.0.0.1:\(server.port)" }
            let (status, output) = try await ChildProcess.run(
                ofPackage: "transport-stress", ["addresses", "1", name], seconds: 60,
                environment: environment)
            #expect(status == 0 && output.contains("ok: "), "\(output)")
        }

        @Test func `the chain of a client names the restriction`() {
            let restricted = HTTPClient(transport: Carrier.loader(allowingFirst)).description
            #expect(restricted.hasSuffix("--> CurlLoader(security.addresses: public))"))
            #expect(HTTPClient(transport: Carrier.loader()).description.hasSuffix("--> CurlLoader)"))
        }
    }
#endif
