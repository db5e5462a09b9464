// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

@Suite struct MockServerContentTests {
    private let content = Data((0..<100).map { UInt8($0) })

    private func send(
        _ headers: HTTPHeaders, method: HTTPMethod = .get, cutAt cut: Int? = nil, fault: MockServer.RangeFault? = nil
    ) async throws -> HTTPResponse {
        let server = try await MockServer.start { [content] request in
            .content(
                content, for: request, eTag: "\"1\"", modified: Date(timeIntervalSince1970: 784_111_777),
                maximumAge: .seconds(60), cutAt: cut, rangeFault: fault)
        }
        let request = HTTPRequest(method: method, url: server.url.appending(path: "file")).with { $0.headers = headers }
        do {
            let response = try await HTTPClient.defaultTransport.load(request)
            await server.stop()
            return response
        } catch {
            await server.stop()
            throw error
        }
    }

    @Test func `the whole content has validators`() async throws {
        let response = try await send([:])
        #expect(response.body.buffered == content && response.headers[.eTag] == "\"1\"")
        #expect(response.headers[.lastModified] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(response.headers[.cacheControl] == "max-age=60")
    }

    @Test(
        arguments: [
            (["If-None-Match": "\"0\", W/\"1\""], 304), (["If-None-Match": "\"2\""], 200),
            (["If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"], 304),
            (["If-Modified-Since": "Sun, 06 Nov 1994 08:49:36 GMT"], 200),
        ] as [(HTTPHeaders, Int)])
    func `conditions are evaluated`(headers: HTTPHeaders, status: Int) async throws {
        #expect(try await send(headers).status.code == status)
    }

    @Test(arguments: [
        ("bytes=0-9", 206, 0..<10), ("bytes=90-", 206, 90..<100), ("bytes=-5", 206, 95..<100),
        ("bytes=95-200", 206, 95..<100), ("bytes=100-", 416, 0..<0), ("bytes=9-0", 416, 0..<0),
        ("items=0-1", 200, 0..<100), ("bytes=0-1,3-4", 200, 0..<100), ("bytes=-", 200, 0..<100),
    ])
    func `a range is a part of the content`(range: String, status: Int, part: Range<Int>) async throws {
        let response = try await send(["Range": range])
        #expect(response.status.code == status && response.body.buffered == Data(content[part]))
    }

    @Test func `a range of another version is the whole content`() async throws {
        #expect(try await send(["Range": "bytes=0-9", "If-Range": "\"0\""]).status == .ok)
        #expect(try await send(["Range": "bytes=0-9", "If-Range": "\"1\""]).status == .partialContent)
    }

    @Test(
        arguments: [
            (.ignored, 200, nil, 100), (.refused, 416, "bytes */100", 0), (.shifted(by: 2), 206, "bytes 12-19/100", 10),
            (.length(7), 206, "bytes 10-19/7", 10), (.unconditional, 206, "bytes 10-19/100", 10),
        ] as [(MockServer.RangeFault, Int, String?, Int)])
    func `a server can be wrong about ranges`(
        fault: MockServer.RangeFault, status: Int, range: String?, count: Int
    ) async throws {
        let tag = fault == .unconditional ? "\"0\"" : "\"1\""
        let response = try await send(["Range": "bytes=10-19", "If-Range": tag], fault: fault)
        #expect(response.status.code == status && response.headers[.contentRange] == range)
        #expect(response.body.buffered?.count == count)
    }

    @Test func `a body can be cut at any byte`() async throws {
        let error = try await #require(throws: HTTPError.self) { try await send([:], cutAt: 42) }
        #expect(error.code == .invalidResponse)
    }
}
