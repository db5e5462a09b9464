// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Testing

private enum Note: HTTPRequestOption { static let defaultOptionValue = "none" }
private enum Limit: HTTPRequestOption { static let defaultOptionValue: Int? = 5 }

/// A model that isn't `Sendable`.
private final class Draft: Decodable {
    var title = ""
}

@Suite struct HTTPResponseTests {
    @Test func `a response has its request, status, headers and body`() async throws {
        let request = HTTPRequest()
        let response = HTTPResponse(
            request: request, status: 201, headers: ["Set-Cookie": "a=1", "set-cookie": "b=2"],
            body: HTTPResponseBody(Data("hi".utf8)))
        #expect(response.request.id == request.id && response.status == .created)
        #expect(response.headers.values(for: "Set-Cookie") == ["a=1", "b=2"])
        #expect(try await response.body.data() == Data("hi".utf8))
    }

    @Test func `a response is empty by default`() async throws {
        let response = HTTPResponse(request: HTTPRequest(), status: 200)
        #expect(response.headers.isEmpty && response.body.length == 0)
        #expect(try await response.body.data().isEmpty)
        #expect(response.attempts.isEmpty)
    }

    @Test(
        arguments: [
            (["Location": "/users/7"], "https://a.test/users/7"),
            (["Location": "8?x=é"], "https://a.test/v1/8?x=%C3%A9"),
            (["Location": "//b.test/9"], "https://b.test/9"), (["Location": ""], nil), ([:], nil),
            (["Location": "/a", "location": "/b"], nil), (["Location": "/a", "location": "/a"], "https://a.test/a"),
            (["Location": "/a\u{1}b"], nil), (["Location": "#part"], "https://a.test/v1/users#part"),
        ] as [(HTTPHeaders, String?)])
    func `the location is resolved against the URL of the request`(headers: HTTPHeaders, url: String?) throws {
        let request = try HTTPRequest.to("https://a.test/v1/users")
        #expect(HTTPResponse(request: request, status: .created, headers: headers).location?.absoluteString == url)
        #expect(HTTPResponse(request: HTTPRequest(), status: .created, headers: headers).location == nil)
    }

    @Test func `metrics are described in milliseconds, without what did not happen`() {
        var metrics = HTTPResponse.Metrics()
        (metrics.connect, metrics.firstByte, metrics.total) = (.microseconds(504), .milliseconds(12), .seconds(2))
        (metrics.bytesSent, metrics.bytesReceived, metrics.httpVersion) = (40, 9, "HTTP/1.1")
        #expect(
            "\(metrics)"
                == "total 2000.0 ms, first byte 12.0 ms, connect 0.5 ms, sent 40 bytes, received 9 bytes, HTTP/1.1")
    }

    @Test func `a typed option is stored in a response, and has a default`() {
        var response = HTTPResponse(request: HTTPRequest(), status: 200)
        #expect(response[option: Note.self] == "none")
        response[option: Note.self] = "seen"
        response[option: Limit.self] = nil
        #expect(response[option: Note.self] == "seen" && response[option: Limit.self] == nil)
    }

    @Test @MainActor func `a value that is not Sendable is decoded outside of the caller's actor`() async throws {
        let body = HTTPResponseBody(Data(#"{"title":"a"}"#.utf8))
        let draft = try await HTTPResponse(request: HTTPRequest(), status: 200, body: body).decode(Draft.self)
        draft.title += "b"
        #expect(draft.title == "ab")
    }

    @Test func `the description has the status, the request, the headers and the body`() throws {
        let request = HTTPRequest(url: try #require(URL(string: "https://h/p?q=1")))
        let response = HTTPResponse(
            request: request, status: 404, headers: ["X": "1"], body: HTTPResponseBody(Data("nothing here".utf8)))
        #expect("\(response)" == "404 Not Found for GET https://h/p?q=1\nX: 1\n\n(no media type, 12 bytes)")
    }
}

@Suite struct HTTPAttemptTests {
    @Test(arguments: [
        (HTTPRequest.Attempt(number: 1), "attempt 1: no response"),
        (
            HTTPRequest.Attempt(number: 2, status: 503, delay: .seconds(1)),
            "attempt 2: 503 Service Unavailable, retried after 1 s"
        ),
        (HTTPRequest.Attempt(number: 3, errorCode: .timedOut, reason: "none left"), "attempt 3: timedOut (none left)"),
    ])
    func `an attempt describes its number, its outcome and what followed`(attempt: HTTPRequest.Attempt, text: String) {
        #expect("\(attempt)" == text)
    }
}
