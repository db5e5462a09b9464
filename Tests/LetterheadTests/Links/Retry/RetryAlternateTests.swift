// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

private struct MyError: Error, Equatable {}

/// What is done before a request is sent again.
@Suite(.timeLimit(.minutes(3))) struct RetryAlternateTests {
    private let journal = Journal()

    private func server(token: Int = 200) -> MockLoader {
        MockLoader { [journal] request in
            if request.path == "/token" {
                journal.write("alternate")
                guard token > 0 else { throw HTTPError(.cannotConnect, request: request) }
                return HTTPResponse(request: request, status: HTTPStatus(token))
            }
            journal.write("original")
            return HTTPResponse(request: request, status: request.headers["Authorization"] == "new" ? 200 : 401)
        }
    }

    private func refresh(maximum: Int = 1, delay: Duration = .zero) -> ClosureValidator {
        ClosureValidator(
            sending: { _, _ in .plain(.post) { $0.path = "/token" } }, maximum: maximum, delay: delay,
            onResponse: { [journal] original, answer in
                journal.write("heard \(answer.status.code)")
                if answer.status == .ok { original.headers["Authorization"] = "new" }
            },
            onError: { [journal] error in journal.write("caught \((error as? HTTPError)?.code.rawValue ?? "\(error)")")
            })
    }

    @Test func `the alternate request, its error handler, the wait and the original run in this order`() async {
        let scene = RetryScene(server(), validators: [refresh(delay: .seconds(2))], maximumRetries: 1)
        #expect(await scene.load().status == 200)
        #expect(journal.all == ["original", "alternate", "heard 200", "original"])
        #expect(scene.clock.sleeps == [.seconds(2)])
    }

    @Test func `a refused refresh is not retried, and the attempts are limited`() async {
        let scene = RetryScene(server(token: 401), validators: [refresh()], maximumRetries: 5)
        let result = await scene.load()
        #expect(journal.all == ["original", "alternate", "heard 401", "original"])
        #expect(result.code == .retriesExhausted && result.error?.response?.status == 401)
        #expect(result.attempts.count == 2 && result.attempts.last?.reason.contains("alternate") == true)
    }

    @Test func `an alternate may await the reset of its chain`() async throws {
        let whole = Observed<(any HTTPLoader)?>(nil)
        let mock = MockLoader { request in
            if request.path == "/token" { await whole.value?.reset() }
            return HTTPResponse(request: request, status: 401)
        }
        let retry = Retry(validators: [refresh()], Backoff(maximumRetries: 1))
        let chain = ResetGuard() --> Autocancel() --> retry --> mock
        whole.change { $0 = chain }
        let request = try HTTPRequest.to("https://a.test")
        let error = await #expect(throws: HTTPError.self) { try await chain.load(request) }
        #expect(error?.code == .cancelled)
        whole.change { $0 = nil }
    }

    @Test func `a load sends no more alternates than allowed`() async {
        let scene = RetryScene(server(token: 401), validators: [refresh(maximum: 3)], maximumRetries: 9)
        _ = await scene.load()
        #expect(journal.all.filter { $0 == "alternate" }.count == 3 && scene.sent == 7)
        _ = await scene.load()
        #expect(journal.all.filter { $0 == "alternate" }.count == 6)
    }

    @Test func `an error of an alternate is passed to onError, and the original has its own result`() async {
        let scene = RetryScene(server(token: 0), validators: [refresh(), DefaultValidator()], maximumRetries: 5)
        let result = await scene.load()
        #expect(journal.all == ["original", "alternate", "caught cannotConnect", "original"])
        #expect(result.error?.response?.status == 401)
    }

    @Test func `an alternate is neither validated nor counted nor retried`() async {
        let scene = RetryScene(
            MockLoader { request in HTTPResponse(request: request, status: request.path == "/token" ? 503 : 401) },
            validators: [
                refresh(),
                ClosureValidator(response: { [journal] response, _ in
                    journal.write("judged \(response.status.code)")
                    return .nextValidator
                }), DefaultValidator(),
            ], maximumRetries: 1)
        let result = await scene.load()
        #expect(!journal.all.contains("judged 503") && scene.sent == 3 && result.attempts.count == 2)
    }

    @Test func `any method is retried after an alternate for 401 or 403, and no unsafe one after other statuses`() async
    {
        for (status, count) in [(401, 2), (403, 2), (409, 1), (500, 1)] {
            let ask = ClosureValidator(response: { _, _ in .retry(.afterTask(task: { _ in })) })
            let scene = RetryScene(.answering(status), validators: [ask], maximumRetries: 1)
            _ = await scene.load(.post)
            #expect(scene.sent == count, "\(status)")
        }
    }

    @Test func `a task changes the original for its next attempts`() async {
        let number = Counter()
        let ask = ClosureValidator(response: { response, _ in
            guard response.status == 401 else { return .nextValidator }
            return .retry(.afterTask(delay: .seconds(1), task: { $0.headers["X-Again"] = "\(number.next())" }))
        })
        let scene = RetryScene(.answering(401, 503, 200), validators: [ask, DefaultValidator()], maximumRetries: 5)
        #expect(await scene.load { $0.retryStrategy = .immediate }.status == 200)
        #expect(scene.mock.requests.map { $0.headers["X-Again"] } == [nil, "1", "1"])
        #expect(scene.clock.sleeps == [.seconds(1)])
    }

    @Test func `environment and links below the retry run again for each attempt`() async throws {
        let settings = Counter()
        let ask = ClosureValidator(response: { response, _ in
            response.status == 401 ? .retry(.afterTask(task: { _ in _ = settings.next() })) : .nextValidator
        })
        let base = try #require(URL(string: "http://a.test"))
        let mock = MockLoader.answering(401, 200)
        let chain =
            Retry(validators: [ask], Backoff(maximumRetries: 1))
            --> ApplyEnvironment(
                .provided { _ in
                    ServerEnvironment(baseURL: base, headers: ["X-Setting": "\(settings.value)"])
                }) --> mock
        _ = try await chain.load(HTTPRequest())
        #expect(mock.requests.map { $0.headers["X-Setting"] } == ["0", "1"])
    }

    @Test func `an error of a task is passed to onError, and the original is retried unchanged`() async {
        let ask = ClosureValidator(response: { [journal] response, _ in
            guard response.status == 401 else { return .nextValidator }
            return .retry(
                .afterTask(
                    task: { request in
                        request.headers["X-Half"] = "done"
                        throw MyError()
                    }, onError: { journal.write("\($0)") }))
        })
        let scene = RetryScene(.answering(401, 200), validators: [ask], maximumRetries: 5)
        #expect(await scene.load().status == 200)
        #expect(journal.all == ["MyError()"] && scene.mock.requests.map { $0.headers["X-Half"] } == [nil, nil])
    }

    @Test func `an attempt that a closure puts in place of the original is retried as well`() async {
        let ask = ClosureValidator(response: { response, request in
            response.status == 401 ? .retry(.afterTask(task: { $0 = request })) : .nextValidator
        })
        let scene = RetryScene(.answering(401, 401, 200), validators: [ask], maximumRetries: 5)
        #expect(await scene.load().status == 200)
        #expect(scene.mock.requests.map(\.attemptNumber) == [1, 2, 3])
    }

    @Test func `the closure of an alternate may decline, and the next validator judges`() async {
        for isThere in [true, false] {
            let ask = ClosureValidator(
                sending: { _, _ in isThere ? .plain { $0.path = "/token" } : nil },
                onResponse: { original, _ in original.headers["Authorization"] = "new" })
            let last = ClosureValidator { response, _ in
                response.status == 401 ? .failChain(.validationFailed, "refused") : .nextValidator
            }
            let scene = RetryScene(server(), validators: [ask, last], maximumRetries: 1)
            let result = await scene.load()
            #expect(result.status == (isThere ? 200 : nil) && result.code == (isThere ? nil : .validationFailed))
        }
    }

    @Test func `the validator requests a retry for its statuses, and for failures if included`() async throws {
        func verdict(
            _ result: Result<HTTPResponse, HTTPError>, includesFailures: Bool = false,
            provider: @escaping @Sendable (HTTPRequest, Result<HTTPResponse, HTTPError>) async throws -> HTTPRequest? =
                { _, _ in .plain() }
        ) async throws -> Bool {
            let validator = ClosureValidator(
                sending: provider, includesFailures: includesFailures, onResponse: { _, _ in },
                onError: { [journal] in journal.write("\($0)") })
            let verdict =
                switch result {
                case .success(let response):
                    try await validator.validate(response: response, forRequest: .plain())
                case .failure(let failure): try await validator.validate(failure: failure, forRequest: .plain())
                }
            if case .retry = verdict { return true }
            return false
        }
        func response(_ status: HTTPStatus) -> Result<HTTPResponse, HTTPError> {
            .success(HTTPResponse(request: .plain(), status: status))
        }
        let failure = Result<HTTPResponse, HTTPError>.failure(HTTPError(.cannotConnect, request: .plain()))
        let verdicts = [
            try await verdict(response(401)), try await verdict(response(403)), try await verdict(response(400)),
            try await verdict(response(200)), try await verdict(failure),
            try await verdict(failure, includesFailures: true),
            try await verdict(response(401), provider: { _, _ in nil }),
            try await verdict(response(401), provider: { _, _ in throw MyError() }),
        ]
        #expect(verdicts == [true, true, false, false, false, true, false, false] && journal.all == ["MyError()"])
    }

    @Test func `with a maximum below one no alternate is sent`() async {
        let scene = RetryScene(server(), validators: [refresh(maximum: -3)], maximumRetries: 5)
        #expect(await scene.load().code == .unacceptableStatus)
        #expect(journal.all == ["original"])
    }

    @Test func `a load that is cancelled during its alternate ends, and nothing more is sent`() async {
        let started = Counter()
        let scene = RetryScene(
            MockLoader { request in
                guard request.path == "/token" else { return HTTPResponse(request: request, status: 401) }
                _ = started.next()
                while !Task.isCancelled { await Task.yield() }
                throw CancellationError()
            },
            validators: [
                ClosureValidator(
                    sending: { _, _ in .plain { $0.path = "/token" } }, onResponse: { _, _ in },
                    onError: { [journal] in journal.write("\($0)") })
            ], maximumRetries: 3)
        let task = Task { await scene.load() }
        await until { started.value == 1 }
        task.cancel()
        #expect(await task.value.code == .cancelled)
        #expect(scene.sent == 2 && journal.all == [])
    }
}
