// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

/// What is never sent twice.
@Suite(.timeLimit(.minutes(3))) struct RetrySafetyTests {
    @Test(
        arguments: [
            (HTTPMethod.get, true), (.head, true), (.options, true), (.trace, true), (.put, true), (.delete, true),
            (.query, true), (.post, false), (.patch, false), ("PURGE", false),
        ], [503, 0]) func `only idempotent methods are retried`(method: (HTTPMethod, Bool), status: Int) async
    {
        let scene = RetryScene(.answering(status))
        _ = await scene.load(method.0) { ($0.retryStrategy, $0.maximumRetries) = (.immediate, 2) }
        #expect(scene.sent == (method.1 ? 3 : 1))
    }

    @Test func `the error reports whether any attempt may have been sent`() async {
        let scene = RetryScene(
            MockLoader().then { HTTPResponse(request: $0, status: 503) }.then {
                throw HTTPError(.cannotConnect, request: $0, mayHaveBeenSent: false)
            })
        let result = await scene.load { ($0.retryStrategy, $0.maximumRetries) = (.immediate, 1) }
        #expect(result.error?.mayHaveBeenSent == true)
    }

    @Test func `the method that an environment sets is checked`() async throws {
        let mock = MockLoader.answering(503)
        let base = ServerEnvironment(baseURL: try #require(URL(string: "http://a.test")), method: .post)
        let chain = Retry(Backoff(clock: TestClock(isAutomatic: true))) --> ApplyEnvironment(base) --> mock
        _ = try await chain.load(HTTPRequest().with { ($0.retryStrategy, $0.maximumRetries) = (.immediate, 2) })
        #expect(mock.requests.count == 1)
    }

    @Test func `a POST whose redirect leads to a server that cannot be reached is sent once`() async throws {
        let mock = MockLoader { request in
            guard request.path == "/x" else {
                throw HTTPError(.cannotConnect, request: request, mayHaveBeenSent: false)
            }
            return HTTPResponse(request: request, status: 303, headers: ["Location": "/y"])
        }
        let chain = Retry(Backoff(maximumRetries: 2)) --> FollowRedirects() --> mock
        let error = await #expect(throws: HTTPError.self) { try await chain.load(.plain(.post)) }
        #expect(mock.requests.map(\.path.string) == ["/x", "/y"] && error?.mayHaveBeenSent == true)
    }

    @Test func `a one-shot body is sent once, for every source of a retry`() async {
        let ask = ClosureValidator(response: { _, _ in .retry(.afterTask(task: { _ in })) })
        for validators in [[], [ask]] as [[any HTTPValidator]] {
            let scene = RetryScene(.answering(401), validators: validators)
            let result = await scene.load(.put) {
                $0.body = Words(isReplayable: false)
                $0.markIdempotent()
                $0.retryStrategy = .immediate.when(.statuses([401]))
                $0.maximumRetries = 3
            }
            #expect(scene.sent == 1 && result.attempts.last?.reason.contains("only once") == true)
        }
    }

    @Test(arguments: [HTTPError.Code.cancelled, .resetInProgress])
    func `an error that ended the load is not retried, and no validator is called`(code: HTTPError.Code) async {
        let ask = ClosureValidator(response: { _, _ in .nextValidator }, failure: { _, _ in .retry(.immediate) })
        let scene = RetryScene(.failing(code), validators: [ask])
        let result = await scene.load {
            $0.retryStrategy = .immediate.when(Retry.Condition { _ in true }); $0.maximumRetries = 3
        }
        #expect(result.code == code && scene.sent == 1)
    }
}

/// A request marked idempotent, and its key.
@Suite(.timeLimit(.minutes(3))) struct IdempotencyTests {
    private func keys(_ scene: RetryScene) -> [String?] { scene.mock.requests.map { $0.headers[.idempotencyKey] } }

    private func again(_ request: inout HTTPRequest, retries: Int = 1, _ change: (inout HTTPRequest) -> Void) {
        (request.retryStrategy, request.maximumRetries) = (.immediate, retries)
        change(&request)
    }

    @Test func `a marked POST is retried, with one key in all attempts`() async throws {
        let scene = RetryScene(.answering(503))
        _ = await scene.load(.post) { again(&$0, retries: 3) { $0.markIdempotent() } }
        let key = try #require(keys(scene).first ?? nil)
        #expect(keys(scene) == Array(repeating: key, count: 4) && UUID(uuidString: key) != nil)
    }

    @Test func `each load has a separate key`() async {
        let scene = RetryScene(.answering(200))
        let request = HTTPRequest.plain(.post) { $0.markIdempotent() }
        _ = await (scene.load(request), scene.load(request))
        #expect(Set(keys(scene)).count == 2)
    }

    @Test func `a custom key is used unchanged, in the mark or in the header`() async {
        let scene = RetryScene(.answering(503, 200, 503, 200))
        _ = await scene.load(.post) { again(&$0) { $0.markIdempotent(key: "k1") } }
        _ = await scene.load(.post) { again(&$0) { $0.headers[.idempotencyKey] = "k2" } }
        #expect(keys(scene) == ["k1", "k1", "k2", "k2"])
    }

    @Test func `a POST that only reads is retried without a key`() async throws {
        let scene = RetryScene(.answering(503, 200))
        _ = await scene.load(.post) { again(&$0) { $0.markIdempotent(key: .none) } }
        #expect(keys(scene) == [nil, nil])
        let template = Post<HTTPResponse>("search").idempotent(key: .none)
        #expect(try StandardRequestBuilder(template).request().isIdempotent)
    }

    @Test func `a request that is not marked has no key`() async {
        let scene = RetryScene(.answering(200))
        _ = await scene.load(.post)
        #expect(keys(scene) == [nil])
    }
}
