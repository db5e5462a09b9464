// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import LetterheadStreaming
    import LetterheadTesting
    import TestKit
    import Synchronization
    import Testing

    /// Event streams over real connections: how they end, what a server can do to them, and how many there can be.
    @Suite(.timeLimit(.minutes(3)))
    struct EventStreamSocketTests {
        private static let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

        private func client(_ server: RawServer) -> HTTPClient {
            HTTPClient(environment: ServerEnvironment(baseURL: server.url()), transport: CurlLoader())
        }

        private static func chunk(_ text: String) -> String {
            String(text.utf8.count, radix: 16) + "\r\n" + text + "\r\n"
        }

        @Test func `a response of another type ends its connection`() async throws {
            let closed = DispatchSemaphore(value: 0)
            let server = RawServer { connection, _ in
                _ = connection.readHead()
                connection.write("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nnever ending")
                _ = connection.waitForEnd()
                closed.signal()
                connection.close()
            }
            let (_, error) = await client(server).events(of: TestEndpoint()).allAndError()
            #expect((error as? HTTPError)?.code == .invalidResponse)
            #expect(await closed.isSignaled())
        }

        @Test func `a reader that does not read makes the server wait`() async throws {
            let written = Atomic(0)
            let size = 256 << 20
            let server = RawServer { connection, _ in
                _ = connection.readHead()
                connection.write(Self.head)
                let event = Array(Self.chunk("data: \(String(repeating: "a", count: 65_536))\n\n").utf8)
                while written.load(ordering: .relaxed) < size, connection.write(event) {
                    written.wrappingAdd(event.count, ordering: .relaxed)
                }
                connection.close()
            }
            var iterator = client(server).events(of: TestEndpoint()).makeAsyncIterator()
            #expect(try await iterator.next()?.data.utf8.count == 65_536)
            await settled { written.load(ordering: .relaxed) }
            // What the buffers of both sockets hold, and a window of the transport.
            #expect(written.load(ordering: .relaxed) < 64 << 20)
            for _ in 0..<20 { #expect(try await iterator.next()?.data.utf8.count == 65_536) }
        }

        @Test func `a stream that is truncated at any byte delivers the complete events and then an error`()
            async throws
        {
            let text = "id: 1\r\ndata: first\r\n\r\nevent: second\ndata: two\ndata: lines\n\nid: 3\ndata: last\n\n"
            let whole = ["first", "two\nlines", "last"]
            let server = RawServer { connection, _ in
                guard let head = connection.readHead(),
                    let cut = Int(head.split(separator: "/")[1].split(separator: " ")[0])
                else { return connection.close() }
                connection.write(Self.head + Self.chunk(String(text.prefix(max(cut, 1)))))
                connection.close()
            }
            let client = client(server)
            // A carriage return and a line feed are one character of the text.
            let ends = [text.range(of: "\r\n\r\n")?.upperBound, text.range(of: "lines\n\n")?.upperBound, text.endIndex]
                .compactMap { $0.map { text.distance(from: text.startIndex, to: $0) } }
            for cut in 1...text.count {
                let (events, error) = await client.events(of: TestEndpoint("\(cut)")).allAndError()
                #expect(events.map(\.data) == Array(whole.prefix(ends.count { $0 <= cut })), "cut at \(cut)")
                #expect((error as? HTTPError)?.code == .invalidResponse)
            }
        }

        @Test(arguments: [MockServer.Effect.close, .halfClose, .reset])
        func `a stream continues after a fault of its connection, without an event twice`(effect: MockServer.Effect)
            async throws
        {
            let server = try await MockServer.start { request in
                let last = request.headers["Last-Event-ID"].flatMap { Int($0) } ?? 0
                guard last < 3 else { return MockServer.Response(status: .noContent) }
                let events = (last + 1...last + 2).map {
                    ServerSentEvent(data: "\($0)", id: "\($0)", retry: .milliseconds(1))
                }
                return .events(events).fault(effect, at: .responseBody)
            }
            let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
            var received: [String] = []
            for try await event in client.events(of: TestEndpoint(), reconnecting: .whenClosed) {
                received.append(event.data)
            }
            #expect(received.count == Set(received).count)
            #expect(received == received.sorted() && received.last == "3", "\(received)")
            await server.stop()
        }

        @Test func `a compressed stream is read as it arrives`() async throws {
            let arrived = DispatchSemaphore(value: 0)
            let events = try ["data: one\n\n", "data: two\n\n"].map {
                try DataBody(Data($0.utf8)).compressed().encode()
            }
            let server = RawServer { connection, _ in
                _ = connection.readHead()
                connection.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n")
                connection.write(Array(events[0]))
                arrived.wait()
                connection.write(Array(events[1]))
                connection.close()
            }
            var received: [String] = []
            for try await event in client(server).events(of: TestEndpoint()) {
                received.append(event.data)
                arrived.signal()
            }
            #expect(received == ["one", "two"])
        }

        @Test func `the events of the mock server arrive one at a time, and are parsed back unchanged`() async throws {
            let clock = TestClock()
            let events = [
                ServerSentEvent(event: "add", data: "a\nb\n", id: "1", retry: .milliseconds(1500)),
                ServerSentEvent(data: "", id: "1"), ServerSentEvent(data: " c", id: "1"),
            ]
            let server = try await MockServer.start { _ in .events(events, every: .seconds(10), clock: clock) }
            var iterator = HTTPClient(environment: ServerEnvironment(baseURL: server.url)).events(of: TestEndpoint())
                .makeAsyncIterator()
            for (number, event) in events.enumerated() {
                if number > 0 {
                    await clock.waitForSleepers(1)
                    clock.advance(by: .seconds(10))
                }
                #expect(try await iterator.next() == event)
            }
            #expect(try await iterator.next() == nil)
            #expect(clock.sleeps == [.seconds(10), .seconds(10)])
            await server.stop()
        }

        @Test func `the idle timeout ends a silent connection, and comments count as activity`() async throws {
            let never = DispatchSemaphore(value: 0)
            let server = RawServer { connection, number in
                guard connection.readHead() != nil else { return connection.close() }
                guard number < 1 else {
                    connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                    return connection.close()
                }
                connection.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nretry: 1\ndata: first\n\n")
                for _ in 0..<2 {
                    // Longer in sum than the idle timeout, in the real time that the transport measures.
                    _ = never.wait(timeout: .now() + .milliseconds(1_600))
                    connection.write(": ping\n")
                }
                connection.write("data: second\n\n")
                _ = connection.waitForEnd()
                connection.close()
            }
            let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url()))
            let template = TestEndpoint().idleTimeout(.seconds(3))
            let events = try await client.events(of: template, reconnecting: .whenClosed).all()
            #expect(events.map(\.data) == ["first", "second"])
            #expect(server.connectionCount == 2)
        }

        @Test func `values are encoded no faster than the server reads them`() async throws {
            let (made, begun) = (Counter(), CredentialBell())
            let values = AsyncStream<String>(unfolding: {
                begun.ring()
                return made.next() < 100_000 ? String(repeating: "a", count: 10_000) : nil
            })
            let server = try await MockServer.start { _ in .text("done") }
            server.enqueue(.closure.fault(.stall, at: .requestStart))
            let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
            let template = TestEndpoint().with { endpoint in
                endpoint.method = .post
                endpoint.body = NDJSONBody(once: values)
            }
            let sending = Task { try await client.send(template) }
            await begun.wait()
            await settled { made.value }
            // A gigabyte is not encoded ahead: what the buffers of both sockets and the transport hold, at most.
            #expect(made.value < 6_400)
            sending.cancel()
            _ = await sending.result
            await server.stop()
        }
    }
#endif
