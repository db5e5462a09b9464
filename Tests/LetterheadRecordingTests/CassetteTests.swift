// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadRecording
import LetterheadTesting
import TestKit
import Testing

/// A folder of one test.
private func newFile() -> URL { FileManager.default.temporaryDirectory.appending(path: "cassettes-\(UUID())/test.har") }

@Suite struct CassetteTests {
    private let file = newFile()

    /// Records what the closure sends over a mock, and returns the text of the file.
    private func record(
        _ stubs: StubLoader, redaction: Redaction = .standard, _ send: (HTTPClient) async throws -> Void
    ) async throws -> String {
        let cassette = try Cassette(file, mode: .record, redaction: redaction)
        let client = HTTPClient(environment: .of("https://api.test/v1"), attemptLinks: cassette.link, transport: stubs)
        try await send(client)
        try cassette.save()
        return try String(contentsOf: file, encoding: .utf8)
    }

    private func replaying(
        _ mode: Cassette.Mode = .replay, _ matching: Cassette.Matching = .init()
    ) throws -> (HTTPClient, Cassette) {
        let cassette = try Cassette(file, mode: mode, matching: matching)
        return (.over(cassette.loader), cassette)
    }

    @Test func `a recording is replayed once, in order, without the network`() async throws {
        let stubs = StubLoader().on(GetPerson.self, inOrder: .value(.ada), .value(.grace), .status(.notFound))
        _ = try await record(stubs) { client in
            for _ in 0..<2 { _ = try await client.send(GetPerson(login: "a")) }
            _ = try? await client.send(GetPerson(login: "b"))
        }
        let (client, cassette) = try replaying()
        #expect(cassette.unused == 3)
        #expect(try await client.send(GetPerson(login: "a")) == .ada)
        #expect(try await client.send(GetPerson(login: "a")) == .grace)
        let missing = try await #require(throws: HTTPError.self) { try await client.send(GetPerson(login: "b")) }
        #expect(missing.response?.status == .notFound)
        #expect(cassette.unused == 0)
        let third = try await #require(throws: HTTPError.self) { try await client.send(GetPerson(login: "a")) }
        #expect(third.code == .unexpectedRequest)
        #expect(
            third.message.hasSuffix(
                "the nearest is entry 1: it was already replayed (to allow this, set repeatsEntries)"))
    }

    @Test func `a URL without a query is recorded without query items`() async throws {
        let text = try await record(StubLoader().on(.any()) { _ in .status(.noContent) }) { client in
            _ = try await client.send(TestEndpoint("a"))
            _ = try await client.send(TestEndpoint("b").query("flag", "1"))
        }
        let document = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        let items = document["log"]["entries"].array?.map { $0["request"]["queryString"].array?.count }
        #expect(items == [0, 1])
    }

    @Test func `secrets are not written and match whatever they are`() async throws {
        let stubs = StubLoader().on(.any()) { _ in
            .json(
                ["access_token": JSONValue("t0ps3cret"), "pin_code": 4711, "login": "ada", "otp": 123_456],
                headers: ["Set-Cookie": "session=c00kie; Path=/"])
        }
        func post(_ secret: String) -> some RequestTemplate<JSONValue> {
            TestEndpoint("login", answering: JSONValue.self).with { $0.method = .post }
                .body(JSONBody(["password": secret, "login": "ada"])).query("api_key", secret)
                .header("Authorization", "Bearer \(secret)")
        }
        let text = try await record(stubs) { _ = try await $0.send(post("hunter2")) }
        for secret in ["hunter2", "t0ps3cret", "c00kie", "123456"] { #expect(!text.contains(secret), "\(secret)") }
        let value = try await replaying().0.send(post("another"))
        #expect(value["access_token"] == "REDACTED")
        #expect(value["otp"] == 0)
        #expect(value["login"] == "ada")
    }

    @Test func `a mismatch shows the nearest entry and what differs`() async throws {
        let stubs = StubLoader().on(CreatePerson.self) { .value($0.person) }
        _ = try await record(stubs) { _ = try await $0.send(CreatePerson(person: .ada).query("page", "1")) }
        let (client, _) = try replaying()
        let error = try await #require(throws: HTTPError.self) {
            _ = try await client.send(CreatePerson(person: .grace).query("page", "2"))
        }
        #expect(
            error.message.hasSuffix(
                "the nearest is entry 1: the query item page=2 is not recorded; the query item page=1 is missing; "
                    + "the body differs at $.id: 2, not 1"))
    }

    @Test func `query items, paths in a body, boundaries and volatile headers can differ`() async throws {
        let stubs = StubLoader().on(CreatePerson.self) { .value($0.person) }
        stubs.on(.any()) { _ in .json(Person.ada) }
        let upload = TestEndpoint("upload", answering: Person.self).with { $0.method = .post }
        _ = try await record(stubs) { client in
            _ = try await client.send(
                CreatePerson(person: .ada).query("at", "1").header("Idempotency-Key", "1").header("traceparent", "1"))
            _ = try await client.send(upload.multipart([.text("hello", name: "note")]))
        }
        let rules = Cassette.Matching(headers: ["Content-Type"], ignoredQuery: ["at"], ignoredJSONPaths: ["$.id"])
        let (client, cassette) = try replaying(.replay, rules)
        let other = CreatePerson(person: Person(id: 9, login: "ada")).query("at", "2")
            .header("Idempotency-Key", "2").header("traceparent", "2")
        #expect(try await client.send(other) == .ada)
        #expect(try await client.send(upload.multipart([.text("hello", name: "note")])) == .ada)
        #expect(cassette.unused == 0)
    }

    @Test func `a path can ignore one element of an array, a member of it, or all elements`() async throws {
        func post(_ json: JSONValue) -> WithBody<TestEndpoint<JSONValue>, JSONBody> {
            TestEndpoint("a", answering: JSONValue.self).with { $0.method = .post }.body(JSONBody(json))
        }
        let stubs = StubLoader().on(.any()) { _ in .json(["ok": true]) }
        _ = try await record(stubs) { _ = try await $0.send(post(["list": [["id": 1, "n": 1], ["id": 2, "n": 2]]])) }
        let sent: [(paths: Set<String>, json: JSONValue, matches: Bool)] = [
            (["$.list[0].id"], ["list": [["id": 7, "n": 1], ["id": 2, "n": 2]]], true),
            (["$.list[0].id"], ["list": [["id": 1, "n": 1], ["id": 7, "n": 2]]], false),
            (["$.list[1]"], ["list": [["id": 1, "n": 1], "other"]], true),
            (["$.list[1]"], ["list": [["id": 1, "n": 1]]], false),
            (["$.list[*].n"], ["list": [["id": 1, "n": 8], ["id": 2, "n": 9]]], true),
            (["$['list'][1]['n']", "list[0]"], ["list": ["other", ["id": 2, "n": 9]]], true),
            (["$.list.*.n"], ["list": [["id": 1, "n": 8], ["id": 2, "n": 9]]], true),
        ]
        for (paths, json, matches) in sent {
            let (client, _) = try replaying(.replay, .init(ignoredJSONPaths: paths))
            let isFound = (try? await client.send(post(json))) != nil
            #expect(isFound == matches, "\(paths) \(json)")
        }
    }

    @Test(arguments: ["$['a.b']", #"$["a.b"]"#, #"$['a\.b']"#, "$.*"])
    func `a path can ignore a name with a dot`(path: String) async throws {
        func post(_ value: Int) -> some RequestTemplate<JSONValue> {
            TestEndpoint("a", answering: JSONValue.self).with { $0.method = .post }
                .body(JSONBody(["a.b": JSONValue.int(Int64(value))] as JSONValue))
        }
        _ = try await record(StubLoader().on(.any()) { _ in .json(["ok": true]) }) { _ = try await $0.send(post(1)) }
        #expect(try await replaying(.replay, .init(ignoredJSONPaths: [path])).0.send(post(2)) == ["ok": true])
        await #expect(throws: HTTPError.self) {
            try await replaying(.replay, .init(ignoredJSONPaths: ["$.a"])).0.send(post(2))
        }
    }

    @Test(arguments: [
        "", "$", "$..id", "$.a[", "$.a[]", "$.a[-1]", "$.a[0:2]", "$[?(@.a)]", "$['a'", "$['a]", "$.a.", "$a",
    ])
    func `a path of another form is refused by its name`(path: String) throws {
        let error = try #require(throws: (any Error).self) {
            try Cassette(newFile(), mode: .record, matching: .init(ignoredJSONPaths: [path]))
        }
        #expect("\(error)".hasPrefix("ignoredJSONPaths contains \(path), but a path consists of"))
    }

    @Test func `a request with 3 MB of binary data is recorded and found in a moment`() async throws {
        var random = SystemRandomNumberGenerator()
        let words = (0..<(3 << 20) / 8).map { _ in random.next() as UInt64 }
        let bytes = words.withUnsafeBytes { Data($0) }
        let part = MultipartBody.Part.data(bytes, name: "file", filename: "a.bin")
        for body in [DataBody(bytes, contentType: "application/octet-stream"), MultipartBody([part])] as [any HTTPBody]
        {
            let upload = TestEndpoint("a").with { ($0.method, $0.body) = (.post, body) }
            let time = try await ContinuousClock().measure {
                _ = try await record(StubLoader().on(.any()) { _ in .status(.created) }) {
                    _ = try await $0.send(upload)
                }
                #expect(try await replaying().0.send(upload).status == .created)
            }
            // Quadratic time would be minutes.
            #expect(time < .seconds(20))
        }
    }

    @Test func `new episodes are added and once records only without a file`() async throws {
        let stubs = StubLoader().on(GetPerson.self, times: .any) { Person(id: 1, login: $0.login) }
        for (login, calls) in [("a", 1), ("a", 1), ("b", 2), ("b", 2)] {
            let cassette = try Cassette(file, mode: .newEpisodes)
            let client = HTTPClient(environment: .of("https://api.test"), attemptLinks: cassette.link, transport: stubs)
            #expect(try await client.send(GetPerson(login: login)).login == login)
            try cassette.save()
            #expect(stubs.calls.count == calls)
        }
        let once = try Cassette(file, mode: .once)
        let client = HTTPClient(environment: .of("https://api.test"), attemptLinks: once.link, transport: stubs)
        #expect(try await client.send(GetPerson(login: "b")).login == "b")
        await #expect(throws: HTTPError.self) { try await client.send(GetPerson(login: "c")) }
        #expect(stubs.calls.count == 2)
    }

    @Test func `a stream is replayed in its pieces with their times`() async throws {
        let clock = TestClock(isAutomatic: true)
        let stubs = StubLoader(clock: clock).on(.any()) { _ in
            .events([ServerSentEvent(data: "one"), ServerSentEvent(data: "two")], every: .seconds(3))
        }
        let recording = try Cassette(file, mode: .record, clock: clock)
        let recorder = HTTPClient(environment: .of("https://api.test"), attemptLinks: recording.link, transport: stubs)
        let whole = try await recorder.stream(Get<HTTPResponse>("news")).body.data()
        try recording.save()

        let replayClock = TestClock(isAutomatic: true)
        let replay = try Cassette(file, mode: .replay, clock: replayClock)
        let body = try await HTTPClient(environment: .of("https://api.test"), transport: replay.loader)
            .stream(Get<HTTPResponse>("news")).body
        var pieces: [Data] = []
        for try await piece in body { pieces.append(piece) }
        #expect(pieces.count == 2)
        #expect(pieces.reduce(Data(), +) == whole)
        #expect(replayClock.sleeps == [.seconds(3), .seconds(3)])
    }

    @Test func `the audit finds secrets without a secret name`() async throws {
        let stubs = StubLoader().on(.any()) { _ in
            .json([
                "note": "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "text": "harmless words of a longer text",
                "token": "t",
            ])
        }
        _ = try await record(stubs) {
            _ = try await $0.send(TestEndpoint("a").with { $0.headers = ["X-Note": "Bearer abcdefgh1234"] })
        }
        let findings = try Cassette(file, mode: .replay).audit()
        #expect(findings.map(\.rule) == ["credentials", "GitHub token"])
        #expect(findings[1].place == "entry 1, body of the response, note")
        #expect(!"\(findings)".contains("abcdefghijkl"))
    }

    @Test func `a missing cassette, a broken one and an unknown mode are errors`() throws {
        #expect(throws: (any Error).self) { try Cassette(newFile(), mode: .replay) }
        let broken = FileManager.default.temporaryDirectory.appending(path: "broken-\(UUID()).har")
        try Data("{".utf8).write(to: broken)
        #expect(throws: (any Error).self) { try Cassette(broken, mode: .replay) }
        #expect(try Cassette.Mode.environment("LETTERHEAD_NOT_SET", default: .once) == .once)
        #expect(throws: (any Error).self) { try Cassette.Mode.environment("PATH", default: .once) }
    }

    @Test func `the cassette of a test is beside its file`() throws {
        let cassette = try Cassette(forTest: "loads a user()", in: "/tests/UserTests.swift", mode: .once)
        #expect(cassette.file.path == "/tests/Cassettes/UserTests/loads-a-user.har")
    }

    @Test func `a link outside of the environment records the whole URL`() async throws {
        let server = try await MockServer.start { _ in try .json(Person.ada) }
        let cassette = try Cassette(file, mode: .record)
        let environment = ServerEnvironment(baseURL: server.url)
        _ = try await HTTPClient(environment: environment, links: cassette.link).send(GetPerson(login: "ada"))
        try cassette.save()
        await server.stop()
        let replay = try Cassette(file, mode: .replay)
        #expect(
            try await HTTPClient(environment: environment, transport: replay.loader).send(GetPerson(login: "ada"))
                == .ada)
        let again = try Cassette(file, mode: .replay)
        #expect(try await HTTPClient(environment: environment, links: again.link).send(GetPerson(login: "ada")) == .ada)
    }
}
