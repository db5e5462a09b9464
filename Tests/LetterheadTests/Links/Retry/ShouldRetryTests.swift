// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// `X-Should-Retry`, 529 and the identifier of a request, as APIs of language models send them.
@Suite struct ShouldRetryTests {
    private func client(_ mock: MockLoader, _ strategy: HTTPRetryStrategy? = nil) -> HTTPClient {
        HTTPClient(
            environment: .of("http://a.example"),
            retrying: Backoff(strategy, maximumRetries: 1, clock: TestClock(isAutomatic: true)),
            transport: mock)
    }

    private func requests(
        answering status: HTTPStatus, _ shouldRetry: String?, to method: HTTPMethod = .get,
        _ strategy: HTTPRetryStrategy? = nil
    ) async -> Int {
        let mock = MockLoader { request in
            var response = HTTPResponse(request: request, status: status)
            response.headers["X-Should-Retry"] = shouldRetry
            return response
        }
        _ = try? await client(mock, strategy).send(TestEndpoint().with { $0.method = method })
        return mock.requests.count
    }

    @Test func `X-Should-Retry can prevent a retry and request one`() async {
        for strategy in [nil, HTTPRetryStrategy.immediate] {
            #expect(await requests(answering: 503, nil, strategy) == 2)
            #expect(await requests(answering: 503, "false", strategy) == 1)
            #expect(await requests(answering: 409, nil, strategy) == 1)
            #expect(await requests(answering: 409, "true", strategy) == 2)
            #expect(await requests(answering: 503, "maybe", strategy) == 2)
            #expect(await requests(answering: 200, "true", strategy) == 1)
        }
    }

    @Test func `X-Should-Retry does not override a condition of the strategy`() async {
        let strategy = HTTPRetryStrategy.immediate
        #expect(await requests(answering: 409, "true", strategy.when(.statuses([503]))) == 1)
        #expect(await requests(answering: 409, "true", strategy.when(.standard)) == 1)
        #expect(await requests(answering: 409, "true", strategy.times(5)) == 2)
    }

    @Test func `a POST is retried only with retryingRefusals`() async {
        #expect(await requests(answering: 409, "true", to: .post) == 1)
        #expect(await requests(answering: 529, nil, to: .post) == 1)
        #expect(await requests(answering: 529, nil, to: .post, .immediate.retryingRefusals()) == 2)
        #expect(await requests(answering: 529, "false", to: .post, .immediate.retryingRefusals()) == 1)
    }

    @Test(arguments: ["X-Request-ID", "request-id", "x-amzn-RequestId", "CF-Ray"])
    func `the identifier of the request is in the error and in its text`(name: String) async throws {
        let mock = MockLoader { request in
            var response = HTTPResponse(request: request, status: .badRequest)
            response.headers[HTTPHeaders.Name(name)] = "req_011CSHoEeqs5C35K2UUqR7Fy"
            return response
        }
        let error = await #expect(throws: HTTPError.self) { try await client(mock).send(TestEndpoint()) }
        #expect(error?.requestID == "req_011CSHoEeqs5C35K2UUqR7Fy")
        #expect(error?.description.contains("(request req_011CSHoEeqs5C35K2UUqR7Fy)") == true)
    }

    @Test(arguments: ["", "a b", "a\u{7}b", String(repeating: "a", count: 129)])
    func `an identifier that is not visible ASCII is left out`(identifier: String) {
        var response = HTTPResponse(request: HTTPRequest(), status: .badRequest)
        response.headers["X-Request-ID"] = identifier
        #expect(HTTPError(.unacceptableStatus, request: HTTPRequest(), response: response).requestID == nil)
        #expect(HTTPError(.unacceptableStatus, request: HTTPRequest()).requestID == nil)
    }
}
