// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// JSON of any shape inside a type of the caller.
@Suite struct NestedJSONValueTests {
    private struct Wrapped: Decodable, Sendable, Equatable {
        var value: JSONValue
    }

    private struct Item: Decodable, Sendable, Equatable {
        var userName: String
        var extraData: JSONValue
        var more: [String: JSONValue]?
    }

    private struct Items: Decodable, Sendable, Equatable {
        var itemList: [Item]
        var byName: [String: Item]?
        var last: JSONValue?
    }

    private func client(_ body: Data, decoder: any HTTPBodyDecoder = JSONDecoder()) -> HTTPClient {
        let mock = MockLoader { HTTPResponse(request: $0, status: .ok, body: HTTPResponseBody(body)) }
        return HTTPClient(environment: .of("https://h.test"), decoder: decoder, transport: mock)
    }

    private func decoded<Value: Decodable & Sendable>(
        _ type: Value.Type, _ text: String, decoder: any HTTPBodyDecoder = JSONDecoder()
    ) async throws -> Value {
        try await client(Data(text.utf8), decoder: decoder).send(TestEndpoint("a", answering: type))
    }

    private func failure(_ body: String) -> HTTPError {
        let response = HTTPResponse(request: HTTPRequest(), status: 422, body: HTTPResponseBody(Data(body.utf8)))
        return HTTPError(.unacceptableStatus, request: HTTPRequest(), response: response)
    }

    private struct Failing: RequestTemplate {
        typealias Failure = Wrapped
        var path: RequestPath { "a" }
    }

    private static let depth = 60
    private static let pieces = [
        String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth),
        String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth),
    ]

    @Test(arguments: pieces + ["1", #"{"a":[null]}"#])
    func `the time for a value grows with its size`(piece: String) {
        let ratio = growth(of: 10_000) { size in
            let pieces = Array(repeating: piece, count: size / piece.utf8.count).joined(separator: ",")
            #expect(failure("{\"value\":[\(pieces)]}").failure(of: Failing.self) != nil)
        }
        #expect(ratio < 8)
    }

    @Test(arguments: pieces)
    func `the time for a value does not depend on its depth`(piece: String) {
        func cost(_ piece: String) -> Double {
            let pieces = Array(repeating: piece, count: 30_000 / piece.utf8.count).joined(separator: ",")
            let failure = failure("{\"value\":[\(pieces)]}")
            return (0..<3).map { _ in threadTime { #expect(failure.failure(of: Failing.self) != nil) } }.min() ?? 0
        }
        let flat = piece.contains("{") ? #"{"a":1}"# : "[1]"
        #expect(cost(piece) < 8 * cost(flat))
    }

    @Test func `a document without its outer braces is read`() async throws {
        let decoder = JSONDecoder()
        (decoder.allowsJSON5, decoder.assumesTopLevelDictionary) = (true, true)
        #expect(
            try await decoded(Wrapped.self, "value: [1, {a: 'b'}]", decoder: decoder)
                == Wrapped(value: [1, ["a": "b"]]))
    }

    /// Foundation's parser for JSON5 ends the process at such a name.
    @Test func `JSON5 that is not UTF-8 is an error`() async throws {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        let error = await #expect(throws: HTTPError.self) {
            try await client(Data([0x7B, 0xFB, 0x61, 0x3A, 0x31, 0x7D]), decoder: decoder).send(
                TestEndpoint("a", answering: [String: Int].self))
        }
        #expect(error?.code == .cannotDecodeResponse)
    }

    @Test func `each value is the one at its path`() async throws {
        let text = #"""
            {"last":[7],"itemList":[{"userName":"a","extraData":{"n":1},"more":{"x":[1],"y":null}},
            {"userName":"b","extraData":"two"},{"userName":"c","extraData":null}],
            "byName":{"k/1":{"userName":"d","extraData":[[]]},"2":{"userName":"e","extraData":1.5}}}
            """#
        let expected = Items(
            itemList: [
                Item(userName: "a", extraData: ["n": 1], more: ["x": [1], "y": nil]),
                Item(userName: "b", extraData: "two"), Item(userName: "c", extraData: nil),
            ],
            byName: ["k/1": Item(userName: "d", extraData: [[]]), "2": Item(userName: "e", extraData: 1.5)], last: [7])
        #expect(try await decoded(Items.self, text) == expected)
        let json5 = JSONDecoder()
        json5.allowsJSON5 = true
        #expect(try await decoded(Items.self, text, decoder: json5) == expected)
        #expect(try await decoded([Wrapped?].self, #"[null,{"value":1}]"#) == [nil, Wrapped(value: 1)])
    }

    @Test func `a key strategy applies to the names of the type, and not to those in the value`() async throws {
        let snake = JSONDecoder()
        snake.keyDecodingStrategy = .convertFromSnakeCase
        let custom = JSONDecoder()
        custom.keyDecodingStrategy = .custom { path in
            AnyKey(path[path.count - 1].stringValue.replacing("-", with: ""))
        }
        let item = Item(userName: "a", extraData: ["the_name": ["a_b": 1]], more: ["in_it": 2])
        let expected = Items(itemList: [item], byName: ["some_one": item], last: nil)
        for (decoder, names) in [
            (snake, ["item_list", "user_name", "extra_data", "by_name"]),
            (custom, ["item-List", "user-Name", "extra-Data", "by-Name"]),
        ] {
            let object = #"{"\#(names[1])":"a","\#(names[2])":{"the_name":{"a_b":1}},"more":{"in_it":2}}"#
            let text = #"{"\#(names[0])":[\#(object)],"\#(names[3])":{"some_one":\#(object)}}"#
            #expect(try await decoded(Items.self, text, decoder: decoder) == expected)
        }
    }

    @Test func `an unreadable value elsewhere in the document has no effect`() async throws {
        let deep = String(repeating: "[", count: 80) + "\"]\\\"]\"" + String(repeating: "]", count: 80)
        for other in [deep, #""\ud800""#, "1e999", "-1e999"] {
            #expect(try await decoded(Wrapped.self, "{\"other\":\(other),\"value\":[1]}") == Wrapped(value: [1]))
            #expect(try await decoded(Wrapped.self, "{\"value\":[1],\"other\":\(other)}") == Wrapped(value: [1]))
            let error = await #expect(throws: HTTPError.self) {
                try await decoded(Wrapped.self, "{\"value\":[1,\(other)]}")
            }
            #expect(error?.code == .cannotDecodeResponse && error?.underlying is DecodingError)
        }
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }
}
