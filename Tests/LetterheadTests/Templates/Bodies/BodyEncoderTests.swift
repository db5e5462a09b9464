// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// The encoder of a client or a template, as the bytes that a server receives.
@Suite(.timeLimit(.minutes(3)))
struct BodyEncoderTests {
    private struct Note: Encodable, Sendable { var createdAt = "now" }

    private static var snakeCase: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return encoder
    }

    /// Sends templates with a client that has an encoder, and returns what the server received.
    private func sent(_ templates: [any RequestTemplate]) async throws -> [String] {
        let server = try await MockServer.start { _ in MockServer.Response() }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url)).encoder(Self.snakeCase)
        for template in templates { _ = try await client.send(template) }
        await server.stop()
        return server.requests.map { String(decoding: $0.body, as: UTF8.self) }
    }

    @Test func `a JSON body without an encoder is encoded with that of the template, or else of the client`()
        async throws
    {
        let (snake, camel) = (#"{"created_at":"now"}"#, #"{"createdAt":"now"}"#)
        let note = Post<Void>("a", body: JSONBody(Note()))
        let own = Post<Void>("a", body: JSONBody(Note(), encoder: JSONEncoder()))
        #expect(
            try await sent([note, note.encoder(JSONEncoder()), note.encoder(nil), own]) == [snake, camel, snake, camel])
    }

    @Test func `the encoder applies to the parts of a form`() async throws {
        let form = Post<Void>("a").multipart([.body(JSONBody(Note()), name: "note"), .text("createdAt", name: "t")])
        let text = try #require(try await sent([form]).first)
        #expect(text.contains(#"{"created_at":"now"}"#) && text.contains("createdAt\r\n"))
    }

    @Test func `the encoder applies to a compressed body`() async throws {
        let server = try await MockServer.start { _ in MockServer.Response() }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url)).encoder(Self.snakeCase)
        try await client.send(Post<Void>("a", body: JSONBody(Note()).compressed()))
        await server.stop()
        #expect(server.requests.first?.body == (try JSONBody(Note(), encoder: Self.snakeCase).compressed().encode()))
    }

    @Test func `the names of parameters are sent as written`() async throws {
        let template = TestEndpoint("a").with { ($0.method, $0.parameters) = (.post, ["perPage": 1]) }
        #expect(try await sent([template]) == [#"{"perPage":1}"#])
    }

    @Test func `a JSON body is written as a literal of mixed values`() throws {
        let body = JSONBody(["a": 1, "b": "x", "c": [true, nil, ["d": 1.5]]] as JSONValue)
        #expect(try String(decoding: body.encode(), as: UTF8.self) == #"{"a":1,"b":"x","c":[true,null,{"d":1.5}]}"#)
    }
}
