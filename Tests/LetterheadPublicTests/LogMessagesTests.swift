// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

@Suite(.timeLimit(.minutes(3))) struct LogMessagesTests {
    private let journal = Journal()

    @Test func `a log contains each attempt, and no secret of the request or the response`() async throws {
        var request = HTTPRequest.plain("/login", .put)
        request[query: "token"] = "s3cret"
        request.headers["Authorization"] = "Bearer s3cret"
        request.headers["X-Tenant"] = "s3cret"
        request.body = JSONBody(["password": "s3cret", "name": "ada"])
        request.redaction = .standard.adding(headers: ["X-Tenant"])
        let mock = MockLoader { request in
            HTTPResponse(
                request: request, status: .ok, headers: ["Set-Cookie": "s3cret", "X-Kind": "mock"],
                body: HTTPResponseBody(Data(#"{"access_token":"s3cret","kind":"bearer"}"#.utf8)))
        }.then { throw HTTPError(.connectionLost, request: $0) }
        let log = LogMessages(write: journal.write)
        let chain = RetryFailures(clock: TestClock(isAutomatic: true)) --> log --> mock
        _ = try await chain.load(request)
        let text = journal.all.joined(separator: "\n")
        #expect(text.contains("attempt 1: PUT https://api.test/login?token=<redacted>"))
        #expect(text.contains("attempt 2: PUT") && text.contains("connectionLost"))
        #expect(text.contains(#""name":"ada""#) && text.contains("X-Kind: mock") && text.contains(#""kind":"bearer""#))
        #expect(!text.contains("s3cret"), "\(text)")
    }

    @Test func `the body of a secret request and of its response is not logged`() async throws {
        var request = HTTPRequest.plain("/token", .put)
        request.isSecret = true
        request.body = TextBody("hidden")
        let mock = MockLoader { HTTPResponse(request: $0, status: .ok, body: HTTPResponseBody(Data("hidden".utf8))) }
        _ = try await (LogMessages(write: journal.write) --> mock).load(request)
        #expect(!journal.all.joined().contains("hidden") && journal.all.joined().contains("<redacted>"))
    }

    @Test func `a value cannot forge a line of the log`() async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: .ok, headers: ["X-Text": "a\nforged"]) }
        _ = try await (LogMessages(write: journal.write) --> mock).load(.plain())
        #expect(!journal.all.joined(separator: "\n").split(separator: "\n").contains("forged"))
    }

    @Test func `the metrics and trailers of a stream are logged after its end`() async throws {
        let server = try await MockServer.start { _ in
            var response = MockServer.Response(body: Data("streamed".utf8))
            response.trailers = ["X-Sum": "8", "Set-Cookie": "s3cret"]
            return response
        }
        var request = HTTPRequest(url: server.url)
        request.responseDelivery = .streamed
        let chain = LogMessages(write: journal.write) --> SocketTransport()
        let response = try await chain.load(request)
        #expect(journal.all.count == 2)
        #expect(try await response.body.data() == Data("streamed".utf8))
        let end = try #require(journal.all.last)
        #expect(end.hasPrefix("received ") && end.contains("X-Sum: 8") && !end.contains("s3cret"), "\(end)")
        await server.stop()
    }
}
