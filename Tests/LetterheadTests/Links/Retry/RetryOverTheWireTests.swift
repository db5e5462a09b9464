// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// What a real server saw.
@Suite(.timeLimit(.minutes(3))) struct RetryOverTheWireTests {
    private let client = HTTPClient(retrying: Backoff(clock: TestClock(isAutomatic: true)))

    private func error(_ request: HTTPRequest) async -> HTTPError? {
        let request = request.with { ($0.retryStrategy, $0.maximumRetries) = (.immediate, 2) }
        return await failure { try await client.send(request) }
    }

    private func withServer(
        answering answer: MockServer.Answer, _ body: (MockServer) async throws -> Void
    ) async throws {
        let server = try await MockServer.start()
        server.enqueue(answer, times: 20)
        try await body(server)
        await server.stop()
    }

    @Test(arguments: [("GET", 3), ("PUT", 3), ("DELETE", 3), ("POST", 1), ("PATCH", 1)] as [(HTTPMethod, Int)])
    func `a server that reads the request and closes receives an unsafe one once`(method: HTTPMethod, count: Int)
        async throws
    {
        try await withServer(answering: .response(MockServer.Response()).fault(.close, at: .responseStart)) { server in
            let error = await error(HTTPRequest(method: method, url: server.url))
            #expect(error?.attempts.count == count && error?.mayHaveBeenSent == true && server.requests.count == count)
        }
    }

    @Test(arguments: [HTTPMethod.get, .post])
    func `a port without a listener is retried with any method`(method: HTTPMethod) async throws {
        let error = await error(try .to("http://127.0.0.1:1/", method: method))
        #expect(error?.code == .cannotConnect && error?.attempts.count == 3 && error?.mayHaveBeenSent == false)
    }

    @Test(arguments: [HTTPResponse.Delivery.buffered, .streamed], [200, 200_000])
    func `the status of a response whose body is too large decides`(
        delivery: HTTPResponse.Delivery, size: Int
    ) async throws {
        let page = MockServer.Response(status: 503, body: Data(repeating: 0x61, count: size))
        for status in [HTTPStatus.ok, .notFound] {
            let server = try await MockServer.start()
            server.enqueue(.response(page))
            server.enqueue(.response(MockServer.Response(status: status, body: Data(count: status == .ok ? 3 : size))))
            let error = await error(
                HTTPRequest(url: server.url).with { ($0.responseDelivery, $0.responseLimit) = (delivery, 100) })
            if status == .ok {
                #expect(error == nil)
            } else {
                #expect(error?.code == .unacceptableStatus && error?.response?.status == .notFound)
                #expect(error?.attempts.count == 2 && error?.message.contains("responseLimit") == true)
                #expect(error?.response?.body.buffered?.count ?? 0 <= 100)
            }
            #expect(server.requests.count == 2)
            await server.stop()
        }
    }

    @Test func `a malformed response is not retried`() async throws {
        try await withServer(answering: .raw("HTTP/1.1 banana\r\n\r\n")) { server in
            let error = await error(HTTPRequest(url: server.url))
            #expect(error?.code == .invalidResponse && error?.attempts.count == 1)
        }
    }
}
