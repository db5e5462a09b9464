// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

@Suite struct SimpleBodyTests {
    @Test func `data is sent unchanged, with its headers`() async throws {
        let body = DataBody(Data([0, 255, 13]), contentType: "image/png", additionalHeaders: ["X-Kind": "raw"])
        #expect(body.encode() == Data([0, 255, 13]) && body.contentLength == 3 && !body.isEmpty)
        #expect(try await body.walked() == Data([0, 255, 13]))
        #expect(body.additionalHeaders["Content-Type"] == "image/png" && body.additionalHeaders["X-Kind"] == "raw")
    }

    @Test func `data without bytes is empty`() {
        #expect(DataBody(Data()).isEmpty)
    }

    @Test func `a Content-Type among the headers takes precedence over the parameter`() {
        let body = DataBody(Data([1]), contentType: "image/png", additionalHeaders: ["content-type": "image/gif"])
        #expect(body.additionalHeaders.values(for: "Content-Type") == ["image/gif"])
    }
}

@Suite struct TextBodyTests {
    @Test func `a text is encoded in UTF-8 and declares the charset`() throws {
        let body = TextBody("hé 🌎")
        #expect(body.additionalHeaders["Content-Type"] == "text/plain; charset=utf-8")
        #expect(try body.encode() == Data("hé 🌎".utf8) && body.contentLength == 8)
    }

    @Test func `the charset is added to another media type`() {
        let body = TextBody("# x", contentType: "text/markdown")
        #expect(body.additionalHeaders["Content-Type"] == "text/markdown; charset=utf-8")
    }

    @Test(
        arguments: [
            ("iso-8859-1", [0x68, 0xE9]), ("ISO-8859-1", [0x68, 0xE9]), ("utf-16be", [0, 0x68, 0, 0xE9]),
            ("windows-1252", [0x68, 0xE9]), ("UTF-8", [0x68, 0xC3, 0xA9]),
        ] as [(String, [UInt8])])
    func `the text is encoded in the charset of the media type`(charset: String, bytes: [UInt8]) throws {
        let type = try #require(MediaType("text/plain; charset=\(charset)"))
        let body = TextBody("hé", contentType: type)
        #expect(try body.encode() == Data(bytes) && body.contentLength == bytes.count)
        #expect(body.additionalHeaders["Content-Type"] == "text/plain; charset=\(charset)")
    }

    @Test(arguments: ["us-ascii", "iso-8859-1", "klingon"])
    func `a charset that is unknown or cannot represent the text is an error`(charset: String) throws {
        let type = try #require(MediaType("text/plain; charset=\(charset)"))
        let body = TextBody("🌎", contentType: type)
        let error = #expect(throws: HTTPBodyError.self) { try body.encode() }
        #expect(try !#require(error).description.contains("🌎"))
        #expect(body.contentLength == nil)
    }

    @Test func `an invalid media type is refused before anything is sent`() {
        let request = HTTPRequest().with { ($0.host, $0.body) = ("example.com", TextBody("x", contentType: "plain")) }
        #expect(throws: HTTPError.self) { try request.validate() }
    }
}

@Suite struct EncodedBodyTests {
    struct Page: Codable, Equatable, Sendable { var page = 0, number = 10 }

    @Test func `JSON declares its media type, and is never empty`() throws {
        let body = JSONBody("")
        #expect(body.additionalHeaders["Content-Type"] == "application/json")
        #expect(try body.encode() == Data(#""""#.utf8) && !body.isEmpty)
    }

    @Test func `the headers of JSON can be changed`() {
        var body = JSONBody(1, contentType: "application/vnd.api+json")
        body.additionalHeaders["X-Kind"] = "json"
        #expect(body.additionalHeaders == ["Content-Type": "application/vnd.api+json", "X-Kind": "json"])
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `a number that is not finite is an EncodingError`(number: Double) {
        #expect(throws: EncodingError.self) { try JSONBody([number]).encode() }
    }

    @Test func `any encoder can be used`() throws {
        let body = EncodedBody(Page(), encoder: PropertyListEncoder(), contentType: "application/x-plist")
        #expect(body.additionalHeaders["Content-Type"] == "application/x-plist")
        #expect(try PropertyListDecoder().decode(Page.self, from: body.encode()) == Page())
    }
}
