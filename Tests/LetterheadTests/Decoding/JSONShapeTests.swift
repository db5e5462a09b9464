import Foundation
import Letterhead
import LetterheadTesting
import Testing

/// Values that a subclass of `JSONDecoder` or a decoder for JSON5 reads: the same as without the library, but in linear time.
@Suite struct JSONShapeTests {
    private struct Wrapped: Decodable, Sendable, Equatable {
        var value: JSONValue
    }

    private class Subclass: JSONDecoder, @unchecked Sendable {}

    /// A subclass that decodes a part of the document only, as a document of its own.
    private final class Envelope: JSONDecoder, @unchecked Sendable {
        override func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
            let text = String(decoding: data, as: UTF8.self)
            let body = try #require(text.split(separator: "|").last)
            return try super.decode(type, from: Data(body.utf8))
        }
    }

    private static func json5() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        return decoder
    }

    private func decoded<Value: Decodable & Sendable>(
        _ type: Value.Type, _ text: String, with decoder: JSONDecoder
    ) async throws -> Value {
        let mock = MockLoader { HTTPResponse(request: $0, status: .ok, body: HTTPResponseBody(Data(text.utf8))) }
        let client = HTTPClient(environment: .of("https://h.test"), decoder: decoder, transport: mock)
        return try await client.send(Endpoint("a", answering: type))
    }

    static let texts = [
        "1", "-1", "1.5", "1e3", "1e300", "18446744073709551615", "99999999999999999999", "true", "false", "null",
        #""text""#, #""a\"b\\c\u00e9\n""#, "[]", "{}", "[[],{},[1,[2]]]", #"{"a":{"b":[null,true,"x",1.25]},"c":[]}"#,
        #"{"a":1,"a":[2]}"#, #"{"\u0061b":["]"],"c\\d":"}"}"#, " \n[ 1 , 2 ]\t", #"[{"é":"ü"},{"日本":[0]}]"#,
    ]

    static let textsOfJSON5 = [
        "[1,2,]", "{a:1,$b_c:[2],}", "{'a':'b\\'c'}", "[0x1F,-0x1f,+1,.5,5.,-.25,Infinity,-Infinity]",
        "// first\n{ /* a: [ */ a: [1, // }\n 2] }", "/***/[1,/* ** / */2]", "[\u{A0}1,\u{2028}2]", "{\\u0061b: 1}",
        "'a\\\nb'", #"["\x41", '\v\0']"#, "{\"a\":[{'b':[\"c\"]},[[]]]}",
    ]

    @Test(arguments: texts, ["", " "])
    func `a value is the one that the decoder reads by itself`(text: String, blank: String) async throws {
        for document in [text, "{\"value\":\(blank)\(text)}"] {
            for decoder in [Subclass(), Self.json5()] {
                let data = Data((document + " ").utf8)
                #expect(
                    try await decoded(JSONValue.self, document, with: decoder)
                        == decoder.decode(JSONValue.self, from: data))
            }
        }
    }

    @Test(arguments: textsOfJSON5)
    func `a value in JSON5 is the one that the decoder reads by itself`(text: String) async throws {
        let decoder = Self.json5()
        for document in [text, "{value:\(text)\n}"] {
            let direct = Result { try decoder.decode(JSONValue.self, from: Data(document.utf8)) }
            do {
                #expect(try await decoded(JSONValue.self, document, with: decoder) == direct.get())
            } catch {
                #expect((try? direct.get()) == nil, "\(document): \(error)")
            }
        }
    }

    /// Foundation would read on after the end of the data, and end the process if it found another digit there.
    @Test(arguments: ["99999999999999999999", "1.2345678901234567890", "1234567890123456."])
    func `a long number at the end of a document in JSON5 is read to its end`(text: String) async throws {
        for _ in 0..<20 {
            let value = try await decoded(Double.self, text, with: Self.json5())
            #expect(value > 1)
        }
    }

    @Test func `a document without its outer braces is read`() async throws {
        let decoder = Self.json5()
        decoder.assumesTopLevelDictionary = true
        #expect(
            try await decoded(Wrapped.self, "value: [1, {a: 'b'}]", with: decoder)
                == Wrapped(value: [1, ["a": "b"]]))
    }

    @Test func `a subclass that decodes other data than it receives has its own values`() async throws {
        for (text, value) in [
            (#"{"value":[1]}|{"value":{"a":["x"]}}"#, ["a": ["x"]]), (#"{"value":"a"}|{"value":[1,2.5]}"#, [1, 2.5]),
            (#"no JSON|{"value":[{"b":null}]}"#, [["b": nil]]), (#"{"value":[1]}|{"value":["a",{}]}"#, ["a", [:]]),
        ] as [(String, JSONValue)] {
            #expect(try await decoded(Wrapped.self, text, with: Envelope()) == Wrapped(value: value))
        }
    }

    @Test func `a value that is nested too deep is an error`() async throws {
        let deep = String(repeating: "[", count: 80) + String(repeating: "]", count: 80)
        for decoder in [Subclass(), Self.json5()] {
            let error = await #expect(throws: HTTPError.self) {
                try await decoded(Wrapped.self, "{\"value\":\(deep)}", with: decoder)
            }
            #expect(error?.code == .cannotDecodeResponse)
            #expect(try await decoded(Wrapped.self, "{\"other\":\(deep),\"value\":1}", with: decoder).value == 1)
        }
    }

    @Test(arguments: [
        String(repeating: "[", count: 60) + "1" + String(repeating: "]", count: 60),
        String(repeating: #"{"a":"#, count: 60) + "1" + String(repeating: "}", count: 60), "[]", "{}", "1.5", "0x1F",
    ])
    func `the time for a value grows with its size`(piece: String) throws {
        for decoder in piece == "0x1F" ? [Self.json5()] : [Subclass(), Self.json5()] {
            let ratio = growth(of: 4_000) { size in
                let list = Array(repeating: piece, count: max(1, size / piece.utf8.count)).joined(separator: ",")
                #expect(throws: Never.self) {
                    _ = try decoder.value(of: "{\"value\":[\(list)]}", as: Wrapped.self)
                }
            }
            #expect(ratio < 8)
        }
    }

    @Test(arguments: ["[", #"{"a":"#])
    func `a deep value takes less time than attempts at each kind`(piece: String) throws {
        let nested = String(repeating: piece, count: 60) + "1" + String(repeating: piece == "[" ? "]" : "}", count: 60)
        let text = "{\"value\":[\(Array(repeating: nested, count: 10).joined(separator: ","))]}"
        func cost(_ decode: () throws -> Wrapped) -> Double {
            (0..<3).map { _ in threadTime { #expect(throws: Never.self) { _ = try decode() } } }.min() ?? 0
        }
        let decoder = Subclass()
        let attempts = cost { try decoder.decode(Wrapped.self, from: Data(text.utf8)) }
        #expect(cost { try decoder.value(of: text, as: Wrapped.self) } < attempts)
    }
}

extension JSONDecoder {
    /// Decodes a body as a client does.
    fileprivate func value<Value: Decodable & Sendable>(of text: String, as type: Value.Type) throws -> Value {
        var request = HTTPRequest()
        request.decoder = self
        let response = HTTPResponse(request: request, status: 422, body: HTTPResponseBody(Data(text.utf8)))
        let error = HTTPError(.unacceptableStatus, request: request, response: response)
        return try #require(error.failure(as: type))
    }
}
