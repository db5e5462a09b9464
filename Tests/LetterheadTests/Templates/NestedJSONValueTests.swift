import Foundation
import Letterhead
import LetterheadTesting
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

    private final class Subclass: JSONDecoder, @unchecked Sendable {}

    private func client(_ body: Data, decoder: any HTTPBodyDecoder = JSONDecoder()) -> HTTPClient {
        let mock = MockLoader { HTTPResponse(request: $0, status: .ok, body: HTTPResponseBody(body)) }
        return HTTPClient(environment: .of("https://h.test"), decoder: decoder, transport: mock)
    }

    private func decoded<Value: Decodable & Sendable>(
        _ type: Value.Type, _ text: String, decoder: any HTTPBodyDecoder = JSONDecoder()
    ) async throws -> Value {
        try await client(Data(text.utf8), decoder: decoder).send(Endpoint("a", answering: type))
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
        let ratio = growth(of: 40_000) { size in
            let pieces = Array(repeating: piece, count: size / piece.utf8.count).joined(separator: ",")
            #expect(failure("{\"value\":[\(pieces)]}").failure(of: Failing.self) != nil)
        }
        #expect(ratio < 8)
    }

    @Test(arguments: pieces)
    func `the time for a value does not depend on its depth`(piece: String) {
        func cost(_ piece: String) -> Double {
            let pieces = Array(repeating: piece, count: 100_000 / piece.utf8.count).joined(separator: ",")
            let failure = failure("{\"value\":[\(pieces)]}")
            return (0..<3).map { _ in threadTime { #expect(failure.failure(of: Failing.self) != nil) } }.min() ?? 0
        }
        let flat = piece.contains("{") ? #"{"a":1}"# : "[1]"
        #expect(cost(piece) < 8 * cost(flat))
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
            byName: [
                "k/1": Item(userName: "d", extraData: [[]]), "2": Item(userName: "e", extraData: 1.5),
            ], last: [7])
        #expect(try await decoded(Items.self, text) == expected)
        let json5 = JSONDecoder()
        json5.allowsJSON5 = true
        for decoder in [json5, Subclass()] {
            #expect(try await decoded(Items.self, text, decoder: decoder) == expected)
        }
        #expect(try JSONDecoder().decode(Items.self, from: Data(text.utf8)) == expected)
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

    @Test(arguments: ["_a_b_c_", "__x", "a__b", "user_URL", "line_1", "_", "é_ü", "userName"])
    func `a name in snake case is converted as the decoder converts it`(name: String) async throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let text = #"{"\#(name)":\#(Self.pieces[0])}"#
        let direct = try decoder.decode(AnyMembers.self, from: Data(text.utf8))
        #expect(try await decoded(AnyMembers.self, text, decoder: decoder) == direct)
        #expect(direct.members.count == 1)
    }

    /// A type that decodes another document while it is decoded.
    private struct Inner: Decodable, Sendable, Equatable {
        var value: JSONValue
        var text: JSONValue

        enum Key: CodingKey { case value, text }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            let inner = JSONDecoder()
            text = try inner.decode(Wrapped.self, from: Data(container.decode(String.self, forKey: .text).utf8)).value
            value = try container.decode(JSONValue.self, forKey: .value)
        }
    }

    @Test func `a document in a document is read by its own decoder`() async throws {
        let inner = try await decoded(Inner.self, #"{"value":1,"text":"{\"value\":2}"}"#)
        #expect(inner.value == 1 && inner.text == 2)
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

    private struct AnyMembers: Decodable, Sendable, Equatable {
        var members: [String: JSONValue] = [:]

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: AnyKey.self)
            for key in container.allKeys {
                members[key.stringValue] = try container.decode(JSONValue.self, forKey: key)
            }
        }
    }
}
