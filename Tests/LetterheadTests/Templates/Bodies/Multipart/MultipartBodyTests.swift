// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import TestKit
import Testing

@Suite struct MultipartBodyTests {
    private func text(_ body: MultipartBody) throws -> String { String(decoding: try body.encode(), as: UTF8.self) }

    @Test func `the bytes of a form are exact`() throws {
        let body = MultipartBody(
            [
                .text("hi", name: "caption"),
                .data(Data("GIF".utf8), name: "pic", filename: "a.gif", headers: ["X-Mark": "1", "X-Note": "é"]),
                .text("", name: "none"),
            ], boundary: "b")
        #expect(
            try text(body) == """
                --b\r
                Content-Disposition: form-data; name="caption"\r
                \r
                hi\r
                --b\r
                Content-Disposition: form-data; name="pic"; filename="a.gif"\r
                Content-Type: image/gif\r
                X-Mark: 1\r
                X-Note: é\r
                \r
                GIF\r
                --b\r
                Content-Disposition: form-data; name="none"\r
                \r
                \r
                --b--\r

                """)
        #expect(body.contentLength == (try body.encode().count))
        #expect(body.additionalHeaders["Content-Type"] == "multipart/form-data; boundary=b")
    }

    @Test func `a body without parts is the closing delimiter`() throws {
        let body = MultipartBody([], boundary: "b")
        #expect(try text(body) == "--b--\r\n" && body.contentLength == 7 && !body.isEmpty)
    }

    @Test(arguments: [
        ("b", "multipart/form-data; boundary=b"), ("a:b", "multipart/form-data; boundary=\"a:b\""),
        ("a b", "multipart/form-data; boundary=\"a b\""),
    ]) func `a boundary is quoted if necessary`(boundary: String, type: String) throws {
        #expect(MultipartBody([], boundary: boundary).additionalHeaders["Content-Type"] == type)
    }

    @Test func `mixed parts need no names`() throws {
        let body = MultipartBody([.text("a"), .text("b", filename: "b.txt")], subtype: "mixed", boundary: "b")
        #expect(
            try text(body) == "--b\r\n\r\na\r\n--b\r\nContent-Disposition: attachment; filename=\"b.txt\"\r\n"
                + "Content-Type: text/plain\r\n\r\nb\r\n--b--\r\n")
        #expect(body.additionalHeaders["Content-Type"] == "multipart/mixed; boundary=b")
    }

    @Test func `related parts name the type of their root`() throws {
        let parts: [MultipartBody.Part] = [.body(JSONBody(1)), .data(Data([1]), contentType: "image/png")]
        let body = MultipartBody(parts, subtype: "related", boundary: "b")
        #expect(body.additionalHeaders["Content-Type"] == "multipart/related; boundary=b; type=\"application/json\"")
    }

    @Test func `a nested body has its headers`() async throws {
        let inner = MultipartBody([.text("x")], subtype: "mixed", boundary: "in")
        let body = MultipartBody([.body(inner, name: "files"), .body(JSONBody([1]), name: "json")], boundary: "out")
        let whole = """
            --out\r
            Content-Disposition: form-data; name="files"\r
            Content-Type: multipart/mixed; boundary=in\r
            \r
            --in\r
            \r
            x\r
            --in--\r
            \r
            --out\r
            Content-Disposition: form-data; name="json"\r
            Content-Type: application/json\r
            \r
            [1]\r
            --out--\r

            """
        #expect(try text(body) == whole)
        #expect(try await body.walked() == Data(whole.utf8))
        #expect(try body.chunks().length == whole.utf8.count)
    }

    @Test func `iterating returns the bytes of encode, from memory, files and streams`() async throws {
        let directory = try TemporaryDirectory()
        let file = try directory.file("photo.jpg", noise(200_000))
        let stream = AsyncStream<Data>(unfolding: { nil })
        let body = MultipartBody([
            .text("a", name: "a"), .data(noise(70_000), name: "b"), .file(at: file, name: "c"), .text("d", name: "d"),
            .text(String(repeating: "x", count: 66_000), name: "e"), .file(at: file, name: "f", filename: "other.png"),
        ])
        #expect(try await body.walked() == (try body.encode()))
        #expect(body.contentLength == (try body.encode().count))
        #expect(try body.chunks().length == body.contentLength)
        let streamed = MultipartBody([.body(StreamBody(once: stream), name: "s")])
        #expect(streamed.contentLength == nil && !streamed.isReplayable && body.isReplayable)
        #expect(throws: HTTPBodyError.self) { try streamed.encode() }
    }

    @Test func `small parts between files are not separate pieces`() async throws {
        let directory = try TemporaryDirectory()
        let file = try directory.file("a.bin", noise(10))
        let small = (0..<100).map { MultipartBody.Part.text("\($0)", name: "n\($0)") }
        var count = 0
        for try await _ in try MultipartBody(small + [.file(at: file, name: "f")] + small).chunks() { count += 1 }
        #expect(count == 3)
    }

    @Test func `a large body in memory is not copied into one piece`() throws {
        #expect(try MultipartBody([.data(Data(count: 2 << 20), name: "a")]).chunks().data == nil)
        #expect(try MultipartBody([.data(Data(count: 10), name: "a")]).chunks().data != nil)
    }

    @Test func `a streamed part with a length makes the whole length known`() async throws {
        let body = MultipartBody([
            .stream(length: 3, name: "s") {
                AsyncStream<Data> {
                    $0.yield(Data("abc".utf8)); $0.finish()
                }
            }
        ])
        #expect(body.contentLength == (try await body.walked().count))
    }

    @Test func `the file name is the last component of the path, its type that of the extension`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.file("a b\"c.png", Data("x".utf8))
        let body = MultipartBody([.file(at: file, name: "f")], boundary: "b")
        #expect(
            try text(body) == "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a b%22c.png\"\r\n"
                + "Content-Type: image/png\r\n\r\nx\r\n--b--\r\n")
    }
}
