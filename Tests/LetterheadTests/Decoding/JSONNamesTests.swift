import Foundation
import Testing

@testable import Letterhead

/// Names that could not be compared in linear time.
@Suite struct JSONNamesTests {
    private static func marks(_ count: Int) -> String { String(repeating: "\u{301}\u{316}", count: count) }

    private static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().value(of: type, from: Data(text.utf8))
    }

    @Test(arguments: ["\u{301}\u{316}", #"\u0301\u0316"#, #"\uD834\uDD65"#])
    func `a name with more than 30 combining characters in sequence is refused`(pair: String) throws {
        let text = #"{"ok": 1, "a\#(String(repeating: pair, count: 40))": 1}"#
        #expect(throws: DecodingError.self) { try Self.decode([String: Int].self, text) }
        #expect(throws: DecodingError.self) { try Self.decode(JSONValue.self, text) }
        #expect(throws: DecodingError.self) { try JSONText.value(of: Data(text.utf8)) }
    }

    @Test func `values may have any number of combining characters, and names a few`() throws {
        let text = #"{"a\#(Self.marks(15))" : "b\#(Self.marks(500))", "list": ["c\#(Self.marks(500))"], "d\"": ":"}"#
        let value = try Self.decode(JSONValue.self, text)
        #expect(value["list"] == .array([.string("c\(Self.marks(500))")]))
        #expect(value["a\(Self.marks(15))"] == .string("b\(Self.marks(500))"))
    }

    @Test(arguments: ["'", "", "\""])
    func `names of JSON5 are checked with other quotation marks and without them`(quote: String) throws {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        let text = "{/* \" */ \(quote)a\(Self.marks(20))\(quote): 1}"
        #expect(throws: DecodingError.self) { try decoder.value(of: [String: Int].self, from: Data(text.utf8)) }
        #expect(try decoder.value(of: [String: Int].self, from: Data("{/* \" */ ä: 1}".utf8)) == ["ä": 1])
    }

    @Test func `problem details with such a name fail in linear time`() throws {
        let request = HTTPRequest()
        let factor = growth(of: 20_000) { count in
            let body = Data(#"{"a\#(Self.marks(count))": 1}"#.utf8)
            let response = HTTPResponse(
                request: request, status: .badRequest, headers: ["Content-Type": "application/problem+json"],
                body: HTTPResponseBody(body))
            let error = HTTPError(.unacceptableStatus, request: request, response: response)
            #expect(error.problem == nil)
        }
        #expect(factor < 10)
    }

    @Test func `a text that begins with a byte order mark is read in linear time, without the mark`() async throws {
        let response = HTTPResponse(
            request: HTTPRequest(), status: .ok, body: HTTPResponseBody(Data("\u{FEFF}\(Self.marks(3))".utf8)))
        #expect(try await response.decode(String.self).unicodeScalars.elementsEqual(Self.marks(3).unicodeScalars))
    }
}
