// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Synchronization
import Testing

/// JSON of any shape, which a server chooses.
struct JSONValueTests {
    /// The document inside a type of the caller, where only a decoder can read it.
    struct Wrapped: Decodable, Sendable { var value: JSONValue }

    private let document = Get<JSONValue>("document")
    private let wrapped = Get<Wrapped>("wrapped")

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
    func `a response has the same value as with a JSONDecoder`(text: String) async throws {
        let body = text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text
        let expected = try JSONDecoder().decode(JSONValue.self, from: Data(body.utf8))
        #expect(try await client(text).send(document) == expected)
        #expect(try await client("{\"value\":\(body)}").send(wrapped).value == expected)
    }

    @Test(arguments: [
        "tru", "nul", "-", "01", "1.", ".5", "1e", "+1", "1e999", "NaN", "\"", "\"a", "\"\\", "\"\\u12\"", "\"\\x\"",
        "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\u{1}\"", "[", "[1", "[1,", "[1,]", "[1 2]", "{",
        "{\"a\"",
        "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{a:1}", "{1:2}", "1 2", "]", "}", ",", "// 1",
    ])
    func `malformed JSON is an error`(text: String) async {
        let error = await #expect(throws: HTTPError.self) { try await client(text).send(document) }
        #expect(error?.code == .cannotDecodeResponse && error?.underlying is DecodingError)
        // Foundation's parser allows a comma before the end.
        guard !text.contains(",]"), !text.contains(",}") else { return }
        await #expect(throws: HTTPError.self) { try await client("{\"value\":\(text)}").send(wrapped) }
    }

    /// A decoder that keeps what it is given.
    private final class Recorder: JSONDecoder, @unchecked Sendable {
        let text = Mutex(Data())

        override func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            text.withLock { $0 = data }
            return try super.decode(type, from: data)
        }
    }

    /// In these two syntaxes, Foundation reads a number to the byte after it, and ends the process if that is another
    /// digit. The address sanitizer does not see it, because Foundation is not built with it.
    @Test func `the time to write members grows with their number`() {
        let ratio = growth(of: 2_000) { count in
            var json: JSONValue = [:]
            for number in 0..<count { json["a"]["\(number)"] = .int(Int64(number)) }
            for number in 1..<count { json["a"].removeValue(forName: "\(number)") }
            #expect(json == ["a": ["0": 0]])
        }
        #expect(ratio < 8)
    }

    @Test func `a space follows a number at the end of a document in JSON5 or without outer braces`() async throws {
        for (isJSON5, hasBraces) in [(true, true), (false, false), (true, false), (false, true)] {
            let recorder = Recorder()
            (recorder.allowsJSON5, recorder.assumesTopLevelDictionary) = (isJSON5, !hasBraces)
            let text = hasBraces ? "99999999999999999999" : "\"a\":99999999999999999999"
            let request = HTTPRequest().with { $0.decoder = recorder }
            let body = HTTPResponseBody(Data((text + "9").utf8).dropLast())  // A digit follows in memory.
            let response = HTTPResponse(request: request, status: .ok, body: body)
            let value = try await response.decode(JSONValue.self)
            #expect(value == (hasBraces ? .double(1e20) : ["a": .double(1e20)]))
            let isPadded = isJSON5 || !hasBraces
            #expect(recorder.text.withLock { $0 } == Data((text + (isPadded ? " " : "")).utf8))
        }
    }

    @Test func `bytes that are not UTF-8 are an error`() async {
        let mock = MockLoader { request in
            HTTPResponse(request: request, status: .ok, body: HTTPResponseBody(Data([0x22, 0xFF, 0x22])))
        }
        let client = HTTPClient(links: ModifyRequest { $0.host = "example.test" }, transport: mock)
        let error = await #expect(throws: HTTPError.self) { try await client.send(document) }
        #expect(error?.description.contains("a string is not UTF-8") == true)
    }

    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func `a document may be nested 64 levels deep, and no deeper`(open: String, close: String) async throws {
        _ = try await client(nested(64, open, close)).send(document)
        _ = try await client("{\"value\":\(nested(63, open, close))}").send(wrapped)
        for depth in [65, 500, 100_000] {
            let deep = nested(depth, open, close)
            let error = await #expect(throws: HTTPError.self) { try await client(deep).send(document) }
            #expect(error?.description.contains("nested more than 64 levels deep") == true)
        }
        let deep = "{\"value\":\(nested(64, open, close))}"
        let error = await #expect(throws: HTTPError.self) { try await client(deep).send(wrapped) }
        #expect(error?.description.contains("a JSONValue is nested more than 64 levels deep in its document") == true)
        let tooDeep = "{\"title\":\"no\",\"more\":\(nested(64, open, close))}"
        #expect(problem(tooDeep).problem == nil)
    }

    @Test func `a key strategy does not change the names of a problem's extensions`() throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let body = Data(#"{"title":"no","trace_id":"7","more":{"user_id":1}}"#.utf8)
        let expected: [String: JSONValue] = ["trace_id": "7", "more": ["user_id": 1]]
        #expect(try decoder.decode(ProblemDetails.self, from: body).extensions == expected)
        #expect(problem(String(decoding: body, as: UTF8.self)).problem?.extensions == expected)
    }

    @Test func `a malformed value is an error, and not decoded as another kind`() {
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
    func `the time for a problem grows with its size`(piece: String) {
        let ratio = growth(of: 40_000) { size in
            _ = problem("{\"more\":[" + String(repeating: piece, count: size / piece.utf8.count) + "1]}").problem
        }
        #expect(ratio < 8)
    }

    @Test func `a value of a document is reached by subscripts and accessors`() throws {
        let text = #"{"items":[{"id":7,"ok":true,"name":"ada","score":0.5,"more":null}],"big":18446744073709551615}"#
        let json = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        let item = json["items"][0]
        #expect(item["id"].int == 7 && item["id"].double == 7)
        #expect(item["ok"].bool == true && item["name"].string == "ada" && item["score"].double == 0.5)
        #expect(item["more"] == .null && item["none"] == nil && item.object?.count == 5)
        #expect(json["items"].array?.count == 1 && json["items"][1] == nil && json["items"][-1] == nil)
        #expect(json["big"].int == nil && json["big"].double == 0x1p64)
        #expect(json[0] == nil && json["items"]["id"] == nil && JSONValue.uint(7).int == 7)
        let scalar: JSONValue = "1"
        #expect(scalar.int == nil && scalar.double == nil && scalar.bool == nil)
        #expect(scalar.array == nil && scalar.object == nil && JSONValue.double(1.5).int == nil)
        #expect(JSONValue.int(1).string == nil && JSONValue.null.bool == nil)
    }

    @Test func `any encodable value becomes a JSON value`() throws {
        struct Filter: Encodable { var minimumAge = 18, tags = ["a"] }
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        #expect(try JSONValue(encoding: Filter()) == ["minimumAge": 18, "tags": ["a"]])
        #expect(try JSONValue(encoding: Filter(), encoder: encoder)["minimum_age"] == 18)
        #expect(throws: EncodingError.self) { try JSONValue(encoding: [Double.nan]) }
    }

    @Test(arguments: [.utf8, .utf16, .utf16BigEndian, .utf16LittleEndian] as [String.Encoding], ["", "\u{FEFF}"])
    func `a document in UTF-16 and a byte order mark are read`(encoding: String.Encoding, mark: String) async throws {
        let text = (encoding == .utf16 ? "" : mark) + #"{"a":"é😀"}"#
        let response = HTTPResponse(
            request: HTTPRequest(), status: .ok, body: HTTPResponseBody(try #require(text.data(using: encoding))))
        #expect(try await response.decode(JSONValue.self) == ["a": "é😀"])
        #expect(try await response.decode([String: JSONValue].self) == ["a": "é😀"])
        #expect(try await response.decode([String: String].self) == ["a": "é😀"])
    }

    @Test(
        arguments: [
            (nil, "null"), (true, "true"), (-7, "-7"), (.uint(.max), "18446744073709551615"), (0.5, "0.5"),
            ("a/\"é\n", #""a/\"é\n""#), ([], "[]"),
            (["b": [1, nil], "a": [:], "c": false], #"{"a":{},"b":[1,null],"c":false}"#),
            ([.double(.infinity), .double(.nan)], #"["inf","nan"]"#),
        ] as [(JSONValue, String)])
    func `a value is printed as JSON`(value: JSONValue, text: String) {
        #expect("\(value)" == text)
    }

    @Test func `numbers are equal if their values are, without losing digits`() throws {
        let read = try JSONDecoder().decode(JSONValue.self, from: Data("[1, 2.0, 1e3, -0.0]".utf8))
        #expect(read == [1, 2.0, 1000.0, 0] && read == [1.0, 2, 1000, 0.0])
        #expect(Set<JSONValue>([2, 2.0, .uint(2), .int(2)]).count == 1 && JSONValue.double(2).int == 2)
        let large: [JSONValue] = [
            .int(1 << 53), .int(1 << 53 + 1), .double(0x1p53 + 2), .uint(.max), .double(0x1p64), .uint(1 << 63),
        ]
        #expect(Set(large).count == large.count && JSONValue.uint(1 << 63) == .double(0x1p63))
        #expect(JSONValue.int(0) != .bool(false) && JSONValue.null != 0 && JSONValue.string("1") != 1)
    }

    @Test(arguments: 0..<200)
    func `a value that is written and read again is equal, and has the same hash`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let value = Self.value(random: &random, depth: 4)
        let data = try JSONEncoder().encode(value)
        let parsed = try await client(String(decoding: data, as: UTF8.self)).send(document)
        for read in [try JSONDecoder().decode(JSONValue.self, from: data), parsed] {
            #expect(read == value && read.hashValue == value.hashValue, "\(value)")
        }
    }

    private static func value(random: inout SeededGenerator, depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth == 0 ? 6 : 8), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2: return .int(.random(in: .min ... .max, using: &random) >> Int64.random(in: 0..<64, using: &random))
        case 3: return .uint(.random(in: 0 ... .max, using: &random) >> UInt64.random(in: 0..<64, using: &random))
        case 4:
            let number = Double(bitPattern: .random(in: 0 ... .max, using: &random))
            return .double(number.isFinite ? (Bool.random(using: &random) ? number : number.rounded()) : 0.5)
        case 5: return .string(["", "a", "e\u{301}", "\u{E9}", "\u{0}\"\\/", "😀"].randomElement(using: &random) ?? "")
        case 6: return .array((0..<3).map { _ in value(random: &random, depth: depth - 1) })
        default: return .object(["a": value(random: &random, depth: depth - 1), "é": .null])
        }
    }

    @Test func `a member of a missing object can be set, and a member can be removed`() {
        var json: JSONValue = ["old": 1]
        json["a"]["b"]["c"] = 2
        json["a"]["d"] = nil
        #expect(json == ["old": 1, "a": ["b": ["c": 2], "d": nil]])
        json.removeValue(forName: "old")
        json["a"].removeValue(forName: "b")
        #expect(json == ["a": ["d": nil]])
        json["a"]["d"].removeValue(forName: "x")
        #expect(json["a"].object?["d"] == .null && json["a"].object?["b"] == nil)
    }

    private static func marks(_ count: Int) -> String { String(repeating: "\u{301}\u{316}", count: count) }

    /// Names are compared by canonical equivalence, which takes quadratic time in the length of such a sequence.
    @Test(arguments: ["\u{301}\u{316}", #"\u0301\u0316"#, #"\uD834\uDD65"#])
    func `a name with more than 30 combining characters in sequence is refused`(pair: String) async throws {
        let text = #"{"ok": 1, "a\#(String(repeating: pair, count: 40))": 1}"#
        let error = await #expect(throws: HTTPError.self) { try await client(text).send(document) }
        #expect(error?.message.contains("a name has more than 30 consecutive combining characters") == true)
        let allowed = #"{"a\#(Self.marks(15))":"b\#(Self.marks(500))"}"#
        #expect(try await client(allowed).send(document)["a\(Self.marks(15))"].string == "b\(Self.marks(500))")
        let ratio = growth(of: 20_000) { count in #expect(problem(#"{"a\#(Self.marks(count))": 1}"#).problem == nil) }
        #expect(ratio < 10)
    }
}
