#if os(Linux)
    import Foundation
    import Letterhead
    import RawServer
    import Testing

    @Suite(.timeLimit(.minutes(3)))
    struct TransportProxyTests {
        private func loader(_ proxy: TransportProxy) -> CurlLoader {
            var configuration = TransportConfiguration()
            configuration.proxy = proxy
            return CurlLoader(configuration)
        }

        @Test func `An HTTP proxy gets the exact URL, and its credentials`() async throws {
            let heads = Heads()
            let proxy = RawServer { connection, _ in
                while let head = connection.readHead() {
                    heads.add(head)
                    connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                }
            }
            let url = try #require(URL(string: "http://nowhere.example/a%2Fb/../c?x=%20&y"))
            let loader = loader(.http("127.0.0.1", port: proxy.port).authenticated(user: "u", password: "p"))
            #expect(try await loader.load(HTTPRequest(url: url)).status == 204)
            let lines = heads.all[0].split(separator: "\r\n")
            #expect(lines[0] == "GET http://nowhere.example/a%2Fb/../c?x=%20&y HTTP/1.1")
            #expect(lines.contains("Host: nowhere.example") && lines.contains("Proxy-Authorization: Basic dTpw"))
            #expect(lines.count == 4)  // and Accept-Encoding
        }

        @Test func `A refused tunnel says that nothing was sent`() async throws {
            let proxy = RawServer.answering("HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n", closing: true)
            let url = try #require(URL(string: "https://nowhere.example/"))
            let loader = loader(.http("127.0.0.1", port: proxy.port))
            let error = await #expect(throws: HTTPError.self) { try await loader.load(HTTPRequest(url: url)) }
            #expect(error?.code == .cannotConnect && error?.mayHaveBeenSent == false)
        }

        @Test func `Hosts that are excepted are reached directly`() async throws {
            let server = RawServer.answering("HTTP/1.1 204 No Content\r\n\r\n")
            let loader = loader(.http("127.0.0.1", port: 1).except(["127.0.0.1"]))
            #expect(try await loader.load(HTTPRequest(url: server.url("/x?y"))).status == 204)
        }

        @Test func `A password stands in no text`() {
            let proxy = TransportProxy.https("proxy.example", port: 1).authenticated(user: "u", password: "secret")
            #expect("\(proxy)" == "https://proxy.example:1")
            var text = ""
            dump(proxy, to: &text)
            #expect(!text.contains("secret"))
        }

        @Test(arguments: [TransportProxy.http("", port: 1), .http("a b", port: 1), .socks5("x", port: 0)])
        func `A malformed proxy is refused`(proxy: TransportProxy) async throws {
            let request = HTTPRequest(url: try #require(URL(string: "http://127.0.0.1/")))
            let error = await #expect(throws: HTTPError.self) { try await loader(proxy).load(request) }
            #expect(error?.code == .invalidRequest)
        }
    }
#endif
