// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

private struct User: Codable, Equatable {
    var id: Int
    var login: String
}

private struct GetUser: RequestTemplate {
    typealias Response = User
    let login: String
    var path: RequestPath { "users/\(login)" }
}

/// The examples of the guide "Testing against a real server" work as the guide describes.
@Suite(.timeLimit(.minutes(3))) struct TestingYourClientTests {
    private func withServer(_ body: (MockServer, HTTPClient) async throws -> Void) async throws {
        let server = try await MockServer.start { request in
            switch (request.method, request.path) {
            case (.get, "/users/ada"): try .json(User(id: 1, login: "ada"))
            default: MockServer.Response(status: 404)
            }
        }
        try await body(server, HTTPClient(environment: ServerEnvironment(baseURL: server.url)))
        await server.stop()
    }

    @Test func `responses in the queue are used before the closure, in order and for matching requests`()
        async throws
    {
        try await withServer { server, real in
            try server.enqueue(.response(.init(status: 503)), .response(.json(User(id: 2, login: "ada"))))
            server.enqueue(.response(.init(status: 410)).when { $0.path == "/users/gone" })
            let refused = await #expect(throws: HTTPError.self) { try await real.send(GetUser(login: "ada")) }
            #expect(refused?.response?.status == 503)
            #expect(try await real.send(GetUser(login: "ada")).id == 2)
            let gone = await #expect(throws: HTTPError.self) { try await real.send(GetUser(login: "gone")) }
            #expect(gone?.response?.status == 410 && server.unused == 0)
            #expect(try await real.send(GetUser(login: "ada")).id == 1)
        }
    }

    #if os(Linux)
        @Test func `truncated raw bytes are an invalid response`() async throws {
            try await withServer { server, real in
                server.enqueue(.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfour"))
                let error = await #expect(throws: HTTPError.self) { try await real.send(GetUser(login: "ada")) }
                #expect(error?.code == .invalidResponse)
            }
        }
    #endif

    #if os(Linux)
        @Test func `a reset in the body of a response is a lost connection`() async throws {
            try await withServer { server, real in
                server.enqueue(.response(.text("half of this arrives")).fault(.reset, at: .responseBody))
                let error = await #expect(throws: HTTPError.self) { try await real.send(GetUser(login: "ada")) }
                #expect(error?.code == .connectionLost)
            }
        }
    #endif

    #if os(Linux)
        private func sendOverTLS(certificate: String, key: String) async throws -> User {
            var configuration = MockServer.Configuration()
            configuration.tls = MockServer.TLS(certificate: certificate, key: key)
            let server = try await MockServer.start(configuration) { _ in try .json(User(id: 1, login: "ada")) }

            var connecting = TransportConfiguration()
            connecting.security.roots = .pem(Data(certificate.utf8))
            let client = HTTPClient(
                environment: ServerEnvironment(baseURL: server.url), transport: HTTPClient.makeTransport(connecting))
            let ada = try await client.send(GetUser(login: "ada"))
            await server.stop()
            return ada
        }

        @Test func `a client that trusts a server's own certificate receives a response over TLS`() async throws {
            let ada = try await sendOverTLS(certificate: Certificates.selfSigned, key: Certificates.selfSignedKey)
            #expect(ada.login == "ada")
        }

        @Test func `an expired certificate is refused`() async throws {
            let error = await #expect(throws: HTTPError.self) {
                try await sendOverTLS(certificate: Certificates.expired, key: Certificates.expiredKey)
            }
            #expect(error?.code == .insecureConnection)
        }
    #endif
}
