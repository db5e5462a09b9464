// SPDX-License-Identifier: MIT
import Foundation
@testable import Letterhead
import LetterheadTesting
import TestKit
import Testing

private struct Shouting: HTTPBodyDecoder {
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try JSONDecoder().decode(type, from: Data(String(decoding: data, as: UTF8.self).uppercased().utf8))
    }
}

@Suite struct ResponseDecodingTests {
    private func send<Value: Decodable & Sendable>(
        _ type: Value.Type, body: Data, status: HTTPStatus = 200, headers: HTTPHeaders = [:]
    ) async throws -> Value {
        try await send(TestEndpoint("a", answering: type), body: body, status: status, headers: headers)
    }

    private func send<Template: RequestTemplate>(
        _ template: Template, body: Data, status: HTTPStatus = 200, headers: HTTPHeaders = [:]
    ) async throws -> Template.Response {
        let mock = MockLoader {
            HTTPResponse(request: $0, status: status, headers: headers, body: HTTPResponseBody(body))
        }
        let client = HTTPClient(environment: .of("https://h"), transport: mock)
        return try await client.send(template)
    }

    private func send<Value: Decodable & Sendable>(
        _ type: Value.Type, _ text: String, headers: HTTPHeaders = [:]
    ) async throws -> Value {
        try await send(type, body: Data(text.utf8), headers: headers)
    }

    private let ada = Person(id: 1, login: "ada")
    private let json = #"{"id":1,"login":"ada"}"#

    @Test func `data is the bytes of the body, which may be empty`() async throws {
        #expect(try await send(Data.self, body: Data([0, 255])) == Data([0, 255]))
        #expect(try await send(Data.self, body: Data(), status: 204) == Data())
    }

    @Test(arguments: [
        ("text/plain; charset=utf-8", Data("é".utf8)), ("text/plain", Data("é".utf8)), ("", Data("é".utf8)),
        ("text/plain; charset=ISO-8859-1", Data([0xE9])),
        ("text/plain; charset=\"UTF-8\"", Data([0xEF, 0xBB, 0xBF, 0xC3, 0xA9])),
        ("text/plain; charset='iso-8859-1'", Data([0xE9])),
        ("text/plain; charset=utf-16le", Data([0xE9, 0x00])), ("nonsense", Data("é".utf8)),
    ]) func `text is decoded in the charset that the response declares`(type: String, body: Data) async throws {
        #expect(try await send(String.self, body: body, headers: ["Content-Type": type]) == "é")
    }

    @Test(arguments: [
        ("application/json", #" "a\u00e9\n" "#, "aé\n"), ("application/problem+json", #""b""#, "b"),
        ("application/json", #"{"a":"b"}"#, #"{"a":"b"}"#), ("application/json", #""b"#, #""b"#),
        ("text/plain", #""b""#, #""b""#),
    ])
    func `the string of a JSON response is decoded, and any other text is its bytes`(
        type: String, body: String, text: String
    ) async throws {
        #expect(try await send(String.self, body, headers: ["Content-Type": type]) == text)
        #expect(try await send(String?.self, body, headers: ["Content-Type": type]) == text)
    }

    // MARK: Names of members

    /// A document with a member whose name has combining marks, raw or as escapes.
    private static func document(_ count: Int, isEscaped: Bool) -> String {
        let mark = isEscaped ? #"\u0301"# : "\u{301}"
        return #"{"id":1,"login":"ada","a"# + String(repeating: mark, count: count) + #"" : 0}"#
    }

    @Test(arguments: [true, false], [String.Encoding.utf8, .utf16LittleEndian, .utf32BigEndian])
    func `a member name with more than 30 consecutive combining characters is refused by its limit`(
        isEscaped: Bool, encoding: String.Encoding
    ) async throws {
        func decoded<Value: Decodable & Sendable>(_ type: Value.Type, _ count: Int) async throws -> Value {
            let text = Self.document(count, isEscaped: isEscaped)
            return try await send(type, body: try #require(text.data(using: encoding)))
        }
        #expect(try await decoded(Person.self, 30) == ada)
        for count in [31, 5_000] {
            let error = await #expect(throws: HTTPError.self) { try await decoded(Person.self, count) }
            #expect(error?.code == .cannotDecodeResponse)
            #expect(
                error?.message.contains("more than 30 consecutive combining characters") == true || encoding != .utf8)
            await #expect(throws: HTTPError.self) { try await decoded([String: JSONValue].self, count) }
        }
    }

    @Test(arguments: ["{'login':'ada',id:1,'aM':0}", "{login:'ada',id:1,aM:0}", #"/* " */{"login":'ada',id:1,"aM":0}"#])
    func `a name in any form of JSON5 has the same limit`(form: String) throws {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        for mark in ["\u{301}", #"\u0301"#, #"\uD834\uDD65"#] {
            func decoded(_ count: Int) throws -> Person {
                let text = form.replacing("M", with: String(repeating: mark, count: count))
                return try decoder.value(of: Person.self, from: Data(text.utf8))
            }
            #expect(throws: DecodingError.self) { try decoded(31) }
            // Foundation reads no name without quotes that has an escape of a surrogate.
            if mark == "\u{301}" || form.contains("aM\"") { #expect(try decoded(30) == ada) }
        }
    }

    @Test func `combining characters in values, and names with other long texts, are decoded`() async throws {
        let marks = String(repeating: "\u{301}", count: 1_000)
        #expect(try await send([String: String].self, #"{"a":"\#(marks)"}"#)["a"]?.utf8.count == 2_000)
        for name in [String(repeating: "é", count: 200), String(repeating: "日本", count: 50)] {
            #expect(try await send([String: Int].self, #"{"a\\\"":1,"\#(name)":2}"#)[name] == 2)
        }
    }

    /// Twice the document takes about twice as long, raw or as escapes, in a type and in a dictionary.
    @Test(.timeLimit(.minutes(3)), arguments: [true, false])
    func `a member name of combining characters costs linear time`(isEscaped: Bool) throws {
        func cost(_ bytes: Int) -> Double {
            let body = Data(Self.document(bytes / (isEscaped ? 6 : 2), isEscaped: isEscaped).utf8)
            return (0..<3).map { _ in
                threadTime {
                    _ = try? JSONDecoder().value(of: Person.self, from: body)
                    _ = try? JSONDecoder().value(of: [String: String].self, from: body)
                    _ = try? MediaTypeDecoder([(.json, JSONDecoder())]).value(of: Person.self, from: body)
                }
            }.min() ?? 0
        }
        // Quadratic growth is four times as much, each time.
        #expect((0..<5).contains { _ in cost(512 << 10) < 3 * cost(256 << 10) })
    }

    @Test func `a text that begins with a byte order mark is read in linear time, without the mark`() async throws {
        let marks = String(repeating: "\u{301}\u{316}", count: 3)
        #expect(try await send(String.self, "\u{FEFF}\(marks)").unicodeScalars.elementsEqual(marks.unicodeScalars))
    }

    @Test(arguments: [("text/plain; charset=klingon", Data("a".utf8)), ("text/plain", Data([0xFF, 0xFE, 0xFD]))])
    func `text that cannot be decoded is an error`(type: String, body: Data) async {
        let error = await failure { try await send(String.self, body: body, headers: ["Content-Type": type]) }
        #expect(error?.code == .cannotDecodeResponse && error?.response?.status == .ok)
    }

    @Test func `a charset that is not supported is named, with the remedy`() async {
        let error = await #expect(throws: HTTPError.self) {
            try await send(String.self, "a", headers: ["Content-Type": "text/plain; charset=euc-jp"])
        }
        #expect(
            error?.message
                == "the response's charset euc-jp is not supported (set unknownCharset(.utf8), or decode Data)")
    }

    @Test func `text in a charset that is not supported is decoded in the encoding of the setting`() async throws {
        let unknown: HTTPHeaders = ["Content-Type": "text/plain; charset=klingon"]
        let text = TestEndpoint("a", answering: String.self)
        #expect(try await send(text.unknownCharset(.utf8), body: Data("é".utf8), headers: unknown) == "é")
        #expect(try await send(text.unknownCharset(.isoLatin1), body: Data([0xE9]), headers: unknown) == "é")
        let known: HTTPHeaders = ["Content-Type": "text/plain; charset=iso-8859-1"]
        #expect(try await send(text.unknownCharset(.utf8), body: Data([0xE9]), headers: known) == "é")
        let mock = MockLoader {
            HTTPResponse(request: $0, status: 200, headers: unknown, body: HTTPResponseBody(Data("é".utf8)))
        }
        let client = HTTPClient(environment: .of("https://h.test"), transport: mock).unknownCharset(.utf8)
        #expect(try await client.send(text) == "é")
    }

    @Test(arguments: ["text/plain", ""])
    func `text without a charset is UTF-8, or else in the encoding of the setting`(type: String) async throws {
        let text = TestEndpoint("a", answering: String.self).unknownCharset(.isoLatin1)
        let headers: HTTPHeaders = ["Content-Type": type]
        #expect(try await send(text, body: Data([0xE9]), headers: headers) == "é")
        #expect(try await send(text, body: Data("é".utf8), headers: headers) == "é")
    }

    @Test func `text that is malformed in its charset isn't decoded in the encoding of the setting`() async {
        let text = TestEndpoint("a", answering: String.self).unknownCharset(.isoLatin1)
        let error = await #expect(throws: HTTPError.self) {
            try await send(text, body: Data([0xE9]), headers: ["Content-Type": "text/plain; charset=utf-8"])
        }
        #expect(error?.message == "the body is malformed in the response's charset (decode Data)")
    }

    @Test func `the error for text that isn't UTF-8 names the setting`() async {
        let error = await #expect(throws: HTTPError.self) {
            try await send(String.self, body: Data([0xE9]), headers: ["Content-Type": "text/plain"])
        }
        #expect(error?.message.hasPrefix("the body is not UTF-8, and the response declares no charset") == true)
        #expect(error?.message.contains("set unknownCharset") == true)
    }

    @Test func `void accepts any response`() async throws {
        try await send(TestEndpoint("a", answering: Void.self), body: Data(), status: 204)
        try await send(TestEndpoint("a", answering: Void.self), body: Data("something".utf8))
    }

    @Test func `an optional is nil for an empty response`() async throws {
        #expect(try await send(Person?.self, body: Data(), status: 204) == nil)
        #expect(try await send(String?.self, body: Data(), status: 204) == nil)
        #expect(try await send(Data?.self, body: Data(), status: 204) == nil)
        #expect(try await send([Person]?.self, body: Data(), status: 204) == nil)
    }

    @Test func `an optional is the value of a body that is not empty`() async throws {
        #expect(try await send(Person?.self, json) == ada)
        #expect(try await send(String?.self, "x") == "x")
        #expect(try await send(Data?.self, "x") == Data("x".utf8))
    }

    @Test func `an optional is nil for a JSON null`() async throws {
        #expect(try await send(Person?.self, "null") == nil)
        #expect(try await send(Int?.self, " null ") == nil)
        #expect(try await send(String?.self, "null") == "null")
    }

    @Test func `an empty response for a value is an error that names the remedy`() async {
        let error = await #expect(throws: HTTPError.self) { try await send(Person.self, body: Data(), status: 204) }
        #expect(error?.code == .emptyResponse && error?.message.contains("optional") == true)
        #expect(error?.response?.status == .noContent)
    }

    @Test func `a decoding error has the response, the reason and the path`() async throws {
        let error = await #expect(throws: HTTPError.self) { try await send(Person.self, #"{"id":"SECRET"}"#) }
        #expect(error?.code == .cannotDecodeResponse)
        #expect(error?.underlying is DecodingError)
        #expect(error?.response?.body.buffered == Data(#"{"id":"SECRET"}"#.utf8))
        #expect(error?.message == "decoding Person: id: expected Int, found a string")
        #expect(!"\(try #require(error))".contains("SECRET"))
    }

    private struct Order: Decodable, Sendable {
        struct Item: Decodable, Sendable { var id: Int }
        var items: [Item]
        var at: Date?
    }

    @Test(arguments: [
        (#"{"items":[{"id":1},{"id":"SECRET"}]}"#, "items[1].id: expected Int, found a string"),
        (#"{"items":[{"id":[7]}]}"#, "items[0].id: expected Int, found an array"),
        (#"{"items":[{"id":true}]}"#, "items[0].id: expected Int, found a boolean"),
        (#"{"items":[{"id":null}]}"#, "items[0].id: expected Int, found null"),
        (#"{"items":[{}]}"#, "items[0].id: expected a value, found no such member"),
        (#"{"items":[{"id":123456789123456789123456789}]}"#, "fit into its type, such as 1.5 into Int"),
        (#"{"items":[{"id":7.25}]}"#, "fit into its type, such as 1.5 into Int"),
        ("  \n", "decoding Order: not JSON at byte 3: the text ends before the value is complete"),
        (#"{"items":7}"#, "items: expected an array, found a number"),
        (#"["SECRET"]"#, "the top level: expected an object, found an array"),
        (#"{"items":"#, "decoding Order: not JSON at byte 9: the text ends before the value is complete"),
        (#"{"items":[{"id":1}"#, "not JSON at byte 18: the text ends before the value is complete"),
        (#"{"items":[}"#, "not JSON at byte 10: a value is malformed"),
    ]) func `a decoding error contains the path, the expected type, and the kind that was found`(
        json: String, message: String
    ) async {
        let error = await #expect(throws: HTTPError.self) { try await send(Order.self, json) }
        #expect(error?.message.hasSuffix(message) == true, "\(error?.message ?? "")")
    }

    @Test func `the error of a document without a type calls an object an object`() async {
        let object = await #expect(throws: HTTPError.self) { try await send([String: JSONValue].self, "[1]") }
        #expect(object?.message.hasSuffix("the top level: expected an object, found an array") == true)
        let array = await #expect(throws: HTTPError.self) { try await send([JSONValue].self, "{}") }
        #expect(array?.message.hasSuffix("the top level: expected an array, found an object") == true)
        #expect(array?.underlying.map { "\($0)" }?.contains("dictionary") == false)
    }

    @Test(arguments: [
        ("text/html; charset=utf-8", "the data is malformed; the response is text/html"),
        ("application/json", "the data is malformed"), ("a b", "the data is malformed"),
    ]) func `for a body that is not JSON the error contains its media type`(type: String, message: String) {
        let context = DecodingError.Context(codingPath: [], debugDescription: "")
        let response = HTTPResponse(request: HTTPRequest(), status: .ok, headers: ["Content-Type": type])
        let error = HTTPError(DecodingError.dataCorrupted(context), request: HTTPRequest(), response: response)
        #expect(error.message == message)
    }

    @Test(arguments: [
        ("text/html", "<!DOCTYPE html>\n<title>Sign in</title>", #""<!DOCTYPE html> <title>Sign in</title>""#),
        ("text/plain", "\n  Bad Gateway\u{1B}", nil), ("text/plain", "\n  Bad\tGateway", #""Bad Gateway""#),
        ("application/json", "not yet", #""not yet""#), ("text/plain", "sk-4f8a9c2b7d1e3f5a6b8c", #""<redacted>""#),
        ("text/plain", "see https://h/?token=SECRET", #""see https://h/?token=<redacted>""#),
        ("text/html", #"{"password":"SECRET""#, nil), ("application/json", #"["SECRET"#, nil),
        ("image/png", "\u{0}SECRET", nil),
    ])
    func `a text in place of JSON is in the error with its first bytes, but without secrets`(
        type: String, body: String, shown: String?
    ) async throws {
        let error = try #require(
            await #expect(throws: HTTPError.self) { try await send(Order.self, body, headers: ["Content-Type": type]) })
        #expect(error.message.hasPrefix("decoding Order: "))
        #expect(error.message.contains("; the response is \(type)") == (type != "application/json"))
        #expect(error.message.contains("begins with") == (shown != nil), "\(error)")
        if let shown { #expect(error.message.hasSuffix("begins with \(shown)"), "\(error)") }
        #expect(!error.message.contains("SECRET"))
    }

    @Test func `the first bytes in an error are few, and those of a secret response are not in it`() async throws {
        let page = String(repeating: "<p>x</p>", count: 1000)
        let long = await #expect(throws: HTTPError.self) { try await send(Order.self, page) }
        #expect(try #require(long).message.utf8.count < 250)
        let secret = TestEndpoint("a", answering: Order.self).secret()
        let error = await #expect(throws: HTTPError.self) { try await send(secret, body: Data("SECRET".utf8)) }
        #expect(!"\(try #require(error))".contains("SECRET"))
    }

    private struct Event: Decodable, Sendable {
        struct Span: Decodable, Sendable { var start: Date }
        var spans: [Span]?
        var token: Date?
        var link: URL?
    }

    @Test(
        arguments: [
            (
                #"{"spans":[{"start":"yesterday"}]}"#,
                #"spans[0].start: the value is malformed, found "yesterday" (the decoder reports "Expected date"#
            ),
            (#"{"token":"SECRET"}"#, #"token: the value is malformed, found "<redacted>""#),
            (#"{"link":""}"#, #"link: the value is malformed, found "" (the decoder reports "Invalid URL string.")"#),
        ])
    func `a date that cannot be decoded is in the error with its path and the reason, unless its name is secret`(
        json: String, message: String
    ) async throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let template = TestEndpoint("a", answering: Event.self).decoder(decoder)
        let error = await #expect(throws: HTTPError.self) { try await send(template, body: Data(json.utf8)) }
        let text = "\(try #require(error))"
        #expect(text.contains("decoding Event: \(message)") && !text.contains("SECRET"), "\(text)")
        #expect(!text.contains("the data is malformed"))
    }

    @Test func `a date in ISO 8601 where a number is expected names the strategy of the decoder`() async {
        let error = await #expect(throws: HTTPError.self) {
            try await send(Event.self, #"{"spans":[{"start":"2026-11-27T02:00:00Z"}]}"#)
        }
        #expect(
            error?.message
                == "decoding Event: spans[0].start: expected Double, found a string (if it is a date, set "
                + "dateDecodingStrategy of the decoder to .iso8601)")
    }

    private enum State: String, Decodable { case open, closed }

    private struct Issue: Decodable, Sendable {
        var state: State
        var firstName: String?
    }

    private struct Named: Decodable, Sendable {
        struct Owner: Decodable, Sendable { var firstName: String }
        var owners: [Owner]
    }

    private struct Login: Decodable, Sendable { var password: State }

    @Test func `an unknown value of an enum is in the error with the enum`() async throws {
        let error = await #expect(throws: HTTPError.self) { try await send(Issue.self, #"{"state":"archived"}"#) }
        #expect(error?.message == #"decoding Issue: state: expected a case of State, found "archived""#)
        let long = await #expect(throws: HTTPError.self) {
            try await send(Issue.self, #"{"state":"a\n\#(String(repeating: "x", count: 9000))"}"#)
        }
        #expect(try #require(long).message.utf8.count < 200)
        for json in [#"{"state":"sk-4f8a9c2b7d1e3f5a6b8c"}"#, #"{"state":1}"#] {
            let error = await #expect(throws: HTTPError.self) { try await send(Issue.self, json) }
            #expect(!"\(try #require(error))".contains("4f8a9c2b"))
        }
        let secret = await #expect(throws: HTTPError.self) { try await send(Login.self, #"{"password":"SECRET"}"#) }
        #expect(try #require(secret).message.hasSuffix("expected a case of State, found \"<redacted>\""))
    }

    @Test func `a value below a secret name, of a secret request or of a name that the request adds is not shown`()
        async throws
    {
        typealias Case = (json: String, template: TestEndpoint<[String: [State]]>)
        let endpoint = TestEndpoint("a", answering: [String: [State]].self)
        let cases: [Case] = [
            (#"{"tokens":["letmein"]}"#, endpoint),
            (#"{"state":["letmein"]}"#, endpoint.with { $0.options.isSecret = true }),
            (
                #"{"diagnosis":["letmein"]}"#,
                endpoint.with { $0.options.redaction = .standard.adding(parameters: ["diagnosis"]) }
            ),
        ]
        for (json, template) in cases {
            let error = await #expect(throws: HTTPError.self) { try await send(template, body: Data(json.utf8)) }
            let text = "\(try #require(error))"
            #expect(text.contains("expected a case of State") && !text.contains("letmein"))
        }
    }

    @Test(arguments: [
        (
            #"{"owners":[{"first_name":"a"}]}"#,
            ", but the object contains \"first_name\": set keyDecodingStrategy of the "
                + "decoder to .convertFromSnakeCase"
        ),
        (#"{"owners":[{"FirstName":"a"}]}"#, ", but the object contains \"FirstName\": declare CodingKeys"),
        (#"{"owners":[{"name":"a"}]}"#, "owners[0].firstName: expected a value, found no such member"),
        (
            #"{"Owners":[]}"#,
            "owners: expected a value, found no such member, but the object contains \"Owners\": declare "
                + "CodingKeys"
        ),
    ]) func `a missing name that exists in another case style is in the error, with the remedy`(
        json: String, message: String
    ) async throws {
        let error = await #expect(throws: HTTPError.self) { try await send(Named.self, json) }
        #expect(error?.message.hasSuffix(message) == true, "\(error?.message ?? "")")
    }

    @Test func `with a key strategy the remedy is another one`() async throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        struct User: Decodable, Sendable { var userID: Int }
        let template = TestEndpoint("a", answering: User.self).decoder(decoder)
        let error = await failure { try await send(template, body: Data(#"{"user_id":1}"#.utf8)) }
        #expect(error?.message.hasSuffix(", but the object contains \"user_id\": declare CodingKeys") == true)
    }

    @Test func `a text that resembles the name of a kind is not in the error`() {
        let context = DecodingError.Context(codingPath: [], debugDescription: "found SECRET, expected a string")
        let error = HTTPError(DecodingError.typeMismatch(Int.self, context), request: HTTPRequest())
        #expect(error.message == "the top level: expected Int, found something else")
    }

    @Test func `an endpoint's own decoder takes precedence over the client's`() async throws {
        let mock = MockLoader { .ok($0, body: Data(#""a""#.utf8)) }
        let client = HTTPClient(environment: .of("https://h"), decoder: Shouting(), transport: mock)
        #expect(try await client.send(TestEndpoint("a", answering: Text.self)).text == "A")
        #expect(try await client.send(TestEndpoint("a", answering: Text.self).decoder(JSONDecoder())).text == "a")
    }

    private struct Text: Decodable, Sendable {
        let text: String
        init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
    }
}
