// SPDX-License-Identifier: MIT
import Foundation
import HTTPTypes
import Letterhead
import LetterheadOpenAPI
import LetterheadTesting
import OpenAPIRuntime
import Testing

@Suite struct OpenAPILoaderTests {
    /// Responds with what it received.
    private struct Echo: ClientTransport {
        func send(
            _ request: HTTPTypes.HTTPRequest, body: OpenAPIRuntime.HTTPBody?, baseURL: URL, operationID: String
        ) async throws -> (HTTPTypes.HTTPResponse, OpenAPIRuntime.HTTPBody?) {
            var head = HTTPTypes.HTTPResponse(status: .ok)
            head.headerFields = request.headerFields
            head.headerFields[try #require(HTTPField.Name("X-Line"))] =
                "\(request.method) \(baseURL) \(request.path ?? "")"
            head.headerFields[try #require(HTTPField.Name("X-Operation"))] = operationID
            return (head, body ?? "none")
        }
    }

    /// Responds with what a closure returns.
    private struct Canned: ClientTransport {
        let answer: @Sendable () async throws -> OpenAPIRuntime.HTTPBody

        func send(
            _ request: HTTPTypes.HTTPRequest, body: OpenAPIRuntime.HTTPBody?, baseURL: URL, operationID: String
        ) async throws -> (HTTPTypes.HTTPResponse, OpenAPIRuntime.HTTPBody?) {
            (HTTPTypes.HTTPResponse(status: .ok), try await answer())
        }
    }

    private func client(_ transport: any ClientTransport) -> HTTPClient {
        HTTPClient(
            environment: ServerEnvironment("https://api.test/v1"), transport: OpenAPILoader(transport))
    }

    @Test func `the request arrives with its path, its fields and its body`() async throws {
        let post = Post<Letterhead.HTTPResponse>(
            "pets/\(7)", query: ["q": "a b"], headers: ["X-A": "1"], body: DataBody(Data("hello".utf8)))
        let response = try await client(Echo()).send(post)
        #expect(response.headers["X-Line"] == "POST https://api.test /v1/pets/7?q=a%20b")
        #expect(response.headers["X-Operation"] == "POST pets/{}")
        #expect(response.headers["X-A"] == "1")
        #expect(try await response.body.data() == Data("hello".utf8))
    }

    @Test func `a streamed body arrives in pieces`() async throws {
        let body = OpenAPIRuntime.HTTPBody(
            AsyncStream<ArraySlice<UInt8>> { continuation in
                for piece in ["a", "b", "c"] { continuation.yield(ArraySlice(piece.utf8)) }
                continuation.finish()
            }, length: .unknown)
        var pieces: [Data] = []
        for try await piece in try await client(Canned { body }).stream(Get<Void>("x")).body { pieces.append(piece) }
        #expect(pieces == [Data("a".utf8), Data("b".utf8), Data("c".utf8)])
    }

    @Test func `the limit of the response's size holds`() async throws {
        let client = client(Canned { OpenAPIRuntime.HTTPBody("too much") })
        let error = try await #require(throws: HTTPError.self) {
            try await client.send(Get<Data>("x").responseLimit(4))
        }
        #expect(error.code == .responseTooLarge)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a transport that does not respond is given up`() async throws {
        let client = client(
            Canned {
                try await Task.sleep(for: .seconds(3_600))
                return "late"
            })
        let error = try await #require(throws: HTTPError.self) {
            try await client.send(Get<Data>("x").timeout(.milliseconds(20)))
        }
        #expect(error.code == .timedOut)
    }

    @Test func `the error of a transport is the underlying one`() async throws {
        struct Broken: Error, Equatable { var number = 3 }
        let client = client(Canned { throw Broken() })
        let error = try await #require(throws: HTTPError.self) { try await client.send(Get<Data>("x")) }
        #expect(error.code == .unknown)
        #expect(error.underlying as? Broken == Broken())
        #expect(error.mayHaveBeenSent)
    }

    @Test func `the loader keeps the laws below Autocancel`() async throws {
        let transport = LetterheadTransport(HTTPClient())
        try await LoaderLaws(loader: { Autocancel() --> OpenAPILoader(transport) }).check()
    }
}
