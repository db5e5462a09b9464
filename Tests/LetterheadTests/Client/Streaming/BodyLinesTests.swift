// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite struct BodyLinesTests {
    static let vectors: [(text: String, lines: [String])] = [
        ("", []), ("a", ["a"]), ("\n", [""]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("a\r\nb\r\n", ["a", "b"]),
        ("\n\n\r\n", ["", "", ""]), ("a\rb\nc\r", ["a\rb", "c\r"]), ("\r\r\n\r\n", ["\r", ""]),
        ("grün\n日本\r\n🙂", ["grün", "日本", "🙂"]), ("\u{FEFF}a\n", ["\u{FEFF}a"]),
    ]

    @Test(arguments: vectors)
    func `lines end with LF or CRLF, for any division of the body into pieces`(text: String, lines: [String])
        async throws
    {
        for size in 1...max(text.utf8.count, 1) {
            let read = try await StreamedBody.of(text, piecesOf: size).lines.all()
            #expect(read == lines, "pieces of \(size)")
        }
        #expect(try await HTTPResponseBody(Data(text.utf8)).lines.all() == lines)
    }

    @Test(arguments: [1, 6, 7, 8, 14, 15, 1000, 10_000], [1, 7, 1000])
    func `all lines of a long chunk are returned in order`(count: Int, length: Int) async throws {
        let lines = (0..<count).map { "\($0) " + String(repeating: "x", count: $0 % length) }
        let text = lines.joined(separator: "\n")
        for size in [count, 10_000, Int.max] {
            #expect(try await StreamedBody.of(text, piecesOf: size).lines.all() == lines)
            #expect(try await StreamedBody.of(text + "\n", piecesOf: size).lines.all() == lines)
        }
    }

    @Test func `the lines before one that is too long are returned first`() async throws {
        let (lines, error) = await HTTPResponseBody(Data("1\n2\n3\n12345678\n4".utf8)).lines(upTo: 5).allAndError()
        #expect(lines == ["1", "2", "3"] && (error as? HTTPError)?.code == .responseTooLarge)
        var iterator = HTTPResponseBody(Data("1\n123456\n2\n".utf8)).lines(upTo: 5).makeAsyncIterator()
        #expect(try await iterator.next() == "1")
        await #expect(throws: HTTPError.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
    }

    @Test func `malformed UTF-8 becomes the replacement character`() async throws {
        let body = HTTPResponseBody(Data([0x61, 0xFF, 0x0A, 0xE2, 0x82, 0x0A]))
        #expect(try await body.lines.all() == ["a\u{FFFD}", "\u{FFFD}"])
    }

    @Test(arguments: [1, 3, 1000])
    func `a line may have as many bytes as the limit, without its ending`(size: Int) async throws {
        let text = "12345\r\n12345\n12345"
        #expect(try await StreamedBody.of(text, piecesOf: size).lines(upTo: 5).all().count == 3)
        for long in ["123456", "123456\n", "123456\r\n", "a\n123456"] {
            let (_, error) = await StreamedBody.of(long, piecesOf: size).lines(upTo: 5).allAndError()
            #expect((error as? HTTPError)?.code == .responseTooLarge, "\(long)")
        }
    }

    @Test func `an endless line is an error that names the request, and ends the connection`() async throws {
        let loader = AnyLoader { request in
            HTTPResponse(
                request: request, status: .ok,
                body: HTTPResponseBody(length: nil) { Data(repeating: 0x61, count: 65_536) })
        }
        let client = HTTPClient(environment: .of("http://a.example"), transport: loader)
        let lines = try await client.stream(TestEndpoint("logs")).body.lines
        let error = try #require(await lines.allAndError().error as? HTTPError)
        #expect(error.code == .responseTooLarge && error.description.contains("http://a.example/logs"))
        #expect(error.description.contains("1048576"))
    }

    @Test func `an error in the body is thrown after the lines before it`() async throws {
        let body = StreamedBody.of([Data("a\nb\nc".utf8)], failing: CancellationError())
        let (lines, error) = await body.lines.allAndError()
        #expect(lines == ["a", "b"] && error is CancellationError)
    }
}
