// SPDX-License-Identifier: MIT
import Foundation
import Hummingbird
import Letterhead
import LetterheadTesting
import Logging
import ServiceLifecycle
import Testing

@testable import gateway

@Suite(.timeLimit(.minutes(2)))
struct GatewayTests {
    private typealias HTTPError = Letterhead.HTTPError
    private typealias HTTPResponse = Letterhead.HTTPResponse

    /// Runs a gateway in front of a server, and passes a client of the gateway.
    private func withGateway(
        _ respond: @escaping MockServer.Closure,
        _ test: (HTTPClient, MockServer, ServiceGroup) async throws -> Void
    ) async throws {
        let server = try await MockServer.start(closure: respond)
        let (ports, port) = AsyncStream<Int>.makeStream()
        let gateway = Gateway(upstream: server.url, port: 0, onStart: { port.yield($0) })
        let group = ServiceGroup(services: [gateway.application], logger: Logger(label: "test"))
        async let run: Void = group.run()
        for await port in ports {
            try await test(HTTPClient(baseURL: "http://127.0.0.1:\(port)"), server, group)
            break
        }
        await group.triggerGracefulShutdown()
        try await run
        await server.stop()
    }

    private let ada = Endpoint<Data>(.get, "users/ada")

    @Test func `the gateway responds with what the upstream service sends`() async throws {
        try await withGateway { _ in
            try .json(User(login: "ada", name: "Ada"))
        } _: { client, server, _ in
            let user = try await client.send(Endpoint<User>(.get, "users/\("a b")"))
            #expect(user.name == "Ada" && server.requests.map(\.path) == ["/users/a%20b"])
        }
    }

    @Test func `the trace of the caller continues upstream`() async throws {
        try await withGateway { _ in
            try .json(User(login: "ada", name: "Ada"))
        } _: { client, server, _ in
            let trace = String(repeating: "a", count: 32)
            _ = try await client.send(ada.header("traceparent", "00-\(trace)-bbbbbbbbbbbbbbbb-01"))
            let sent = try #require(server.requests.first?.headers["traceparent"])
            #expect(sent.hasPrefix("00-\(trace)-") && !sent.contains("bbbbbbbbbbbbbbbb"))
        }
    }

    @Test func `the time that the caller waits is passed on`() async throws {
        try await withGateway { _ in
            try .json(User(login: "ada", name: "Ada"))
        } _: { client, server, _ in
            _ = try await client.send(ada.header("X-Request-Timeout", "60000"))
            let sent = try #require(server.requests.first?.headers["X-Request-Timeout"].flatMap { Int($0) })
            #expect((1...60_000).contains(sent))
        }
    }

    @Test func `when the caller's time is over, the gateway stops waiting`() async throws {
        try await withGateway { _ in
            try await Task.sleep(for: .seconds(600))
            return MockServer.Response()
        } _: { client, _, _ in
            let error = await #expect(throws: HTTPError.self) {
                _ = try await client.send(ada.header("X-Request-Timeout", "100"))
            }
            #expect(error?.response?.status == .gatewayTimeout)
        }
    }

    @Test(arguments: [(404, 404), (500, 502), (418, 502)])
    func `a failure upstream is the gateway's`(upstream: Int, status: Int) async throws {
        try await withGateway { _ in
            MockServer.Response(status: HTTPStatus(upstream))
        } _: { client, _, _ in
            let error = await #expect(throws: HTTPError.self) { _ = try await client.send(ada) }
            #expect(error?.response?.status.code == status)
        }
    }

    @Test func `a request that is being handled ends before the program`() async throws {
        let (released, release) = AsyncStream<Void>.makeStream()
        try await withGateway { _ in
            for await _ in released { break }
            return try .json(User(login: "ada", name: "Ada"))
        } _: { client, server, group in
            async let user = client.send(Endpoint<User>(.get, "users/ada"))
            try await server.record { !$0.requests.isEmpty }
            await group.triggerGracefulShutdown()
            release.yield()
            #expect(try await user.name == "Ada")
        }
    }
}
