// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite struct PrintLoaderTests {
    private let lines = Journal()
    private func chain(_ loader: any HTTPLoader) -> any HTTPLoader {
        PrintLoader(clock: TestClock()) { [lines] in lines.write($0) } --> loader
    }

    @Test func `the request is written before the load, and the result after it`() async throws {
        let mock = MockLoader { [lines] request in
            lines.write("answering")
            return .ok(request, body: Data("12345".utf8))
        }
        var request = try HTTPRequest.to("https://h/p?q=1", method: .post)
        request.headers = ["Accept": "a", "X": "1"]
        _ = try await chain(mock).load(request)
        #expect(
            lines.all == [
                "--> POST https://h/p?q=1\n    Accept: a\n    X: 1", "answering", "<-- 200 OK, 5 bytes, in 0.0 ms",
            ])
    }

    @Test func `neither the request nor the response is changed`() async throws {
        let mock = MockLoader { .ok($0, body: Data("x".utf8)) }
        let request = try HTTPRequest.to("https://h/p?q=1")
        let response = try await chain(mock).load(request)
        #expect(mock.requests.map(\.id) == [request.id])
        #expect("\(try #require(mock.requests.first))" == "\(request)")
        #expect(try await response.body.data() == Data("x".utf8))
    }

    @Test func `an error is written and thrown`() async throws {
        let error = try await #require(throws: HTTPError.self) {
            try await chain(MockLoader()).load(HTTPRequest.to("https://h/p"))
        }
        #expect(error.code == .cannotConnect)
        #expect(lines.all.last?.hasPrefix("<-- cannotConnect: GET https://h/p: ") == true)
    }

    @Test func `no line shows a secret`() async throws {
        var request = try HTTPRequest.to("https://h/marker?token=SECRET&q=marker")
        request.headers = ["Authorization": "Bearer SECRET", "Cookie": "SECRET", "X": "marker"]
        request.body = TextBody("SECRET")
        let mock = MockLoader {
            HTTPResponse(
                request: $0, status: 200, headers: ["Set-Cookie": "SECRET"], body: HTTPResponseBody(Data("SECRET".utf8))
            )
        }
        _ = try await chain(mock).load(request)
        _ = try? await chain(MockLoader()).load(request)
        let text = lines.all.joined(separator: "\n")
        #expect(!text.contains("SECRET") && text.contains("marker"))
    }

    private func object(_ line: String?) throws -> [String: JSONValue] {
        #expect(line?.contains("\n") == false)
        return try JSONDecoder().decode([String: JSONValue].self, from: Data((line ?? "").utf8))
    }

    @Test func `as an observer, JSON is one object for each load`() async throws {
        let client = HTTPClient(
            environment: .of("https://h.test"), observers: [PrintLoader(.json) { [lines] in lines.write($0) }],
            transport: MockLoader { HTTPResponse(request: $0, status: $0.path.string == "/a" ? 200 : 404) })
        _ = try await client.send(TestEndpoint("a").query("token", "SECRET").query("line", "\n"))
        _ = try? await client.send(TestEndpoint("b"))
        #expect(lines.all.count == 2 && !lines.all.joined().contains("SECRET"))
        let first = try object(lines.all.first)
        #expect(first["event"] == "load.end" && first["status"] == 200 && first["method"] == "GET")
        #expect(first["attempts"] == 1 && first["route"] == "a" && first["duration.ms"]?.double != nil)
        let second = try object(lines.all.last)
        #expect(second["event"] == "load.failed" && second["error.type"] == "unacceptableStatus")
    }

    @Test func `as a link, JSON is one object for each request and each result`() async throws {
        let link = PrintLoader(.json, clock: TestClock()) { [lines] in lines.write($0) }
        let request = try HTTPRequest.to("https://h/p?token=SECRET")
        _ = try await (link --> MockLoader { .ok($0, body: Data("12345".utf8)) }).load(request)
        _ = try? await (link --> MockLoader()).load(request)
        let objects = try lines.all.map { try object($0) }
        #expect(objects.map { $0["event"] } == ["request", "response", "request", "failure"])
        #expect(objects[1]["status"] == 200 && objects[1]["bytes"] == 5 && objects[1]["duration.ms"] == 0)
        #expect(objects[3]["error.type"] == "cannotConnect" && !lines.all.joined().contains("SECRET"))
    }
}
