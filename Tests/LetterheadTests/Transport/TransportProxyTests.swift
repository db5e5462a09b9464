// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import LetterheadTesting
    import TestKit
    import Testing

    @Suite(.bothCarriers, .timeLimit(.minutes(3)))
    struct TransportProxyTests {
        private func loader(_ proxy: TransportConfiguration.Proxy) -> CurlLoader {
            return Carrier.loader(TransportConfiguration().with { $0.proxy = proxy })
        }

        @Test func `an HTTP proxy receives the exact URL and its credentials`() async throws {
            let heads = Heads()
            let proxy = RawServer.recording(heads)
            let url = try #require(URL(string: "http://nowhere.example/a%2Fb/../c?x=%20&y"))
            let loader = loader(.http("127.0.0.1", port: proxy.port).authenticated(user: "u", password: "p"))
            #expect(try await loader.load(HTTPRequest(url: url)).status == 204)
            let lines = heads.all[0].split(separator: "\r\n")
            #expect(lines[0] == "GET http://nowhere.example/a%2Fb/../c?x=%20&y HTTP/1.1")
            #expect(lines.contains("Host: nowhere.example") && lines.contains("Proxy-Authorization: Basic dTpw"))
            #expect(lines.count == 4)  // and Accept-Encoding
        }

        @Test(arguments: [
            ("/p?x#frag", "/p?x"), ("?x#frag", "/?x"), ("", "/"), ("/a%2Fb/../c?x=%20#frag", "/a%2Fb/../c?x=%20"),
        ])
        func `an HTTP proxy receives no fragment, and always a path`(end: String, target: String) async throws {
            let heads = Heads()
            let proxy = RawServer.recording(heads)
            let url = try #require(URL(string: "http://nowhere.example" + end))
            let loader = loader(.http("127.0.0.1", port: proxy.port))
            #expect(try await loader.load(HTTPRequest(url: url)).status == 204)
            #expect(heads.all[0].hasPrefix("GET http://nowhere.example\(target) HTTP/1.1\r\n"))
        }

        @Test func `the environment's proxy receives the exact URL, and no request to an excluded host`() async throws {
            let (status, output) = try await ChildProcess.run(
                ofPackage: "transport-stress", ["proxy", "4"], seconds: 60)
            #expect(status == 0 && output.contains("ok: "), "\(output)")
        }

        @Test(arguments: [true, false])
        func `a request's own Proxy-Authorization reaches neither a server nor a proxy`(isProxied: Bool) async throws {
            let heads = Heads()
            let server = RawServer.recording(heads)
            let request = HTTPRequest(url: server.url("/")).with { $0.headers["Proxy-Authorization"] = "Basic SECRET" }
            let loader = loader(isProxied ? .http("127.0.0.1", port: server.port) : .direct)
            let error = await #expect(throws: HTTPError.self) { try await loader.load(request) }
            #expect(error?.code == .invalidRequest && error?.mayHaveBeenSent == false)
            #expect(try await loader.load(HTTPRequest(url: server.url("/"))).status == 204)
            #expect(heads.all.count == 1 && !heads.all[0].contains("SECRET"))
        }

        @Test(arguments: [
            (401, HTTPError.Code.proxyRefused), (403, .proxyRefused), (407, .proxyRefused), (502, .cannotConnect),
            (301, .cannotConnect),
        ])
        func `a refused tunnel is an error with the proxy's status, and nothing was sent`(
            status: Int, code: HTTPError.Code
        ) async throws {
            let proxy = RawServer.answering("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n", closing: true)
            let url = try #require(URL(string: "https://nowhere.example/"))
            let loader = loader(.http("127.0.0.1", port: proxy.port).authenticated(user: "ada", password: "SECRET"))
            let error = await #expect(throws: HTTPError.self) { try await loader.load(HTTPRequest(url: url)) }
            #expect(error?.code == code && error?.mayHaveBeenSent == false && error?.proxyStatus?.code == status)
            let text = try #require(error).description
            #expect(text.contains("the proxy responded to CONNECT with \(status)") && !text.contains("SECRET"))
            #expect(text.contains("check proxy and its credentials") == (code == .proxyRefused))
        }

        @Test(arguments: [(407, 1), (502, 3)])
        func `a tunnel that the proxy refuses for good is not retried`(status: Int, attempts: Int) async throws {
            let proxy = RawServer.answering("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n", closing: true)
            let client = HTTPClient(
                environment: ServerEnvironment("https://nowhere.example"),
                transport: loader(.http("127.0.0.1", port: proxy.port)))
            let error = await #expect(throws: HTTPError.self) {
                try await client.send(Endpoint<HTTPResponse>(.get, "a").retry(.immediate, maximumRetries: 2))
            }
            #expect(error?.attempts.count == attempts && proxy.connectionCount == attempts)
        }

        @Test func `TLS is sent through a tunnel, and the proxy receives only the host`() async throws {
            let server = try await MockServer.secure { .text($0.path) }
            let (heads, port) = (Heads(), try #require(server.url.port))
            let proxy = RawServer { connection, _ in
                guard let head = connection.readHead() else { return }
                heads.add(head)
                connection.write("HTTP/1.1 200 Connected\r\nX-Proxy: 1\r\n\r\n")
                connection.relay(toPort: port)
                connection.close()
            }
            var configuration = TransportConfiguration.trusting
            configuration.proxy = .http("127.0.0.1", port: proxy.port).authenticated(user: "u", password: "p")
            var request = HTTPRequest(method: .post, url: server.url.appending(path: "secret"))
            request.headers["X-Secret"] = "1"
            request.body = DataBody(Data("body".utf8))
            let response = try await Carrier.loader(configuration).load(request)
            #expect(try await response.body.data() == Data("/secret".utf8))
            #expect(!response.headers.contains("X-Proxy"))
            let lines = try #require(heads.all.first).split(separator: "\r\n")
            #expect(heads.all.count == 1 && lines[0] == "CONNECT 127.0.0.1:\(port) HTTP/1.1")
            #expect(lines.contains("Proxy-Authorization: Basic dTpw"))
            #expect(!lines.contains { $0.hasPrefix("X-Secret") })
            let received = try #require(server.requests.first)
            #expect(!received.headers.contains("Proxy-Authorization") && received.headers["X-Secret"] == "1")
        }

        @Test func `a SOCKS proxy receives the host name, and forwards the request`() async throws {
            let (names, heads) = (Heads(), Heads())
            let proxy = RawServer { connection, _ in
                // RFC 1928: the ways to introduce oneself (none is chosen), then the address by name.
                guard let greeting = connection.read(2), greeting[0] == 5,
                    connection.read(Int(greeting[1])) != nil, connection.write([5, 0]),
                    let start = connection.read(5), start.starts(with: [5, 1, 0, 3]),
                    let name = connection.read(Int(start[4])), let port = connection.read(2)
                else { return connection.close() }
                names.add(String(decoding: name, as: UTF8.self) + ":\(Int(port[0]) << 8 | Int(port[1]))")
                connection.write([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
                while let head = connection.readHead() {
                    heads.add(head)
                    connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                }
            }
            let loader = loader(.socks5("127.0.0.1", port: proxy.port))
            let url = try #require(URL(string: "http://nowhere.example:8080/a?b"))
            for _ in 0..<2 { #expect(try await loader.load(HTTPRequest(url: url)).status == 204) }
            #expect(names.all == ["nowhere.example:8080"])
            #expect(
                heads.all.count == 2 && heads.all[0].hasPrefix("GET /a?b HTTP/1.1\r\nHost: nowhere.example:8080\r\n"))
        }

        @Test func `a SOCKS proxy that refuses reports that nothing was sent`() async throws {
            let proxy = RawServer { connection, _ in
                _ = connection.read(3)
                connection.write([5, 0xFF])
                connection.close()
            }
            let url = try #require(URL(string: "http://nowhere.example/"))
            let error = await #expect(throws: HTTPError.self) {
                try await loader(.socks5("127.0.0.1", port: proxy.port)).load(HTTPRequest(url: url))
            }
            #expect(error?.code == .cannotConnect && error?.mayHaveBeenSent == false)
        }

        @Test(arguments: [("u%40x", "a%40b%%41:c%00"), ("user", "p@ss:%2541")])
        func `a proxy receives the user and the password as they were given`(user: String, password: String)
            async throws
        {
            let heads = Heads()
            let proxy = RawServer.recording(heads)
            let url = try #require(URL(string: "http://nowhere.example/"))
            let loader = loader(.http("127.0.0.1", port: proxy.port).authenticated(user: user, password: password))
            #expect(try await loader.load(HTTPRequest(url: url)).status == 204)
            let expected = "Proxy-Authorization: Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
            #expect(heads.all[0].split(separator: "\r\n").contains { $0 == expected })
        }

        @Test func `a proxy over TLS is verified with the configured roots and versions`() async throws {
            let proxy = RawServer(tls: RawTLS(maximumVersion: .tls12)) { connection, _ in
                while connection.readHead() != nil { connection.write("HTTP/1.1 204 No Content\r\n\r\n") }
            }
            let request = HTTPRequest(url: try #require(URL(string: "http://nowhere.example/")))
            var configuration = TransportConfiguration()
            configuration.proxy = .https("127.0.0.1", port: proxy.port)
            let untrusted = await failure { try await Carrier.loader(configuration).load(request) }
            #expect(untrusted?.code == .insecureConnection && untrusted?.mayHaveBeenSent == false)
            configuration.security.roots = .pem(Data(Certificates.authority.utf8))
            #expect(try await Carrier.loader(configuration).load(request).status == 204)
            configuration.security.minimumVersion = .tls13
            let tooOld = await #expect(throws: HTTPError.self) { try await Carrier.loader(configuration).load(request) }
            #expect(tooOld?.code == .insecureConnection)
        }

        @Test(arguments: [("a:b", "p"), ("u", "a\r\nX: 1"), ("u", "a\0b")])
        func `credentials that a proxy could not receive are refused`(user: String, password: String) async throws {
            let request = HTTPRequest(url: try #require(URL(string: "http://127.0.0.1/")))
            let error = await #expect(throws: HTTPError.self) {
                try await loader(.http("127.0.0.1", port: 1).authenticated(user: user, password: password)).load(
                    request)
            }
            #expect(error?.code == .invalidRequest && error?.message.contains("the proxy's user") == true)
        }

        @Test func `requests to excepted hosts are sent directly`() async throws {
            let server = RawServer.answering("HTTP/1.1 204 No Content\r\n\r\n")
            let loader = loader(.http("127.0.0.1", port: 1).except(["127.0.0.1"]))
            #expect(try await loader.load(HTTPRequest(url: server.url("/x?y"))).status == 204)
        }

        @Test func `a password is in no description`() {
            let proxy = TransportConfiguration.Proxy.https("proxy.example", port: 1).authenticated(
                user: "u", password: "secret")
            #expect("\(proxy)" == "https://proxy.example:1")
            var text = ""
            dump(proxy, to: &text)
            #expect(!text.contains("secret"))
        }

        @Test(arguments: [
            TransportConfiguration.Proxy.environment.authenticated(user: "u", password: "p"),
            .environment.except(["a.test"]),
            .direct.authenticated(user: "u", password: "p"), .direct.except(["a.test"]),
        ])
        func `a proxy without a host has no credentials or exceptions`(
            proxy: TransportConfiguration.Proxy
        ) async throws {
            let request = HTTPRequest(url: try #require(URL(string: "http://127.0.0.1/")))
            let error = await #expect(throws: HTTPError.self) { try await loader(proxy).load(request) }
            #expect(error?.code == .invalidRequest && error?.message.contains("credentials") == true)
        }

        @Test(arguments: [TransportConfiguration.Proxy.http("", port: 1), .http("a b", port: 1), .socks5("x", port: 0)])
        func `a malformed proxy is refused`(proxy: TransportConfiguration.Proxy) async throws {
            let request = HTTPRequest(url: try #require(URL(string: "http://127.0.0.1/")))
            #expect(await failure { try await loader(proxy).load(request) }?.code == .invalidRequest)
        }
    }
#endif
