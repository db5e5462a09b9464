// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadSigning
import LetterheadTesting
import Logging
import ServiceLifecycle
import Testing

@testable import gateway

@Suite(.timeLimit(.minutes(2)))
struct GatewayTests {
    private static let secret: Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    /// Runs a gateway in front of a server, and passes a client of the gateway.
    private func withGateway(
        limit: Duration = .seconds(60), _ respond: @escaping MockServer.Closure,
        _ test: (HTTPClient, MockServer, ServiceGroup) async throws -> Void
    ) async throws {
        let server = try await MockServer.start(closure: respond)
        let (ports, port) = AsyncStream<Int>.makeStream()
        let gateway = Gateway(
            upstream: server.url, secret: Self.secret, port: 0, limit: limit, onStart: { port.yield($0) })
        let group = ServiceGroup(services: [gateway], logger: Logger(label: "test"))
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

    @Test(arguments: [(404, 404), (500, 502), (418, 502), (503, 503), (429, 503)])
    func `a failure upstream is the gateway's`(upstream: Int, status: Int) async throws {
        try await withGateway { _ in
            MockServer.Response(status: HTTPStatus(upstream), headers: ["Retry-After": "7"], body: Data("secret".utf8))
        } _: { client, _, _ in
            let error = await #expect(throws: HTTPError.self) { _ = try await client.send(ada) }
            let response = try #require(error?.response)
            #expect(response.status.code == status && response.body.length == 0)
            #expect(response.headers["Retry-After"] == (status == 503 ? "7" : nil))
        }
    }

    @Test func `an upstream that is down is a bad gateway`() async throws {
        try await withGateway { _ in
            MockServer.Response()
        } _: { client, server, _ in
            await server.stop()
            let error = await #expect(throws: HTTPError.self) { _ = try await client.send(ada) }
            #expect(error?.response?.status == .badGateway)
        }
    }

    struct Delivery: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var age = 0.0
        var secret = GatewayTests.secret
        var isSigned = true
        var body = #"{"login": "ada", "name": "Ada"}"#
        let status: HTTPStatus
    }

    @Test(arguments: [
        Delivery(testDescription: "right", status: 204),
        Delivery(testDescription: "right, but not a user", body: "{}", status: 400),
        Delivery(testDescription: "wrong", secret: "whsec_AAAA", status: 401),
        Delivery(testDescription: "missing", isSigned: false, status: 401),
        Delivery(testDescription: "old", age: 600, status: 401),
        Delivery(testDescription: "too large", body: String(repeating: "a", count: 65_537), status: 413),
    ])
    func `a webhook reaches its handler if its signature is right`(delivery: Delivery) async throws {
        try await withGateway { _ in
            MockServer.Response()
        } _: { client, _, _ in
            let body = Data(delivery.body.utf8)
            let webhook = Webhook.standard(delivery.secret, now: { Date(timeIntervalSinceNow: -delivery.age) })
            let headers = delivery.isSigned ? try webhook.sign(body) : [:]
            let post = Endpoint<HTTPResponse>(.post, "webhooks/users", headers: headers, body: DataBody(body))
            let response = try await client.send(post.accepting(.any))
            #expect(response.status == delivery.status)
            #expect(delivery.status == 400 || response.body.length == 0)
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

    @Test func `an upstream that hangs delays a shutdown until the limit only`() async throws {
        try await withGateway(limit: .milliseconds(100)) { _ in
            try await Task.sleep(for: .seconds(600))
            return MockServer.Response()
        } _: { client, server, group in
            let answer = Task { try await client.send(ada) }
            try await server.record { !$0.requests.isEmpty }
            await group.triggerGracefulShutdown()
            let error = await #expect(throws: HTTPError.self) { _ = try await answer.value }
            #expect(error?.response?.status == .serviceUnavailable)
        }
    }
}
