// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadStreaming
import LetterheadTesting
import TestKit
import Testing

@Suite struct NDJSONBodyTests {
    struct Row: Codable, Sendable, Equatable { var name: String }

    private func rows(_ count: Int) -> AsyncStream<Row> {
        AsyncStream { rows in
            for number in 0..<count { rows.yield(Row(name: "\(number)\n")) }
            rows.finish()
        }
    }

    @Test func `each value is one line`() async throws {
        let body = NDJSONBody(once: rows(3))
        let pieces = try await body.chunks().all()
        #expect(pieces.map { String(decoding: $0, as: UTF8.self) } == (0..<3).map { "{\"name\":\"\($0)\\n\"}\n" })
        #expect(body.additionalHeaders["Content-Type"] == "application/x-ndjson" && !body.isReplayable)
        #expect(body.contentLength == nil)
    }

    @Test func `a body of a closure can be sent again`() async throws {
        let body = NDJSONBody(contentType: "application/jsonl") { rows(2) }
        #expect(body.isReplayable && body.additionalHeaders["Content-Type"] == "application/jsonl")
        for _ in 0..<2 { #expect(try await body.chunks().all().count == 2) }
    }

    @Test func `rows in an array are sent one per line, each time`() async throws {
        let body = NDJSONBody([Row(name: "a"), Row(name: "b")])
        #expect(body.isReplayable && body.additionalHeaders["Content-Type"] == "application/x-ndjson")
        for _ in 0..<2 {
            let pieces = try await body.chunks().all()
            #expect(pieces.map { String(decoding: $0, as: UTF8.self) } == ["{\"name\":\"a\"}\n", "{\"name\":\"b\"}\n"])
        }
    }

    @Test func `rows of a sequence that isn't a collection are sent once`() async throws {
        let body = NDJSONBody(sequence(first: 1) { $0 < 3 ? $0 + 1 : nil }, contentType: "application/jsonl")
        #expect(!body.isReplayable && body.additionalHeaders["Content-Type"] == "application/jsonl")
        #expect(try await body.chunks().all().map { String(decoding: $0, as: UTF8.self) } == ["1\n", "2\n", "3\n"])
        await #expect(throws: HTTPBodyError.self) { try await body.chunks().all() }
    }

    @Test func `an encoder that writes line breaks is an error`() async throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .prettyPrinted
        let (pieces, error) = try await NDJSONBody(once: rows(2), encoder: encoder).chunks().allAndError()
        #expect(pieces.isEmpty && error is HTTPBodyError)
    }

    @Test func `values are sent and received over a socket, and encoded as the connection accepts them`() async throws {
        let server = try await MockServer.start { request in
            .init(headers: ["Content-Type": "application/x-ndjson"], body: request.body)
        }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
        let template = Post<HTTPResponse>("rows", body: NDJSONBody(once: rows(10_000)))
        var count = 0
        for try await row in client.values(of: template, as: Row.self) {
            #expect(row.name == "\(count)\n")
            count += 1
        }
        #expect(count == 10_000)
        await server.stop()
    }

    @Test func `a value that cannot be encoded fails the request, and the server receives no complete body`()
        async throws
    {
        let values = AsyncStream<Double> { values in
            values.yield(1)
            values.yield(.nan)
            values.finish()
        }
        let server = try await MockServer.start { _ in .text("done") }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
        let template = Post<HTTPResponse>("rows", body: NDJSONBody(once: values))
        let error = await #expect(throws: HTTPError.self) { try await client.send(template) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.underlying is EncodingError)
        await server.stop()
        #expect(server.requests.allSatisfy { !$0.isComplete })
    }
}
