// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
@testable import LetterheadRecording
import LetterheadTesting
import TestKit
import Testing

/// Archives of other programs, and archives that are too large, too deep or damaged.
@Suite(.timeLimit(.minutes(3))) struct ForeignArchiveTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func archive(_ entry: String) -> String {
        #"{"log":{"version":"1.2","creator":{"name":"other","version":"1"},"entries":[\#(entry)]}}"#
    }

    /// What browsers and proxies add: own members, null, fractions, cookies, and requests that were blocked.
    private static let shapes = [
        #"""
        {"_initiator":{"type":"script"},"_priority":"High","_resourceType":"fetch","_connectionId":"7",
        "connection":"443","pageref":"page_1","startedDateTime":"2026-01-01T00:00:00.123Z","time":12.5,
        "request":{"method":"GET","url":"https://a.test/x","httpVersion":"h2","headers":[{"name":":path","value":"/x"}],
        "queryString":[],"cookies":[],"headersSize":-1,"bodySize":0},
        "response":{"status":200,"statusText":"","httpVersion":"h2","headers":[{"name":"content-encoding","value":"br"}],
        "cookies":[],"content":{"size":2,"mimeType":"text/plain","compression":-3,"text":"hi"},"redirectURL":"",
        "headersSize":-1,"bodySize":-1,"_transferSize":80,"_error":null,"_fetchedViaServiceWorker":false},
        "cache":{},"timings":{"blocked":0.5,"dns":-1,"ssl":-1,"connect":-1,"send":0.1,"wait":1.2,"receive":0.3,
        "_blocked_queueing":0.4},"serverIPAddress":"127.0.0.1"}
        """#,
        #"""
        {"startedDateTime":"2026-01-01T00:00:00.000+02:00","request":{"bodySize":0,"method":"GET",
        "url":"https://a.test/x","httpVersion":"HTTP/2","headers":[],"cookies":[],"queryString":[],"headersSize":40},
        "response":{"status":200,"statusText":"OK","httpVersion":"HTTP/2","headers":[],"cookies":[],
        "content":{"mimeType":"text/plain","size":2,"encoding":"base64","text":"aGk="},"redirectURL":"",
        "headersSize":20,"bodySize":22},"cache":{},"timings":{"blocked":0,"dns":0,"connect":0,"ssl":0,"send":0,
        "wait":3,"receive":0},"time":3,"_securityState":"secure","serverIPAddress":"127.0.0.1","connection":"443"}
        """#,
        #"""
        {"startedDateTime":"2026-01-01T00:00:00.000000+00:00","time":9,"request":{"method":"GET",
        "url":"https://a.test/x","httpVersion":"HTTP/1.1","cookies":[{"name":"a","value":"b","path":null}],
        "headers":[],"queryString":[],"headersSize":12,"bodySize":0,"postData":{"mimeType":"","text":"","params":[]}},
        "response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","cookies":[],"headers":[],
        "content":{"size":2,"compression":0,"mimeType":"text/plain","text":"hi"},"redirectURL":"","headersSize":9,
        "bodySize":2},"cache":{},"timings":{"connect":-1,"ssl":-1,"send":1,"receive":2,"wait":6},
        "serverIPAddress":"127.0.0.1"}
        """#,
    ]

    @Test(arguments: shapes) func `an archive of another program is replayed without waits`(entry: String) async throws
    {
        let file = try folder.file("a.har", Data(archive(entry).utf8))
        let clock = TestClock()
        let cassette = try Cassette(flight: file, clock: clock)
        let response = try await HTTPClient(transport: cassette.loader).send(HTTPRequest("https://a.test/x"))
        #expect(response.status == .ok && response.body.buffered == Data("hi".utf8) && clock.sleeps.isEmpty)
        #expect(!response.headers.contains(.contentEncoding))
    }

    @Test(arguments: [
        (#""size":2,"encoding":"base64","text":"aGk=""#, "hi"),
        (#""size":4,"encoding":"base64","text":"aGk=""#, "aGk="),
        (#""size":2,"encoding":"BASE64","text":"aG\nk=""#, "hi"),
        (#""encoding":"base64","text":"plain text""#, "plain text"),
        (#""encoding":"base64","text":"""#, ""), (#""size":0"#, ""), (#""size":-1"#, ""), (#""text":"hi""#, "hi"),
    ])
    func `a text with the wrong encoding is replayed as it is`(content: String, body: String) async throws {
        let entry =
            #"{"request":{"method":"GET","url":"https://a.test/x"},"response":{"status":200,"content":{\#(content)}}}"#
        let cassette = try Cassette(folder.file("a.har", Data(archive(entry).utf8)), mode: .replay)
        let response = try await HTTPClient(transport: cassette.loader).send(HTTPRequest("https://a.test/x"))
        #expect(response.body.buffered == Data(body.utf8))
    }

    @Test(arguments: [("iso-8859-1", "café", 4), ("koi8-r", "каф", 3), ("utf-8", "café", 4), ("utf-8", "café", 5)])
    func `a text is replayed with its characters, whatever its charset was`(charset: String, text: String, size: Int)
        async throws
    {
        let type = "text/plain; charset=\(charset)"
        let entry = #"""
            {"request":{"method":"GET","url":"https://a.test/x"},"response":{"status":200,"headers":[{"name":"content-type",
            "value":"\#(type)"}],"content":{"size":\#(size),"mimeType":"\#(type)","text":"\#(text)"}}}
            """#
        let cassette = try Cassette(folder.file("a.har", Data(archive(entry).utf8)), mode: .replay)
        let client = HTTPClient(environment: .of("https://a.test"), transport: cassette.loader)
        #expect(try await client.send(Get<String>("x")) == text)
    }

    @Test func `an image that was written as a character for each byte is replayed`() async throws {
        let entry = #"""
            {"request":{"method":"POST","url":"https://a.test/x","postData":{"mimeType":"a/b","text":"\u0000\u00FF"}},
            "response":{"status":200,"content":{"size":3,"mimeType":"image/png","text":"\u0089P\u00FF"}}}
            """#
        let cassette = try Cassette(folder.file("a.har", Data(archive(entry).utf8)), mode: .replay)
        var request = try HTTPRequest(method: .post, "https://a.test/x")
        request.body = DataBody(Data([0, 0xFF]), contentType: "a/b")
        let response = try await HTTPClient(transport: cassette.loader).send(request)
        #expect(response.body.buffered == Data([0x89, 0x50, 0xFF]))
    }

    @Test func `a response without its text is not replayed as an empty one`() async throws {
        let entry =
            #"{"request":{"method":"GET","url":"https://a.test/x"},"response":{"status":200,"content":{"size":7}}}"#
        let cassette = try Cassette(folder.file("a.har", Data(archive(entry).utf8)), mode: .replay)
        let client = HTTPClient(transport: cassette.loader)
        let error = try #require(await failure { try await client.send(HTTPRequest("https://a.test/x")) })
        #expect(error.code == .unexpectedRequest && error.message.hasSuffix("lacks the text of its body (7 bytes)"))
        let other = entry.replacingOccurrences(of: "200", with: "304")
        let empty = try Cassette(folder.file("b.har", Data(archive(other).utf8)), mode: .replay)
        var request = try HTTPRequest("https://a.test/x")
        request.acceptedStatuses = [304]
        #expect(try await HTTPClient(transport: empty.loader).send(request).status == .notModified)
    }

    @Test(arguments: [
        #""text":"a=1&b=x+y""#, #""text":"a=1&b=x%20y""#,
        #""params":[{"name":"a","value":"1"},{"name":"b","value":"x+y"}]"#,
        #""text":"","params":[{"name":"a","value":"1"},{"name":"b","value":"x%20y"}]"#,
        #""text":"YT0xJmI9eCt5","encoding":"base64""#, #""text":"YT0xJmI9eCt5","_encoding":"base64""#,
    ])
    func `a form is found in each of its spellings`(post: String) async throws {
        let entry = #"""
            {"request":{"method":"POST","url":"https://a.test/x","postData":{"mimeType":"application/x-www-form-urlencoded",
            \#(post)}},"response":{"status":201}}
            """#
        let cassette = try Cassette(folder.file("a.har", Data(archive(entry).utf8)), mode: .replay)
        var request = try HTTPRequest(method: .post, "https://a.test/x")
        request.body = FormBody(["a": "1", "b": "x y"])
        #expect(try await HTTPClient(transport: cassette.loader).send(request).status == .created)
    }

    @Test func `a blocked request of a browser has no response`() async throws {
        let entry = Self.shapes[0].replacingOccurrences(of: #""status":200"#, with: #""status":0"#)
        let cassette = try Cassette(flight: folder.file("a.har", Data(archive(entry).utf8)), clock: TestClock())
        let client = HTTPClient(transport: cassette.loader)
        let error = try #require(await failure { try await client.send(HTTPRequest("https://a.test/x")) })
        #expect(error.code == .unexpectedRequest)
    }

    @Test(arguments: ["", "{", "[]", #"{"log":7}"#, #"{"log":{"entries":[{"request":7}]}}"#, "\u{0}\u{FFFF}"])
    func `what is no archive is refused with its name`(text: String) async throws {
        let file = try folder.file("broken.har", Data(text.utf8))
        let error = try await thrown { _ = try Cassette(flight: file, clock: TestClock()) }
        #expect("\(error)".contains("broken.har is not an HTTP archive"))
    }

    @Test(arguments: ["[", #"{"a":"#]) func `a document that is nested 10,000 deep is refused`(open: String)
        async throws
    {
        let nested = String(repeating: open, count: 10_000)
        let file = try folder.file("deep.har", Data(archive(#"{"_own":"# + nested).utf8))
        let error = try await thrown { _ = try Cassette(flight: file, clock: TestClock()) }
        #expect("\(error)".contains("deep.har is not an HTTP archive"))
    }

    @Test func `a deep body is compared as bytes`() async throws {
        let nested = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
        let entry = Self.shapes[1].replacingOccurrences(
            of: #""queryString":[]"#,
            with: #""queryString":[],"postData":{"mimeType":"application/json","text":"\#(nested)"}"#)
        let cassette = try Cassette(flight: folder.file("a.har", Data(archive(entry).utf8)), clock: TestClock())
        var request = try HTTPRequest("https://a.test/x")
        request.body = DataBody(Data(nested.utf8), contentType: "application/json")
        #expect(try await HTTPClient(transport: cassette.loader).send(request).status == .ok)
        #expect(cassette.audit().isEmpty)
    }

    @Test func `a file of 100 MB is refused before it is read`() async throws {
        let file = folder.url.appending(path: "large.har")
        #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 100 << 20)
        try handle.close()
        let error = try await thrown { _ = try Cassette(flight: file, clock: TestClock()) }
        #expect("\(error)".contains("more than the limit of 67108864"))
    }

    @Test(arguments: [
        ("eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "JSON Web Token"), ("x Bearer abcdefgh1234", "credentials"),
        ("-----BEGIN RSA PRIVATE KEY-----", "private key"), ("AKIAABCDEFGHIJKLMNOP", "AWS access key"),
        ("ghp_abcdefghijklmnopqrst", "GitHub token"), ("xoxb-1234567890", "Slack token"),
        ("sk_live_1234567890", "Stripe key"), ("sk-abcdefghijklmnopqrst", "API key"),
        ("AIza" + String(repeating: "a", count: 35), "Google API key"),
        ("Bearer eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "JSON Web Token"),
        ("q83vEjRWeJq83vEjRWeJ0aB7cD9eF2gH4iJ6", "random text"),
        ("https://api.telegram.org/bot123456789:AAE\(String(repeating: "b", count: 32))/sendMessage", "bot token"),
        ("https://hooks.slack.com/services/T00000000/B00000000/\(String(repeating: "c", count: 24))", "webhook URL"),
        ("https://discord.com/api/webhooks/1234567890/\(String(repeating: "d", count: 24))", "webhook URL"),
        ("https://a.test/?token=abc", "value of a secret name"), ("Basic dXNlcjpwYXNz", "credentials"),
        ("{\"a\":\"Basic dXNlcjpwYXNzdw==\"}", "credentials"),
    ])
    func `the audit finds each kind of secret, and never shows it`(text: String, rule: String) {
        let audit = ArchiveRedaction.standard
        let findings = audit.findings(in: "before \(text) after", "place")
        #expect(findings.map(\.rule) == [rule] && findings[0].excerpt.utf8.count < 30)
    }

    @Test(arguments: [
        "https://a.test/v1/organizations/42/repositories/letterhead/commits", "https://a.test/robots/bot-1:2",
        "https://a.test/api/webhooks/42", "eyJhbGciOiJI.short.c2ln",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "AKIA", "Bearer", "hello, world",
        "3c2a5f2e-6f0a-4f6d-9c3b-1d2e3f4a5b6c", "some basic information about it", "Basic charset=\"UTF-8\"",
        "Bearer resource_metadata=\"https://a.test/.well-known/oauth-protected-resource\", error=\"invalid_token\"",
        "Bearer authorization_uri=\"https://login.test/\"", "Basic realm=Users",
    ])
    func `the audit leaves paths, traces, challenges and plain text alone`(text: String) {
        let audit = ArchiveRedaction.standard
        #expect(audit.findings(in: text, "place").map(\.rule) == [])
    }

    @Test(arguments: [
        (#"{"x":1,"x":{"password":"hunter2"}}"#, "application/json"),
        (#"{"x":1,"x":{"a":"{\"password\":\"hunter2\"}"}}"#, "application/json"),
        (#"{"a":"{\"password\":\"hunter2\"}"}"#, "application/json"),
        (#"["{\"a\":\"{\\\"password\\\":\\\"hunter2\\\"}\"}"]"#, "application/json"),
        (#"{"a":"https://a.test/?next=https%3A%2F%2Fb.test%2F%3Ftoken%3Dhunter2%26x%3D1"}"#, "application/json"),
        (#"{"a":"user=ada&password=hunter2"}"#, "application/json"), ("user=ada&password=hunter2", "text/plain"),
        ("password=hunter2", "application/octet-stream"), (#"{"password":"hunter2"}"#, "image/png"),
        (#"{"password":"a=hunter2"}"#, "application/x-www-form-urlencoded"),
        ("data=%7B%22password%22%3A%22hunter2%22%7D&b=1", "application/x-www-form-urlencoded"),
        ("next=https%3A%2F%2Fb.test%2F%3Fto%3Dhttps%253A%252F%252Fc%252F%253Ftoken%253Dhunter2", "text/plain"),
        ("data: {\"a\":\"{\\\"password\\\":\\\"hunter2\\\"}\"}\n\ndata: [DONE]\n", "text/event-stream"),
        ("{\"a\":1}\n{\"a\":\"{\\\"otp\\\":\\\"hunter2\\\"}\"}\n", "application/x-ndjson"),
    ])
    func `a secret in a string, in an escaped URL and under an untrue type is removed and found`(
        text: String, type: String
    ) {
        let (body, redaction) = (Data(text.utf8), ArchiveRedaction(names: .standard))
        let clean = redaction.body(body, mediaType: MediaType(type), isSecret: false)
        let shown = String(decoding: clean, as: UTF8.self)
        #expect(!shown.contains("hunter2") && !shown.contains("REDACTEDREDACTED"))
        #expect(redaction.body(clean, mediaType: MediaType(type), isSecret: false) == clean)
        #expect(!redaction.findings(inBody: body, type).isEmpty && redaction.findings(inBody: clean, type).isEmpty)
    }

    @Test(arguments: [
        #"{"a":"{\"b\": 1}"}"#, #"{"a":"100% sure = yes"}"#, "a=1&b=%7B%7D", "x = 1\ny = 2",
        "a%zz=%",
        "data: {\"a\":\"{\\\"b\\\":1}\"}\n\n", #"{"url":"https://a.test/?q=%22a%22&r=%25"}"#,
    ])
    func `a body without a secret keeps its bytes`(text: String) {
        for type in ["application/json", "text/plain", "application/x-www-form-urlencoded", "image/png"] {
            if type.hasSuffix("encoded"), !text.contains("=") { continue }
            let clean = ArchiveRedaction(names: .standard).body(
                Data(text.utf8), mediaType: MediaType(type), isSecret: false)
            #expect(clean == Data(text.utf8), "\(type)")
        }
    }

    @Test func `what a token's response may show is no secret, unless the program says so`() {
        let body = Data(#"{"expires_in":60,"scope":"read","token_type":"Bearer"}"#.utf8)
        let (names, type) = (Redaction.standard, MediaType("application/json"))
        for isSecret in [false, true] {
            #expect(ArchiveRedaction(names: names).body(body, mediaType: type, isSecret: isSecret) == body)
        }
        #expect(ArchiveRedaction(names: names).findings(inBody: body, "application/json").isEmpty)
        let own = ArchiveRedaction(names: names.adding(parameters: ["tokenType"]))
        let hidden = own.body(body, mediaType: type, isSecret: false)
        #expect(String(decoding: hidden, as: UTF8.self).contains(#""token_type":"REDACTED""#))
    }

    @Test(arguments: [
        (#"{"users":[{"note":"ghp_abcdefghijklmnopqrst"}]}"#, "application/json", "users, note"),
        (#"{"a":1,"user":{"password":"hunter2"}}"#, "application/json", "user, password"),
        (#"{"otp":[1234]}"#, "application/json", "otp"), ("a=1&note=Bearer+abcdefgh1234", "", "note"),
        ("a=1&password=hunter2", "", "password"),
    ])
    func `a finding in a body names the member or the field`(body: String, type: String, name: String) {
        let audit = ArchiveRedaction.standard
        let type = type.isEmpty ? "application/x-www-form-urlencoded" : type
        let findings = audit.findings(inBody: Data(body.utf8), type)
        #expect(findings.map(\.place) == ["entry 1, body of the request, \(name)"])
    }

    @Test func `a finding in a URL names the query item, and random text in a path is none`() {
        let (audit, random) = (ArchiveRedaction.standard, "q83vEjRWeJq83vEjRWeJ0aB7cD9eF2gH4iJ6")
        #expect(audit.findings(inURL: "https://a.test/files/\(random)?page=2").isEmpty)
        let findings = audit.findings(inURL: "https://a.test/?page=2&note=\(random)")
        #expect(findings.map(\.place) == ["entry 1, URL, note"] && findings[0].rule == "random text")
        let known = audit.findings(inURL: "https://a.test/ghp_abcdefghijklmnopqrst")
        #expect(known.map(\.place) == ["entry 1, URL"])
    }

    @Test func `a body with very many secrets in deep members has few findings, in linear time`() {
        let secrets = Array(repeating: #"{"password":"hunter2"}"#, count: 20_000).joined(separator: ",")
        let name = String(repeating: "n", count: 10_000)
        let open = String(repeating: #"{"\#(name)":"#, count: 20)
        let text = open + "[\(secrets)]" + String(repeating: "}", count: 20)
        let audit = ArchiveRedaction.standard
        let clock = ContinuousClock()
        let time = clock.measure {
            let found = audit.findings(inBody: Data(text.utf8), "application/json")
            #expect(found.count == 5 && found.allSatisfy { $0.place.utf8.count < 1_000 })
        }
        #expect(time < .seconds(60))
    }

    @Test func `the audit takes linear time`() {
        let audit = ArchiveRedaction.standard
        for part in ["eyJ", "eyJabcdefgh.", "sk-", "AKIA", "ghp_", "Bearer "] {
            let text = String(repeating: part, count: 60_000 / part.utf8.count)
            let clock = ContinuousClock()
            let time = clock.measure { _ = audit.findings(in: text, "place") }
            #expect(time < .seconds(20), "\(part)")
        }
    }
}

extension ArchiveRedaction {
    /// What the audit finds in an entry with a URL and the body of a request.
    fileprivate func findings(inURL url: String = "", inBody body: Data? = nil, _ type: String = "")
        -> [Cassette.Finding]
    {
        var entry = HAR.Entry(request: HAR.Request(method: "GET", url: url), response: HAR.Response())
        entry.request.postData = body.map { HAR.Content(mimeType: type, text: String(decoding: $0, as: UTF8.self)) }
        return findings(in: entry, "entry 1")
    }
}
