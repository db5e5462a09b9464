// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadStreaming
import LetterheadTesting
#if os(Linux)
    import TestKit
#endif
import Testing

/// Event streams through the chain of a client: retries, time limits, and bodies that are sent slowly.
@Suite(.timeLimit(.minutes(2)))
struct EventStreamChainTests {
    private static let type: HTTPHeaders = ["Content-Type": "text/event-stream"]

    @Test(arguments: [429, 529])
    func `a POST that the server refused is sent again before its stream, if refusals are retried`(status: Int)
        async throws
    {
        func requests(_ strategy: HTTPRetryStrategy?) async -> (count: Int, events: Int) {
            let mock = MockLoader()
                .then { HTTPResponse(request: $0, status: HTTPStatus(status), headers: ["Retry-After-Ms": "5"]) }
                .then { request in
                    HTTPResponse(
                        request: request, status: .ok, headers: Self.type, body: StreamedBody.of("data: a\n\n"))
                }
            let client = HTTPClient(
                environment: .of("https://a.example"),
                retrying: Backoff(strategy, maximumRetries: 2, clock: TestClock(isAutomatic: true)),
                transport: mock)
            let (events, _) = await client.events(of: TestEndpoint().with { $0.method = .post }).allAndError()
            return (mock.requests.count, events.count)
        }
        #expect(await requests(.exponential.retryingRefusals()) == (2, 1))
        #expect(await requests(nil) == (1, 0))
    }

    #if os(Linux)
        @Test func `the idle timeout ends a silent connection, and comments count as activity`()
            async throws
        {
            let isTime = DispatchSemaphore(value: 0)
            let server = RawServer { connection, number in
                guard connection.readHead() != nil else { return connection.close() }
                guard number < 1 else {
                    connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                    return connection.close()
                }
                connection.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nretry: 1\ndata: first\n\n")
                for _ in 0..<2 {
                    isTime.wait()
                    connection.write(": ping\n")
                }
                connection.write("data: second\n\n")
                _ = connection.waitForEnd()
                connection.close()
            }
            let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url()))
            let template = TestEndpoint().idleTimeout(.seconds(3))
            async let events = client.events(of: template, reconnecting: .whenClosed).all()
            for _ in 0..<2 {
                // Longer in sum than the idle timeout.
                await waitForTimeout(of: .milliseconds(1_600))
                isTime.signal()
            }
            #expect(try await events.map(\.data) == ["first", "second"])
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
    #endif
}
