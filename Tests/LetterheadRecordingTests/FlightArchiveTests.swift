// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadRecording
import LetterheadTesting
import TestKit
import Testing

/// The archive of everything that a recorder keeps.
@Suite(.timeLimit(.minutes(3))) struct FlightArchiveTests {
    private typealias Object = [String: Any]

    private func entries(_ recorder: FlightRecorder) throws -> [Object] {
        let archive = try #require(JSONSerialization.jsonObject(with: recorder.archive()) as? Object)
        let log = try #require(archive["log"] as? Object)
        #expect(log["version"] as? String == "1.2" && (log["creator"] as? Object)?["name"] as? String == "Letterhead")
        return try #require(log["entries"] as? [Object])
    }

    /// The members that the schema of HAR 1.2 demands, and their types.
    private func check(_ entry: Object) throws {
        #expect(
            (entry["startedDateTime"] as? String)?.contains(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(Z|[+-]\d\d:\d\d)$/)
                == true)
        #expect((entry["time"] as? Double ?? -1) >= 0 && entry["cache"] is Object)
        let request = try #require(entry["request"] as? Object)
        for name in ["method", "url", "httpVersion"] { #expect(request[name] is String, "\(name)") }
        for name in ["cookies", "headers", "queryString"] { #expect(request[name] is [Object], "\(name)") }
        let response = try #require(entry["response"] as? Object)
        for name in ["statusText", "httpVersion", "redirectURL"] { #expect(response[name] is String, "\(name)") }
        for name in ["cookies", "headers"] { #expect(response[name] is [Object], "\(name)") }
        #expect(response["status"] is Int)
        for part in [request, response] { #expect(part["headersSize"] is Int && part["bodySize"] is Int) }
        let content = try #require(response["content"] as? Object)
        #expect(content["size"] is Int && content["mimeType"] is String)
        let timings = try #require(entry["timings"] as? Object)
        let phases = ["blocked", "dns", "connect", "send", "wait", "receive", "ssl"].map {
            timings[$0] as? Double ?? -2
        }
        #expect(phases.allSatisfy { $0 >= -1 } && phases[3...5].allSatisfy { $0 >= 0 })
        let sum = phases.dropLast().map { max($0, 0) }.reduce(0, +)
        #expect(abs(sum - (entry["time"] as? Double ?? -1)) < 0.01)
    }

    @Test func `each attempt and each hop has an entry that the schema accepts`() async throws {
        let server = try await MockServer.start { request in
            switch request.path {
            case "/old": .init(status: .found, headers: [.location: "/new?token=s3cret&page=2"])
            default: .text(#"{"name":"ada","password":"s3cret"}"#)
            }
        }
        server.enqueue(.response(.init(status: .serviceUnavailable)))
        let recorder = FlightRecorder(last: 1_000, bytes: 64 << 20, keepsBinaryBodies: true)
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: server.url), observers: [recorder],
            transport: HTTPClient.makeTransport(.init()))
        var template = TestEndpoint("old")
        template.method = .get
        _ = try await client.send(template.header("Authorization", "Bearer s3cret").retry(.immediate))
        var post = try HTTPRequest(method: .post, server.url.absoluteString + "/new")
        post.body = JSONBody(["password": "s3cret", "name": "grace"])
        _ = try await client.send(post)
        await server.stop()
        let entries = try entries(recorder)
        #expect(entries.count == 4 && recorder.count == 4)
        for entry in entries { try check(entry) }
        let statuses = entries.compactMap { ($0["response"] as? Object)?["status"] as? Int }
        #expect(statuses == [503, 302, 200, 200])
        let text = String(decoding: try recorder.archive(), as: UTF8.self)
        #expect(!text.contains("s3cret") && text.contains("grace") && text.contains("page=2"))
        #expect(entries[0]["_route"] as? String == "old" && entries[0]["serverIPAddress"] as? String == "127.0.0.1")
    }

    @Test func `a streamed body is kept up to the limit, and a failed exchange has an error`() async throws {
        let recorder = FlightRecorder(bodyLimit: 100_000)
        let transport = AnyLoader { request in
            guard request.path.string == "/big" else { throw HTTPError(.cannotConnect, request: request) }
            return HTTPResponse(
                request: request, status: .ok, headers: [.contentType: "text/plain"],
                body: .pieces(of: String(repeating: "x", count: 200_000), size: 10_000))
        }
        let client = HTTPClient(environment: .of("https://a.test"), observers: [recorder], transport: transport)
        for try await _ in try await client.stream(TestEndpoint("big")).body {}
        _ = try? await client.send(TestEndpoint("gone"))
        let entries = try entries(recorder)
        for entry in entries { try check(entry) }
        let content = try #require((entries[0]["response"] as? Object)?["content"] as? Object)
        #expect(content["size"] as? Int == 200_000 && content["_truncated"] as? Bool == true)
        #expect((content["text"] as? String)?.utf8.count == 90_000)
        #expect((entries[1]["response"] as? Object)?["status"] as? Int == 0 && entries[1]["comment"] is String)
    }

    @Test func `the number of entries is limited`() async throws {
        let recorder = FlightRecorder(last: 3)
        let transport = AnyLoader { HTTPResponse(request: $0, status: .ok) }
        let client = HTTPClient(environment: .of("https://a.test"), observers: [recorder], transport: transport)
        for _ in 1...10 { _ = try await client.send(TestEndpoint("a")) }
        #expect(recorder.count == 3)
        #expect(String(decoding: try recorder.archive(), as: UTF8.self).contains("7 older exchanges were removed"))
        recorder.removeAll()
        #expect(try recorder.count == 0 && entries(recorder).isEmpty)
    }

    @Test func `a binary body of a request is marked with a custom field, which HTTP Archives allow`() async throws {
        let recorder = FlightRecorder(last: 1_000, bytes: 64 << 20, keepsBinaryBodies: true)
        let transport = AnyLoader { HTTPResponse(request: $0, status: .ok) }
        let client = HTTPClient(environment: .of("https://a.test"), observers: [recorder], transport: transport)
        var post = try HTTPRequest(method: .post, "https://a.test/")
        post.body = DataBody(Data([0, 159, 255]), contentType: "a/b")
        _ = try await client.send(post)
        let data = try entries(recorder).compactMap { ($0["request"] as? Object)?["postData"] as? Object }
        #expect(data.first?["text"] as? String == "AJ//" && data.first?["_encoding"] as? String == "base64")
        #expect(data.first?["encoding"] == nil)
    }
}
