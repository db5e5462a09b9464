// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// Requests that the server refused without having processed them.
@Suite(.timeLimit(.minutes(3))) struct RetryRefusalsTests {
    private let word = HTTPRetryStrategy.delayed(.seconds(2)).retryingRefusals()

    private func sent(
        _ status: Int, _ retryAfter: String?, method: HTTPMethod = .post, strategy: HTTPRetryStrategy? = nil,
        _ configure: (inout HTTPRequest) -> Void = { _ in }
    ) async -> Int {
        let headers: HTTPHeaders = retryAfter.map { ["Retry-After": $0] } ?? [:]
        let scene = RetryScene(.answering(status, headers: headers))
        _ = await scene.load(method) {
            $0.retryStrategy = strategy ?? word; $0.maximumRetries = 2
            configure(&$0)
        }
        return scene.sent
    }

    @Test(
        arguments: [
            (429, "1", 3), (429, nil, 3), (503, "1", 3), (503, nil, 1), (403, "1", 3), (403, nil, 1),
            (403, "soon", 1), (500, "1", 1), (502, "1", 1), (404, "1", 1), (200, "1", 1), (0, nil, 1),
        ] as [(Int, String?, Int)], [HTTPMethod.post, .patch])
    func `retryingRefusals retries refused requests, and nothing else`(
        row: (status: Int, retryAfter: String?, sent: Int), method: HTTPMethod
    ) async { #expect(await sent(row.status, row.retryAfter, method: method) == row.sent) }

    @Test(arguments: [429, 503, 403]) func `without retryingRefusals a refused POST is sent once`(status: Int) async {
        #expect(await sent(status, "1", strategy: .delayed(.seconds(2))) == 1)
        #expect(await sent(status, "1", strategy: .delayed(.seconds(2)).when(.standard)) == 1)
    }

    @Test func `the wait is that of the server, within the longest allowed`() async {
        let scene = RetryScene(.answering(403, 200, headers: ["Retry-After": "9"]))
        let result = await scene.load(.post) { ($0.retryStrategy, $0.maximumRetries) = (word, 1) }
        #expect(result.status == 200 && scene.clock.sleeps == [.seconds(9)])
        #expect(await sent(403, "9999") == 1)
    }

    @Test func `a condition adds outcomes to retryingRefusals`() async {
        let strategy = HTTPRetryStrategy.delayed(.seconds(2))
        for strategy in [
            strategy.when(.statuses([502])).retryingRefusals(), strategy.retryingRefusals().when(.statuses([502])),
        ] {
            #expect(await sent(403, "1", strategy: strategy) == 3)
            #expect(await sent(502, nil, method: .get, strategy: strategy) == 3)
            #expect(await sent(503, nil, method: .get, strategy: strategy) == 1)
        }
    }

    @Test func `a status that counts as success is not a refusal`() async {
        #expect(await sent(403, "1") { $0.acceptedStatuses = [403] } == 1)
    }

    @Test func `retryingRefusals applies in the settings of a client and in the verdict of a validator`() async throws {
        let clock = TestClock(isAutomatic: true)
        let settings = Backoff(word, maximumRetries: 1, clock: clock)
        let mock = MockLoader.answering(429, 201)
        #expect(try await (Retry(settings) --> mock).load(.plain(.post)).status == 201)
        let ask = ClosureValidator(response: { [word] response, _ in
            response.status == 429 ? .retry(word) : .nextValidator
        })
        let judged = RetryScene(.answering(429, 201), validators: [ask], maximumRetries: 1)
        #expect(await judged.load(.post).status == 201)
    }

    @Test(arguments: [(303, 2), (302, 2), (307, 6)])
    func `a POST that a redirect turned into a GET was processed, and is not sent again`(
        redirect: Int, sent: Int
    ) async throws {
        let mock = MockLoader { request in
            request.path == "/x"
                ? HTTPResponse(request: request, status: HTTPStatus(redirect), headers: ["Location": "/y"])
                : HTTPResponse(request: request, status: 429)
        }
        let retry = Retry(Backoff(clock: TestClock(isAutomatic: true)))
        let response = try await (retry --> FollowRedirects() --> mock).load(
            .plain(.post) { ($0.retryStrategy, $0.maximumRetries) = (word, 2) })
        #expect(mock.requests.count == sent && response.status == 429)
    }
}
