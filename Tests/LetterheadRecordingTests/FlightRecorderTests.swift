// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadRecording
import LetterheadTesting
import TestKit
import Testing

/// What a flight recorder keeps and writes.
@Suite(.timeLimit(.minutes(3))) struct FlightRecorderTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func client(
        _ recorder: FlightRecorder, retrying: Backoff = .init(),
        _ load: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) -> HTTPClient {
        HTTPClient(
            environment: .of("https://a.test"), retrying: retrying, observers: [recorder], transport: AnyLoader(load))
    }

    @Test func `a failed load is written with its attempts and redirects, and what ran beside it`() async throws {
        let recorder = FlightRecorder()
        let isBusy = Counter()
        let client = client(recorder, retrying: Backoff(.immediate, maximumRetries: 1)) { request in
            switch request.path.string {
            case "/moved": HTTPResponse(request: request, status: .found, headers: [.location: "/person"])
            case "/person" where isBusy.next() == 1: json(request, "{}", status: .serviceUnavailable)
            default: json(request, #"{"id":"seven"}"#)
            }
        }
        _ = try await client.send(TestEndpoint("before"))
        let template = TestEndpoint("moved", answering: Person.self).timeout(.seconds(7))
        let error = try await thrown { _ = try await client.send(template) }
        _ = try await client.send(TestEndpoint("after"))
        let flight = try Flight(recorder.dump(around: error, to: folder.url))
        #expect(flight.urls == ["moved", "person", "moved", "person"].map { "https://a.test/\($0)" })
        #expect(flight.statuses == [302, 503, 302, 200])
        #expect(flight.entries.compactMap { $0["_attempt"] as? Int } == [1, 1, 2, 2])
        let load = try #require(flight.loads.first)
        #expect(flight.loads.count == 1 && load["load"] as? Int == flight.log["failed"] as? Int)
        #expect(load["route"] as? String == "moved" && (load["template"] as? String)?.hasPrefix("TestEndpoint") == true)
        #expect((load["settings"] as? [String])?.contains("timeout: 7.0 seconds") == true)
        let events = try #require(load["events"] as? [String])
        #expect(events.contains { $0.contains("retry.decided") } && events.contains { $0.contains("redirect.decided") })
        #expect((flight.log["error"] as? String)?.contains("cannotDecodeResponse") == true)
        #expect(flight.entries.allSatisfy { ($0["_wait"] as? Double ?? -1) >= 0 })
    }

    @Test func `loads that overlap the failed one are written, in the order of their requests`() async throws {
        let recorder = FlightRecorder()
        let held = HeldLoader()
        let client = HTTPClient(environment: .of("https://a.test"), observers: [recorder], transport: held)
        async let other = client.send(TestEndpoint("other"))
        await held.waitForStarted(1)
        let failing = Task { try await client.send(TestEndpoint("failing", answering: Person.self)) }
        await held.waitForStarted(2)
        held.open("/failing")
        let error = try await #require(throws: HTTPError.self) { try await failing.value }
        held.open()
        _ = try await other
        let flight = try Flight(recorder.dump(around: error, to: folder.url))
        #expect(flight.urls == ["https://a.test/other", "https://a.test/failing"] && flight.loads.count == 2)
    }

    @Test func `no secret is kept or written, wherever it is`() async throws {
        let recorder = FlightRecorder()
        let client = client(recorder) { request in
            var response = json(request, #"{"access_token":"s3cret","expires_in":60,"pin":1234}"#, status: .badRequest)
            response.headers = [
                .contentType: "application/json", "Set-Cookie": "sid=s3cret; Path=/", "X-Own": "s3cret",
                .location: "https://u:s3cret@a.test/?token=s3cret",
            ]
            return response
        }
        var request = try HTTPRequest(method: .post, "https://a.test/pay?api_key=s3cret&page=2&own=s3cret")
        request.headers = [.authorization: "Bearer s3cret"]
        request.headers.append("X-Api-Key", "s3cret")
        request.headers.setSecret("s3cret", for: "X-Marked")
        request.redaction = .standard.adding(headers: ["X-Own"], parameters: ["own", "pin"])
        request.body = JSONBody(["password": "s3cret", "name": "ada"])
        let sent = request
        let error = try await thrown { _ = try await client.send(sent) }
        let text = try Flight(recorder.dump(around: error, to: folder.url)).text
        #expect(!text.contains("s3cret") && !text.contains("1234"))
        #expect(text.contains("page=2") && text.contains("ada") && text.contains("REDACTED"))
    }

    @Test func `a whole secret body keeps only its public members`() async throws {
        let recorder = FlightRecorder()
        let client = client(recorder) { json($0, #"{"access_token":"s3cret","expires_in":60,"note":"private"}"#) }
        let error = try await thrown {
            _ = try await client.send(TestEndpoint("token", answering: Person.self).secret())
        }
        let text = try Flight(recorder.dump(around: error, to: folder.url)).text
        #expect(!text.contains("s3cret") && !text.contains("private") && text.contains(#"\"expires_in\":60"#))
    }

    @Test func `a value that looks like a secret is refused with its field, and nothing is written`() async throws {
        let recorder = FlightRecorder()
        let client = client(recorder) { request in
            var response = json(request, #"{"note":"ghp_abcdefghijklmnopqrstuvwxyz"}"#)
            response.headers["X-Trace-Note"] = "ghp_abcdefghijklmnopqrstuvwxyz"
            return response
        }
        let error = try await thrown { _ = try await client.send(TestEndpoint("a", answering: Person.self)) }
        let refusal = try await thrown { _ = try recorder.dump(around: error, to: folder.url) }
        let text = "\(refusal)"
        #expect(text.contains("entry 1, response, header X-Trace-Note (GitHub token)"))
        #expect(text.contains("entry 1, body of the response") && !text.contains("abcdef"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
        let redaction = Redaction.standard.adding(headers: ["X-Trace-Note"], parameters: ["note"])
        let flight = try Flight(recorder.dump(around: error, to: folder.url, redaction: redaction))
        #expect(!flight.text.contains("ghp_") && flight.entries.count == 1)
    }

    @Test func `each file has its own name, and only the user can read it`() async throws {
        let recorder = FlightRecorder(now: { Date(timeIntervalSince1970: 1_700_000_000) })
        let client = client(recorder) { json($0, "{}") }
        let error = try await thrown { _ = try await client.send(TestEndpoint("users/s3cret", answering: Person.self)) }
        let missing = folder.url.appending(path: "reports/of/today")
        let files = try (1...2).map { _ in try recorder.dump(around: error, to: missing) }
        #expect(files[0] != files[1])
        for file in files {
            #expect(file.lastPathComponent.contains(/^flight-1700000000-[A-Za-z0-9_-]{12}\.har$/))
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test func `the error of other code writes everything, and the file says so`() async throws {
        struct OtherError: Error {}
        let recorder = FlightRecorder()
        let client = client(recorder) { json($0, "{}") }
        for path in ["a", "b"] { _ = try await client.send(TestEndpoint("\(path)")) }
        let flight = try Flight(recorder.dump(around: OtherError(), to: folder.url))
        #expect(flight.entries.count == 2 && flight.log["failed"] == nil)
        #expect(flight.text.contains("no load ended with this error"))
    }

    @Test func `a load without an exchange is written with its events`() async throws {
        let recorder = FlightRecorder()
        let refuse = ModifyRequest { throw HTTPError(.cannotAuthenticate, request: $0) }
        let client = HTTPClient(environment: .of("https://a.test"), links: refuse, observers: [recorder])
        let error = try await thrown { _ = try await client.send(TestEndpoint("a")) }
        let flight = try Flight(recorder.dump(around: error, to: folder.url))
        #expect(flight.entries.isEmpty && flight.loads.count == 1)
        #expect((flight.loads[0]["summary"] as? String)?.contains("cannotAuthenticate") == true)
    }

    @Test(arguments: [(1, 1), (3, 3), (0, 1), (1_000_000, 20)])
    func `the last exchanges are kept`(last: Int, kept: Int) async throws {
        let recorder = FlightRecorder(last: last)
        let client = client(recorder) { json($0, "{}") }
        for number in 1...20 { _ = try await client.send(TestEndpoint("\(number)")) }
        #expect(recorder.count == kept)
        let flight = try Flight(recorder.dump(around: CancellationError(), to: folder.url))
        #expect(flight.entries.count == kept && flight.text.contains("https://a.test/20"))
    }

    @Test func `with the least memory, the last attempts keep their events and results`() async throws {
        let recorder = FlightRecorder(last: 10_000, bytes: 65_536)
        let client = client(recorder, retrying: Backoff(.immediate, maximumRetries: 99)) {
            throw HTTPError(.connectionLost, request: $0)
        }
        let error = try await thrown { _ = try await client.send(TestEndpoint("a")) }
        let flight = try Flight(recorder.dump(around: error, to: folder.url))
        #expect(flight.entries.last?["_attempt"] as? Int == 100 && flight.entries.count > 3)
        #expect(flight.entries.allSatisfy { $0["_failure"] as? String == "connectionLost" })
        #expect(flight.urls.allSatisfy { $0 == "https://a.test/a" })
        let events = try #require(flight.loads[0]["events"] as? [String])
        #expect(events.count <= 70 && events[0].contains("load.start") && events.last?.contains("load.failed") == true)
        #expect(flight.loads[0]["removedExchanges"] as? Int == 100 - flight.entries.count)
    }

    @Test func `an exchange of a load with very many events keeps its URL and its status`() async throws {
        let recorder = FlightRecorder(bytes: 65_536)
        let noisy = ModifyRequest { request in for _ in 0..<100 { request.record("noise") } }
        let client = HTTPClient(
            environment: .of("https://a.test"), links: noisy, observers: [recorder],
            transport: AnyLoader { json($0, "{}", status: .notFound) })
        let error = try await thrown { _ = try await client.send(TestEndpoint("a")) }
        let flight = try Flight(recorder.dump(around: error, to: folder.url))
        #expect(flight.urls == ["https://a.test/a"] && flight.statuses == [404])
        #expect((flight.loads[0]["events"] as? [String])?.count ?? 0 <= 70)
    }

    @Test func `long URLs count for the memory`() async throws {
        let recorder = FlightRecorder(last: 1_000, bytes: 65_536)
        let client = client(recorder) { json($0, "{}") }
        let path = String(repeating: "x", count: 10_000)
        for _ in 1...20 { _ = try await client.send(TestEndpoint("\(path)")) }
        #expect((1...3).contains(recorder.count))
    }

    @Test func `another load that failed with the same text is not the failed one`() async throws {
        let recorder = FlightRecorder(last: 1)
        let client = client(recorder) { throw HTTPError(.connectionLost, request: $0) }
        let first = try await thrown { _ = try await client.send(TestEndpoint("a")) }
        let second = try await thrown { _ = try await client.send(TestEndpoint("a")) }
        #expect(try Flight(recorder.dump(around: second, to: folder.url)).log["failed"] != nil)
        let flight = try Flight(recorder.dump(around: first, to: folder.url))
        #expect(flight.log["failed"] == nil && flight.text.contains("no load ended with this error"))
    }

    @Test func `the memory is bounded, and the oldest loads go first`() async throws {
        let recorder = FlightRecorder(last: 1_000, bytes: 65_536)
        let text = #"{"text":"\#(String(repeating: "x", count: 6_000))"}"#
        let client = client(recorder) { json($0, text) }
        for number in 1...50 { _ = try await client.send(TestEndpoint("\(number)")) }
        let flight = try Flight(recorder.dump(around: CancellationError(), to: folder.url))
        #expect((2...9).contains(flight.entries.count) && flight.text.contains("https://a.test/50"))
        #expect(flight.text.utf8.count < 200_000)
    }

    @Test func `a body that is too large or of another type is not kept, and the file says so`() async throws {
        let large = String(repeating: "x", count: 8_300)
        for keepsBinary in [false, true] {
            let recorder = FlightRecorder(bytes: 65_536, keepsBinaryBodies: keepsBinary)
            let client = client(recorder) { request in
                request.path.string == "/large"
                    ? json(request, large)
                    : HTTPResponse(
                        request: request, status: .ok, headers: [.contentType: "image/png"],
                        body: HTTPResponseBody(Data([0, 159, 255])))
            }
            for path in ["large", "image"] { _ = try await client.send(TestEndpoint("\(path)")) }
            let flight = try Flight(recorder.dump(around: CancellationError(), to: folder.url))
            let contents = flight.contents
            #expect(contents[0]["_dropped"] as? Bool == true && contents[0]["text"] == nil)
            #expect((contents[0]["comment"] as? String)?.contains("too large") == true)
            #expect(contents[0]["size"] as? Int == 8_300)
            #expect(contents[1]["text"] as? String == (keepsBinary ? "AJ//" : nil))
            #expect(((contents[1]["comment"] as? String)?.contains("media type") == true) == !keepsBinary)
        }
    }

    @Test(arguments: [
        ("application/json", true), ("application/problem+JSON", true), ("application/x-ndjson", true),
        ("text/plain;charset=utf-8", true), ("text/event-stream", true), ("application/x-www-form-urlencoded", true),
        ("application/xml", false), ("text/html", false), ("text/yaml", false), ("application/javascript", false),
        ("application/graphql", false),
    ])
    func `a body is kept by default if its secrets can be found`(type: String, isKept: Bool) async throws {
        for keepsAll in [false, true] {
            let recorder = FlightRecorder(keepsBinaryBodies: keepsAll)
            let client = client(recorder) { request in
                HTTPResponse(
                    request: request, status: .ok, headers: [.contentType: type],
                    body: HTTPResponseBody(Data("a=1".utf8)))
            }
            _ = try await client.send(TestEndpoint("a"))
            let content = try #require(
                Flight(recorder.dump(around: CancellationError(), to: folder.url)).contents.first)
            #expect((content["text"] as? String == "a=1") == (isKept || keepsAll))
        }
    }

    @Test func `a body that is not kept is not encoded, and a body that is not in memory has a comment`() async throws {
        let recorder = FlightRecorder()
        let client = client(recorder) { json($0, "{}") }
        let encoded = Counter()
        let file = FileBody(at: try folder.file("a.txt", Data("text".utf8)))
        for body: any HTTPBody in [CountedBody(encoded: encoded), file] {
            _ = try await client.send(TestEndpoint("a").with { ($0.method, $0.body) = (.post, body) })
        }
        let flight = try Flight(recorder.dump(around: CancellationError(), to: folder.url))
        let comments = flight.entries.compactMap { entry in
            ((entry["request"] as? [String: Any])?["postData"] as? [String: Any])?["comment"] as? String
        }
        #expect(comments.count == 2 && comments[0].contains("media type"))
        #expect(comments.last?.contains("was not in memory") == true)
        #expect(encoded.next() == 1)
    }

    @Test func `a stream is kept in its pieces up to the limit, and the file says so`() async throws {
        for size in [1_000, 30_000] {
            let recorder = FlightRecorder(bytes: 65_536)
            let client = client(recorder) { request in
                HTTPResponse(
                    request: request, status: .ok, headers: [.contentType: "text/plain"],
                    body: .pieces(of: String(repeating: "x", count: size), size: 500))
            }
            for try await _ in try await client.stream(TestEndpoint("a")).body {}
            let content = try #require(
                Flight(recorder.dump(around: CancellationError(), to: folder.url)).contents.first)
            #expect(content["size"] as? Int == size)
            let pieces = try #require(content["_pieces"] as? [[String: Any]])
            #expect(pieces.allSatisfy { $0["bytes"] as? Int == 500 })
            #expect((content["_truncated"] as? Bool == true) == (size == 30_000))
            #expect(pieces.count == (size == 30_000 ? 14 : 2))
            #expect((content["comment"] as? String)?.contains(size == 1_000 ? "streamed" : "too large") == true)
        }
    }

    @Test func `a dropped stream is truncated`() async throws {
        let recorder = FlightRecorder()
        let client = client(recorder) { request in
            HTTPResponse(
                request: request, status: .ok, headers: [.contentType: "text/plain"],
                body: .pieces(of: "onetwo", size: 3))
        }
        for try await _ in try await client.stream(TestEndpoint("a")).body { break }
        let flight = try Flight(recorder.dump(around: CancellationError(), to: folder.url))
        #expect(flight.contents[0]["text"] as? String == "one" && flight.contents[0]["_truncated"] as? Bool == true)
    }

    @Test func `concurrent loads are recorded without a loss`() async throws {
        let recorder = FlightRecorder(last: 200)
        let client = client(recorder) { json($0, "{}") }
        try await withThrowingTaskGroup { group in
            for number in 1...200 { group.addTask { _ = try await client.send(TestEndpoint("\(number)")) } }
            try await group.waitForAll()
        }
        #expect(recorder.count == 200)
        let flight = try Flight(recorder.dump(around: CancellationError(), to: folder.url))
        #expect(flight.statuses == Array(repeating: 200, count: 200) && flight.loads.count == 200)
    }
}

/// A body of an image that counts how often it's encoded.
private struct CountedBody: HTTPBody {
    let encoded: Counter
    var additionalHeaders: HTTPHeaders { [.contentType: "image/png"] }
    func encode() throws -> Data { Data([UInt8(truncatingIfNeeded: encoded.next())]) }
}
