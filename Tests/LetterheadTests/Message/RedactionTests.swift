// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import TestKit
import Testing

/// All texts that Swift makes of a value.
func texts<Value>(of value: Value) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    var printed = ""
    print(value, to: &printed)
    var debugPrinted = ""
    debugPrint(value, to: &debugPrinted)
    return [
        dumped, printed, debugPrinted, "\(value)", String(describing: value), String(reflecting: value),
        "\([value])", "\(Optional(value) as Any)", "\(["key": value])",
    ]
}

func expectRedacted<Value>(_ value: Value, shows marker: String, at location: SourceLocation = #_sourceLocation) {
    for text in texts(of: value) {
        #expect(!text.contains("SECRET"), sourceLocation: location)
        #expect(text.contains(marker), sourceLocation: location)
    }
}

private struct Text: HTTPBody {
    let text: String
    var type = "application/json"
    var additionalHeaders: HTTPHeaders { ["Content-Type": type] }
    func encode() throws -> Data { Data(text.utf8) }
}

@Suite struct RedactionTests {
    static let headers: HTTPHeaders = [
        "Authorization": "Bearer SECRET", "cookie": "a=SECRET", "PROXY-AUTHORIZATION": "SECRET", "X-Api-Key": "SECRET",
        "Set-Cookie": "SECRET", "X-Harmless": "marker",
    ]
    static let query: QueryParameters = [
        "token": "SECRET", "Access_Token": "SECRET", "password": "SECRET", "q": "marker",
    ]

    private func request() throws -> HTTPRequest {
        var request = HTTPRequest(url: try #require(URL(string: "https://me:SECRET@h/marker?api_key=SECRET#SECRET")))
        request.query = Self.query
        request.headers = Self.headers
        request.body = Text(text: #"{"password":"SECRET","name":"marker"}"#)
        return request
    }

    @Test func `no description of a request contains a secret`() throws {
        expectRedacted(try request(), shows: "marker")
    }

    @Test func `no description of a response contains a secret`() throws {
        let response = HTTPResponse(
            request: try request(), status: 200, headers: Self.headers,
            body: HTTPResponseBody(Data(#"{"access_token":"SECRET","name":"marker"}"#.utf8)))
        expectRedacted(response, shows: "marker")
    }

    @Test func `no description of headers or of a header contains a secret`() throws {
        expectRedacted(Self.headers, shows: "marker")
        expectRedacted(try #require(Self.headers.first), shows: "Authorization")
    }

    @Test func `no description of a query or of an item contains a secret`() throws {
        expectRedacted(Self.query, shows: "marker")
        expectRedacted(try #require(Self.query.first), shows: "token")
        expectRedacted(QueryParameters(escaped: "token=SECRET&q=marker"), shows: "marker")
        expectRedacted(QueryParameters(escaped: "tok%65n=SECRET&q=marker"), shows: "marker")
    }

    @Test func `a secret value under any name is in no description, also outside its request`() throws {
        var request = HTTPRequest(url: try #require(URL(string: "https://h/marker?own=1&q=marker")))
        request.headers = ["X-Own": "1", "X-Harmless": "marker"]
        request.headers.setSecret("SECRET", for: "X-Own")
        request.query.setSecret("SECRET", for: "own")
        expectRedacted(request, shows: "marker")
        expectRedacted(request.headers, shows: "marker")
        expectRedacted(request.query, shows: "marker")
        expectRedacted(try #require(request.headers.first), shows: "X-Own")
        expectRedacted(try #require(request.query.first), shows: "own")
        var copies = (HTTPHeaders(), QueryParameters())
        copies.0.fill(from: request.headers)
        copies.1.replace(with: request.query)
        expectRedacted(copies.0, shows: "marker")
        expectRedacted(copies.1, shows: "marker")
        #expect(request.headers["X-Own"] == "SECRET" && request.query.escaped == "own=SECRET&q=marker")
        #expect(request.headers == ["X-Own": "SECRET", "X-Harmless": "marker"])
        #expect(request.query == ["own": "SECRET", "q": "marker"])
    }

    @Test func `no description of a form contains a secret`() {
        let type = "(application/x-www-form-urlencoded, "
        expectRedacted(FormBody(["client_secret": "SECRET", "scope": "x"]), shows: type + "28 bytes)")
        expectRedacted(FormBody([URLQueryItem(name: "q", value: "SECRET")]), shows: type + "8 bytes)")
        expectRedacted(FormBody(encoding: ["q": "SECRET"]), shows: type + "8 bytes)")
    }

    @Test func `no description of a body outside a request contains a secret`() {
        expectRedacted(TextBody("SECRET"), shows: "(text/plain, 6 bytes)")
        expectRedacted(JSONBody(["password": "SECRET"]), shows: "EncodedBody")
        expectRedacted(FormBody(["token": "SECRET", "scope": "marker"]).compressed(), shows: "Compressed")
        expectRedacted(MultipartBody.Part.text("SECRET", name: "marker"), shows: #"part "marker", 6 bytes"#)
        expectRedacted(MultipartBody.Part.data(Data("SECRET".utf8), name: "marker"), shows: "marker")
        expectRedacted(MultipartBody.Part.body(TextBody("SECRET")), shows: "part 6 bytes")
        expectRedacted(MultipartBody([.text("SECRET", name: "marker")]), shows: "marker")
    }

    @Test func `no description of an error contains a secret, a query value or a body`() throws {
        let request = try request()
        let response = HTTPResponse(request: request, status: 500, body: HTTPResponseBody(Data("a body".utf8)))
        let error = HTTPError(
            .unacceptableStatus, request: request, response: response,
            underlying: HTTPError(.unknown, request: request), message: "")
        expectRedacted(error, shows: "/marker")
        for text in texts(of: error) {
            #expect(!text.contains("q=marker") && !text.contains("a body"))
        }
    }

    @Test func `a Result is redacted like its value`() throws {
        let request = try request()
        expectRedacted(Result<HTTPRequest, HTTPError>.success(request), shows: "marker")
        expectRedacted(Result<HTTPRequest, HTTPError>.failure(HTTPError(.unknown, request: request)), shows: "marker")
    }

    @Test func `custom names are added to the standard ones`() throws {
        var request = HTTPRequest(url: try #require(URL(string: "https://h/marker?otp=SECRET&token=SECRET")))
        request.headers = ["X-Signature": "SECRET", "Authorization": "SECRET"]
        request.redaction = .standard.adding(headers: ["x-signature"], parameters: ["OTP"])
        expectRedacted(request, shows: "marker")
        expectRedacted(HTTPResponse(request: request, status: 200, headers: request.headers), shows: "marker")
    }

    @Test(arguments: ["Location", "Content-Location", "Referer", "Link", "Refresh", "X-Next"] as [HTTPHeaders.Name])
    func `a secret query item is redacted in a URL in a header`(name: HTTPHeaders.Name) {
        let headers: HTTPHeaders = [
            name: "<https://u:SECRET@h/cb?code=SECRET&state=marker&token=SECRET#access_token=SECRET>; rel=\"next\""
        ]
        expectRedacted(headers, shows: "state=marker")
    }

    @Test(arguments: [
        #"{"password":"SECRET","x":"marker"}"#, #"{ "Password" : "SECRET", "x": "marker" }"#,
        #"{"token":"a\"SECRET","x":"marker"}"#,
        #"{"x":"\u{301}y","password":"SECRET","z":"marker"}"#.replacing(#"\u{301}"#, with: "\u{301}"),
        #"{"code":"SECRET"#, #"{"token":["SECRET",{"a":"SECRET"}],"x":"marker"}"#,
        #"{"secret":{"value":"SECRET","n":[1,"}SECRET"]},"x":"marker"}"#, #"{"pass\u0077ord":"SECRET","x":"marker"}"#,
        #"[{"a":[{"id_token":"SECRET"}]},"marker"]"#, #"{"next":"https://h/?access_token=SECRET&page=marker"}"#,
        "{\"x\":\"marker\",\r\n\"token\"\r\n:\r\n\"SECRET\"}",
    ]) func `a secret member of a JSON body is redacted at any depth`(json: String) {
        let request = HTTPRequest().with { $0.body = Text(text: json) }
        let response = HTTPResponse(
            request: request, status: 200, headers: ["Content-Type": "application/json"],
            body: HTTPResponseBody(Data(json.utf8)))
        for text in [request.redaction.body(of: request), request.redaction.body(of: response)] {
            #expect(!text.contains("SECRET") && text.contains("marker") == json.contains("marker"))
        }
    }

    @Test(arguments: ["application/x-www-form-urlencoded", "Application/X-WWW-Form-URLencoded; charset=utf-8"])
    func `a secret field of a form is redacted`(type: String) {
        var request = HTTPRequest()
        request.body = Text(text: "pass%77ord=SECRET&client_secret=\u{301}a SECRET&x=marker&token", type: type)
        let text = request.redaction.body(of: request)
        #expect(!text.contains("SECRET") && text.contains("&x=marker&token"))
    }

    @Test func `a secret part of a multipart body is not shown`() {
        var request = HTTPRequest()
        request.body = MultipartBody([.text("SECRET", name: "password"), .text("v", name: "n")])
        let bytes = try? request.body.encode()
        for body in [request.body, DataBody(bytes ?? Data(), contentType: "multipart/form-data; boundary=x")] {
            request.body = body
            #expect(request.redaction.body(of: request) == "(multipart/form-data, \(bytes?.count ?? 0) bytes)")
        }
    }

    @Test func `a number is redacted, and the text after it is kept`() {
        var request = HTTPRequest()
        request.body = Text(text: #"{"code":123456,"x":"marker","key":true}"#)
        let expected = #"{"code":"<redacted>","x":"marker","key":"<redacted>"}"#
        #expect(request.redaction.body(of: request) == expected)
    }

    @Test func `no content of a body is in a description`() throws {
        let json = Data(#"{"name":"SECRET"}"#.utf8)
        for (body, length) in [
            (DataBody(json, contentType: .json) as any HTTPBody, 17), (JSONBody(["a": "SECRET"]), 14),
        ] {
            let request = HTTPRequest().with { $0.body = body }
            expectRedacted(request, shows: "(application/json, \(length) bytes)")
        }
        for (body, shown) in [
            (HTTPResponseBody(json), "17 bytes"), (HTTPResponseBody(length: 17) { nil }, "17 bytes"),
            (HTTPResponseBody(length: nil) { nil }, "length unknown"),
        ] {
            let response = HTTPResponse(
                request: HTTPRequest(), status: 200, headers: ["Content-Type": "application/json; charset=utf-8"],
                body: body)
            expectRedacted(response, shows: "(application/json, \(shown))")
        }
    }

    @Test func `of a body that is not text, a log shows the type and the length`() {
        let response = HTTPResponse(
            request: HTTPRequest(), status: 200, headers: ["Content-Type": "image/png"],
            body: HTTPResponseBody(Data([0x00, 0xFF, 0x10])))
        #expect(response.request.redaction.body(of: response) == "(image/png, 3 bytes)")
    }

    @Test func `a long body is truncated between two characters`() {
        let text = String(repeating: "a", count: 511) + "é" + String(repeating: "b", count: 100)
        let response = HTTPResponse(request: HTTPRequest(), status: 200, body: HTTPResponseBody(Data(text.utf8)))
        let shown = response.request.redaction.body(of: response)
        #expect(shown == String(repeating: "a", count: 511) + "… (613 bytes)")
    }

    @Test func `a secret at the end of a truncated body is not shown`() {
        let text = #"{"a":""# + String(repeating: "a", count: 485) + #"","password":"SECRETSECRET"}"#
        let response = HTTPResponse(request: HTTPRequest(), status: 200, body: HTTPResponseBody(Data(text.utf8)))
        #expect(!response.request.redaction.body(of: response).contains("SEC"))
    }

    @Test func `a description shows method, path and query, headers, and the type and the length of the body`() throws {
        var request = HTTPRequest(method: .post, url: try #require(URL(string: "https://h/p?q=1")))
        request.headers["X"] = "1"
        request.body = Text(text: "é")
        #expect("\(request)" == "POST https://h/p?q=1\nX: 1\n\n(application/json, 2 bytes)")
    }

    @Test(arguments: ["\r\n", "\n", "\u{1B}[31m", "\u{0}", "\u{7F}", "\u{85}", "\u{9B}31m", "\u{2028}", "\u{2029}"])
    func `no value can forge a line of a log`(mark: String) {
        var request = HTTPRequest(url: URL(filePath: "/"))
        request.host = "h\(mark)x"
        request.headers = ["X": "a\(mark)b", HTTPHeaders.Name("N\(mark)"): "v"]
        request.query = QueryParameters(escaped: "a=\(mark)")
        request.method = HTTPMethod("G\(mark)T")
        for text in [
            "\(request)", "\(HTTPError(.unknown, request: request))", "\(request.headers)", "\(request.query)",
        ] {
            for scalar in mark.unicodeScalars where scalar.value < 0x20 || scalar.value > 0x7E {
                #expect(!text.split(separator: "\n").joined().unicodeScalars.contains(scalar))
            }
        }
        #expect("\(request)".split(separator: "\n").count == 3)
    }

    @Test func `a decorator keeps the mark of a secret value`() throws {
        struct Signed: QueryValue {
            func append(to query: inout QueryParameters, name: String) {
                query.append(QueryParameters.Item("\(name)[v]", "SECRET", isSecret: true))
            }
        }
        let template = TestEndpoint<HTTPResponse>("a").query("sign", Signed()).query("q", "MARKER")
        expectRedacted(template.query, shows: "MARKER")
        #expect(template.query("sign", Signed()).query.count == 2)
    }

    @Test(.timeLimit(.minutes(3)), arguments: ["@", "=", "a@b://"])
    func `a hostile header is described quickly`(start: String) {
        let value = start + String(repeating: "?;", count: 100_000)
        let headers: HTTPHeaders = ["X": value]
        #expect("\(headers)".utf8.count == value.utf8.count + 3)
    }
}
