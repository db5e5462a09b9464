// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadContracts
import LetterheadRecording
import LetterheadTesting
import TestKit
import Testing

@Suite struct ContractTests {
    private let ada = #"{"id":1,"login":"ada","plan":"pro","email":"a@b.c","bio":null}"#

    @Test func `a response that fits has no findings`() async throws {
        let report = try await Recording.members(ada).check()
        #expect(report.findings.isEmpty)
        #expect(
            report.lines == [
                "GET members/{} GetMember $.bio: optional String", "GET members/{} GetMember $.email: required String",
                "GET members/{} GetMember $.id: required Int", "GET members/{} GetMember $.login: required String",
                "GET members/{} GetMember $.plan: required Plan", "GET members/{} GetMember $: required Member",
            ])
    }

    @Test func `findings are ordered by what breaks first, and each is counted`() async throws {
        let report = try await Recording.members(
            ada, #"{"id":"1","login":"ada","plan":"gold","avatar":""}"#,
            #"{"id":1,"login":null,"plan":"pro","node":2}"#
        ).check()
        #expect(
            report.description == """
                GET members/{} GetMember, 3 responses
                  $.email: required String, but absent (2 of 3)
                  $.id: required Int, but a string (1 of 3)
                  $.login: required String, but null (1 of 3)
                  $.plan: required Plan, but the new value "gold" (1 of 3)
                  unread: $.avatar, $.node
                without a response: ListRepositories
                """)
    }

    @Test func `decoding continues after an element that does not fit`() async throws {
        var recording = Recording()
        try recording.add(
            "repositories",
            """
            [{"name":"a","labels":{"x":{"color":1}},"owner":\(ada)},{"labels":{"y":{"color":"red","z":0}},"size":1},
             {"name":"c","labels":[],"owner":{"id":2,"login":"b","plan":"max","email":""}}]
            """, template: "ListRepositories")
        let report = try await recording.check()
        #expect(report.found(.absent) == ["$[*].name: required String, but absent 1/3"])
        #expect(
            report.found(.otherType) == [
                "$[*].labels: required Dictionary<String, Label>, but an array 1/3",
                "$[*].labels.*.color: required String, but a number 1/2",
            ])
        #expect(report.lines.contains("GET repositories ListRepositories $[*].labels.*: required Label"))
        #expect(report.found(.newValue) == [#"$[*].owner.plan: required Plan, but the new value "max" 1/2"#])
        #expect(report.found(.unread).map { $0.prefix(12) } == ["$[*].labels.", "$[*].size: u"])
    }

    @Test func `without a value to continue with, the report tells where decoding ended`() async throws {
        let report = try await Recording.members(#"{"id":1,"login":"ada","plan":"gold","extra":1}"#).check()
        #expect(report.found(.newValue).count == 1)
        #expect(
            report.found(.partlyVisible) == [
                "$.plan: partly visible: decoding ends here, so what follows isn't checked 0/0"
            ])
        #expect(report.found(.absent).isEmpty && report.found(.unread).isEmpty)
    }

    @Test func `decoding continues with an empty value of many types`() async throws {
        struct Bare: Decodable, Sendable { var note: String? }
        struct Many: Decodable, Sendable {
            enum Size: String, Decodable, CaseIterable { case small }
            var id: UUID
            var link: URL
            var isOn: Bool
            var count: Int8
            var at: Date
            var data: Data
            var sum: Decimal
            var tags: Set<String>
            var size: Size
            var bare: Bare
        }
        var recording = Recording()
        try recording.add(
            "a",
            """
            {"id":1,"link":[],"isOn":"","count":"","at":"","data":[],"sum":"","tags":1,"size":"large","bare":0,"end":1}
            """)
        let report = try await Contract.check(recording.cassette(), routes: [.get("/a"): Get<Many>.self])
        #expect(report.findings.filter(\.kind.isBreak).count == 10, "\(report)")
        #expect(report.found(.partlyVisible).isEmpty && report.found(.unread) == ["$.end: unread 0/0"])
    }

    @Test func `an empty body is an optional's value only`() async throws {
        var recording = Recording()
        for path in ["a", "b"] { try recording.add(path, "") }
        let report = try await Contract.check(
            recording.cassette(), routes: [.get("/a"): Get<Member?>.self, .get("/b"): Get<JSONValue>.self])
        #expect(
            report.description == """
                GET /b Get<JSONValue>, 1 response
                  $: required JSONValue, but an empty body (1 of 1)
                  $: partly visible: decoding ends here, so what follows isn't checked
                """)
    }

    @Test func `each case of an enumeration with values is a member`() async throws {
        enum Shape: Decodable, Sendable { case circle(radius: Int), square(side: Int) }
        var recording = Recording()
        try recording.add("a", #"{"circle":{"radius":1,"center":0}}"#)
        try recording.add("a", #"{"square":{"side":"2"},"color":"red"}"#)
        let report = try await Contract.check(recording.cassette(), routes: [.get("/a"): Get<Shape>.self])
        #expect(
            report.description == """
                GET /a Get<Shape>, 2 responses
                  $.square.side: required Int, but a string (1 of 1)
                  unread: $.circle.center, $.color
                """)
        #expect(report.lines.contains("GET /a Get<Shape> $.circle: optional"))
    }

    @Test func `the body of an error is decoded to the failure, and problem details to their members`() async throws {
        var recording = Recording()
        try recording.add(
            "members/a", #"{"title":1,"reason":"taken","trace":"x"}"#, template: "GetMember", status: 409,
            type: "application/problem+json")
        try recording.add("members/a", "<html>", template: "GetMember", status: 502, type: "text/html")
        try recording.add("members/a", "moved", template: "GetMember", status: 302, type: "text/html")
        try recording.add("b", #"{"title":"x","more":1}"#, status: 404, type: "application/problem+json")
        let report = try await Contract.check(
            recording.cassette(), against: GetMember.self, routes: [.get("/b"): Get<Member>.self])
        #expect(
            report.description == """
                GET /b Get<Member> problem, 1 response
                  unread: $.more
                GET members/{} GetMember failure, 2 responses
                  $: required RefusedBody, but a body that the decoder can't read ("text/html") (1 of 2)
                  $.title: optional String, but a number (1 of 1)
                  $: partly visible: decoding ends here, so what follows isn't checked
                  unread: $.trace
                """)
    }

    @Test func `a type that handles errors or reads any name is partly visible`() async throws {
        struct Lenient: Decodable, Sendable {
            enum Name: String, CodingKey { case id }
            init(from decoder: any Decoder) throws {
                let members = try decoder.container(keyedBy: Name.self)
                if (try? members.decode(Int.self, forKey: .id)) == nil {
                    _ = try members.decode(String.self, forKey: .id)
                }
            }
        }
        struct Open: Decodable, Sendable {
            struct Name: CodingKey {
                let stringValue: String
                var intValue: Int? { nil }
                init?(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
            init(from decoder: any Decoder) throws {
                let members = try decoder.container(keyedBy: Name.self)
                for name in members.allKeys { _ = try members.decode(Int.self, forKey: name) }
            }
        }
        var recording = Recording()
        try recording.add("a", #"{"id":"x","more":1}"#)
        try recording.add("b", #"{"ada":1,"grace":2}"#)
        let report = try await Contract.check(
            recording.cassette(), routes: [.get("/a"): Get<Lenient>.self, .get("/b"): Get<Open>.self])
        #expect(report.findings.allSatisfy { !$0.kind.isBreak })
        #expect(report.found(.unread).count == 1)
        #expect(
            report.found(.partlyVisible) == [
                "$: partly visible: Lenient handles errors of its members 0/0",
                "$: partly visible: its members are read by the names that the response contains 0/0",
            ])
        #expect(!report.lines.joined().contains("grace"))
    }

    @Test func `members of an object that a type does not look at are unread`() async throws {
        struct Nothing: Decodable, Sendable {}
        var recording = Recording()
        try recording.add("a", #"{"id":1}"#)
        let report = try await Contract.check(recording.cassette(), routes: [.get("/a"): Get<Nothing>.self])
        #expect(report.found(.unread) == ["$.id: unread 0/0"])
    }

    @Test func `a superclass and a nested container are read at their places`() async throws {
        class Base: Decodable { let id: Int }
        final class Derived: Base, @unchecked Sendable {
            let count: Int
            enum Name: String, CodingKey { case page, count, rows }
            required init(from decoder: any Decoder) throws {
                let members = try decoder.container(keyedBy: Name.self)
                count = try members.nestedContainer(keyedBy: Name.self, forKey: .page).decode(Int.self, forKey: .count)
                var rows = try members.nestedUnkeyedContainer(forKey: .rows)
                _ = try rows.nestedContainer(keyedBy: Name.self).decode(Int128.self, forKey: .count)
                try super.init(from: decoder)
            }
        }
        var recording = Recording()
        try recording.add("a", #"{"id":1,"page":{"count":"2","next":3},"rows":[{"count":1,"other":0}]}"#)
        try recording.add("a", #"{"id":1,"page":[],"rows":[]}"#)
        let report = try await Contract.check(recording.cassette(), routes: [.get("/a"): Get<Derived>.self])
        #expect(
            report.findings.filter { $0.kind != .partlyVisible }.map { "\($0.path) \($0.summary)" } == [
                "$.page required, but an array", "$.page.count required Int, but a string", "$.page.next unread",
                "$.rows[*].other unread",
            ], "\(report)")
    }

    @Test func `an exchange finds its endpoint by the recorded template, else by a route`() async throws {
        var recording = try Recording.members(ada)
        try recording.add("members/grace", ada, method: "POST")
        try recording.add("other?token=x", "{}")
        let report = try await Contract.check(
            recording.cassette(), against: GetMember.self, routes: [.post("/members/{login}"): Post<Member>.self])
        #expect(report.lines.contains("GET members/{} GetMember $.id: required Int") && report.lines.count == 12)
        #expect(report.lines.contains("POST /members/{login} Post<Member> $.id: required Int"))
        #expect(report.description.hasSuffix("without an endpoint: GET /other"))
    }

    @Test func `recordings of a link and of an observer know templates and routes`() async throws {
        let folder = try TemporaryDirectory()
        defer { withExtendedLifetime(folder) {} }
        let files = ["a.har", "b.har"].map { folder.url.appending(path: $0) }
        let (recorder, observer) = (try Cassette(files[0], mode: .record), FlightRecorder(keepsBinaryBodies: true))
        let stubs = StubLoader().on(GetMember.self) { _ in
            Member(id: 1, login: "ada", plan: .free, email: "", bio: nil)
        }
        let client = HTTPClient(
            environment: ServerEnvironment("https://api.test/v1"), attemptLinks: recorder.link, observers: [observer],
            transport: stubs)
        _ = try await client.send(GetMember(login: "ada").header("X-Trace", "1"))
        try recorder.save()
        try observer.archive().write(to: files[1])
        for file in files {
            let report = try await Contract.check(Cassette(file, mode: .replay), against: GetMember.self)
            #expect(report.lines.count == 6 && report.lines.allSatisfy { $0.hasPrefix("GET members/{} GetMember $") })
        }
    }

    @Test func `templates with one name are told apart by their routes`() async throws {
        enum Users {
            struct Get: RequestTemplate {
                typealias Response = Member
                var path: RequestPath { "users" }
            }
        }
        enum Teams {
            struct Get: RequestTemplate {
                typealias Response = RefusedBody
                var path: RequestPath { "teams" }
            }
        }
        var recording = Recording()
        try recording.add("users", ada, template: "Get")
        try recording.add("teams", #"{"reason":"x"}"#, template: "Get")
        let report = try await Contract.check(
            recording.cassette(), against: Users.Get.self, routes: [.get("/teams"): Teams.Get.self])
        #expect(
            report.description == """
                GET teams Get, 1 response
                without an endpoint: GET /users (several templates are named Get)
                without a response: Get
                """)
        let same = try await Contract.check(recording.cassette(), against: Users.Get.self, Users.Get.self)
        #expect(same.lines.contains("GET users Get $.id: required Int"))
    }

    @Test func `strategies of the decoder apply`() async throws {
        struct Event: Decodable, Sendable {
            var happenedAt: Date
            var byName: [String: Int]
            var times: [String: Date]
            var links: [String: URL]
            var blobs: [String: Data]
            var sums: [String: Decimal]
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        var recording = Recording()
        let body = """
            {"happened_at":"2026-01-02T03:04:05Z","by_name":{"a_b":1,"aB":2},"times":{"a":"2026-01-02T03:04:05Z"},
             "links":{"a":"https://api.test"},"blobs":{"a":"AAAA"},"sums":{"a":0.1}}
            """
        try recording.add("event", body)
        try recording.add("event", body.replacingOccurrences(of: "-02T", with: "-02?"))
        let report = try await Contract.check(
            recording.cassette(), routes: [.get("/event"): Get<Event>.self], decoder: decoder)
        #expect(
            report.findings.map { "\($0.path) \($0.summary)" } == [
                "$.happenedAt required Date, but a string that Date refuses",
                "$.times.* required Date, but a string that Date refuses",
            ], "\(report)")
    }

    @Test(arguments: ["application/x-ndjson", "text/event-stream"])
    func `a stream is checked by its first 1,000 values`(type: String) async throws {
        let isEvents = type.hasPrefix("text")
        let line = isEvents ? "data: {\"reason\":1}\n\n" : "{\"reason\":1}\n"
        var recording = Recording()
        try recording.add("stream", String(repeating: line, count: 1_100), type: type)
        let report = try await Contract.check(
            recording.cassette(), routes: [.get("/stream"): Get<String>.self],
            values: [Get<String>.self: RefusedBody.self])
        #expect(report.found(.otherType) == ["$.reason: required String, but a number 1000/1000"])
    }

    @Test func `a value in a stream has names with at most 30 consecutive combining characters`() async throws {
        for count in [30, 31] {
            var recording = Recording()
            let name = String(repeating: "\u{301}", count: count)
            try recording.add("stream", "data: {\"reason\":\"a\",\"b\(name)\":1}\n\n", type: "text/event-stream")
            let report = try await Contract.check(
                recording.cassette(), routes: [.get("/stream"): Get<String>.self],
                values: [Get<String>.self: RefusedBody.self])
            #expect(report.found(.undecodable).count == count - 30, "\(report)")
        }
    }

    @Test func `a redacted value is no break`() async throws {
        let report = try await Recording.members(
            #"{"id":1,"login":"ada","plan":"REDACTED","email":""}"#, ada
        ).check()
        #expect(report.findings.map(\.kind) == [.partlyVisible])
    }

    @Test func `a document that is nested too deep is refused`() async throws {
        struct Node: Decodable, Sendable { var a: [Node]? }
        var recording = Recording()
        for depth in [70, 10_000] {
            let body = String(repeating: #"{"a":["#, count: depth) + String(repeating: "]}", count: depth)
            try recording.add("node", body)
        }
        let report = try await Contract.check(recording.cassette(), routes: [.get("/node"): Get<Node>.self])
        #expect(report.found(.undecodable).count == 2, "\(report)")
    }

    @Test func `a name from the server is escaped and shortened`() async throws {
        let name = String(repeating: "n", count: 500)
        let report = try await Recording.members(
            #"{"id":1,"login":"ada","plan":"pro","email":"","a\n\u001b\"b":1,"\#(name)":2}"#
        ).check()
        #expect(
            report.findings.map(\.path) == [
                #"$["a\u{a}\u{1b}\"b"]"#, #"$["\#(String(repeating: "n", count: 64))…"]"#,
            ])
    }

    @Test func `a document with more members than a report holds is bounded`() async throws {
        let members = (0..<20_000).map { #""n\#($0)":{}"# }.joined(separator: ",")
        let report = try await Recording.members(#"{"id":1,"login":"ada","plan":"pro","email":"",\#(members)}"#).check()
        #expect(report.lines.count <= 5_006 && report.lines.contains("GET members/{} GetMember $.id: required Int"))
    }

    /// Entries as Chrome, Firefox and mitmproxy write them.
    @Test func `an archive of another program is checked by routes`() async throws {
        let base64 = Data(ada.utf8).base64EncodedString()
        let entries = [
            #"{"_initiator":{},"_priority":"High","_resourceType":"fetch","connection":"443","pageref":"page_1","cache":{},"#
                + #""request":{"method":"GET","url":"https://api.test/members/ada","headers":[{"name":":path","value":"/"}]},"#
                + #""response":{"status":200,"headers":[],"content":{"size":61,"mimeType":"application/json"},"_error":null},"#
                + #""serverIPAddress":"::1","time":12.25,"timings":{"blocked":1.5,"ssl":-1,"_blocked_queueing":0.5}}"#,
            #"{"startedDateTime":"2026-01-02T03:04:05.678+01:00","request":{"bodySize":0,"method":"GET","#
                + #""url":"https://api.test/members/ada?x=1"},"response":{"status":200,"content":{"comment":"","size":61,"#
                + #""mimeType":"application/json; charset=utf-8","encoding":"base64","text":"\#(base64)"}},"time":7}"#,
            #"{"request":{"method":"GET","url":"https://api.test/a b"},"response":{"status":0,"content":{}},"time":0}"#,
        ]
        let report = try await Contract.check(
            Recording(entries: entries).cassette(), routes: [.get("/members/{login}"): GetMember.self])
        #expect(report.description == "GET /members/{login} GetMember, 1 response")
    }

    @Test func `a body that the recording has cut is left out`() async throws {
        var recording = Recording()
        try recording.add("members/a", #"{"id":"#, template: "GetMember", note: #","_truncated":true"#)
        try recording.add("members/a", #"{"id":"#, template: #"GetMember","_failure":"connectionLost"#)
        #expect(try await recording.check().lines.isEmpty)
    }
}
