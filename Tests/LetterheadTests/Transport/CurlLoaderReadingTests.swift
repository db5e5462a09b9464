// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import TestKit
    import Synchronization
    import Testing

    /// Reading the body of a response while other requests are sent, or while none is.
    @Suite(.bothCarriers, .timeLimit(.minutes(3)))
    struct CurlLoaderReadingTests {
        let loader = Carrier.loader()

        /// Answers requests for `/small` at once, and all others with so many bytes.
        private func server(of size: Int, ended: DispatchSemaphore? = nil) -> RawServer {
            RawServer { connection, _ in
                while let head = connection.readHead() {
                    if head.contains(" /small ") {
                        connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nsmall")
                    } else {
                        connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
                        guard connection.write([UInt8](Data.patterned(size))) else { break }
                    }
                }
                ended?.signal()
            }
        }

        private func body(of server: RawServer) async throws -> HTTPResponseBody {
            return try await loader.load(HTTPRequest(url: server.url()).with { $0.responseDelivery = .streamed }).body
        }

        private func isAnswered(by server: RawServer) async throws -> Bool {
            try await loader.load(HTTPRequest(url: server.url("/small"))).body.data() == Data("small".utf8)
        }

        @Test func `while a reader is busy, other requests receive their responses`() async throws {
            let size = 4 << 20
            let server = server(of: size)
            var received = Data()
            for try await chunk in try await body(of: server) {
                received += chunk
                if received.count < size { #expect(try await isAnswered(by: server)) }
            }
            #expect(received == Data.patterned(size))
            #expect(try await isAnswered(by: server))
        }

        @Test func `bodies that are read alternately arrive complete`() async throws {
            let size = 4 << 20
            let server = server(of: size)
            var (first, second) = (
                try await body(of: server).makeAsyncIterator(), try await body(of: server).makeAsyncIterator()
            )
            var (one, two) = (Data(), Data())
            while let chunk = try await first.next() {
                one += chunk
                if let chunk = try await second.next() { two += chunk }
            }
            while let chunk = try await second.next() { two += chunk }
            #expect(one == Data.patterned(size) && two == one)
        }

        @Test(arguments: 1...12 as ClosedRange<UInt64>)
        func `no byte is lost if the reader and the server pause at any time`(seed: UInt64) async throws {
            // The pauses are real, because threads of the system and of the transport overlap in them.
            let size = 1 << 20
            let server = RawServer { connection, _ in
                guard connection.readHead() != nil else { return }
                var dice = SeededGenerator(seed: seed)
                var rest = [UInt8](Data.patterned(size))[...]
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
                while !rest.isEmpty {
                    let piece = rest.prefix(Int.random(in: 1...(100 << 10), using: &dice))
                    rest = rest.dropFirst(piece.count)
                    guard connection.write(Array(piece)) else { return }
                    if Bool.random(using: &dice) { usleep(UInt32.random(in: 0...3000, using: &dice)) }
                }
                _ = connection.waitForEnd()
            }
            var dice = SeededGenerator(seed: ~seed)
            var received = Data()
            for try await chunk in try await body(of: server) {
                received += chunk
                if Bool.random(using: &dice) {
                    try await Task.sleep(for: .microseconds(Int.random(in: 0...2000, using: &dice)))
                }
            }
            #expect(received == Data.patterned(size))
        }

        @Test func `several tasks that share one iteration together receive every byte`() async throws {
            let size = 8 << 20
            let iterator = try await body(of: server(of: size)).makeAsyncIterator()
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        var (iterator, count) = (iterator, 0)
                        while let chunk = try await iterator.next() { count += chunk.count }
                        return count
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(counts == size)
        }

        @Test func `dropping a body that is not being read ends its connection`() async throws {
            let ended = DispatchSemaphore(value: 0)
            let server = server(of: 32 << 20, ended: ended)
            do {
                var iterator = try await body(of: server).makeAsyncIterator()
                for _ in 0..<20 { _ = try #require(try await iterator.next()) }
            }
            #expect(await ended.isSignaled())
            #expect(try await isAnswered(by: server))
        }

        @Test func `cancelling a task that is busy with a piece ends its connection`() async throws {
            let ended = DispatchSemaphore(value: 0)
            let server = server(of: 32 << 20, ended: ended)
            let body = try await body(of: server)
            let task = Task {
                var count = 0
                for try await chunk in body {
                    count += chunk.count
                    if count > 2 << 20 { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(await ended.isSignaled())
        }

        @Test func `a reset while a reader is busy ends its body and its connection`() async throws {
            let ended = DispatchSemaphore(value: 0)
            let server = server(of: 32 << 20, ended: ended)
            let body = try await body(of: server)
            var iterator = body.makeAsyncIterator()
            for _ in 0..<20 { _ = try #require(try await iterator.next()) }
            await loader.reset()
            #expect(await ended.isSignaled())
            let error = await failure { while let chunk = try await iterator.next() { #expect(!chunk.isEmpty) } }
            #expect(error?.code == .cancelled)
            #expect(try await isAnswered(by: server))
        }

        @Test(arguments: [40 << 10, 8 << 20])
        func `while a reader is busy, the rest of the request's body is sent`(size: Int) async throws {
            let arrived = DispatchSemaphore(value: 0)
            let server = RawServer { connection, _ in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nbe")
                guard connection.skip(size) else { return }
                arrived.signal()
                connection.write("hind")
                _ = connection.waitForEnd()
            }
            var request = HTTPRequest(method: .put, url: server.url())
            request.body = DataBody(Data(repeating: 7, count: size))
            request.responseDelivery = .streamed
            var iterator = try await loader.load(request).body.makeAsyncIterator()
            var text = try #require(try await iterator.next())
            #expect(await arrived.isSignaled())
            while let chunk = try await iterator.next() { text += chunk }
            #expect(text == Data("behind".utf8))
        }

        @Test func `time in which a reader is busy is not idle time, also during other loads`() async throws {
            let size = 300_000
            let server = server(of: size)
            let loader = Carrier.loader(TransportConfiguration().with { $0.idleTimeout = .seconds(3) })
            let request = HTTPRequest(url: server.url()).with { $0.responseDelivery = .streamed }
            var iterator = try await loader.load(request).body.makeAsyncIterator()
            var received = try #require(try await iterator.next())
            await waitForTimeout(of: .milliseconds(3_500))
            #expect(try await loader.load(HTTPRequest(url: server.url("/small"))).status == .ok)
            while let chunk = try await iterator.next() { received += chunk }
            #expect(received == Data.patterned(size))
        }

        @Test func `a deadline that passes while a reader is busy ends its connection`() async throws {
            let ended = DispatchSemaphore(value: 0)
            let bytes = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart"
            let server = RawServer.stalling(after: bytes, ended: ended)
            let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url()), transport: loader)
            let error = await #expect(throws: HTTPError.self) {
                // The test may run late: the deadline ends the load in any phase.
                let all = TestEndpoint("all", answering: Data.self).deadline(in: .seconds(4))
                var iterator = try await client.stream(all).body.makeAsyncIterator()
                _ = try await iterator.next()
                #expect(await ended.isSignaled())
                _ = try await iterator.next()
            }
            #expect(error?.code == .timedOut)
        }

        @Test
        func `a connection that the server closes while the reader is busy is an error, after all received bytes`()
            async throws
        {
            let mayEnd = DispatchSemaphore(value: 0)
            let server = RawServer { connection, _ in
                _ = connection.readHead()
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\n")
                connection.write([UInt8](Data.patterned(300_000)))
                mayEnd.wait()
            }
            var iterator = try await body(of: server).makeAsyncIterator()
            var received = try #require(try await iterator.next())
            mayEnd.signal()
            let error = await failure { while let chunk = try await iterator.next() { received += chunk } }
            #expect(error?.code == .invalidResponse && received == Data.patterned(300_000))
        }
    }
#endif
