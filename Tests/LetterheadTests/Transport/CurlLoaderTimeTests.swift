// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import TestKit
    import Testing

    @Suite(.bothCarriers, .timeLimit(.minutes(3)))
    struct CurlLoaderTimeTests {
        @Test(arguments: ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome"])
        func `a timeout ends a request in any phase, with a precision of a millisecond`(bytes: String) async throws {
            let server = RawServer.stalling(after: bytes)
            let request = HTTPRequest(url: server.url()).with { $0.timeout = .milliseconds(150) }
            let time = await shortestTime(below: .seconds(2)) {
                await elapsed {
                    let error = await #expect(throws: HTTPError.self) { try await Carrier.loader().load(request) }
                    #expect(error?.code == .timedOut && error?.message.contains("attempt") == true)
                }
            }
            #expect(time >= .milliseconds(150) && time < .seconds(2))
        }

        @Test func `an idle timeout ends a request without any transfer, and the error names the limit`() async throws {
            let configuration = TransportConfiguration().with { $0.idleTimeout = .milliseconds(120) }
            let server = RawServer.stalling(after: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome")
            let error = await failure { try await Carrier.loader(configuration).load(HTTPRequest(url: server.url())) }
            #expect(error?.code == .timedOut && error?.message.contains("idle") == true)
        }

        /// Lets 1.6 s of real time pass on the thread of a server, because the transport measures real time. In a task,
        /// it would be longer while other tests run.
        private static func passTime() { _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(1_600)) }

        @Test func `an idle timeout begins with the last bytes that arrived`() async throws {
            let configuration = TransportConfiguration().with { $0.idleTimeout = .seconds(3) }
            let server = RawServer { connection, _ in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
                for byte in ["o", "k"] {
                    // Twice as long as this is longer than the limit.
                    Self.passTime()
                    connection.write(byte)
                }
            }
            #expect(try await Carrier.loader(configuration).load(HTTPRequest(url: server.url())).body.length == 2)
        }

        @Test func `a first-byte timeout ends a request without a response, and the error names the limit`()
            async throws
        {
            let configuration = TransportConfiguration().with { $0.firstByteTimeout = .milliseconds(120) }
            let server = RawServer.stalling()
            let error = await failure { try await Carrier.loader(configuration).load(HTTPRequest(url: server.url())) }
            #expect(error?.message.contains("first byte") == true)
        }

        /// Bodies that libcurl copies, reads and pulls.
        @Test(arguments: [10, 1_000_000, nil])
        func `a first-byte timeout begins with the last byte of the body`(size: Int?) async throws {
            let configuration = TransportConfiguration().with { $0.firstByteTimeout = .milliseconds(300) }
            let (hasBegun, isWhole) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let mayEnd = AsyncStream<Void>.makeStream()
            let server = RawServer { connection, _ in
                guard let head = connection.readHead() else { return }
                hasBegun.signal()
                if connection.skipBody(of: head) { isWhole.signal() }
                _ = connection.waitForEnd()
            }
            var request = HTTPRequest(method: .post, url: server.url())
            request.body =
                if let size {
                    DataBody(Data(count: size))
                } else {
                    StreamBody {
                        AsyncStream<Data> {
                            for await _ in mayEnd.stream { break }
                            return nil
                        }
                    }
                }
            let task = Task { [request] in try await Carrier.loader(configuration).load(request) }
            #expect(await hasBegun.isSignaled())
            await waitForTimeout(of: .milliseconds(600))
            mayEnd.continuation.yield()
            #expect(await isWhole.isSignaled())
            let error = await #expect(throws: HTTPError.self) { try await task.value }
            #expect(error?.message == "the first byte timeout passed while waiting for the response")
        }

        @Test func `a first-byte timeout begins when the request is sent, and not while it waits for a connection`()
            async throws
        {
            var configuration = TransportConfiguration()
            configuration.maximumConnectionsPerHost = 1
            configuration.firstByteTimeout = .seconds(3)
            let server = RawServer { connection, _ in
                while connection.readHead() != nil {
                    // Both requests together need longer than the limit.
                    Self.passTime()
                    connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                }
            }
            let loader = Carrier.loader(configuration)
            async let first = loader.load(HTTPRequest(url: server.url()))
            async let second = loader.load(HTTPRequest(url: server.url()))
            #expect(try await first.status == 204)
            #expect(try await second.status == 204)
        }

        @Test(arguments: ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome"])
        func `cancelling ends a request at once and closes its connection`(bytes: String) async throws {
            let (ended, started) = (DispatchSemaphore(value: 0), AsyncStream<Void>.makeStream())
            let server = RawServer { connection, _ in
                guard connection.readHead() != nil else { return }
                connection.write(bytes)
                started.continuation.yield()
                _ = connection.waitForEnd()
                ended.signal()
            }
            let task = Task { try await Carrier.loader().load(HTTPRequest(url: server.url())) }
            for await _ in started.stream { break }
            let time = await elapsed {
                task.cancel()
                #expect(await failure { try await task.value }?.code == .cancelled)
            }
            #expect(time < .seconds(50))
            #expect(await ended.isSignaled())
        }

        @Test func `a cancelled task sends nothing`() async throws {
            let server = RawServer.stalling()
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                return try await Carrier.loader().load(HTTPRequest(url: server.url()))
            }
            task.cancel()
            let error = await #expect(throws: HTTPError.self) { try await task.value }
            #expect(error?.code == .cancelled && error?.mayHaveBeenSent == false && server.connectionCount == 0)
        }

        @Test func `cancelling during a name lookup does not delay others`() async throws {
            let server = RawServer.answering("HTTP/1.1 204 No Content\r\n\r\n")
            let loader = Carrier.loader()
            let nowhere = try #require(URL(string: "http://nothing.invalid/"))
            let slow = Task { try await loader.load(HTTPRequest(url: nowhere)) }
            await Task.yield()
            slow.cancel()
            let time = try await elapsed { _ = try await loader.load(HTTPRequest(url: server.url())) }
            #expect(time < .seconds(50))
            _ = await slow.result
        }

        @Test func `a server that sends chunks of one byte without end does not delay the timeout of another request`()
            async throws
        {
            let chunks = Array(String(repeating: "1\r\nx\r\n", count: 100_000).utf8)
            let server = RawServer { connection, _ in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                while connection.write(chunks) {}
            }
            let loader = Carrier.loader()
            var endless = HTTPRequest(url: server.url())
            (endless.responseDelivery, endless.responseLimit) = (.streamed, .max)
            let response = try await loader.load(endless)
            let reader = Task { for try await _ in response.body {} }
            let limited = HTTPRequest(url: RawServer.stalling().url()).with { $0.timeout = .milliseconds(200) }
            let time = await shortestTime(below: .seconds(3)) {
                await elapsed { #expect(await failure { try await loader.load(limited) }?.code == .timedOut) }
            }
            #expect(time < .seconds(3))
            reader.cancel()
            _ = await reader.result
        }

        @Test func `the error of a time limit reports that the request was waiting for a connection`() async throws {
            let server = RawServer { connection, _ in _ = connection.waitForEnd() }
            let loader = Carrier.loader(TransportConfiguration().with { $0.maximumConnectionsPerHost = 1 })
            let first = Task { try await loader.load(HTTPRequest(url: server.url())) }
            while server.connectionCount == 0 { await Task.yield() }
            let limited = HTTPRequest(method: .post, url: server.url()).with { $0.timeout = .milliseconds(100) }
            let error = await #expect(throws: HTTPError.self) { try await loader.load(limited) }
            #expect(error?.message == "the attempt timeout passed while waiting for a free connection")
            #expect(error?.code == .timedOut && error?.mayHaveBeenSent == false)
            first.cancel()
            _ = await first.result
        }
    }
#endif
