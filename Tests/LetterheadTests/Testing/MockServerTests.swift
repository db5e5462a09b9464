// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(3))) struct MockServerTests {
    func withServer(
        _ configuration: MockServer.Configuration = .init(), _ closure: @escaping MockServer.Closure = Self.echo,
        _ body: (MockServer, RawClient) async throws -> Void
    ) async throws {
        let server = try await MockServer.start(configuration, closure: closure)
        try await body(server, RawClient(port: server.port))
        await server.stop()
    }

    static let echo: MockServer.Closure = { MockServer.Response(body: $0.body) }

    func get(_ target: String = "/", _ headers: String = "") -> String {
        "GET \(target) HTTP/1.1\r\nHost: a\r\n\(headers)\r\n"
    }

    func post(_ body: String, _ headers: String = "") -> String {
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
    }

    @Test func `the response of the closure is sent, and only the framing is added`() async throws {
        try await withServer { _ in
            MockServer.Response(status: 418, headers: ["X-a": "1", "x-A": "2"], body: Data("hi".utf8))
        } _: { _, client in
            await client.send(get())
            let text = await client.read(until: "hi")
            #expect(text.hasPrefix("HTTP/1.1 418 "))
            #expect(text.hasSuffix("\r\nX-a: 1\r\nx-A: 2\r\nContent-Length: 2\r\n\r\nhi"))
        }
    }

    @Test func `a request is recorded unchanged`() async throws {
        try await withServer { server, client in
            await client.send(
                "PURGE /a%2Fb?page=2&q=a+b%2Bc&flag HTTP/1.1\r\nHost: a\r\n"
                    + "X-One:1\r\nx-one:  2 \r\nContent-Length: 3\r\n\r\nabc"
            )
            _ = await client.read(until: "abc")
            let request = try #require(server.requests.first)
            #expect(request.method == "PURGE" && request.path == "/a%2Fb" && request.query == "page=2&q=a+b%2Bc&flag")
            #expect(request.target == "/a%2Fb?page=2&q=a+b%2Bc&flag")
            #expect(request.queryValue("page") == "2" && request.queryValue("q") == "a b+c")
            #expect(request.queryValue("flag") == "" && request.queryValue("none") == nil)
            #expect(request.headers.values(for: "X-ONE") == ["1", "2"])
            #expect(request.headers.map(\.name.rawValue) == ["Host", "X-One", "x-one", "Content-Length"])
            #expect(request.body == Data("abc".utf8) && request.isComplete && request.connection == 1)
        }
    }

    @Test func `a proxy's request has the path of its URL`() async throws {
        try await withServer { server, client in
            await client.send("GET http://example.test/x?y=1 HTTP/1.1\r\nHost: example.test\r\n\r\n")
            _ = await client.read(until: "\r\n\r\n")
            let request = try #require(server.requests.first)
            #expect(request.path == "/x" && request.queryValue("y") == "1")
            #expect(request.target == "http://example.test/x?y=1")
        }
    }

    @Test func `a connection serves pipelined requests one after the other`() async throws {
        try await withServer { server, client in
            await client.send(post("one") + post("two"))
            #expect(await client.read(until: "two").contains("one"))
            await client.send(post("three"))
            #expect(await client.read(until: "three").hasSuffix("three"))
            #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["one", "two", "three"])
            let record = try await server.record { $0.connections.first?.responses == 3 }
            #expect(record.connections.map(\.requests) == [3] && record.connections[0].isOpen)
        }
    }

    @Test func `a request is parsed for any division into pieces`() async throws {
        let head = "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        let bytes = Data((head + "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nX-End: 1\r\n\r\n").utf8)
        try await withServer { server, client in
            for byte in bytes { await client.send(Data([byte])) }
            #expect(await client.read(until: "abcde").hasSuffix("abcde"))
            #expect(server.requests[0].body == Data("abcde".utf8) && server.requests[0].trailers["X-End"] == "1")
        }
    }

    @Test(arguments: Malformed.all)
    func `malformed requests are refused and recorded as failures`(_ malformed: Malformed) async throws {
        try await withServer { server, client in
            await client.send(malformed.bytes)
            let (text, ending) = await client.readAll()
            #expect(text.hasPrefix("HTTP/1.1 \(malformed.status) ") && ending == .end && server.failures.count == 1)
        }
    }

    @Test func `an error of the closure is a 500 that names it, and a failure`() async throws {
        struct Oops: Error {}
        try await withServer { _ in
            throw Oops()
        } _: { server, client in
            await client.send(get("/x"))
            let text = await client.read(until: "\n")
            #expect(text.hasPrefix("HTTP/1.1 500 ") && text.contains("Oops"))
            #expect(server.failures.first?.underlying is Oops && server.failures.first?.request?.path == "/x")
        }
    }

    @Test(arguments: [103, 204, 304]) func `a status without a body is sent without one`(code: Int) async throws {
        try await withServer { _ in
            MockServer.Response(status: HTTPStatus(code), body: Data("no".utf8))
        } _: { _, client in
            await client.send(get() + get("/", "Connection: close\r\n"))
            let text = await client.readAll().text
            #expect(text.components(separatedBy: "HTTP/1.1 \(code)").count == 3)
            #expect(!text.contains("no") || code == 204 && !text.contains("\r\n\r\nno"))
            #expect(!text.contains("Content-Length"))
        }
    }

    @Test func `HEAD has the length of the body and no body`() async throws {
        try await withServer { _ in
            MockServer.Response(body: Data("secret".utf8))
        } _: { _, client in
            await client.send("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let text = await client.readAll().text
            #expect(text == "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\n")
        }
    }

    @Test func `a response of chunks is sent chunked, with trailers`() async throws {
        try await withServer { _ in
            let chunks = AsyncStream<Data> { continuation in
                for text in ["ab", "", "cde"] { continuation.yield(Data(text.utf8)) }
                continuation.finish()
            }
            var response = MockServer.Response(chunks: chunks)
            response.trailers["X-Sum"] = "5"
            return response
        } _: { server, client in
            await client.send(get() + get("/", "Connection: close\r\n"))
            let text = await client.readAll().text
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            #expect(text.hasPrefix(head + "2\r\nab\r\n3\r\ncde\r\n0\r\nX-Sum: 5\r\n\r\nHTTP/1.1 200 OK\r\n"))
            #expect(server.connections.count == 1)
        }
    }

    @Test func `a client of HTTP/1.0 receives no chunks, and the end of the connection ends the body`() async throws {
        try await withServer { _ in
            MockServer.Response(
                chunks: AsyncStream { continuation in
                    continuation.yield(Data("ab".utf8))
                    continuation.finish()
                })
        } _: { _, client in
            await client.send("GET / HTTP/1.0\r\n\r\n")
            let (text, ending) = await client.readAll()
            #expect(text == "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nab" && ending == .end)
        }
    }

    @Test func `an error of the chunks truncates the body`() async throws {
        struct Broken: Error {}
        try await withServer { _ in
            MockServer.Response(
                chunks: AsyncThrowingStream<Data, any Error> { continuation in
                    continuation.yield(Data("ab".utf8))
                    continuation.finish(throwing: Broken())
                })
        } _: { server, client in
            await client.send(get())
            let (text, ending) = await client.readAll()
            #expect(text.hasSuffix("2\r\nab\r\n") && ending == .end)
            #expect(server.failures.first?.underlying is Broken)
        }
    }

    @Test func `a body waits for 100 Continue, which is sent first`() async throws {
        try await withServer { _, client in
            await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
            #expect(await client.read(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            await client.send("hi")
            #expect(await client.read(until: "hi").hasPrefix("HTTP/1.1 200 OK"))
        }
    }

    @Test func `interim responses are sent before the response`() async throws {
        try await withServer { _ in
            var response = MockServer.Response.text("ok")
            response.informational = [MockServer.Response(status: 103, headers: ["Link": "</a>"])]
            return response
        } _: { _, client in
            await client.send(get())
            #expect(
                await client.read(until: "ok").hasPrefix(
                    "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n"))
        }
    }

    @Test func `a custom length is sent even if it is wrong, and ends the connection`() async throws {
        try await withServer { _ in
            MockServer.Response(headers: ["Content-Length": "9"], body: Data("four".utf8))
        } _: { _, client in
            await client.send(get())
            let (text, ending) = await client.readAll()
            #expect(text.contains("Content-Length: 9\r\n") && text.hasSuffix("\r\n\r\nfour") && ending == .end)
        }
    }

    @Test func `a header that would break the message is a 500`() async throws {
        try await withServer { _ in
            MockServer.Response(headers: ["X-A": "1\r\nX-B: 2"])
        } _: { server, client in
            await client.send(get())
            #expect(await client.read(until: "\n").hasPrefix("HTTP/1.1 500"))
            #expect(server.failures.count == 1)
        }
    }
}

/// Bytes that no client may send, and the status that refuses them.
struct Malformed: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let status: Int
    let bytes: String

    private static func head(_ name: String, _ status: Int, _ bytes: String) -> Malformed {
        Malformed(testDescription: name, status: status, bytes: bytes)
    }

    private static func body(_ name: String, _ status: Int, _ rest: String) -> Malformed {
        Malformed(testDescription: name, status: status, bytes: "POST / HTTP/1.1\r\nHost: a\r\n\(rest)")
    }

    static let all = [
        head("no host", 400, "GET / HTTP/1.1\r\n\r\n"),
        head("two hosts", 400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
        head("no version", 400, "GET /\r\n\r\n"),
        head("no token for a method", 400, "G@T / HTTP/1.1\r\nHost: a\r\n\r\n"),
        head("an unknown version", 505, "GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
        head("bare line feeds", 400, "GET / HTTP/1.1\nHost: a\n\n"),
        head("a target that is not escaped", 400, "GET /é HTTP/1.1\r\nHost: a\r\n\r\n"),
        head("a blank before the colon", 400, "GET / HTTP/1.1\r\nHost : a\r\n\r\n"),
        head("a folded line", 400, "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n"),
        head("NUL", 400, "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n"),
        head("a large head", 431, "GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 70_000))\r\n\r\n"),
        body("two lengths", 400, "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"),
        body("a length with a sign", 400, "Content-Length: +1\r\n\r\n"),
        body("a length and chunks", 400, "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
        body("an unknown coding", 501, "Transfer-Encoding: gzip, chunked\r\n\r\n"),
        body("a chunk size that is no number", 400, "Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
        body("a chunk that is too long", 400, "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n"),
    ]
}
