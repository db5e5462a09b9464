// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadCaching
@testable import LetterheadSigning
import LetterheadTesting
import TestKit
import Testing

/// Signed responses in a cache and in files: their signature is judged by the time at which they were received.
@Suite struct CachedSignatureTests {
    private static let start = Date(timeIntervalSince1970: 1_618_884_473)

    /// Signs a response and its date, if it has one, with the time of the server.
    private static func signed(_ response: HTTPResponse, at date: Date) throws -> HTTPResponse {
        var response = response
        let body = response.body.buffered ?? Data()
        response.headers["Content-Digest"] = "sha-256=:\(Data(SHA256Hash.hash(Array(body))).base64EncodedString()):"
        var components: [MessageComponent] = ["@status", "content-digest"]
        if response.headers.contains(.date) { components.append("date") }
        let input = "(\(components.map(\.text).joined(separator: " ")));created=\(Int(date.timeIntervalSince1970))"
        let base = try MessageComponent.base(components, parameters: input, of: response.request, response)
        response.headers["Signature-Input"] = "a=" + input
        response.headers["Signature"] = "a=:\(Data(HMAC.sha256(base, key: [1])).base64EncodedString()):"
        return response
    }

    /// A client of a server that signs each response, also a 304.
    private func client(
        _ mock: @escaping @Sendable (HTTPRequest) throws -> HTTPResponse, now: @escaping @Sendable () -> Date
    ) -> HTTPClient {
        let verifier = MessageVerifier(requiring: ["@status", "content-digest"], now: now) { _ in try .hmac([1]) }
        return HTTPClient(
            cache: ResponseCache(store: .memory(bytes: 1 << 20), now: now), validators: [verifier],
            transport: MockLoader { try mock($0) })
    }

    @Test func `a signed 304 confirms a signed 200, and both may be old`() async throws {
        let now = SharedValue(Self.start)
        let client = client({ request in
            let isKnown = request.headers.contains(.ifNoneMatch)
            let response = HTTPResponse(
                request: request, status: isKnown ? 304 : 200,
                headers: ["ETag": "\"1\"", "Cache-Control": "max-age=600"],
                body: isKnown ? HTTPResponseBody() : HTTPResponseBody(Data("hello".utf8)))
            return try Self.signed(response, at: now.withLock { $0 })
        }) { now.withLock { $0 } }
        let request = try HTTPRequest("https://a.example/")
        for (seconds, outcome) in [
            (0.0, ResponseCache.Outcome.stored), (599, .hit), (601, .revalidated), (1_200, .hit),
        ] {
            now.withLock { $0 = Self.start.addingTimeInterval(seconds) }
            let response = try await client.send(request)
            #expect(response.cache == outcome)
            #expect(try await response.body.data() == Data("hello".utf8))
        }
    }

    /// With its old date, the response is stale each time.
    @Test(arguments: [true, false])
    func `a 304 changes no field that the stored signature covers`(isSigned: Bool) async throws {
        let now = SharedValue(Self.start)
        let client = client({ request in
            let (isKnown, date) = (request.headers.contains(.ifNoneMatch), now.withLock { $0 })
            let response = HTTPResponse(
                request: request, status: isKnown ? 304 : 200,
                headers: [
                    "ETag": "\"1\"", "Cache-Control": "max-age=600", "X-Count": isKnown ? "2" : "1",
                    .date: isKnown && !isSigned ? "Tue, 20 Apr 2021 02:18:00 GMT" : "Tue, 20 Apr 2021 02:07:53 GMT",
                ],
                body: isKnown ? HTTPResponseBody() : HTTPResponseBody(Data("hello".utf8)))
            return isKnown && !isSigned ? response : try Self.signed(response, at: date)
        }) { now.withLock { $0 } }
        let request = try HTTPRequest("https://a.example/")
        for (seconds, outcome) in [
            (0.0, ResponseCache.Outcome.stored), (599, .hit), (601, .revalidated), (1_200, .revalidated),
        ] {
            now.withLock { $0 = Self.start.addingTimeInterval(seconds) }
            let response = try await client.send(request)
            #expect(response.cache == outcome && response.headers["X-Count"] == (seconds > 600 ? "2" : "1"))
            #expect(response.headers[.date] == "Tue, 20 Apr 2021 02:07:53 GMT")
        }
    }

    @Test func `an old signature isn't younger because it's stored, whatever its age`() async throws {
        let client = client({ request in
            let response = HTTPResponse(
                request: request, status: 200, headers: ["Cache-Control": "max-age=100000", "Age": "1000"],
                body: HTTPResponseBody(Data("hello".utf8)))
            return try Self.signed(response, at: Self.start)
        }) { Self.start.addingTimeInterval(1_000) }
        for _ in 1...2 {
            let error = await failure { try await client.send(HTTPRequest("https://a.example/")) }
            #expect(error?.code == .validationFailed)
        }
    }

    @Test(arguments: [("hello", true), ("hullo", false)])
    func `a download is compared with its digest`(text: String, isRight: Bool) async throws {
        let server = try await MockServer.start { request in
            let response = HTTPResponse(
                request: try HTTPRequest("http://a.example/"), status: 200,
                body: HTTPResponseBody(Data("hello".utf8)))
            return MockServer.Response(
                headers: try Self.signed(response, at: Self.start).headers, body: Data(text.utf8))
        }
        let verifier = MessageVerifier(requiring: ["content-digest"], now: { Self.start }) { _ in try .hmac([1]) }
        let client = HTTPClient(validators: [verifier])
        let file = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        if isRight {
            _ = try await client.download(HTTPRequest(url: server.url), to: file)
            #expect(try Data(contentsOf: file) == Data(text.utf8))
        } else {
            let error = await failure { try await client.download(HTTPRequest(url: server.url), to: file) }
            #expect(error?.message.contains("the body doesn't match its digest") == true)
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
        await server.stop()
    }
}
