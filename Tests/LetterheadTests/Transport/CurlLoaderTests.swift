// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import TestKit
    import Synchronization
    import Testing

    @Suite(.bothCarriers, .timeLimit(.minutes(3)))
    struct CurlLoaderTests {
        let loader = Carrier.loader()

        @Test func `the request is sent exactly, and only Host and Accept-Encoding are added`() async throws {
            let heads = Heads()
            let server = RawServer.recording(heads)
            var request = HTTPRequest(url: server.url("/a%2Fb/../c//d?x=%20&y=+&z"))
            request.headers.append("x-Mixed-CASE", "1")
            request.headers.append("X-Empty", "")
            request.headers.append("x-mixed-case", "2")
            _ = try await loader.load(request)
            #expect(
                heads.all == [
                    "GET /a%2Fb/../c//d?x=%20&y=+&z HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"
                        + "x-Mixed-CASE: 1\r\nX-Empty:\r\nx-mixed-case: 2\r\nAccept-Encoding: \(SystemCodings.offered)\r\n\r\n"
                ])
        }

        @Test func `alternating requests to several servers arrive at the right server with the right target`()
            async throws
        {
            let heads = Heads()
            let servers = (0..<2).map { _ in RawServer.recording(heads) }
            let origins = [
                "127.0.0.1:\(servers[0].port)", "127.0.0.1:\(servers[1].port)", "localhost:\(servers[0].port)",
            ]
            let targets = [
                ("", "/"), ("/", "/"), ("?q=/x/y", "/?q=/x/y"), ("/a?b#c", "/a?b"), ("/a#/c?d", "/a"), ("/a/b", "/a/b"),
            ]
            var lines: [String] = []
            for (text, target) in targets + targets.reversed() {
                for origin in origins {
                    let url = try #require(URL(string: "http://\(origin)\(text)"))
                    #expect(try await loader.load(HTTPRequest(url: url)).status == 204)
                    lines.append("GET \(target) HTTP/1.1\r\nHost: \(origin)\r\n")
                }
            }
            #expect(heads.all == lines.map { $0 + "Accept-Encoding: \(SystemCodings.offered)\r\n\r\n" })
        }

        @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PURGE", "get"])
        func `a method is sent as written`(method: String) async throws {
            let heads = Heads()
            let server = RawServer.recording(heads)
            _ = try await loader.load(HTTPRequest(method: HTTPMethod(method), url: server.url()))
            let length = ["POST", "PUT", "PATCH"].contains(method) ? "Content-Length: 0\r\n" : ""
            let start = "\(method) / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"
            #expect(heads.all == ["\(start)Accept-Encoding: \(SystemCodings.offered)\r\n\(length)\r\n"])
        }

        @Test(
            arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "PURGE"], [1, 1_000, 65_536, 65_537, 3_000_000])
        func `a body arrives complete with its exact length`(method: String, size: Int) async throws {
            let heads = Heads()
            let server = RawServer.echoing(heads)
            var request = HTTPRequest(method: HTTPMethod(method), url: server.url())
            let bytes = Data.patterned(size)
            request.body = Bytes(data: bytes)
            let response = try await loader.load(request)
            #expect(try await response.body.data() == bytes)
            #expect(
                heads.all == [
                    "\(method) / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"
                        + "Content-Type: application/x-test\r\nAccept-Encoding: \(SystemCodings.offered)\r\n"
                        + "Content-Length: \(size)\r\n\r\n"
                ])
        }

        @Test func `header lines are kept unchanged`() async throws {
            let server = RawServer.answering(
                "HTTP/1.1 200\r\nset-cookie: a=1, b\r\nSet-Cookie: c=2\r\nX-Near:v\r\nX-Tab:\t  \t\r\nX-Fold: a\r\n  b\r\n"
                    + "X-UTF: é\r\nContent-Length: 0\r\n\r\n")
            let headers = try await loader.load(HTTPRequest(url: server.url())).headers
            #expect(
                headers.map { [$0.name.rawValue, $0.value] } == [
                    ["set-cookie", "a=1, b"], ["Set-Cookie", "c=2"], ["X-Near", "v"], ["X-Tab", ""], ["X-Fold", "a b"],
                    ["X-UTF", "é"], ["Content-Length", "0"],
                ])
        }

        @Test func `a byte that is not UTF-8 is read as Latin-1`() async throws {
            let server = RawServer { connection, _ in
                _ = connection.readHead()
                connection.write(
                    Array("HTTP/1.1 200 OK\r\nX: ".utf8) + [0xE9] + Array("\r\nContent-Length: 0\r\n\r\n".utf8))
            }
            #expect(try await loader.load(HTTPRequest(url: server.url())).headers["X"] == "é")
        }

        @Test func `hundreds of concurrent requests each receive their own body`() async throws {
            let server = RawServer { connection, _ in
                while let request = connection.readRequest() {
                    let path = request.head.split(separator: " ")[1]
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(path.utf8.count)\r\n\r\n\(path)")
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<500 {
                    group.addTask {
                        let response = try await loader.load(HTTPRequest(url: server.url("/\(number)")))
                        #expect(try await response.body.data() == Data("/\(number)".utf8))
                    }
                }
                try await group.waitForAll()
            }
            #expect(server.connectionCount <= 64)
        }

        @Test(
            "Bodiless and interim answers are read right",
            arguments: [
                ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5000000000\r\n\r\n", 200, ""),
                ("GET", "HTTP/1.1 204 No Content\r\n\r\n", 204, ""),
                ("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n", 304, ""),
                ("GET", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok"),
                (
                    "GET", "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200,
                    "ok"
                ),
                ("GET", "HTTP/1.1 302 Found\r\nLocation: //%00/x\r\nContent-Length: 2\r\n\r\nok", 302, "ok"),
                ("POST", "HTTP/1.1 307 Temporary\r\nLocation: /x\r\nContent-Length: 2\r\n\r\nok", 307, "ok"),
                (
                    "GET", "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 2\r\n\r\nok", 401,
                    "ok"
                ),
                (
                    "GET",
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Trailer: 1\r\n\r\n", 200,
                    "ok"
                ),
                ("GET", "HTTP/1.1 799 Odd\r\nContent-Length: 2\r\n\r\nok", 799, "ok"),
            ])
        func answers(method: String, response: String, status: Int, body: String) async throws {
            let server = RawServer.answering(response)
            for _ in 0..<2 {
                let answer = try await loader.load(HTTPRequest(method: HTTPMethod(method), url: server.url()))
                #expect(answer.status.code == status)
                #expect(try await answer.body.data() == Data(body.utf8))
            }
            #expect(server.connectionCount == 1)
        }

        @Test func `an HTTP 1_0 body ends with its connection`() async throws {
            let server = RawServer.answering("HTTP/1.0 200 OK\r\n\r\nall of it", closing: true)
            let response = try await loader.load(HTTPRequest(url: server.url()))
            #expect(try await response.body.data() == Data("all of it".utf8))
        }

        @Test func `after a reused connection closes, a GET is sent again, and a POST is not`() async throws {
            let heads = Heads()
            let server = RawServer { connection, _ in
                guard let first = connection.readRequest() else { return }
                heads.add(first.head)
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                // The next one is read whole, and never answered.
                guard let second = connection.readRequest() else { return }
                heads.add(second.head)
                connection.close()
            }
            _ = try await loader.load(HTTPRequest(url: server.url("/1")))
            #expect(try await loader.load(HTTPRequest(url: server.url("/2"))).status == 200)
            for body in [Data(), Data([1]), Data(count: 100_000)] {
                var post = HTTPRequest(method: .post, url: server.url("/post\(body.count)"))
                post.body = Bytes(data: body)
                _ = try await loader.load(HTTPRequest(url: server.url("/1")))
                #expect(await failure { try await loader.load(post) }?.code == .connectionLost)
                #expect(heads.all.count { $0.hasPrefix("POST /post\(body.count) ") } == 1)
            }
            #expect(heads.all.count { $0.hasPrefix("GET /2") } == 2)
        }

        private static let outOfRange: [(name: String, change: @Sendable (inout TransportConfiguration) -> Void)] = [
            ("connectTimeout", { $0.connectTimeout = .zero }),
            ("idleConnectionTimeout", { $0.idleConnectionTimeout = .zero }),
            ("maximumConnectionAge", { $0.maximumConnectionAge = .seconds(-1) }),
        ]

        @Test(arguments: outOfRange.indices)
        func `a transport with a setting out of range refuses every request`(index: Int) async throws {
            var configuration = TransportConfiguration()
            Self.outOfRange[index].change(&configuration)
            let error = await #expect(throws: HTTPError.self) {
                try await Carrier.loader(configuration).load(
                    HTTPRequest(url: #require(URL(string: "http://127.0.0.1:1"))))
            }
            #expect(error?.code == .invalidRequest && error?.message.contains(Self.outOfRange[index].name) == true)
        }
    }

    /// A body of the given bytes with a media type.
    struct Bytes: HTTPBody {
        let data: Data
        var contentLength: Int? { data.count }
        var additionalHeaders: HTTPHeaders { ["Content-Type": "application/x-test"] }
        func encode() -> Data { data }
    }

    extension RawServer {
        /// A server that notes the head of each request, and responds with 204.
        static func recording(_ heads: Heads) -> RawServer {
            RawServer { connection, _ in
                while let request = connection.readRequest() {
                    heads.add(request.head)
                    connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                }
            }
        }

        /// A server that notes the head of each request, and returns the body.
        static func echoing(_ heads: Heads) -> RawServer {
            RawServer { connection, _ in
                while let request = connection.readRequest() {
                    heads.add(request.head)
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(request.body.count)\r\n\r\n")
                    connection.write(Array(request.body))
                }
            }
        }

        /// A server of HTTP/2 that passes each request to a closure, with the number of its connection and its stream.
        static func http2(
            tls: RawTLS? = RawTLS(choosesHTTP2: true),
            _ answer: @escaping @Sendable (RawConnection, _ number: Int, _ stream: UInt32) -> Void
        ) -> RawServer {
            RawServer(tls: tls) { connection, number in
                guard connection.beginHTTP2() else { return }
                while let stream = connection.readHTTP2Request() { answer(connection, number, stream) }
            }
        }

        /// A server that reads one request, and then sends the given bytes and nothing more.
        static func stalling(after bytes: String = "", ended: DispatchSemaphore? = nil) -> RawServer {
            RawServer { connection, _ in
                guard connection.readHead() != nil else { return }
                connection.write(bytes)
                _ = connection.waitForEnd()
                ended?.signal()
            }
        }
    }

    /// What servers saw. A class, since their threads and the test share it.
    final class Heads: Sendable {
        private let heads = Mutex<[String]>([])
        func add(_ head: String) { heads.withLock { $0.append(head) } }
        var all: [String] { heads.withLock { $0 } }
    }
#endif
