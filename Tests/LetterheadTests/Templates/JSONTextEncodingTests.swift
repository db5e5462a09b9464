import Foundation
import Letterhead
import LetterheadTesting
import Testing

@Suite struct JSONTextEncodingTests {
    private struct Document<Response: Decodable & Sendable>: RequestTemplate {
        var path: RequestPath { "document" }
    }

    private func decoded<Value: Decodable & Sendable>(_ type: Value.Type, _ data: Data) async throws -> Value {
        let mock = MockLoader { request in
            HTTPResponse(request: request, status: 200, body: HTTPResponseBody(data))
        }
        return try await HTTPClient(environment: .of("https://h.test"), transport: mock).send(Document<Value>())
    }

    @Test(
        arguments: [
            .utf8, .utf16, .utf16BigEndian, .utf16LittleEndian, .utf32, .utf32BigEndian, .utf32LittleEndian,
        ] as [String.Encoding], [false, true])
    func `JSON of unknown structure is decoded from every Unicode encoding, with and without a byte order mark`(
        encoding: String.Encoding, isMarked: Bool
    ) async throws {
        let writesMark = encoding == .utf16 || encoding == .utf32
        let text = (isMarked && !writesMark ? "\u{FEFF}" : "") + #"{"a":"é😀"}"#
        let data = try #require(text.data(using: encoding))
        #expect(try await decoded(JSONValue.self, data) == .object(["a": .string("é😀")]))
        #expect(try await decoded([String: JSONValue].self, data) == ["a": .string("é😀")])
        #expect(try await decoded([String: String].self, data) == ["a": "é😀"])
    }

    @Test(arguments: [[0xFF, 0xFE], [0, 0], [0x31, 0, 0x32], [0xFE, 0xFF, 0xD8, 0, 0, 0x31]] as [[UInt8]])
    func `a text that is truncated or malformed in its encoding is an error`(bytes: [UInt8]) async {
        let error = await #expect(throws: HTTPError.self) { try await decoded(JSONValue.self, Data(bytes)) }
        #expect(error?.code == .cannotDecodeResponse)
    }
}
