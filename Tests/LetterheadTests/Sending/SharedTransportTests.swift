#if os(Linux)
    import Dispatch
    import Foundation
    import Letterhead
    import RawServer
    import Testing

    /// Clients that share a transport as they share the default one, of which one is reset.
    @Suite(.timeLimit(.minutes(3))) struct SharedTransportTests {
        private struct GetText: RequestTemplate {
            typealias Response = String
            var path: RequestPath { "text" }
        }

        private let transport = CurlLoader(isShared: true)

        private func client(_ server: RawServer) -> HTTPClient {
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

        @Test func `a reset of one client leaves the requests of another in progress`() async throws {
            let (began, rest) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let server = halfServer(began: began, rest: rest)
            let other = Task { [client = client(server)] in try await client.send(GetText()) }
            #expect(await began.isSignaled())
            await client(server).reset()
            rest.signal()
            #expect(try await other.value == "halfrest")
        }

        @Test func `a reset cancels the client's own requests, and closes their connections`() async throws {
            let signals = (0..<3).map { _ in DispatchSemaphore(value: 0) }
            let server = halfServer(began: signals[0], rest: signals[1], closed: signals[2])
            let client = client(server)
            let own = Task { try await client.send(GetText()) }
            #expect(await signals[0].isSignaled())
            await client.reset()
            signals[1].signal()
            #expect(await signals[2].isSignaled())
            let error = await #expect(throws: HTTPError.self) { try await own.value }
            #expect(error?.code == .cancelled)
        }

        @Test func `requests after a reset use a new connection, and the old one is closed`() async throws {
            let closed = DispatchSemaphore(value: 0)
            let server = RawServer { connection, _ in
                while connection.readHead() != nil {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok")
                }
                closed.signal()
            }
            let client = client(server)
            for _ in 0..<2 { #expect(try await client.send(GetText()) == "ok") }
            #expect(server.connectionCount == 1)
            await client.reset()
            #expect(await closed.isSignaled())
            #expect(try await client.send(GetText()) == "ok")
            #expect(server.connectionCount == 2)
        }
    }
#endif
