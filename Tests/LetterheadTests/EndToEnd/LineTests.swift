// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

private enum Tenant: HTTPRequestOption { static let defaultOptionValue = "none" }

/// The whole line from a template to a server on a socket, over the platform's transport.
@Suite(.timeLimit(.minutes(2)))
struct LineTests {
    /// Starts a server with the given responses, sends, and returns the requests that the server received.
    private func request(
        answer: MockServer.Response = MockServer.Response(), _ send: (HTTPClient) async throws -> Void
    ) async throws -> MockServer.Request {
        let server = try await MockServer.start { _ in answer }
        try await send(HTTPClient(environment: ServerEnvironment(baseURL: server.url.appending(path: "api"))))
        let request = try #require(server.requests.first)
        #expect(server.requests.count == 1 && server.failures.isEmpty)
        await server.stop()
        return request
    }

    @Test func `a URL arrives byte for byte`() async throws {
        let target = "/a%2fb//c/%7E;x=1?q=a+b&r=%2B&q&s=%e2%82%ac&&t=="
        let server = try await MockServer.start { _ in MockServer.Response() }
        let url = try #require(URL(string: server.url.absoluteString + target, encodingInvalidCharacters: false))
        try await HTTPClient().send(HTTPRequest(url: url))
        #expect(server.requests.first?.target == target)
    }

    #if os(Linux)
        @Test func `header names keep their spelling, duplicates and order`() async throws {
            let request = try await request {
                try await $0.send(
                    TestEndpoint("a").headers(["x-LOWER": "1", "X-Repeat": "a", "X-Between": "é", "X-Repeat": "b"]))
            }
            let own = request.headers.filter { $0.name.rawValue.lowercased().hasPrefix("x-") }
            #expect(
                own.map { "\($0.name.rawValue)=\($0.value)" } == [
                    "x-LOWER=1", "X-Repeat=a", "X-Between=é", "X-Repeat=b",
                ])
        }
    #endif

    @Test func `a Content-Length that is the length of the body is sent once`() async throws {
        for (body, length) in [(TextBody("12345"), "5"), (TextBody(""), "0")] {
            let request = try await request { client in
                let template = TestEndpoint("a").with { $0.method = .post }.body(body)
                try await client.send(template.header(.contentLength, length))
                await #expect(throws: HTTPError.self) {
                    try await client.send(template.header(.contentLength, length + "0"))
                }
            }
            #expect(request.headers.values(for: .contentLength) == [length])
        }
    }

    @Test func `no option is sent`() async throws {
        let request = try await request {
            try await $0.send(TestEndpoint("a").option(Tenant.self, "acme").timeout(.seconds(3600)))
        }
        let plain = try await self.request { try await $0.send(TestEndpoint("a")) }
        #expect(request.target == plain.target && request.headers.map(\.name) == plain.headers.map(\.name))
        #expect(!request.headers.contains { $0.value.contains("acme") })
    }
}
