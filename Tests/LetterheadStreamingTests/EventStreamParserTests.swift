// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
@testable import LetterheadStreaming
import TestKit
import Testing

/// The rules of the HTML Standard, section 9.2, at every place where the stream can be cut.
@Suite struct EventStreamParserTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let events: [ServerSentEvent]
        var testDescription: String { name }

        init(_ name: String, _ text: String, _ events: [ServerSentEvent]) {
            (self.name, self.text, self.events) = (name, text, events)
        }
    }

    static let vectors: [Vector] = [
        Vector("no event", "", []),
        Vector("one line of data", "data: a\n\n", [.init(data: "a")]),
        Vector("several lines of data", "data: a\ndata: b\ndata\n\n", [.init(data: "a\nb\n")]),
        Vector("YHOO, as in the standard", "data: YHOO\ndata: +2\ndata: 10\n\n", [.init(data: "YHOO\n+2\n10")]),
        Vector(
            "the second example of the standard",
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            [.init(data: "first event", id: "1"), .init(data: "second event"), .init(data: " third event")]),
        Vector(
            "the third example of the standard", "data\n\ndata\ndata\n\ndata:",
            [.init(data: ""), .init(data: "\n")]),
        Vector("one space is removed", "data:a\n\ndata: a\n\n", [.init(data: "a"), .init(data: "a")]),
        Vector("CR ends lines", "data: a\rdata: b\r\r", [.init(data: "a\nb")]),
        Vector("CRLF ends lines", "data: a\r\ndata: b\r\n\r\n", [.init(data: "a\nb")]),
        Vector("endings are mixed", "data: a\rdata: b\ndata: c\r\n\n", [.init(data: "a\nb\nc")]),
        Vector("LF CR is two endings", "data: a\n\rdata: b\n\r", [.init(data: "a"), .init(data: "b")]),
        Vector("a byte order mark at the start", "\u{FEFF}data: a\n\n", [.init(data: "a")]),
        Vector("a second byte order mark is not removed", "\u{FEFF}\u{FEFF}data: a\n\ndata: b\n\n", [.init(data: "b")]),
        Vector("comments", ":\n: data: x\ndata: a\n:x\n\n", [.init(data: "a")]),
        Vector("a type", "event: add\ndata: a\n\ndata: b\n\n", [.init(event: "add", data: "a"), .init(data: "b")]),
        Vector("the last type counts", "event: add\nevent: remove\ndata: a\n\n", [.init(event: "remove", data: "a")]),
        Vector("an empty type is the default", "event: add\nevent\ndata: a\n\n", [.init(data: "a")]),
        Vector(
            "an event without data does not happen", "event: add\nid: 3\n\ndata: a\n\n", [.init(data: "a", id: "3")]),
        Vector(
            "an identifier stays", "id: 1\ndata: a\n\ndata: b\n\n",
            [.init(data: "a", id: "1"), .init(data: "b", id: "1")]),
        Vector(
            "an empty identifier removes it", "id: 1\ndata: a\n\nid\ndata: b\n\n",
            [.init(data: "a", id: "1"), .init(data: "b")]),
        Vector(
            "an identifier with NUL is ignored", "id: 1\ndata: a\n\nid: 2\u{0}\ndata: b\n\n",
            [.init(data: "a", id: "1"), .init(data: "b", id: "1")]),
        Vector(
            "a retry", "retry: 1500\ndata: a\n\ndata: b\n\n",
            [.init(data: "a", retry: .milliseconds(1500)), .init(data: "b")]),
        Vector(
            "a retry of other characters is ignored", "retry: 1.5\nretry: -1\nretry\nretry: 1 \ndata: a\n\n",
            [.init(data: "a")]),
        Vector("unknown fields are ignored", "datas: x\ndat: x\nDATA: x\n data: x\ndata: a\n\n", [.init(data: "a")]),
        Vector("an event without its blank line is dropped", "data: a\n\ndata: b\n", [.init(data: "a")]),
        Vector("several colons", "data: a: b:\n\n", [.init(data: "a: b:")]),
        Vector("other characters", "data: grün 日本 🙂\n\n", [.init(data: "grün 日本 🙂")]),
    ]

    private func events(of body: HTTPResponseBody, limit: Int = 1 << 20) async throws -> [ServerSentEvent] {
        let loader = AnyLoader { request in
            HTTPResponse(
                request: request, status: .ok, headers: ["Content-Type": "text/event-stream; charset=utf-8"], body: body
            )
        }
        let client = HTTPClient(environment: .of("http://a.example"), transport: loader)
        return try await client.events(of: TestEndpoint(), limit: limit).all()
    }

    @Test(arguments: vectors)
    func `each rule applies for any division of the stream into pieces`(vector: Vector) async throws {
        for size in 1...max(vector.text.utf8.count, 1) {
            let read = try await events(of: StreamedBody.of(vector.text, piecesOf: size))
            #expect(read == vector.events, "pieces of \(size)")
        }
    }

    @Test func `malformed UTF-8 becomes the replacement character`() async throws {
        let body = StreamedBody.of([Data("data: a".utf8), Data([0xFF]), Data("\n\n".utf8)])
        #expect(try await events(of: body) == [ServerSentEvent(data: "a\u{FFFD}")])
    }

    @Test(arguments: ["data: 123456", "id: 12345678", ":12345678901"])
    func `a line over the limit is an error`(line: String) async throws {
        for size in [1, 4, 100] {
            let error = await #expect(throws: HTTPError.self) {
                try await events(of: StreamedBody.of(line + "\n\n", piecesOf: size), limit: 11)
            }
            #expect(error?.code == .responseTooLarge)
        }
    }

    @Test func `many lines of data that are over the limit together are an error`() async throws {
        let text = String(repeating: "data: 1\n", count: 20) + "\n"
        let error = await failure { try await events(of: StreamedBody.of(text), limit: 30) }
        #expect(error?.code == .responseTooLarge)
        #expect(try await events(of: StreamedBody.of(text), limit: 39).count == 1)
    }

    @Test func `a million empty events and comments deliver nothing`() async throws {
        let text = String(repeating: "\n:\n", count: 500_000)
        #expect(try await events(of: StreamedBody.of(text, piecesOf: 65_536)) == [])
    }

    /// Four times the stream takes four times as long. The square would be sixteen. Only this thread's time counts.
    @Test func `a piece with CR line ends is searched in linear time`() throws {
        func cost(_ count: Int) throws -> Double {
            let line = ":" + String(repeating: "a", count: 62) + "\r"
            let bytes = Array(String(repeating: line, count: count).utf8)
            return try threadTime {
                var parser = EventStreamParser(limit: 100)
                parser.append(Data(bytes))
                while try parser.next() != nil {}
            }
        }
        let ratios = try (0..<3).map { _ in try cost(64_000) / cost(16_000) }
        #expect(ratios.min().map { $0 < 8 } == true, "\(ratios)")
    }
}
