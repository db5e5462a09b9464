// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadRecording
import LetterheadTesting
import TestKit
import Testing

/// What a cassette never contains, wherever a secret is in a message.
@Suite struct CassetteSecretsTests {
    private let file = FileManager.default.temporaryDirectory.appending(path: "cassettes-\(UUID())/test.har")

    /// Records requests with these bodies, and returns the text of the file.
    private func record(
        _ bodies: [any HTTPBody], answering json: JSONValue = ["ok": true],
        _ change: (inout HTTPRequest) -> Void = { _ in }
    ) async throws -> String {
        let cassette = try Cassette(file, mode: .record)
        let stubs = StubLoader().on(.any(), times: .any) { _ in .json(json) }
        let client = HTTPClient(links: cassette.link, transport: stubs)
        for body in bodies {
            var request = try HTTPRequest(method: .post, "https://api.test/a")
            request.body = body
            change(&request)
            _ = try await client.send(request)
        }
        try cassette.save()
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        return try String(contentsOf: file, encoding: .utf8)
    }

    @Test func `numbers and parts of a secret request are not written`() async throws {
        let card: JSONValue = ["otp": 123_456, "card": 4_111_111, "list": [9_876_543], "expires_in": 3600]
        let form = MultipartBody([.text("h1dden", name: "note")])
        let text = try await record([JSONBody(card), form], answering: card) { $0.isSecret = true }
        for secret in ["123456", "4111111", "9876543", "h1dden"] { #expect(!text.contains(secret), "\(secret)") }
        #expect(text.contains("3600"))
    }

    @Test func `compressed bodies and the content of parts are searched or left out`() async throws {
        let json = Data(#"{"password":"hunter2","n":1}"#.utf8)
        let text = try await record([
            DataBody(json, contentType: .json).compressed(),
            MultipartBody([.data(json, name: "metadata", contentType: .json)]),
        ])
        #expect(!text.contains("hunter2") && !text.contains("H4sI") && text.contains("metadata"))
        #expect(text.contains(#"{\"n\":1,\"password\":\"REDACTED\"}"#))
    }

    @Test func `a compressed body that cannot be decompressed is left out`() async throws {
        let text = try await record([DataBody(Data("hunter2".utf8), contentType: .json)]) { request in
            request.headers[.contentEncoding] = "unknown"
        }
        #expect(!text.contains("hunter2") && text.contains("REDACTED"))
    }

    @Test(arguments: [
        ("SECRET", "REDACTED"), ("SECRET; Path=/", "REDACTED; Path=/"), ("=SECRET; Path=/", "=REDACTED; Path=/"),
        ("a=SECRET=; Path=/", "a=REDACTED; Path=/"), ("a=\u{301}SECRET;\u{301} Path=/", "a=REDACTED;REDACTED"),
        ("a=SECRET; Path=/, sid=SECRET; HttpOnly; SECRET", "a=REDACTED;REDACTED; HttpOnly;REDACTED"),
        ("=\u{301}SECRET", "=REDACTED"),
    ])
    func `a cookie keeps its name and its attributes, and a value without a name is removed`(
        cookie: String, recorded: String
    ) async throws {
        let cassette = try Cassette(file, mode: .record)
        let server = MockLoader { request in
            HTTPResponse(
                request: request, status: .ok,
                headers: ["Set-Cookie": cookie, "Location": "/a?=SECRET", "X-Pattern": "(?=REGEX)"])
        }
        let client = HTTPClient(links: cassette.link, transport: server)
        _ = try await client.send(HTTPRequest("https://api.test/a?=SECRET&b=1&wsdl"))
        try cassette.save()
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains("SECRET") && text.contains("\"\(recorded)\"") && text.contains("wsdl"))
        let replay = HTTPClient(transport: try Cassette(file, mode: .replay).loader)
        #expect(try await replay.send(HTTPRequest("https://api.test/a?=OTHER&b=1&wsdl")).status == .ok)
    }

    @Test(arguments: ["=SECRET", "a=1&=SECRET", "SECRET", "\u{301}=a&token=SECRET"])
    func `a value without a name is removed from a form and from JSON`(form: String) async throws {
        let json = Data(#"{"":"SECRET","a":1}"#.utf8)
        let text = try await record([DataBody(Data(form.utf8), contentType: .form), DataBody(json, contentType: .json)])
        #expect(!text.contains("SECRET") && text.contains("REDACTED"))
    }

    @Test(arguments: [
        "form-data; filename=\"x\"; name=\"password\"", "form-data; name=password", "form-data; NAME = password",
        "form-data; name=\"pass\\word\"; x=y", "form-data; filename=\"name=\\\"a\\\"\"; name=\"password\"",
        "form-data", "form-data; name=\"\"", "form-data;\r\n name=\"password\"", "attachment; filename=\"a\"",
        "form-data; name=\"a\"\r\nContent-Disposition: form-data; name=\"password\"",
        "form-data; name=\"a\"\r\nX-Api-Key: SECRET", "form-data; name=\"a\"\n\nSECRET",
    ])
    func `a part whose name is secret or missing is removed, however the name is written`(disposition: String)
        async throws
    {
        let body = """
            preamble SECRET\r\n--b\r\nContent-Disposition: \(disposition)\r\n\r\nSECRET\r\n--b\r\n\
            Content-Disposition: form-data; filename=password; name=note\r\n\r\nkept\r\n\
            --b\r\nSECRET\r\n--b--\r\nepilogue SECRET
            """
        for (body, boundary) in [(body, "b"), (body, "c"), (String(body.prefix(200)), "b")] {
            let type = ("multipart/form-data" as MediaType).setting("boundary", to: boundary)
            let text = try await record([DataBody(Data(body.utf8), contentType: type)])
            #expect(!text.contains("SECRET"), "\(text)")
            if boundary == "b", body.hasSuffix("SECRET") { #expect(text.contains("kept")) }
        }
        let unbounded = try await record([DataBody(Data(body.utf8), contentType: "multipart/form-data")])
        #expect(!unbounded.contains("SECRET"))
    }

    @Test(arguments: ["110201543:SECRET-AAHdq", "SECRET/€ x"])
    func `a secret in a path is in no archive and no snapshot, and the audit searches for it`(token: String)
        async throws
    {
        struct Message: RequestTemplate {
            let token: String
            var method: HTTPMethod { .post }
            var path: RequestPath { "bot\(secret: token)/send" }
            var body: some HTTPBody { JSONBody(["note": "sent with \(token)", "url": "https://a.test/\(token)?x=1"]) }
        }
        let (cassette, recorder) = (try Cassette(file, mode: .record), FlightRecorder())
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        let echo: JSONValue = ["echo": .string("/bot\(token)/send"), "text": .string("no \(token)")]
        let stubs = StubLoader().on(.any(), times: .any) { _ in
            .json(
                echo,
                headers: [
                    "Location": "https://api.test/bot\(token.utf8.map { "%" + String($0, radix: 16) }.joined())/send"
                ])
        }
        let client = HTTPClient(
            environment: ServerEnvironment("https://api.test"), attemptLinks: cassette.link, observers: [recorder],
            transport: stubs)
        _ = try await client.send(Message(token: token))
        #expect(cassette.audit().isEmpty)
        try cassette.save()
        let replay = HTTPClient(
            environment: ServerEnvironment("https://api.test"), transport: try Cassette(file, mode: .replay).loader)
        #expect(try await replay.send(Message(token: "other")).status == .ok)
        let flight = try recorder.dump(around: CancellationError(), to: file.deletingLastPathComponent())
        let texts = [
            try String(contentsOf: file, encoding: .utf8), try String(contentsOf: flight, encoding: .utf8),
            String(decoding: try recorder.archive(), as: UTF8.self), try RequestSnapshot(stubs.requests[0]).text,
        ]
        for text in texts { #expect(!text.contains("SECRET") && text.contains("/botREDACTED/send")) }
        _ = try await client.send(TestEndpoint("a").header("X-Note", "it was \(token)"))
        #expect(
            cassette.audit().map(\.place) == [
                "entry 2, request, header X-Note", "entry 2, response, header Location",
                "entry 2, body of the response, echo", "entry 2, body of the response, text",
            ])
        let archive = String(decoding: try recorder.archive(), as: UTF8.self)
        #expect(!archive.contains("SECRET"))
    }

    @Test(arguments: [true, false])
    func `compressed bodies and bodies from files are compared by their content`(isFile: Bool) async throws {
        let folder = try TemporaryDirectory()
        defer { withExtendedLifetime(folder) {} }
        let bodies: [any HTTPBody] =
            try isFile
            ? ["one", "two"].map { FileBody(at: try folder.file($0, Data($0.utf8))) }
            : [1, 2].map { JSONBody(["n": $0]).compressed() }
        let cassette = try Cassette(file, mode: .record)
        let stubs = StubLoader().on(.any(), inOrder: .status(.created), .status(.accepted))
        func upload(_ body: any HTTPBody, _ client: HTTPClient) async throws -> HTTPStatus {
            var request = try HTTPRequest(method: .put, "https://api.test/a")
            request.body = body
            return try await client.send(request).status
        }
        for body in bodies { _ = try await upload(body, HTTPClient(links: cassette.link, transport: stubs)) }
        try cassette.save()
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        let replay = HTTPClient(transport: try Cassette(file, mode: .replay).loader)
        #expect(try await upload(bodies[1], replay) == .accepted)
        #expect(try await upload(isFile ? bodies[0] : JSONBody(["n": 1]).compressed(level: 1), replay) == .created)
        let error = try await #require(throws: HTTPError.self) { try await upload(bodies[1], replay) }
        #expect(error.code == .unexpectedRequest)
    }

    @Test func `secret names of the request itself are redacted in headers and bodies`() async throws {
        let text = try await record([JSONBody(["account": "4711-0815"])], answering: ["account": "4711-0815"]) {
            $0.headers["X-Tenant"] = "acme"
            $0.redaction = .standard.adding(headers: ["X-Tenant"], parameters: ["account"])
        }
        #expect(!text.contains("acme") && !text.contains("4711-0815"))
    }

    @Test(arguments: [
        (#"{"password":"hunter2","retries":0}"#, "application/json"),
        ("password=hunter2&a=b", "application/x-www-form-urlencoded"),
    ])
    func `an archive of others with a secret is found`(body: String, type: String) throws {
        let archive = """
            {"log":{"version":"1.2","creator":{"name":"a","version":"1"},"entries":[{"startedDateTime":"2026-01-01T00:00:00Z",\
            "time":1,"request":{"method":"POST","url":"https://a.test/","httpVersion":"HTTP/1.1","cookies":[],"headers":[],\
            "queryString":[],"headersSize":-1,"bodySize":1,"postData":{"mimeType":"\(type)",\
            "text":\(String(decoding: try JSONEncoder().encode(body), as: UTF8.self))}},"response":{"status":200,\
            "statusText":"OK","httpVersion":"HTTP/1.1","cookies":[],"headers":[{"name":"Set-Cookie","value":"sid=abc123; Path=/"}],\
            "content":{"size":0,"mimeType":"text/plain","text":""},"redirectURL":"","headersSize":-1,"bodySize":0},"cache":{},\
            "timings":{"send":0,"wait":1,"receive":0}}]}}
            """
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        try Data(archive.utf8).write(to: file)
        let findings = try Cassette(file, mode: .replay).audit()
        #expect(
            findings.map(\.place) == ["entry 1, body of the request, password", "entry 1, response, header Set-Cookie"])
        #expect(!findings.map(\.description).joined().contains("hunter2"))
    }
}
