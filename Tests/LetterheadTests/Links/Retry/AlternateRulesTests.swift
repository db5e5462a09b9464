// SPDX-License-Identifier: MIT
import Foundation
@testable import Letterhead
import LetterheadObserving
import LetterheadTesting
import TestKit
import Testing

/// What an alternate takes over from its original, and what it leaves alone.
@Suite(.timeLimit(.minutes(3))) struct AlternateRulesTests {
    private let journal = Journal()

    private func refresh(
        _ configure: @escaping @Sendable (inout HTTPRequest) -> Void = { $0.host = "a.test" },
        onResponse: @escaping @Sendable (inout HTTPRequest, HTTPResponse) -> Void = { _, _ in }
    ) -> ClosureValidator {
        ClosureValidator(
            sending: { _, _ in HTTPRequest().with { ($0.method, $0.path) = (.post, "/token") }.with(configure) },
            onResponse: onResponse)
    }

    @Test func `a POST that a redirect turned into a GET is not sent again after a 401`() async throws {
        let mock = MockLoader { request in
            request.path == "/x"
                ? HTTPResponse(request: request, status: 303, headers: ["Location": "/orders/7"])
                : HTTPResponse(request: request, status: request.path == "/token" ? 200 : 401)
        }
        let retry = Retry(validators: [refresh { $0.host = "a.test" }], Backoff(maximumRetries: 1))
        let chain = retry --> FollowRedirects() --> mock
        let error = await #expect(throws: HTTPError.self) { try await chain.load(.plain(.post)) }
        #expect(mock.requests.map(\.path) == ["/x", "/orders/7"])
        #expect(error?.response?.status == 401 && error?.message.contains("not idempotent") == true)
    }

    @Test func `an alternate in another environment does not change how its original is described`() async throws {
        let (home, tokens) = (ServerEnvironment.of("https://a.test"), ServerEnvironment.of("https://tokens.test"))
        let mock = MockLoader { HTTPResponse(request: $0, status: $0.path == "/token" ? 200 : 401) }
        let client = HTTPClient(
            environment: .provided { $0.path == "/token" ? tokens : home },
            validators: [refresh({ _ in }, onResponse: { [journal] original, _ in journal.write("\(original)") })],
            retrying: Backoff(maximumRetries: 1), transport: mock)
        await #expect(throws: HTTPError.self) { try await client.send(Get<String>("x")) }
        #expect(mock.requests.map(\.host) == ["a.test", "tokens.test", "a.test"])
        #expect(journal.all.count == 1 && journal.all.first?.contains("https://a.test/x") == true)
    }

    @Test(
        arguments: [(.seconds(9), .seconds(2)), (.seconds(1), .seconds(1)), (nil, .seconds(2))]
            as [(Duration?, Duration)])
    func `an alternate must meet its own deadline and the original's`(original: Duration?, left: Duration) async {
        let mock = MockLoader { [journal] request in
            if request.path == "/token" { journal.write(request.timeLeft.map { "\($0)" } ?? "none") }
            return HTTPResponse(request: request, status: request.path == "/token" ? 200 : 401)
        }
        let alternate = HTTPRequest.plain { ($0.path, $0.deadline) = ("/token", .seconds(2)) }
        let validator = ClosureValidator(sending: { _, _ in alternate }, onResponse: { _, _ in })
        _ = await RetryScene(mock, validators: [validator], clock: TestClock(), maximumRetries: 1).load {
            $0.deadline = original
        }
        #expect(journal.all == ["\(left)"])
    }

    @Test func `a load whose deadline passes during its alternate is timedOut`() async {
        let clock = TestClock()
        let mock = MockLoader { request in
            guard request.path == "/token" else { return HTTPResponse(request: request, status: 401) }
            clock.advance(by: .seconds(2))
            throw request.deadlinePassed(while: "waiting for the response")
        }
        let result = await RetryScene(mock, validators: [refresh()], clock: clock, maximumRetries: 1).load {
            $0.deadline = .seconds(1)
        }
        #expect(result.code == .timedOut && mock.requests.map(\.path) == ["/x", "/token"])
    }

    @Test func `each load sends its own alternate, which receives its own original`() async throws {
        let mock = MockLoader { request in
            let isNew = request.headers["Authorization"] == request.headers["X-Load"]
            return HTTPResponse(request: request, status: request.path == "/token" || isNew ? 200 : 401)
        }
        let refresh = refresh(onResponse: { original, _ in
            original.headers["Authorization"] = original.headers["X-Load"]
        })
        let chain = Retry(validators: [refresh], Backoff(maximumRetries: 1)) --> mock
        let statuses = try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
            for number in 1...5 {
                group.addTask { try await chain.load(.plain(.post) { $0.headers["X-Load"] = "\(number)" }).status }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: .ok, count: 5))
        #expect(mock.requests.filter { $0.path == "/token" }.count == 5 && mock.requests.count == 15)
    }

    @Test func `an alternate belongs to the client and the observation of its original`() async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: $0.path == "/token" ? 204 : 401) }
        let client = HTTPClient(
            validators: [refresh()], retrying: Backoff(maximumRetries: 1), observers: [StatisticsRecorder()],
            transport: mock)
        await #expect(throws: HTTPError.self) { try await client.send(.plain()) }
        #expect(mock.requests.map(\.path) == ["/x", "/token", "/x"])
        #expect(mock.requests.allSatisfy { $0.client != nil && $0.observation != nil })
    }

    @Test func `two validators with a maximum count together`() async {
        let validators = [401, 403].map { status in
            ClosureValidator(
                sending: { _, _ in .plain(.post) { $0.path = "/token" } }, after: [status], onResponse: { _, _ in })
        }
        let scene = RetryScene(.answering(401, 200, 403), validators: validators, maximumRetries: 9)
        let result = await scene.load()
        #expect(result.code == .retriesExhausted && result.error?.response?.status == 403)
        #expect(scene.mock.requests.map(\.path) == ["/x", "/token", "/x"])
    }

    @Test func `the example of the validator sends no token to another host that answers 401`() async throws {
        let api = HTTPOrigin(scheme: "https", host: "api.test")
        let refresh = ClosureValidator(
            sending: { _, result in
                let response = try result.get()
                let first = response.redirects.first?.request ?? response.request
                guard first.origin == api, response.request.origin == api else { return nil }
                return HTTPRequest(method: .post, url: try #require(URL(string: "https://api.test/token")))
            }, onResponse: { original, _ in original.headers.setSecret("Bearer new", for: .authorization) })
        let mock = MockLoader { HTTPResponse(request: $0, status: $0.path == "/token" ? .ok : .unauthorized) }
        let chain = Retry(validators: [refresh], Backoff(maximumRetries: 1)) --> mock
        for host in ["evil.test", "api.test"] { _ = try? await chain.load(try HTTPRequest.to("https://\(host)/")) }
        #expect(mock.requests.map(\.host) == ["evil.test", "api.test", "api.test", "api.test"])
        #expect(mock.requests.last?.headers["Authorization"] == "Bearer new")
    }

    @Test func `a condition that did not hold for a suggestion is not asked again`() async {
        let strategy = HTTPRetryStrategy.immediate.when(
            Retry.Condition { [journal] context in
                journal.write("\(context.retry)")
                return false
            })
        let scene = RetryScene(.answering(503))
        #expect(await scene.load { ($0.retryStrategy, $0.maximumRetries) = (strategy, 3) }.status == 503)
        #expect(journal.all == ["1"])
    }

    @Test func `after a reset of the client neither the observer nor the alternate is called`() async {
        let client = ClientIdentity()
        let ask = ClosureValidator { [journal] _, _ in
            client.endGeneration()
            return .retry(.afterTask(task: { _ in journal.write("task") }))
        }
        let scene = RetryScene(
            .answering(401), validators: [ask], maximumRetries: 1, onRetry: { [journal] _ in journal.write("observer") }
        )
        let result = await scene.load { $0.context.generation = client.generation }
        #expect(result.code == .cancelled && result.attempts.count == 1 && journal.all == [])
    }

    @Test func `a wait that a reset ends names the reset, even if the task is cancelled as well`() async {
        let client = ClientIdentity()
        let scene = RetryScene(
            .answering(503), maximumRetries: 1,
            onRetry: { _ in
                client.endGeneration()
                withUnsafeCurrentTask { $0?.cancel() }
            })
        let result = await Task { await scene.load { $0.context.generation = client.generation } }.value
        #expect(result.code == .cancelled && result.error?.message == "the client was reset")
    }

    @Test func `after a reset during the alternate its error is reported to nobody`() async {
        let client = ClientIdentity()
        let ask = ClosureValidator { [journal] _, _ in
            let task: @Sendable (inout HTTPRequest) async throws -> Void = { _ in
                client.endGeneration()
                throw CancellationError()
            }
            return .retry(.afterTask(task: task, onError: { journal.write("\($0)") }))
        }
        let scene = RetryScene(.answering(401), validators: [ask], maximumRetries: 1)
        let result = await scene.load { $0.context.generation = client.generation }
        #expect(result.code == .cancelled && scene.sent == 1 && journal.all == [])
    }

    @Test func `a response to the alternate that arrives after a reset is not passed on`() async {
        let client = ClientIdentity()
        let mock = MockLoader { request in
            guard request.path == "/token" else { return HTTPResponse(request: request, status: 401) }
            client.endGeneration()
            return HTTPResponse(request: request, status: 200)
        }
        let refresh = refresh(onResponse: { [journal] _, _ in journal.write("token") })
        let scene = RetryScene(mock, validators: [refresh], maximumRetries: 1)
        let result = await scene.load { $0.context.generation = client.generation }
        #expect(result.code == .cancelled && scene.sent == 2 && journal.all == [])
    }

    @Test func `a request that a task puts in place of the original belongs to the same client`() async {
        let ask = ClosureValidator { response, _ in
            response.status == 401 ? .retry(.afterTask(task: { $0 = .plain { $0.path = "/other" } })) : .nextValidator
        }
        let scene = RetryScene(.answering(401, 200), validators: [ask], maximumRetries: 1)
        let generation = ClientIdentity().generation
        _ = await scene.load { $0.context.generation = generation }
        #expect(scene.mock.requests.map(\.path) == ["/x", "/other"])
        #expect(scene.mock.requests.allSatisfy { $0.client === generation.client })
    }
}
