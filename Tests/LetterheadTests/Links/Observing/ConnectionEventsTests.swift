// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import LetterheadTesting
    import TestKit
    import Testing

    /// What observers learn of the end of a connection.
    @Suite(.timeLimit(.minutes(3))) struct ConnectionEventsTests {
        private let log = EventRecorder()

        private func client(_ port: Int) throws -> HTTPClient {
            HTTPClient(
                environment: .of("http://127.0.0.1:\(port)"), observers: [log],
                transport: HTTPClient.makeTransport(.init()))
        }

        @Test(arguments: [
            (
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
                "the server has requested it (Connection: close)"
            ),
            ("HTTP/1.1 200 OK\r\n\r\nhi", "its end marks the end of the body"),
            ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.0 without keep-alive"),
        ])
        func `a connection that the response ends is closed, with the reason`(
            _ response: String, _ reason: String
        ) async throws {
            for isStreamed in [false, true] {
                let server = RawServer { connection, _ in
                    _ = connection.readHead()
                    _ = connection.write(response)
                    connection.close()
                }
                let client = try client(server.port)
                if isStreamed {
                    for try await _ in try await client.stream(TestEndpoint("a")).body {}
                } else {
                    _ = try await client.send(TestEndpoint("a"))
                }
                server.stop()
                let closed = try #require(log.events.last { $0.name == "connection.closed" })
                #expect(closed[.reason] == reason && closed[.exchange] == 1 && closed[.errorType] == nil)
                #expect(closed[.address] == "127.0.0.1:\(server.port)")
            }
            #expect(log.names.filter { $0 == "connection.closed" }.count == 2)
            #expect(ObserverLaws.violations(of: log.events) == [])
        }

        @Test func `a connection that is kept is not closed`() async throws {
            let server = try await MockServer.start { _ in .text("hi") }
            let client = try client(server.port)
            for _ in 1...2 { _ = try await client.send(TestEndpoint("a")) }
            await server.stop()
            #expect(
                log.names.filter { $0.rawValue.hasPrefix("connection.") } == ["connection.opened", "connection.reused"])
            let reused = try #require(log.first("connection.reused"))
            #expect(reused[.address] == "127.0.0.1:\(server.port)" && reused[.httpVersion] == "HTTP/1.1")
            // The origin is the one of the exchange, for metrics with the same attributes.
            for event in log.events where ["connection.opened", "connection.reused"].contains(event.name) {
                let exchange = log.events.first { $0.name == "exchange.start" && $0.load == event.load }
                #expect(event[.host] == exchange?[.host] && event[.host] != nil && event[.port] == server.port)
            }
        }

        @Test func `a connection is closed with a transfer that fails or takes too long`() async throws {
            let server = try await MockServer.start { _ in .text("hi") }
            let client = try client(server.port)
            server.enqueue(.closure.fault(.close, at: .responseStart))
            await #expect(throws: HTTPError.self) { try await client.send(TestEndpoint("a")) }
            server.enqueue(.closure.fault(.stall, at: .responseStart))
            await #expect(throws: HTTPError.self) {
                try await client.send(TestEndpoint("a").timeout(.milliseconds(200)))
            }
            await server.stop()
            let closed = log.events.filter { $0.name == "connection.closed" }
            #expect(closed.map { $0[.reason] } == ["the exchange failed", "the exchange failed"])
            #expect(closed.last?[.errorType] == "timedOut" && closed.first?[.errorType] != "timedOut")
            #expect(ObserverLaws.violations(of: log.events) == [])
        }
    }
#endif
