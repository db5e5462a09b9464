// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

/// The decoder is chosen by the media type of the response, and its types are in Accept.
struct MediaTypeDecoderTests {
    struct Note: Codable, Sendable, Equatable {
        var text: String
    }

    private let both = MediaTypeDecoder([("application/x-plist", PropertyListDecoder()), (.json, JSONDecoder())])

    private func send(type: String?, _ body: Data, decoder: any HTTPBodyDecoder) async throws -> (Note, HTTPRequest?) {
        let mock = MockLoader { request in
            var response = HTTPResponse.ok(request, body: body)
            if let type { response.headers["Content-Type"] = type }
            return response
        }
        let client = HTTPClient(decoder: decoder, links: ModifyRequest { $0.host = "example.test" }, transport: mock)
        return (try await client.send(Get<Note>("note")), mock.requests.first)
    }

    private let json = Data(#"{"text":"a"}"#.utf8)

    @Test(arguments: ["application/json", "application/vnd.x+json; charset=utf-8", "text/json", "APPLICATION/JSON"])
    func `all JSON media types use the JSON decoder`(type: String) async throws {
        #expect(try await send(type: type, json, decoder: both).0 == Note(text: "a"))
    }

    @Test func `a property list uses its decoder, also without a media type`() async throws {
        let list = try PropertyListEncoder().encode(Note(text: "b"))
        #expect(try await send(type: "application/x-plist", list, decoder: both).0 == Note(text: "b"))
        #expect(try await send(type: nil, list, decoder: both).0 == Note(text: "b"))
    }

    @Test func `a type without a decoder is an error that names it`() async throws {
        let error = await #expect(throws: HTTPError.self) { try await send(type: "text/html", json, decoder: both) }
        #expect(error?.code == .cannotDecodeResponse)
        #expect(error?.underlying as? HTTPBodyError == .unreadable(mediaType: "text/html"))
        #expect(error?.description.contains("no decoder reads text/html") == true)
    }

    @Test func `Accept names the types in order`() async throws {
        let request = try await send(type: "application/json", json, decoder: both).1
        #expect(request?.headers["Accept"] == "application/x-plist, application/json")
        let plain = try await send(type: "application/json", json, decoder: JSONDecoder()).1
        #expect(plain?.headers["Accept"] == "application/json, application/problem+json")
    }

    @Test func `an Accept of the caller is not replaced, and a response that is not decoded sends none`() async throws {
        struct Raw: RequestTemplate { var path: RequestPath { "raw" } }
        let mock = MockLoader { request in .ok(request, body: Data(#"{"text":"a"}"#.utf8)) }
        let client = HTTPClient(links: ModifyRequest { $0.host = "example.test" }, transport: mock)
        try await client.send(Get<Note>("note").header("Accept", "text/x-mine"))
        try await client.send(Raw())
        #expect(mock.requests.map { $0.headers["Accept"] } == ["text/x-mine", nil])
    }

    @Test func `the data after a byte order mark begins at index zero`() async throws {
        struct FirstByte: HTTPBodyDecoder {
            func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
                guard data.startIndex == 0 else { throw HTTPBodyError.invalid("a slice") }
                return try JSONDecoder().decode(type, from: data)
            }
        }
        let answer = try await send(type: "application/json", Data([0xEF, 0xBB, 0xBF]) + json, decoder: FirstByte())
        #expect(answer.0.text == "a")
    }
}
