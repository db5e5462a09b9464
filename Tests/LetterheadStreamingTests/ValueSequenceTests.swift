// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadStreaming
import LetterheadTesting
import TestKit
import Testing

@Suite struct ValueSequenceTests {
    struct Row: Codable, Sendable, Equatable { var a: Int }

    private func client(_ body: HTTPResponseBody, type: String?) -> HTTPClient {
        let loader = AnyLoader { request in
            var response = HTTPResponse(request: request, status: .ok, body: body)
            response.headers["Content-Type"] = type
            return response
        }
        return HTTPClient(environment: .of("http://a.example"), transport: loader)
    }

    private func values<Value: Decodable & Sendable>(
        _ type: Value.Type, of text: String, contentType: String? = "application/json", piecesOf size: Int = .max,
        format: HTTPResponseBody.JSONFormat = .automatic, limit: Int = 1 << 20
    ) async -> (elements: [Value], error: HTTPError?) {
        let client = client(StreamedBody.of(text, piecesOf: size), type: contentType)
        let (values, error) = await client.values(of: TestEndpoint("rows"), as: type, format: format, limit: limit)
            .allAndError()
        return (values, error as? HTTPError)
    }

    static let vectors: [(text: String, type: String?)] = [
        ("{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n", "application/x-ndjson"),
        ("\n\r\n{\"a\":1}\r\n  \n{\"a\":2}\n\t{\"a\":3} ", "application/jsonl"),
        ("{\"a\":1}\n{\"a\":2}\n{\"a\":3}", nil), ("{\"a\":1}\n{\"a\":2}\n{\"a\":3}", "application/json"),
        ("\u{1E}{\"a\":1}\n\u{1E}\u{1E}{\"a\":\n2}\n\u{1E}{\"a\":3}", "application/json-seq"),
        ("[{\"a\":1},{\"a\":2},{\"a\":3}]", "application/json; charset=utf-8"),
        (" \n[ {\"a\" : 1}\n,\t{\"a\":2} , {\"a\":3}\r\n]\n ", "application/vnd.rows+json"),
        ("[{\"a\":1,\"b\":\"]},{\\\"[\\\\\"},{\"a\":2,\"c\":[[],{\"d\":[]}]},{\"a\":3}]", "application/json"),
    ]

    @Test(arguments: vectors)
    func `values arrive one at a time, for any division of the body into pieces`(text: String, type: String?) async {
        for size in 1...text.utf8.count {
            let (rows, error) = await values(Row.self, of: text, contentType: type, piecesOf: size)
            #expect(rows.map(\.a) == [1, 2, 3], "pieces of \(size)")
            #expect(error == nil)
        }
    }

    @Test(arguments: [("[]", "application/json"), (" [ ] ", "application/json"), ("", "application/json"), ("\n", nil)])
    func `an empty response has no values`(text: String, type: String?) async {
        for size in 1...3 {
            let (rows, error) = await values(Row.self, of: text, contentType: type, piecesOf: size)
            #expect(rows.isEmpty && error == nil)
        }
    }

    @Test func `numbers, strings and arrays are values, too`() async {
        for size in 1...4 {
            #expect(await values(Int.self, of: "[10, -22,3]", piecesOf: size).elements == [10, -22, 3])
        }
        #expect(await values(String.self, of: "[\"a,]\", \"b\\\"\"]").elements == ["a,]", "b\""])
        #expect(await values([Int].self, of: "[[1],[2,3],[]]").elements == [[1], [2, 3], []])
        #expect(await values([Int].self, of: "[1]\n[2]\n", contentType: "application/x-ndjson").elements == [[1], [2]])
        #expect(
            await values(Int.self, of: "\u{1E}1\n\u{1E}2\n", contentType: "application/json-seq").elements == [1, 2])
    }

    @Test func `a malformed value is an error with its number, after the values before it`() async {
        let (rows, error) = await values(
            Row.self, of: "{\"a\":1}\n\n{\"a\":2}\n{\"a\":\n{\"a\":4}\n", contentType: "application/x-ndjson")
        #expect(rows.map(\.a) == [1, 2])
        #expect(error?.code == .cannotDecodeResponse)
        #expect(error?.message.contains("value 3") == true)
        #expect(error?.underlying is DecodingError)
        #expect(error?.description.contains("http://a.example/rows") == true)
        let (_, wrongType) = await values(Row.self, of: "[{\"a\":1},{\"a\":\"x\"}]")
        #expect(wrongType?.message.contains("value 2: decoding Row: a:") == true, "\(wrongType?.message ?? "")")
    }

    @Test(arguments: [
        "[{\"a\":1}", "[{\"a\":1},", "[{\"a\":1},{\"a", "[{\"a\":1}, \"", "[{\"a\":1}] {\"a\":2}", "[{\"a\":1},]",
        "[{\"a\":1},,{\"a\":2}]", "[{\"a\":1}{\"a\":2}]",
    ])
    func `a truncated or malformed array is an error after the values before it`(text: String) async {
        for size in [1, 2, 100] {
            let (rows, error) = await values(Row.self, of: text, piecesOf: size)
            #expect(rows.map(\.a) == [1])
            #expect(error?.code == .invalidResponse, "\(text)")
        }
    }

    @Test func `an element is delivered with its closing bracket, and a number when it is known to be whole`() async {
        let pieces = ["[{\"a\":1}", ",{\"a\":2}"].map { Data($0.utf8) }
        let lost = HTTPError(.connectionLost, request: HTTPRequest())
        let client = client(StreamedBody.of(pieces, failing: lost), type: "application/json")
        #expect(await client.values(of: TestEndpoint(), as: Row.self).allAndError().elements == [Row(a: 1), Row(a: 2)])
        #expect(await values(Int.self, of: "[1,2").elements == [1])
    }

    @Test func `a closing bracket of the wrong kind is an error`() async {
        let (rows, error) = await values(Row.self, of: "[{\"a\":1], {\"a\":2}]")
        #expect(rows.isEmpty && error?.code == .cannotDecodeResponse)
    }

    @Test func `a truncated number of a text sequence is an error`() async {
        let (values, error) = await values(Int.self, of: "\u{1E}1\n\u{1E}23", contentType: "application/json-seq")
        #expect(values == [1] && error?.code == .invalidResponse)
        let (_, unseparated) = await self.values(Int.self, of: "1\n\u{1E}2\n", contentType: "application/json-seq")
        #expect(unseparated?.code == .invalidResponse)
    }

    @Test(arguments: [HTTPResponseBody.JSONFormat.lines, .textSequence, .array])
    func `a value over the limit is an error`(format: HTTPResponseBody.JSONFormat) async {
        let text =
            switch format {
            case .array: "[\"12\",\"1234567\"]"
            case .textSequence: "\u{1E}\"12\"\n\u{1E}\"1234567\"\n"
            default: "\"12\"\n\"1234567\"\n"
            }
        for size in [1, 5, 100] {
            let (values, error) = await values(String.self, of: text, piecesOf: size, format: format, limit: 8)
            #expect(values == ["12"])
            #expect(error?.code == .responseTooLarge)
        }
    }

    @Test func `elements that are nested too deep are an error`() async {
        let (values, error) = await values(JSONValue.self, of: "[" + String(repeating: "[", count: 600))
        #expect(values.isEmpty && error?.code == .invalidResponse)
    }

    @Test func `the format of the caller takes precedence over the content type`() async {
        #expect(await values([Int].self, of: "[1]\n[2]", format: .lines).elements == [[1], [2]])
        #expect(await values(Int.self, of: "[1,2]", contentType: "text/plain", format: .array).elements == [1, 2])
    }

    @Test func `the request asks for the types of the format, unless the template does`() async throws {
        let mock = MockLoader { try .ok($0, json: [1]) }
        let client = HTTPClient(environment: .of("http://a.example"), transport: mock)
        _ = try await client.values(of: TestEndpoint(), as: Int.self).all()
        _ = try await client.values(of: TestEndpoint(), as: Int.self, format: .array).all()
        _ = try await client.values(of: TestEndpoint().header("Accept", "*/*"), as: Int.self).all()
        #expect(
            mock.requests.map { $0.headers["Accept"] } == [
                "application/x-ndjson, application/json-seq, application/json;q=0.9", "application/json", "*/*",
            ])
    }

    @Test func `a lost connection is an error after the values before it`() async {
        let lost = HTTPError(.connectionLost, request: HTTPRequest())
        let client = client(StreamedBody.of([Data("{\"a\":1}\n{\"a\"".utf8)], failing: lost), type: nil)
        let (rows, error) = await client.values(of: TestEndpoint(), as: Row.self).allAndError()
        #expect(rows == [Row(a: 1)])
        #expect((error as? HTTPError)?.code == .connectionLost)
    }

    @Test func `a megabyte that arrives byte by byte is read in linear time`() async {
        let text = "[\"" + String(repeating: "a", count: 1 << 20) + "\"]"
        let (values, _) = await values(String.self, of: text, piecesOf: 7, limit: 2 << 20)
        #expect(values.first?.utf8.count == 1 << 20)
    }
}
