// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization
import Testing

/// Clients that leave or are many, and a server that stops.
extension MockServerTests {
    @Test func `a client that disconnects cancels the closure`() async throws {
        let cancelled = AsyncStream<Bool>.makeStream()
        try await withServer { _ in
            do { try await Task.sleep(for: .seconds(60)) } catch {
                cancelled.continuation.yield(Task.isCancelled)
                throw error
            }
            return MockServer.Response()
        } _: { server, client in
            var leaver: RawClient? = try RawClient(port: server.port)
            await leaver?.send(get())
            try await server.record { $0.requests.count == 1 }
            leaver = nil
            for await isCancelled in cancelled.stream {
                #expect(isCancelled)
                break
            }
            let record = try await server.record { $0.connections.contains { !$0.isOpen } }
            #expect(record.failures.isEmpty)
        }
    }

    @Test func `a client that disconnects cancels the sequence of chunks`() async throws {
        let ended = AsyncStream<Void>.makeStream()
        try await withServer { _ in
            MockServer.Response(
                chunks: AsyncStream<Data> { continuation in
                    continuation.yield(Data("x".utf8))
                    continuation.onTermination = { _ in ended.continuation.yield() }
                })
        } _: { server, _ in
            var leaver: RawClient? = try RawClient(port: server.port)
            await leaver?.send(get())
            _ = await leaver?.read(until: "1\r\nx\r\n")
            leaver = nil
            for await _ in ended.stream { break }
        }
    }

    @Test func `chunks are requested no faster than the client reads`() async throws {
        let made = Mutex(0)
        try await withServer { _ in
            MockServer.Response(
                chunks: AsyncStream<Data>(unfolding: {
                    made.withLock { $0 += 1 }
                    return Data(count: 65_536)
                }))
        } _: { server, _ in
            var reader: RawClient? = try RawClient(port: server.port)
            await reader?.send(get())
            _ = await reader?.read(count: 1_000_000)
            reader = nil
            try await server.record { $0.connections.contains { !$0.isOpen } }
            // What was read, and what two socket buffers hold. Without a limit it would be thousands.
            #expect(made.withLock { $0 } < 250)
            #expect(server.failures.isEmpty)
        }
    }

    @Test func `a client that disconnects during a response does not affect others`() async throws {
        try await withServer {
            MockServer.Response(body: $0.path == "/big" ? Data(count: 20_000_000) : Data("fine".utf8))
        } _: { server, client in
            for _ in 0..<20 {
                let leaver = try RawClient(port: server.port)
                await leaver.send(get("/big"))
                _ = await leaver.read(count: 1)
            }
            try await server.record { $0.connections.filter { !$0.isOpen }.count == 20 }
            await client.send(get())
            #expect(await client.read(until: "fine").hasSuffix("fine"))
            #expect(server.failures.isEmpty)
        }
    }

    @Test func `a client that has closed its side still receives a response`() async throws {
        try await withServer { _, client in
            await client.send(post("half"))
            client.endOutput()
            let (text, ending) = await client.readAll()
            #expect(text.hasSuffix("half") && ending == .end)
        }
    }

    @Test func `hundreds of connections are served at the same time`() async throws {
        let gate = Gate(opensAt: 300)
        let server = try await MockServer.start { request in
            await gate.pass()
            return MockServer.Response(body: request.body)
        }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<300 {
                let client = try RawClient(port: server.port)
                group.addTask {
                    await client.send(
                        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nConnection: close\r\n\r\n\(1000 + index)")
                    return await client.readAll().text.hasSuffix("\r\n\r\n\(1000 + index)")
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(server.connections.count == 300 && server.requests.count == 300)
        await server.stop()
    }

    @Test func `a large body arrives complete in both directions`() async throws {
        let body = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: 65 + $0 % 26) })
        try await withServer { server, client in
            async let isSent = client.send(
                Data("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: \(body.count)\r\n\r\n".utf8)
                    + body)
            let text = await client.readAll().text
            #expect(await isSent)
            #expect(text.utf8.suffix(body.count).elementsEqual(body))
            #expect(server.requests[0].body == body && server.requests[0].bodySize == body.count)
            client.endOutput()
            let connection = try await server.record { $0.connections.first?.isOpen == false }.connections[0]
            #expect(connection.bytesReceived > body.count && connection.bytesSent == text.utf8.count)
        }
    }

    @Test func `no more of a body is recorded than configured`() async throws {
        try await withServer(MockServer.Configuration().with { $0.keptBodySize = 4 }) { server, client in
            await client.send(post("abcdefgh"))
            #expect(await client.read(until: "abcd").hasSuffix("\r\n\r\nabcd"))
            #expect(server.requests[0].body == Data("abcd".utf8) && server.requests[0].bodySize == 8)
        }
    }

    @Test func `stopping the server ends all connections and tasks`() async throws {
        let ended = Mutex(false)
        let server = try await MockServer.start { _ in
            defer { ended.withLock { $0 = true } }
            try await Task.sleep(for: .seconds(60))
            return MockServer.Response()
        }
        let client = try RawClient(port: server.port)
        await client.send(get())
        try await server.record { $0.requests.count == 1 }
        await server.stop()
        #expect(ended.withLock { $0 })
        #expect(await client.readAll().text == "")
        #expect(server.connections.allSatisfy { !$0.isOpen })
        _ = try? RawClient(port: server.port)  // Refused, unless another server has the port by now.
        #expect(server.connections.count == 1)
        await server.stop()
        await #expect(throws: MockServer.HasStopped.self) { try await server.record { $0.requests.count == 9 } }
    }

    @Test func `a wait for the record ends when its task is cancelled`() async throws {
        try await withServer { server, _ in
            let waiting = Task { try await server.record { $0.requests.count == 9 } }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }

    @Test func `open connections can be closed while the server continues`() async throws {
        try await withServer { server, client in
            await client.send(post("one"))
            _ = await client.read(until: "one")
            await server.closeConnections()
            #expect(await client.readAll().ending == .end)
            let next = try RawClient(port: server.port)
            await next.send(post("two"))
            #expect(await next.read(until: "two").hasSuffix("two"))
            #expect(server.connections.map(\.isOpen) == [false, true])
        }
    }

    @Test func `a server that is released closes its socket`() async throws {
        var server: MockServer? = try await MockServer.start { _ in MockServer.Response() }
        let client = try RawClient(port: try #require(server).port)
        server = nil
        #expect(await client.readAll().ending != .timedOut)
    }
}

/// Blocks all until the given number has arrived.
private final class Gate: Sendable {
    private let number: Int
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])

    init(opensAt number: Int) { self.number = number }

    func pass() async {
        await withCheckedContinuation { continuation in
            let free = waiting.withLock { waiting in
                waiting.append(continuation)
                return waiting.count == number ? waiting : []
            }
            for continuation in free { continuation.resume() }
        }
    }
}
