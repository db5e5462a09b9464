import Foundation
import Letterhead
import LetterheadTesting
import Testing

@Suite struct BodyLinesTests {
    static let vectors: [(text: String, lines: [String])] = [
        ("", []),
        ("a", ["a"]),
        ("\n", [""]),
        ("a\n", ["a"]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("\n\n\r\n", ["", "", ""]),
        ("a\rb\nc\r", ["a\rb", "c\r"]),
        ("\r\r\n\r\n", ["\r", ""]),
        ("grün\n日本\r\n🙂", ["grün", "日本", "🙂"]),
        ("\u{FEFF}a\n", ["\u{FEFF}a"]),
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
        let lines = try await client.stream(Endpoint("logs")).body.lines
        let error = try #require(await lines.allAndError().error as? HTTPError)
        #expect(error.code == .responseTooLarge)
        #expect(error.description.contains("http://a.example/logs"))
        #expect(error.description.contains("1048576"))
    }

    @Test func `an error in the body is thrown after the lines before it`() async throws {
        let body = StreamedBody.of([Data("a\nb\nc".utf8)], failing: CancellationError())
        let (lines, error) = await body.lines.allAndError()
        #expect(lines == ["a", "b"])
        #expect(error is CancellationError)
    }

    @MainActor
    @Test func `lines are read on the actor of the reader`() async throws {
        var count = 0
        for try await line in StreamedBody.of("a\nb\n", piecesOf: 1).lines {
            MainActor.assertIsolated()
            count += line.count
        }
        #expect(count == 2)
    }
}
