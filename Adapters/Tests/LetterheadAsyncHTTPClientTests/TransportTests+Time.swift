// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadAsyncHTTPClient
import LetterheadTesting
import Testing

/// Limits of time.
extension TransportTests {
    @Test func `a timeout of a fraction of a second is kept and named`() async throws {
        let server = try await echo()
        var request = request(.get, "slow", on: server)
        request.timeout = .milliseconds(150)
        let error = await #expect(throws: HTTPError.self) { try await loader.load(request) }
        #expect(error?.code == .timedOut && error?.message.contains("timeout of 0.15 seconds") == true)
        await server.stop()
    }

    @Test func `a timeout ends with the head of a streamed response`() async throws {
        // A machine so busy that the head comes too late is asked again, with more time.
        for timeout in [Duration.milliseconds(250), .seconds(3), .seconds(40)] {
            let server = try await MockServer.start { _ in
                MockServer.Response(body: Data(count: 8)).fault(.slow(bytes: 1, every: timeout / 4), at: .responseBody)
            }
            var request = HTTPRequest(url: server.url)
            request.timeout = timeout
            request.responseDelivery = .streamed
            let body = try? await loader.load(request).body
            let count = try await body?.data().count
            await server.stop()
            if body == nil { continue }
            return #expect(count == 8)
        }
        Issue.record("no head came in 40 s")
    }

    @Test(arguments: [HTTPStatus.ok, .internalServerError])
    func `a timeout bounds a buffered body, and one whose status is not accepted`(status: HTTPStatus) async throws {
        let server = try await MockServer.start { _ in
            MockServer.Response(status: status, body: Data(count: 8)).fault(.stall, at: .responseBody)
        }
        var request = HTTPRequest(url: server.url)
        request.timeout = .milliseconds(300)
        request.responseDelivery = status == .ok ? .buffered : .streamed
        let limited = request
        let error = await #expect(throws: HTTPError.self) { _ = try await loader.load(limited).body.data() }
        #expect(error?.code == .timedOut)
        await server.stop()
    }

    @Test(arguments: [HTTPResponse.Delivery.buffered, .streamed])
    func `an idle server times out`(delivery: HTTPResponse.Delivery) async throws {
        let server = try await MockServer.start { _ in
            MockServer.Response(body: Data(count: 8)).fault(.stall, at: .responseBody)
        }
        var request = HTTPRequest(url: server.url)
        request.idleTimeout = .milliseconds(300)
        request.responseDelivery = delivery
        let limited = request
        let error = await #expect(throws: HTTPError.self) { _ = try await loader.load(limited).body.data() }
        #expect(error?.code == .timedOut && error?.message.contains("idle timeout") == true)
        await server.stop()
    }

    @Test func `the idle time of a reader doesn't count`() async throws {
        let server = try await echo()
        var request = request(.get, "large", on: server)
        request.idleTimeout = .seconds(3)
        request.responseDelivery = .streamed
        var body = try await loader.load(request).body.makeAsyncIterator()
        var count = 0
        while let piece = try await body.next() {
            if count == 0 { try await Task.sleep(for: .milliseconds(3300)) }
            count += piece.count
        }
        #expect(count == 3_000_000)
        await server.stop()
    }

    @Test func `a deadline covers the body of a streamed response`() async throws {
        let server = try await MockServer.start { _ in
            MockServer.Response(body: Data(count: 8)).fault(.stall, at: .responseBody)
        }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url), transport: loader)
        let error = await #expect(throws: HTTPError.self) {
            for try await _ in try await client.stream(Get<Data>("a").deadline(in: .milliseconds(300))).body {}
        }
        #expect(error?.code == .timedOut && error?.message.contains("deadline") == true)
        await server.stop()
    }

    @Test func `a response has the times of its first and its last byte`() async throws {
        let server = try await echo()
        let metrics = try await loader.load(request(.get, "large", on: server)).metrics
        #expect(metrics.firstByte > .zero && metrics.total >= metrics.firstByte)
        #expect(metrics.bytesReceived == 3_000_000 && metrics.httpVersion == "HTTP/1.1")
        await server.stop()
    }
}
