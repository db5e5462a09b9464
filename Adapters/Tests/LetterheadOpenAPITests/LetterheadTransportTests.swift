// SPDX-License-Identifier: MIT
import Foundation
import HTTPTypes
import Letterhead
import LetterheadOpenAPI
import LetterheadTesting
import OpenAPIRuntime
import Synchronization
import Testing

@Suite struct LetterheadTransportTests {
    private let retrying = Backoff(.immediate, maximumRetries: 2)

    @Test func `a documented value arrives, with the client's credentials`() async throws {
        try await withServer { server in
            server.enqueue(.response(try .json(Components.Pet(id: 7, name: "Rex"))))
            let pets = client(of: server, authentication: .bearer(Secret("s3cret"), allowedOrigins: [server.url]))
            #expect(try await pets.getPet(.init(petID: 7)) == .ok(Components.Pet(id: 7, name: "Rex")))
            #expect(server.requests[0].target == "/v1/pets/7")
            #expect(server.requests[0].headers[.authorization] == "Bearer s3cret")
            #expect(server.requests[0].headers[.accept] == "application/json")
        }
    }

    @Test func `a documented failure is typed`() async throws {
        try await withServer { server in
            server.enqueue(.response(try .json(Components.Problem(reason: "ran away"), status: .notFound)))
            let output = try await client(of: server).getPet(.init(petID: 7))
            #expect(output == .notFound(Components.Problem(reason: "ran away")))
        }
    }

    @Test func `a busy server is asked again, and the last response is undocumented`() async throws {
        try await withServer { server in
            server.enqueue(.response(MockServer.Response(status: 503)), times: 5)
            server.enqueue(.response(try .json(Components.Pet(id: 7, name: "Rex"))))
            let pets = client(of: server)
            guard case .undocumented(503, _) = try await pets.getPet(.init(petID: 7)) else {
                Issue.record("another output")
                return
            }
            #expect(server.requests.count == 3)
            #expect(try await pets.getPet(.init(petID: 7)) == .ok(Components.Pet(id: 7, name: "Rex")))
            #expect(server.requests.count == 6)
        }
    }

    @Test func `a buffered operation is also retried when its body breaks off`() async throws {
        try await withServer { server in
            server.enqueue(
                .response(try .json(Components.Pet(id: 7, name: "Rex"))).fault(.close, at: .responseBody),
                .response(try .json(Components.Pet(id: 7, name: "Rex"))))
            let pets = client(of: server) { request, operation in
                guard operation == "getPet" else { return }
                request.responseDelivery = .buffered
                request.retryStrategy = .immediate.when(.failures([.invalidResponse]))
            }
            #expect(try await pets.getPet(.init(petID: 7)) == .ok(Components.Pet(id: 7, name: "Rex")))
        }
    }

    @Test func `a lost connection has the client's error inside`() async throws {
        try await withServer { server in
            server.enqueue(.closure.fault(.reset, at: .responseStart), times: 3)
            let error = try await #require(throws: ClientError.self) {
                _ = try await client(of: server).getPet(.init(petID: 7))
            }
            let inner = try #require(error.underlyingError as? HTTPError)
            #expect(inner.code == .connectionLost)
            #expect(inner.attempts.count == 3)
            #expect(inner.route == "getPet")
        }
    }

    @Test func `a redirect is followed`() async throws {
        try await withServer { server in
            server.enqueue(
                .response(MockServer.Response(status: 307, headers: ["Location": "/v2/pets/7"])),
                .response(try .json(Components.Pet(id: 7, name: "Rex"))))
            _ = try await client(of: server).getPet(.init(petID: 7))
            #expect(server.requests.map(\.path) == ["/v1/pets/7", "/v2/pets/7"])
        }
    }

    @Test func `a body is streamed while the server sends it`() async throws {
        let (chunks, source) = AsyncStream<Data>.makeStream()
        let closure: MockServer.Closure = { _ in MockServer.Response(chunks: chunks) }
        try await withServer(closure) { server in
            source.yield(Data("first".utf8))
            guard case .ok(let body) = try await client(of: server).exportPets() else {
                Issue.record("another output")
                return
            }
            var pieces: [String] = []
            for try await piece in body {
                pieces.append(String(decoding: piece, as: UTF8.self))
                if pieces.count == 1 { source.yield(Data("second".utf8)) } else { source.finish() }
            }
            #expect(pieces == ["first", "second"])
            #expect(server.requests[0].query == "kind=cats%20%26%20dogs")
        }
    }

    @Test func `a short body that can be iterated once is sent again`() async throws {
        try await withServer { server in
            server.enqueue(
                .response(MockServer.Response(status: 503)), .response(MockServer.Response(status: 204)))
            let stream = AsyncStream<ArraySlice<UInt8>> { continuation in
                continuation.yield(ArraySlice("Rex".utf8))
                continuation.finish()
            }
            let body = OpenAPIRuntime.HTTPBody(stream, length: .known(3))
            let output = try await client(of: server).importPets(.init(body: body))
            #expect(output == .noContent)
            #expect(server.requests.map(\.body) == [Data("Rex".utf8), Data("Rex".utf8)])
            #expect(server.requests[0].headers[.contentLength] == "3")
        }
    }

    @Test func `a long body that can be iterated once is sent once`() async throws {
        try await withServer { server in
            server.enqueue(.response(MockServer.Response(status: 503)))
            let stream = AsyncStream<ArraySlice<UInt8>> { continuation in
                for _ in 0..<4 { continuation.yield(ArraySlice(repeating: 7, count: 50_000)) }
                continuation.finish()
            }
            let body = OpenAPIRuntime.HTTPBody(stream, length: .known(200_000))
            guard case .undocumented(503, _) = try await client(of: server).importPets(.init(body: body)) else {
                Issue.record("another output")
                return
            }
            #expect(server.requests.map(\.body.count) == [200_000])
        }
    }

    @Test func `a form is streamed, and sent again after a marked POST's failure`() async throws {
        try await withServer { server in
            server.enqueue(
                .response(MockServer.Response(status: 503)),
                .response(try .json(Components.Photo(size: 4), status: .created)))
            let form: OpenAPIRuntime.MultipartBody<Operations.AddPhoto.Form> = [
                .caption(MultipartPart(payload: "Me, in 1843")),
                .image(MultipartPart(payload: HTTPBody([1, 2, 3, 4]), filename: "rex.png")),
            ]
            let pets = client(of: server) { request, _ in request.markIdempotent(key: .none) }
            #expect(try await pets.addPhoto(.init(petID: 7, body: form)) == .created(Components.Photo(size: 4)))
            #expect(server.requests.count == 2)
            #expect(server.requests[0].body == server.requests[1].body)
            #expect(server.requests[0].headers["Transfer-Encoding"] == "chunked")
            let text = String(decoding: server.requests[1].body, as: UTF8.self)
            #expect(text.contains("Me, in 1843"))
            #expect(text.contains(#"filename="rex.png""#))
        }
    }

    @Test func `a response without a body has none`() async throws {
        try await withServer({ _ in MockServer.Response(status: 204) }) { server in
            let transport = LetterheadTransport(HTTPClient(environment: ServerEnvironment(baseURL: server.url)))
            let request = HTTPTypes.HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/empty")
            let (head, body) = try await transport.send(request, body: nil, baseURL: server.url, operationID: "empty")
            #expect(head.status == .noContent)
            #expect(body == nil)
        }
    }

    @Test func `a path that is no URL is refused before anything is sent`() async throws {
        try await withServer { server in
            let transport = LetterheadTransport(HTTPClient(environment: ServerEnvironment(baseURL: server.url)))
            let request = HTTPTypes.HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/a b")
            let error = try await #require(throws: HTTPError.self) {
                _ = try await transport.send(request, body: nil, baseURL: server.url, operationID: "bad")
            }
            #expect(error.code == .invalidRequest)
            #expect(server.requests.isEmpty)
        }
    }

    private func client(
        of server: MockServer, authentication: HTTPAuthentication? = nil,
        configure: @escaping @Sendable (inout Letterhead.HTTPRequest, String) -> Void = { _, _ in }
    ) -> PetsClient {
        let url = server.url.appending(path: "v1")
        let http = HTTPClient(
            environment: ServerEnvironment(baseURL: url), authentication: authentication, retrying: retrying)
        return PetsClient(serverURL: url, transport: LetterheadTransport(http, configure: configure))
    }
}

/// Runs a test with a server, and stops it.
func withServer(_ closure: MockServer.Closure? = nil, _ test: (MockServer) async throws -> Void) async throws {
    let server = try await MockServer.start(closure: closure)
    do { try await test(server) } catch {
        await server.stop()
        throw error
    }
    await server.stop()
}
