// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// The waits that a server asks for.
@Suite(.timeLimit(.minutes(3))) struct RetryServerDelayTests {
    private func waits(
        _ value: String, status: Int = 503, strategy: HTTPRetryStrategy? = .exponential(base: .seconds(7)),
        validators: [any HTTPValidator] = [DefaultValidator()], random: Double = 1
    ) async -> (waits: [Duration], attempts: [HTTPRequest.Attempt]) {
        let scene = RetryScene(
            .answering(status, 200, headers: ["Retry-After": value]), validators: validators, maximumRetries: 1,
            random: { random })
        let result = await scene.load { $0.retryStrategy = strategy }
        return (scene.clock.sleeps, result.attempts)
    }

    @Test(arguments: [
        "2", "Sun, 06 Nov 1994 08:49:39 GMT", "Sunday, 06-Nov-94 08:49:39 GMT", "Sun Nov  6 08:49:39 1994",
    ])
    func `the server's wait takes precedence over the request's strategy and the default validator`(value: String) async
    {
        #expect(await waits(value).waits == [.seconds(2)])
        #expect(await waits(value, strategy: nil).waits == [.seconds(2)])
        #expect(await waits(value, status: 429, validators: []).waits == [.seconds(2)])
    }

    @Test func `the server's wait is not jittered`() async {
        #expect(await waits("2", random: 0).waits == [.seconds(2)])
    }

    @Test(arguments: ["0", "Fri, 31 Dec 1993 23:59:59 GMT"]) func `a wait that is over is ignored`(value: String) async
    {
        let (waits, attempts) = await waits(value)
        #expect(waits == [] && attempts.count == 2)
    }

    @Test(arguments: ["121", "99999999999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
    func `a wait past the longest allowed prevents the retry, and the reason names it`(value: String) async {
        let (waits, attempts) = await waits(value)
        #expect(waits == [] && attempts.count == 1 && attempts.last?.reason.contains("the server asks for") == true)
    }

    @Test func `the error of a status names a wait past the longest allowed, and the setting that limits it`() async {
        let clock = TestClock(isAutomatic: true)
        let client = HTTPClient(
            environment: .of("https://h.test"), retrying: Backoff(maximumRetries: 1, clock: clock),
            transport: MockLoader.answering(503, 200, headers: ["Retry-After": "300"]))
        let error = await #expect(throws: HTTPError.self) { try await client.send(Get<Void>("a")) }
        #expect(error?.code == .unacceptableStatus && error?.attempts.count == 1)
        let reason = "not retried: the server asks for a wait of 300 s, and longestServerDelay is 120 s"
        #expect(error.map { "\($0)".contains("; \(reason)") } == true, "\(error?.description ?? "")")
    }

    @Test func `the error of a status that is not retried for another reason names no wait`() async {
        let client = HTTPClient(
            environment: .of("https://h.test"),
            transport: MockLoader.answering(503, 200, headers: ["Retry-After": "300"]))
        let error = await #expect(throws: HTTPError.self) { try await client.send(Get<Void>("a")) }
        #expect(error?.message == "the status is not accepted (expected 200–299)")
    }

    @Test(arguments: [(1, 1), (2, 2), (3, 1)])
    func `the longest allowed wait is a setting`(seconds: Int, sent: Int) async throws {
        let clock = TestClock(isAutomatic: true)
        let mock = MockLoader.answering(503, 200, headers: ["Retry-After": "\(seconds)"])
        let longest = Duration.seconds(seconds == 1 ? 0 : 2)
        let retry = Retry(Backoff(maximumRetries: 1, longestServerDelay: longest, clock: clock))
        let response = try await (retry --> mock).load(.plain())
        #expect(mock.requests.count == sent && clock.sleeps == (sent == 2 ? [.seconds(seconds)] : []))
        #expect(response.attempts.count == sent)
    }

    @Test func `the server, the request and the next validator take precedence over a custom validator's fallback`()
        async
    {
        let journal = Journal()
        let suggest = ClosureValidator(
            response: { response, _ in
                response.status == 418 ? .retry(.delayed(.seconds(11)).asFallback()) : .nextValidator
            },
            failure: { _, _ in .retry(.delayed(.seconds(11)).asFallback()) })
        let next = ClosureValidator(response: { response, _ in
            journal.write("next \(response.status.code)")
            return .nextValidator
        })
        func run(_ mock: MockLoader, maximum: Int = 1, strategy: HTTPRetryStrategy? = nil) async -> [Duration] {
            let scene = RetryScene(mock, validators: [suggest, next], maximumRetries: maximum)
            _ = await scene.load { $0.retryStrategy = strategy }
            return scene.clock.sleeps
        }
        #expect(await run(.answering(418, 200)) == [.seconds(11)])
        #expect(await run(.answering(0, 200)) == [.seconds(11)])
        #expect(await run(.answering(418, 200, headers: ["Retry-After": "2"])) == [.seconds(2)])
        #expect(await run(.answering(418, 200), strategy: .delayed(.seconds(3))) == [.seconds(3)])
        #expect(journal.all == Array(repeating: "next 200", count: 4))
        #expect(await run(.answering(418), maximum: 0) == [])
        #expect(journal.all.last == "next 418")
    }
}
