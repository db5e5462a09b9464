// SPDX-License-Identifier: MIT
#if os(Linux)
    import Dispatch
    import Foundation
    @testable import Letterhead
    import TestKit
    import Testing

    /// Clients that share a transport. One of them is reset.
    @Suite(.timeLimit(.minutes(3))) struct SharedTransportTests {
        private func okServer(closed: DispatchSemaphore = DispatchSemaphore(value: 0)) -> RawServer {
            RawServer { connection, _ in
                while connection.readHead() != nil {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok")
                }
                closed.signal()
            }
        }

        private func client(_ server: RawServer, _ transport: CurlLoader) -> HTTPClient {
            HTTPClient(environment: ServerEnvironment(baseURL: server.url()), transport: transport)
        }

        /// A server that sends half of a response, and the rest after the signal. It signals the end of a connection.
        private func halfServer(
            began: DispatchSemaphore, rest: DispatchSemaphore, closed: DispatchSemaphore = DispatchSemaphore(value: 0)
        ) -> RawServer {
            RawServer { connection, _ in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\nhalf")
                began.signal()
                rest.wait()
                connection.write("rest")
                _ = connection.readHead()
                closed.signal()
            }
        }

        @Test(arguments: [true, false], [1, 3])
        func `a reset of one client leaves the requests of another in progress`(isDefault: Bool, resets: Int)
            async throws
        {
            let transport = CurlLoader(isShared: isDefault)
            let (began, rest) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let server = halfServer(began: began, rest: rest)
            let other = Task { [client = client(server, transport)] in try await client.send(Get<String>("text")) }
            #expect(await began.isSignaled())
            for _ in 0..<resets { await client(server, transport).reset() }
            rest.signal()
            #expect(try await other.value == "halfrest")
        }

        @Test(arguments: [true, false], [0, 2])
        func `a reset cancels the client's own requests, and closes their connections`(
            isDefault: Bool, otherResets: Int
        ) async throws {
            let transport = CurlLoader(isShared: isDefault)
            let signals = (0..<3).map { _ in DispatchSemaphore(value: 0) }
            let server = halfServer(began: signals[0], rest: signals[1], closed: signals[2])
            let client = client(server, transport)
            let own = Task { try await client.send(Get<String>("text")) }
            #expect(await signals[0].isSignaled())
            // Resets of other clients replace the connections of the transport.
            for _ in 0..<otherResets { await self.client(server, transport).reset() }
            await client.reset()
            signals[1].signal()
            #expect(await signals[2].isSignaled())
            #expect(await failure { try await own.value }?.code == .cancelled)
        }

        @Test(arguments: [true, false])
        func `requests after a reset use a new connection, and the old one is closed`(isDefault: Bool) async throws {
            let closed = DispatchSemaphore(value: 0)
            let server = okServer(closed: closed)
            let client = client(server, CurlLoader(isShared: isDefault))
            for _ in 0..<2 { #expect(try await client.send(Get<String>("text")) == "ok") }
            #expect(server.connectionCount == 1)
            await client.reset()
            #expect(await closed.isSignaled())
            #expect(try await client.send(Get<String>("text")) == "ok")
            #expect(server.connectionCount == 2)
        }

        @Test(arguments: [true, false])
        func `a reset of one client leaves the idle connections of another open`(isDefault: Bool) async throws {
            let server = okServer()
            let transport = CurlLoader(isShared: isDefault)
            let (one, other) = (client(server, transport), client(server, transport))
            for _ in 0..<3 {
                #expect(try await other.send(Get<String>("text")) == "ok")
                await one.reset()
                #expect(try await other.send(Get<String>("text")) == "ok")
                #expect(try await one.send(Get<String>("text")) == "ok")
            }
            #expect(server.connectionCount == 1)
        }

        @Test(arguments: [true, false], [true, false])
        func `a reset ends transfers without a client, except on the default transport`(
            isDefault: Bool, isOfClient: Bool
        ) async throws {
            let (began, rest) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let server = halfServer(began: began, rest: rest)
            let transport = CurlLoader(isShared: isDefault)
            let load = Task { try await transport.load(HTTPRequest(url: server.url())) }
            #expect(await began.isSignaled())
            if isOfClient { await client(server, transport).reset() } else { await transport.reset() }
            rest.signal()
            if isDefault {
                #expect(try await load.value.body.data() == Data("halfrest".utf8))
            } else {
                #expect(await failure { try await load.value }?.code == .cancelled)
            }
        }
    }
#endif
