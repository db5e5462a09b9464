// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

@Suite(.timeLimit(.minutes(3))) struct MockServerQueueTests {
    private func request(_ path: String, close: Bool = false) -> String {
        "GET \(path) HTTP/1.1\r\nHost: a\r\n\(close ? "Connection: close\r\n" : "")\r\n"
    }

    private func withServer(_ body: (MockServer, RawClient) async throws -> Void) async throws {
        let server = try await MockServer.start { .text("closure \($0.path)\n") }
        try await body(server, RawClient(port: server.port))
        await server.stop()
    }

    /// The bodies, one line each, of several responses.
    private func bodies(_ text: String) -> [String] {
        text.components(separatedBy: "\r\n\r\n").dropFirst().map { $0.prefix { !$0.isNewline }.description }
    }

    @Test func `queued responses are used first, in order, and then those of the closure`() async throws {
        try await withServer { server, client in
            server.enqueue(.response(.text("one\n")), .response(.text("two\n")))
            await client.send(request("/1") + request("/2") + request("/3", close: true))
            #expect(bodies(await client.readAll().text) == ["one", "two", "closure /3"])
        }
    }

    @Test func `a response may be queued several times, and unused ones are counted`() async throws {
        try await withServer { server, client in
            server.enqueue(.response(.text("again\n")), times: 3)
            await client.send(request("/1") + request("/2", close: true))
            #expect(bodies(await client.readAll().text) == ["again", "again"])
            #expect(server.unused == 1)
        }
    }

    @Test func `each of several responses is used a number of times, and those of other requests are skipped`()
        async throws
    {
        try await withServer { server, client in
            server.enqueue(.response(.text("b\n")).when { $0.path == "/b" }, .response(.text("any\n")), times: 2)
            #expect(server.unused == 4)
            await client.send(
                request("/1") + request("/b") + request("/2") + request("/3") + request("/b", close: true))
            #expect(bodies(await client.readAll().text) == ["any", "b", "any", "closure /3", "b"])
            #expect(server.unused == 0)
        }
    }

    @Test func `the response of the closure may be queued with a fault`() async throws {
        try await withServer { server, client in
            server.enqueue(.closure.fault(.reset, at: .responseEnd))
            await client.send(request("/x"))
            let (text, ending) = await client.readAll()
            #expect(text.hasSuffix("closure /x\n") && ending == .reset)
        }
    }

    @Test func `raw bytes are sent unchanged, and then the connection is closed`() async throws {
        try await withServer { server, client in
            server.enqueue(.raw("ICY 200 fine\n\nnonsense"))
            await client.send(request("/x"))
            #expect(await client.readAll() == ("ICY 200 fine\n\nnonsense", .end))
        }
    }

    @Test func `raw bytes may leave the connection open`() async throws {
        try await withServer { server, client in
            server.enqueue(.raw("HTTP/1.1 204 \r\n\r\n", then: nil))
            await client.send(request("/x") + request("/y"))
            let text = await client.read(until: "/y\n")
            #expect(text.hasPrefix("HTTP/1.1 204 \r\n\r\nHTTP/1.1 200 OK\r\n") && text.hasSuffix("closure /y\n"))
        }
    }

    @Test func `a response before the request body is sent while the client sends, and the connection stays open`()
        async throws
    {
        try await withServer { server, client in
            server.enqueue(.response(.init(status: 413)).beforeBody())
            await client.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc")
            #expect(await client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 413"))
            await client.send("def" + request("/y"))
            #expect(await client.read(until: "/y\n").hasSuffix("closure /y\n"))
            #expect(server.requests.map(\.bodySize) == [6, 0])
        }
    }

    @Test func `a response instead of 100 Continue ends the connection`() async throws {
        try await withServer { server, client in
            server.enqueue(.response(.init(status: 417)).beforeBody())
            await client.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nExpect: 100-continue\r\n\r\n")
            let (text, ending) = await client.readAll()
            #expect(text.hasPrefix("HTTP/1.1 417") && text.contains("Connection: close") && ending == .end)
        }
    }

    @Test func `a server may ignore the expectation of a 100 Continue`() async throws {
        let configuration = MockServer.Configuration().with { $0.sendsContinue = false }
        let server = try await MockServer.start(configuration) { .text("\($0.bodySize)\n") }
        let client = try RawClient(port: server.port)
        await client.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        try await server.record { $0.connections.first?.requests == 1 }
        await client.send("hi")
        #expect(await client.read(until: "2\n").hasPrefix("HTTP/1.1 200 OK"))
        await server.stop()
    }

    @Test func `a server without a closure reports that nothing is queued`() async throws {
        let server = try await MockServer.start()
        let client = try RawClient(port: server.port)
        await client.send(request("/x"))
        #expect(await client.read(until: "\n").hasPrefix("HTTP/1.1 500"))
        #expect(server.failures.first?.underlying is MockServer.HasNoAnswer)
        await server.stop()
    }
}
