// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// What happened can be seen.
@Suite(.timeLimit(.minutes(3))) struct RetryVisibilityTests {
    @Test func `every attempt has its outcome, its wait and its reason`() async throws {
        let scene = RetryScene(.answering(503, 0, 429, 200), maximumRetries: 5)
        let attempts = await scene.load { $0.retryStrategy = .delayed(.seconds(2)) }.attempts
        #expect(attempts.map(\.status) == [503, nil, 429, 200] && attempts.map(\.number) == [1, 2, 3, 4])
        #expect(attempts.map(\.errorCode) == [nil, .connectionLost, nil, nil])
        #expect(attempts.map(\.delay) == [.seconds(2), .seconds(2), .seconds(2), nil])
        #expect(attempts.dropLast().allSatisfy { $0.reason == "delayed by 2 s" })
        #expect(attempts.last?.reason == "")
    }

    @Test func `a success without a retry has one attempt without a reason`() async {
        #expect(await RetryScene(.answering(200)).load().attempts == [HTTPRequest.Attempt(number: 1, status: 200)])
    }

    @Test func `an observer is called before each retry, with its cause`() async {
        let journal = Journal()
        let observer: @Sendable (String) -> @Sendable (Retry.Context) async -> Void = { name in
            { context in
                guard let delay = context.delay, let strategy = context.strategy else { return }
                let status = context.response?.status.code ?? 0
                journal.write(
                    "\(name) \(context.retry) at \(context.elapsed) \(status) \(delay) \(strategy) "
                        + "\(context.attempts.count)")
            }
        }
        let scene = RetryScene(
            MockLoader { request in
                journal.write("sent")
                return HTTPResponse(request: request, status: 503)
            }, maximumRetries: 2, onRetry: observer("client"))
        _ = await scene.load { ($0.retryStrategy, $0.onRetry) = (.delayed(.seconds(1)), observer("own")) }
        #expect(
            journal.all == [
                "sent", "client 1 at 0.0 seconds 503 1.0 seconds delayed by 1 s 1",
                "own 1 at 0.0 seconds 503 1.0 seconds delayed by 1 s 1", "sent",
                "client 2 at 1.0 seconds 503 1.0 seconds delayed by 1 s 2",
                "own 2 at 1.0 seconds 503 1.0 seconds delayed by 1 s 2", "sent",
            ])
    }

    @Test func `validators and observers of a template that are written later are added, in order`() async throws {
        let journal = Journal()
        let judge: @Sendable (String) -> ClosureValidator = { name in
            ClosureValidator { _, _ in
                journal.write(name)
                return .nextValidator
            }
        }
        let template = TestEndpoint("x").validated(by: judge("1")).header("a", "b").validated(
            by: judge("2"), judge("3")
        )
        .onRetry { _ in journal.write("first") }.onRetry { _ in journal.write("second") }
        .retry(.delayed(.zero), maximumRetries: 1)
        let client = HTTPClient(environment: .of("https://a.test"), transport: MockLoader.answering(503, 200))
        _ = try await client.send(template)
        #expect(journal.all == ["1", "2", "3", "first", "second", "1", "2", "3"])
    }

    @Test func `validators and the links below know the number of the attempt, and the caller's request does not`()
        async throws
    {
        let journal = Journal()
        let scene = RetryScene(
            .answering(503, 503, 200),
            validators: [
                ClosureValidator(response: { _, request in
                    journal.write(request.attemptNumber.map { "\($0)" } ?? "none")
                    return .nextValidator
                })
            ], maximumRetries: 5)
        let response = try await scene.chain.load(.plain { $0.retryStrategy = .immediate })
        #expect(journal.all == ["1", "2", "3"])
        #expect(scene.mock.requests.map(\.attemptNumber) == [1, 2, 3] && response.request.attemptNumber == nil)
    }

    @Test func `the description of an event contains no secrets`() async {
        let journal = Journal()
        let scene = RetryScene(.answering(503), maximumRetries: 1, onRetry: { journal.write("\($0)") })
        _ = await scene.load {
            $0.headers[.authorization] = "Bearer SECRET"; $0[query: "token"] = "SECRET"
        }
        #expect(journal.all.count == 1 && !journal.all[0].contains("SECRET") && journal.all[0].contains("503"))
    }
}
