// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite struct MultipartPartTests {
    private func head(_ part: MultipartBody.Part) throws -> Substring {
        let text = String(decoding: try MultipartBody([part], boundary: "b").encode(), as: UTF8.self)
        let end = try #require(text.range(of: "\r\n\r\n")).lowerBound
        return text[text.index(text.startIndex, offsetBy: 4)..<end]
    }

    @Test(arguments: [
        ("plain", "plain"), ("a\"b", "a%22b"), ("a\r\nb", "a%0D%0Ab"), ("a\rb", "a%0D%0Ab"), ("a\nb", "a%0D%0Ab"),
        ("\r\r\n\n", "%0D%0A%0D%0A%0D%0A"), ("a\\b", "a\\b"), ("50%", "50%"), ("%22", "%22"), ("é🌎", "é🌎"),
        ("a\0b", "a\0b"), ("a;b=c", "a;b=c"), ("", ""), ("\t", "\t"), ("'", "'"),
        ("\"; filename=\"x\r\nX-Injected: 1", "%22; filename=%22x%0D%0AX-Injected: 1"),
    ]) func `a name is escaped as HTML specifies`(name: String, escaped: String) throws {
        #expect(try head(.text("x", name: name)) == "Content-Disposition: form-data; name=\"\(escaped)\"")
    }

    @Test(arguments: [
        ("plain", "plain"), ("a\"b", "a%22b"), ("a\r\nb", "a%0D%0Ab"), ("a\rb", "a%0Db"), ("a\nb", "a%0Ab"),
        ("\r\r\n\n", "%0D%0D%0A%0A"), ("..\\..\\x", "..\\..\\x"), ("100%.gif", "100%.gif"), ("é🌎.x", "é🌎.x"),
        ("\0", "\0"),
    ]) func `a filename is escaped as HTML specifies, with distinct escapes for CR and LF`(
        name: String, escaped: String
    ) throws {
        let part = MultipartBody.Part.text("x", name: "n", filename: name, contentType: "a/b")
        #expect(
            try head(part)
                == "Content-Disposition: form-data; name=\"n\"; filename=\"\(escaped)\"\r\nContent-Type: a/b")
    }

    @Test(arguments: [
        ("plain.png", "plain.png"), ("é 🌎.png", "%C3%A9%20%F0%9F%8C%8E.png"), ("a'b\"%.png", "a%27b%22%25.png"),
    ]) func `an extended filename is escaped, beside the filename`(name: String, escaped: String) throws {
        let part = MultipartBody.Part.text("x", name: "n", filename: name)
        let plain = try head(part)
        let lines = plain.components(separatedBy: "\r\n")
        #expect(try head(part.withExtendedFilename()) == "\(lines[0]); filename*=UTF-8''\(escaped)\r\n\(lines[1])")
    }

    @Test func `a part without a filename, or with a custom disposition, has no extended filename`() throws {
        let own: HTTPHeaders = ["Content-Disposition": "form-data; name=x; filename=y"]
        for part in [MultipartBody.Part.text("x", name: "n"), .text("x", filename: "a.txt", headers: own)] {
            #expect(try head(part.withExtendedFilename()) == head(part))
        }
    }

    @Test func `a text is encoded in the charset of its media type`() throws {
        let part = MultipartBody.Part.text("é", name: "n", contentType: "text/plain; charset=iso-8859-1")
        let body = try MultipartBody([part], boundary: "b").encode()
        #expect(body.contains(0xE9) && !body.contains(0xC3))
    }

    @Test func `a text that its charset cannot represent is an error`() throws {
        let part = MultipartBody.Part.text("🌎", name: "n", headers: ["Content-Type": "text/plain; charset=iso-8859-1"])
        #expect(throws: HTTPBodyError.self) { try MultipartBody([part], boundary: "b").encode() }
    }

    @Test func `a text is not changed`() throws {
        let body = MultipartBody([.text("a\nb\rc\r\nd\0", name: "n")], boundary: "b")
        #expect(String(decoding: try body.encode(), as: UTF8.self).contains("\r\n\r\na\nb\rc\r\nd\0\r\n--b--"))
    }

    @Test(
        arguments: [
            .text("x", name: "n", contentType: "text/plain\r\nX-Injected: 1"),
            .text("x", name: "n", contentType: "text/plain; a=b\r\nX-Injected: 1"),
            .text("x", name: "n", contentType: "plain"),
            .text("x", name: "n", headers: ["X-A": "a\r\nX-Injected: 1"]), .text("x", name: "n", headers: ["X A": "a"]),
            .text("x", name: "n", headers: ["X-A\r\n": "a"]), .text("x", name: "n", headers: ["Content-Length": "9"]),
            .text("x", headers: ["Content-Disposition": "form-data; name=\"a\"\r\nX-Injected: 1"]),
            .text("x", name: "n", headers: ["Content-Disposition": "form-data; name=\"m\""]), .text("x"),
            .body(DataBody(Data([1]), additionalHeaders: ["X-A": "a\0X-Injected"]), name: "n"),
        ] as [MultipartBody.Part]) func `a malformed part is refused before anything is sent`(part: MultipartBody.Part)
        throws
    {
        let body = MultipartBody([.text("", name: "first"), part])
        let error = #expect(throws: HTTPBodyError.self) { try body.encode() }
        #expect(throws: HTTPBodyError.self) { try body.chunks() }
        let message = try #require(error).description
        #expect(message.hasPrefix("part 2 ") && !message.contains("Injected"))
    }

    @Test func `custom headers take precedence over derived ones`() throws {
        let own: HTTPHeaders = ["Content-Disposition": "form-data; name=x; y=z", "Content-Type": "a/b", "X-C": "d"]
        #expect(
            try head(.text("x", filename: "a.png", contentType: "image/png", headers: own))
                == "Content-Disposition: form-data; name=x; y=z\r\nContent-Type: a/b\r\nX-C: d")
    }

    @Test func `the error of a file that cannot be sent names its part`() throws {
        let missing = FileManager.default.temporaryDirectory.appendingPathComponent("letterhead-missing-\(UUID())")
        let body = MultipartBody([.text("a", name: "a"), .file(at: missing, name: "f")])
        let error = #expect(throws: HTTPBodyError.self) { try body.chunks() }
        #expect(error?.description == "part 2: the file \(missing.lastPathComponent) does not exist")
        #expect(body.contentLength == nil)
    }

    @Test func `a file that grows while it is sent is an error that names its part`() async throws {
        let directory = try TemporaryDirectory()
        let file = try directory.file("a.bin", noise(300_000))
        var walk = try MultipartBody([.file(at: file, name: "f")]).chunks().makeAsyncIterator()
        _ = try await walk.next()
        _ = try await walk.next()
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 300_001)
        try handle.close()
        let error = await #expect(throws: HTTPBodyError.self) { while try await walk.next() != nil {} }
        #expect(error?.description.hasPrefix("part 1: ") == true)
    }

    @Test func `two dispositions are refused`() {
        let headers = HTTPHeaders([.init(.contentDisposition, "a"), .init(.contentDisposition, "b")])
        let error = #expect(throws: HTTPBodyError.self) {
            try MultipartBody([.text("x", headers: headers)], subtype: "mixed").encode()
        }
        #expect(error.map { "\($0)" }?.contains("Content-Disposition") == true)
    }

    @Test(arguments: ["", "a b", "mixed; boundary=x", "mixed\r\nX-Own: 1", "gemischté"])
    func `a subtype that is not a token is refused before anything is sent`(subtype: String) async throws {
        let mock = MockLoader.answering(200)
        let client = HTTPClient(environment: .of("https://a.test"), transport: mock)
        let error = await #expect(throws: HTTPError.self) {
            try await client.send(TestEndpoint("a").multipart([.text("x", name: "a")], subtype: subtype))
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message == "the subtype of the multipart body is not a token of RFC 9110")
        #expect(mock.requests.isEmpty)
    }

    @Test func `a subtype is not case-sensitive`() throws {
        #expect(throws: HTTPBodyError.self) { try MultipartBody([.text("x")], subtype: "Form-Data").encode() }
        let related = MultipartBody([.body(JSONBody([1]))], subtype: "RELATED")
        #expect(related.additionalHeaders[.contentType]?.hasSuffix("; type=\"application/json\"") == true)
    }

    @Test func `the subtype of a multipart body can be set on the modifier and on the builder`() throws {
        let parts = [MultipartBody.Part.text("x", name: "a")]
        let template = TestEndpoint<HTTPResponse>("a").with {
            $0.method = .post
            $0.baseURL = URL(string: "https://h")
        }
        for request in [
            try StandardRequestBuilder(template.multipart(parts, subtype: "mixed")).request(),
            try MultipartRequestBuilder(template, parts: parts, subtype: "mixed").request(),
        ] { #expect(request.body.additionalHeaders[.contentType]?.hasPrefix("multipart/mixed; ") == true) }
    }
}
