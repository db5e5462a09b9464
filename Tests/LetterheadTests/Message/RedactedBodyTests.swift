// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import TestKit
import Testing

@Suite struct RedactedBodyTests {
    @Test func `the Content-Type that is sent determines how a body is redacted`() throws {
        var request = HTTPRequest(method: .post, url: try #require(URL(string: "https://h/")))
        request.headers[.contentType] = "application/x-www-form-urlencoded"
        request.body = TextBody("password=SECRET&q=MARKER")
        #expect(request.redaction.body(of: request) == "password=<redacted>&q=MARKER")
        request.headers[.contentType] = "multipart/form-data; boundary=b"
        request.body = DataBody(Data("--b\r\n\r\nSECRET".utf8))
        #expect(request.redaction.body(of: request) == "(multipart/form-data, 13 bytes)")
    }

    @Test func `text with a content coding is not shown as text`() throws {
        var request = HTTPRequest(method: .post, url: try #require(URL(string: "https://h/")))
        request.body = JSONBody(["password": "hunter2"]).compressed()
        #expect(request.redaction.body(of: request).hasPrefix("(application/json, "))
        request.body = DataBody(Data("{\"password\":\"hunter2\u{1}\"}".utf8), contentType: .json)
        #expect(request.redaction.body(of: request) == "(application/json, 23 bytes)")
    }

    @Test func `the descriptions of parts do not contain their contents`() throws {
        let parts = [MultipartBody.Part.text("SECRET", name: "password"), .data(Data("SECRET".utf8), name: "key")]
        expectRedacted(parts[0], shows: "6 bytes")
        expectRedacted(MultipartBody(parts), shows: "multipart/form-data")
        expectRedacted(TestEndpoint<HTTPResponse>("MARKER").multipart(parts), shows: "MARKER")
        expectRedacted(MultipartRequestBuilder(TestEndpoint<HTTPResponse>("MARKER"), parts: parts), shows: "MARKER")
    }

    @Test func `a description does not consume a one-shot body`() async throws {
        let reads = Counter()
        struct Once: HTTPBody {
            let reads: Counter
            var isReplayable: Bool { false }
            var contentLength: Int? { 1 }
            func chunks() throws -> BodyChunks {
                reads.next()
                return BodyChunks(Data("x".utf8))
            }
            func encode() throws -> Data { Data("x".utf8) }
        }
        var request = HTTPRequest(method: .post, url: try #require(URL(string: "https://h/")))
        request.body = Once(reads: reads)
        #expect("\(request)".contains("1 bytes"))
        #expect(reads.value == 0)
    }
}
