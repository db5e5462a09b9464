// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// What the description of an error contains of a body.
@Suite struct ServerTextTests {
    private func text(
        _ body: String, type: String? = "text/plain; charset=utf-8", status: HTTPStatus = 404,
        headers: HTTPHeaders = [:], request: HTTPRequest = HTTPRequest()
    ) -> String {
        var headers = headers
        headers[.contentType] = type
        let response = HTTPResponse(
            request: request, status: status, headers: headers, body: HTTPResponseBody(Data(body.utf8)))
        return "\(HTTPError(.unacceptableStatus, request: request, response: response, message: "refused"))"
    }

    private let problem = "application/problem+json"

    @Test func `the text of a 4xx or 5xx is in the description of the error`() {
        #expect(
            text("no such user\n")
                == "unacceptableStatus: GET (no URL) answered 404 Not Found: refused; the server wrote "
                + "\"no such user\"")
        #expect(text("no", status: .internalServerError).hasSuffix(#"refused; the server wrote "no""#))
        #expect(
            text(#"{"title":"Out of credit","detail":"30 < 50","type":"x"}"#, type: problem)
                .hasSuffix(#"refused; the server wrote "Out of credit: 30 < 50""#))
        #expect(text(#"{"title":1,"detail":"30 < 50"}"#, type: problem).hasSuffix(#"wrote "30 < 50""#))
        #expect(
            text(#"{"error":"invalid_token","error_description":"The token expired"}"#, type: "application/json")
                .hasSuffix(#"the server wrote "invalid_token: The token expired""#))
    }

    @Test(arguments: [
        (
            "<?xml version=\"1.0\"?>\n<Error><Code>NoSuchKey</Code><Message>No key &lt;a&amp;lt;&gt;.</Message>"
                + "<Key>SECRET</Key></Error>", "NoSuchKey: No key <a&lt;>."
        ),
        ("<ErrorResponse><Error><Type>Sender</Type><Code>Denied</Code></Error></ErrorResponse>", "Denied"),
        ("<Error><Message>see https://h.test/?token=SECRET</Message></Error>", "see https://h.test/?token=<redacted>"),
        ("<Error><Code> </Code></Error>", nil), ("<Error><Code>Cut", nil), ("<Code>A</Code>", nil),
        ("<Error><Code>A</Code></Error>" + String(repeating: " ", count: 70_000), nil),
    ]) func `the code and the message of an error in XML are in the description`(body: String, message: String?) {
        for type in ["application/xml", "text/xml; charset=utf-8", "application/error+xml"] {
            #expect(
                text(body, type: type).hasSuffix("refused" + (message.map { "; the server wrote \"\($0)\"" } ?? "")))
        }
        #expect(text(body, type: "text/html").hasSuffix("refused"))
    }

    @Test(
        arguments: [
            (#"{"message":"no such user","documentation_url":"x"}"#, "no such user"),
            (#"{"error":{"code":404,"message":"No\u0020user.","status":"NOT_FOUND"}}"#, "No user."),
            (#"{"errors":["name is taken",7,"email is invalid"]}"#, "name is taken; email is invalid"),
            (#"{"data":null,"errors":[{"message":"no field \"x\"","locations":[{"line":1}]}]}"#, #"no field "x""#),
            (#"{"errors":[{"title":"Invalid","detail":"too short"}]}"#, "Invalid: too short"),
            (
                #"{"title":"Invalid.","errors":{"Email":["is taken"],"password":["is short"]}}"#,
                "Invalid: Email: is taken"
            ),
            (#"{"title":"no email","detail":"no email"}"#, "no email"),
            (#"{"error":"no email","message":"no email: a@","errors":["no"]}"#, "no email: a@"),
            (#"{"status":400,"error":"Bad Request","message":"no email"}"#, "Bad Request: no email"),
            (#"{"ok":false,"error":"invalid_auth"}"#, "invalid_auth"), ("\u{FEFF} \"no such user\"", "no such user"),
            (#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, "field required"),
            (#"{"Message":"see https://h.test/?token=SECRET"}"#, "see https://h.test/?token=<redacted>"),
        ])
    func `the message of an error in JSON is in the description`(body: String, message: String) {
        for status in [400, 503] as [HTTPStatus] {
            let text = text(body, type: "application/json", status: status)
            #expect(text.hasSuffix("refused; the server wrote \"\(message)\""), "\(text)")
        }
    }

    @Test(arguments: [
        #"{"token":{"message":"SECRET"}}"#, #"{"errors":{"password":["SECRET"]}}"#, #"{"message":" "}"#,
        #"{"message":7}"#,
        #"{"user":{"message":"SECRET"}}"#, "<p>SECRET</p>", String(repeating: #"{"errors":"#, count: 6_000),
        String(repeating: "[", count: 60_000), #"{"message""#, #"{"message":"#, #"["#,
    ])
    func `a document without a message, with one elsewhere or malformed is not in the description`(body: String) {
        #expect(text(body, type: "application/json").hasSuffix("refused"))
    }

    @Test func `a 401 is described with the challenge of the server`() {
        let challenge = #"Bearer realm="api", error="invalid_token", error_description="The token expired""#
        let shown = #"asks for "Bearer realm="api", error="invalid_token", error_description="The token expired"""#
        let headers: HTTPHeaders = [.wwwAuthenticate: challenge]
        #expect(text("", status: .unauthorized, headers: headers).hasSuffix("refused; the server \(shown)"))
        #expect(text("No", status: .unauthorized, headers: headers).hasSuffix(#"the server wrote "No" and \#(shown)"#))
        #expect(text("", status: .forbidden, headers: headers).hasSuffix("refused"))
    }

    @Test func `other bodies and other statuses are not in the description`() {
        for type in ["text/html", "application/json", "application/octet-stream", nil] {
            #expect(text(#"{"a":"no"}"#, type: type).hasSuffix("refused"))
        }
        for body in ["", "[]", "{}", "not JSON", #"{"title":1}"#, String(repeating: "[", count: 60_000)] {
            #expect(text(body, type: problem).hasSuffix("refused"))
        }
        #expect(text("no", status: 200).hasSuffix("refused") && text("a\0b").hasSuffix("refused"))
    }

    @Test func `a text of a server is short and on one line`() {
        #expect(text("a\r\n\tb   c\u{202E}d").hasSuffix(#"wrote "a b c\u{202e}d""#))
        let long = text(String(repeating: "é", count: 100_000))
        #expect(long.hasSuffix("é…\"") && long.utf8.count < 600)
        let title = String(repeating: "x", count: 10_000)
        #expect(text(#"{"title":"\#(title)"}"#, type: problem).utf8.count < 400)
    }

    @Test(arguments: [
        "unknown key SECRET", "Incorrect API key provided: sk-proj-4f8a9c2b7d1e3f5a6b8c",
        "jwt eyJhbGciOiJIUzI1NiJ9.x.y", #"{"token":"hidden"}"#, "see https://h.test/?api_key=hidden",
    ]) func `a text that quotes a credential does not contain it`(body: String) throws {
        var request = try HTTPRequest.to("https://h.test/x?api_key=SECRET")
        request.headers[.authorization] = "Bearer SECRET"
        let text = text(body, status: .forbidden, request: request)
        #expect(text.contains("<redacted>") && text.contains("the server wrote"))
        for secret in ["SECRET", "4f8a9c2b", "eyJhbGci", "hidden"] { #expect(!text.contains(secret)) }
    }

    @Test func `a text does not contain a credential in another spelling, nor a part of one`() throws {
        var request = try HTTPRequest.to("https://h.test/x?api_key=p%40ss%2Fword")
        request.headers[.authorization] = "Basic \(Data("ada-lovelace:hunter 2!".utf8).base64EncodedString())"
        request.headers.append(.cookie, "theme=dark; session=letmein")
        for body in [
            "wrong password hunter 2! for ada-lovelace", "no session letmein", "Cannot GET p%40ss%2Fword or p@ss/word",
        ] {
            let text = text(body, status: .forbidden, request: request)
            #expect(text.contains("the server wrote") && text.contains("<redacted>"))
            for secret in ["hunter", "lovelace", "letmein", "ss%2Fword", "ss/word"] { #expect(!text.contains(secret)) }
        }
        #expect(text("no such session", status: .forbidden, request: request).hasSuffix("wrote \"no such session\""))
    }

    @Test(arguments: [400, 512, 800], [true, false])
    func `a credential on the border of what is shown is not shown in part`(border: Int, isHTML: Bool) async throws {
        let secret = "correcthorsebatterystaple"
        for shift in stride(from: 0, through: secret.count, by: 5) {
            let body = "<p>" + String(repeating: " ", count: border - 3 - shift) + secret + " is wrong </p>"
            var request = try HTTPRequest.to("https://h.test/x")
            request.headers[.authorization] = "Bearer \(secret)"
            let response = HTTPResponse(
                request: request, status: isHTML ? 200 : 403,
                headers: ["Content-Type": isHTML ? "text/html" : "text/plain"],
                body: HTTPResponseBody(Data(body.utf8)))
            if isHTML {
                let error = await #expect(throws: HTTPError.self) { try await response.decode(Person.self) }
                let text = "\(try #require(error))"
                #expect(text.contains("begins with") && !text.contains("corre"))
            } else {
                let text = "\(HTTPError(.unacceptableStatus, request: request, response: response))"
                #expect(text.contains("<p>") && !text.contains("corre"))
            }
        }
    }

    @Test func `a text without spaces is shown in part`() {
        #expect(text(String(repeating: "の", count: 10_000)).contains("のの"))
    }

    @Test func `errors within errors are described in linear time`() {
        var error = HTTPError(.connectionLost, request: HTTPRequest(), message: "the cause")
        for depth in 0..<64 {
            let request = HTTPRequest(url: URL(fileURLWithPath: "/\(depth)"))
            error = HTTPError(.invalidResponse, request: request, underlying: error, message: "level \(depth)")
        }
        #expect("\(error)".hasSuffix("the cause") && "\(error)".utf8.count < 10_000)
    }

    @Test func `a secret request has no text of the server in its errors`() {
        let request = HTTPRequest().with { $0.isSecret = true }
        let headers: HTTPHeaders = [.wwwAuthenticate: "Bearer"]
        #expect(text("no", status: .unauthorized, headers: headers, request: request).hasSuffix("refused"))
    }

    @Test func `a redirect that names no location is explained by its body`() {
        let document = "<Error><Code>PermanentRedirect</Code><Message>Use the endpoint of the region.</Message></Error>"
        let shown = text(document, type: "application/xml", status: 301)
        #expect(shown.contains("PermanentRedirect: Use the endpoint of the region."))
    }

    @Test func `an error that a client throws contains the text of the server`() async {
        let mock = MockLoader {
            HTTPResponse(
                request: $0, status: 422, headers: ["Content-Type": "text/plain"],
                body: HTTPResponseBody(Data("the email is taken".utf8)))
        }
        let client = HTTPClient(environment: .of("https://h"), transport: mock)
        let error = await #expect(throws: HTTPError.self) { try await client.send(TestEndpoint("a")) }
        #expect(error?.description.hasSuffix("(expected 200–299); the server wrote \"the email is taken\"") == true)
    }
}
