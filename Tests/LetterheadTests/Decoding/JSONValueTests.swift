import Foundation
import Letterhead
import LetterheadTesting
import Testing

/// JSON of any shape, which a server chooses.
struct JSONValueTests {
    struct Document: RequestTemplate {
        typealias Response = JSONValue
        var path: RequestPath { "document" }
    }

    /// The document inside a type of the caller, where only a decoder can read it.
    struct Wrapped: RequestTemplate {
        struct Response: Decodable, Sendable { var value: JSONValue }
        var path: RequestPath { "wrapped" }
    }

    private func client(_ body: String) -> HTTPClient {
        let mock = MockLoader { request in
            HTTPResponse(request: request, status: .ok, body: HTTPResponseBody(Data(body.utf8)))
        }
        return HTTPClient(links: ModifyRequest { $0.host = "example.test" }, transport: mock)
    }

    private func problem(_ body: String) -> HTTPError {
        let response = HTTPResponse(
            request: HTTPRequest(), status: 422, headers: ["Content-Type": "application/problem+json"],
            body: HTTPResponseBody(Data(body.utf8)))
        return HTTPError(.unacceptableStatus, request: HTTPRequest(), response: response)
    }

    private func nested(_ depth: Int, _ open: String = "[", _ close: String = "]") -> String {
        String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
    }

    @Test(arguments: [
        "null", "true", "false", " 1 ", "-0", "1.5", "-1.5e-3", "1E+2", "1.0", "9007199254740993",
        "9223372036854775807",
        "-9223372036854775808", "18446744073709551615", "18446744073709551616", #""""#,
        #""é\u00e9\ud83d\ude00\n\/\"\\""#,
        #""\b\f\r\t""#, "[]", "{}", "[1,[2,{\"a\":[null]}]]", #"{"a":1,"a":2}"#, "\r\n\t[ 1 , 2 ]",
        #"{"a b":{"c":[true,"x",-7,0.25]},"é":""}"#, "\u{FEFF}[1]",
    ])
    func `A response has the same value as with a JSONDecoder`(text: String) async throws {
        let body = text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text
        let expected = try JSONDecoder().decode(JSONValue.self, from: Data(body.utf8))
        #expect(try await client(text).send(Document()) == expected)
        #expect(try await client("{\"value\":\(body)}").send(Wrapped()).value == expected)
    }

    @Test(arguments: [
        "tru", "nul", "-", "01", "1.", ".5", "1e", "+1", "1e999", "NaN", "\"", "\"a", "\"\\", "\"\\u12\"", "\"\\x\"",
        "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\u{1}\"", "[", "[1", "[1,", "[1,]", "[1 2]", "{",
        "{\"a\"",
        "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{a:1}", "{1:2}", "1 2", "]", "}", ",", "// 1",
    ])
    func `Malformed JSON is an error`(text: String) async {
        let error = await #expect(throws: HTTPError.self) { try await client(text).send(Document()) }
        #expect(error?.code == .cannotDecodeResponse && error?.underlying is DecodingError)
        // Foundation's parser allows a comma before the end.
        guard !text.contains(",]"), !text.contains(",}") else { return }
        await #expect(throws: HTTPError.self) { try await client("{\"value\":\(text)}").send(Wrapped()) }
    }

    /// Foundation reads a number to the byte after it, and ends the process if that is another digit.
    @Test func `A long number at the end of a document in JSON5 ends with the document`() async throws {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        let mock = MockLoader { request in
            let body = Data("999999999999999999999".utf8).dropLast()  // A digit follows in memory.
            return HTTPResponse(request: request, status: .ok, body: HTTPResponseBody(body))
        }
        let client = HTTPClient(
            decoder: decoder, links: ModifyRequest { $0.host = "example.test" }, transport: mock)
        let value = try await client.send(Document())
        #expect(value == .double(1e20))
    }

    @Test func `Bytes that are not UTF-8 are an error`() async {
        let mock = MockLoader { request in
            HTTPResponse(request: request, status: .ok, body: HTTPResponseBody(Data([0x22, 0xFF, 0x22])))
        }
        let client = HTTPClient(links: ModifyRequest { $0.host = "example.test" }, transport: mock)
        let error = await #expect(throws: HTTPError.self) { try await client.send(Document()) }
        #expect(error?.description.contains("a string is not UTF-8") == true)
    }

    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func `A document may be nested 64 levels deep, and no deeper`(open: String, close: String) async throws {
        _ = try await client(nested(64, open, close)).send(Document())
        _ = try await client("{\"value\":\(nested(63, open, close))}").send(Wrapped())
        for depth in [65, 500, 100_000] {
            let deep = nested(depth, open, close)
            let error = await #expect(throws: HTTPError.self) { try await client(deep).send(Document()) }
            #expect(error?.description.contains("nested more than 64 levels deep") == true)
        }
        let deep = "{\"value\":\(nested(64, open, close))}"
        let error = await #expect(throws: HTTPError.self) { try await client(deep).send(Wrapped()) }
        #expect(error?.description.contains("a JSONValue is nested more than 64 levels deep in its document") == true)
        let tooDeep = "{\"title\":\"no\",\"more\":\(nested(64, open, close))}"
        #expect(problem(tooDeep).problem == nil)
    }

    @Test func `A key strategy does not change the names of a problem's extensions`() throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let body = Data(#"{"title":"no","trace_id":"7","more":{"user_id":1}}"#.utf8)
        let expected: [String: JSONValue] = ["trace_id": "7", "more": ["user_id": 1]]
        #expect(try decoder.decode(ProblemDetails.self, from: body).extensions == expected)
        #expect(problem(String(decoding: body, as: UTF8.self)).problem?.extensions == expected)
    }

    @Test func `A malformed value is an error, and not decoded as another kind`() {
        struct Fails: Decodable { var value: JSONValue }
        let deep = Data("{\"value\":{\"a\":\(nested(64))}}".utf8)
        let error = #expect(throws: DecodingError.self) { try JSONDecoder().decode(Fails.self, from: deep) }
        guard case .dataCorrupted(let context) = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(context.codingPath.count == 64)
    }

    @Test(arguments: [
        "[],", "{},", "[[[[[[[]]]]]]],", #"{"a":{"b":{"c":null}}},"#, "1,", "true,", #""a","#, #""\u00e9","#, "1.5e3,",
        "[[[[[[[[", "123456789", "{\"a\":", "\"\\\\",
    ])
    func `The time for a problem grows with its size`(piece: String) {
        let ratio = growth(of: 40_000) { size in
            _ = problem("{\"more\":[" + String(repeating: piece, count: size / piece.utf8.count) + "1]}").problem
        }
        #expect(ratio < 8)
    }

    @Test func `A value of another kind than the requested one is an error`() async {
        struct Members: RequestTemplate {
            typealias Response = [String: JSONValue]
            var path: RequestPath { "members" }
        }
        let error = await #expect(throws: HTTPError.self) { try await client("[1]").send(Members()) }
        #expect(error?.description.contains("found array") == true)
    }
}
