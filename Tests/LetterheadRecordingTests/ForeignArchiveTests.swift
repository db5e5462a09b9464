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
    }

    @Test func `a blocked request of a browser has no response`() async throws {
        let entry = Self.shapes[0].replacingOccurrences(of: #""status":200"#, with: #""status":0"#)
        let cassette = try Cassette(flight: folder.file("a.har", Data(archive(entry).utf8)), clock: TestClock())
        let client = HTTPClient(transport: cassette.loader)
        let error = try await #require(throws: HTTPError.self) {
            try await client.send(HTTPRequest("https://a.test/x"))
        }
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
        ("https://a.test/?token=abc", "value of a secret name"), ("Basic dXNlcjpwYXNz", "credentials"),
        ("{\"a\":\"Basic dXNlcjpwYXNzdw==\"}", "credentials"),
    ])
    func `the audit finds each kind of secret, and never shows it`(text: String, rule: String) {
        let audit = ArchiveAudit(ArchiveRedaction(names: .standard))
        let findings = audit.findings(in: "before \(text) after", "place")
        #expect(findings.map(\.rule) == [rule] && findings[0].excerpt.utf8.count < 30)
    }

    @Test(arguments: [
        "https://a.test/v1/organizations/42/repositories/letterhead/commits", "eyJhbGciOiJI.short.c2ln",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "AKIA", "Bearer", "hello, world",
        "3c2a5f2e-6f0a-4f6d-9c3b-1d2e3f4a5b6c", "some basic information about it", "Basic charset=\"UTF-8\"",
        "Bearer resource_metadata=\"https://a.test/.well-known/oauth-protected-resource\", error=\"invalid_token\"",
        "Bearer authorization_uri=\"https://login.test/\"", "Basic realm=Users",
    ])
    func `the audit leaves paths, traces, challenges and plain text alone`(text: String) {
        let audit = ArchiveAudit(ArchiveRedaction(names: .standard))
        #expect(audit.findings(in: text, "place").map(\.rule) == [])
    }

    @Test func `what a token's response may show is no secret, unless the program says so`() {
        let body = Data(#"{"expires_in":60,"scope":"read","token_type":"Bearer"}"#.utf8)
        let (names, type) = (Redaction.standard, MediaType("application/json"))
        for isSecret in [false, true] {
            #expect(ArchiveRedaction(names: names).body(body, mediaType: type, isSecret: isSecret) == body)
        }
        let audit = ArchiveAudit(ArchiveRedaction(names: names))
        #expect(audit.findings(in: "a", url: "", [("response", [], body, "application/json")]).isEmpty)
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
        let audit = ArchiveAudit(ArchiveRedaction(names: .standard))
        let type = type.isEmpty ? "application/x-www-form-urlencoded" : type
        let findings = audit.findings(in: "entry 1", url: "", [("request", [], Data(body.utf8), type)])
        #expect(findings.map(\.place) == ["entry 1, body of the request, \(name)"])
    }

    @Test func `a finding in a URL names the query item, and random text in a path is none`() {
        let (audit, random) = (ArchiveAudit(ArchiveRedaction(names: .standard)), "q83vEjRWeJq83vEjRWeJ0aB7cD9eF2gH4iJ6")
        #expect(audit.findings(in: "entry 1", url: "https://a.test/files/\(random)?page=2", []).isEmpty)
        let findings = audit.findings(in: "entry 1", url: "https://a.test/?page=2&note=\(random)", [])
        #expect(findings.map(\.place) == ["entry 1, URL, note"] && findings[0].rule == "random text")
        let known = audit.findings(in: "entry 1", url: "https://a.test/ghp_abcdefghijklmnopqrst", [])
        #expect(known.map(\.place) == ["entry 1, URL"])
    }

    @Test func `a body with very many secrets in deep members has few findings, in linear time`() {
        let secrets = Array(repeating: #"{"password":"hunter2"}"#, count: 20_000).joined(separator: ",")
        let name = String(repeating: "n", count: 10_000)
        let open = String(repeating: #"{"\#(name)":"#, count: 20)
        let text = open + "[\(secrets)]" + String(repeating: "}", count: 20)
        let audit = ArchiveAudit(ArchiveRedaction(names: .standard))
        let clock = ContinuousClock()
        let time = clock.measure {
            let found = audit.findings(in: "a", url: "", [("request", [], Data(text.utf8), "application/json")])
            #expect(found.count == 5 && found.allSatisfy { $0.place.utf8.count < 1_000 })
        }
        #expect(time < .seconds(60))
    }

    @Test func `the audit takes linear time`() {
        let audit = ArchiveAudit(ArchiveRedaction(names: .standard))
        for part in ["eyJ", "eyJabcdefgh.", "sk-", "AKIA", "ghp_", "Bearer "] {
            let text = String(repeating: part, count: 60_000 / part.utf8.count)
            let clock = ContinuousClock()
            let time = clock.measure { _ = audit.findings(in: text, "place") }
            #expect(time < .seconds(20), "\(part)")
        }
    }
}
