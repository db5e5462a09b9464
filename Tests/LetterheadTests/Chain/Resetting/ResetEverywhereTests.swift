// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadResilience
import LetterheadTesting
import TestKit
import Testing

/// A reset that finds loads in every state that the recommended chain knows.
@Suite(.timeLimit(.minutes(3))) struct ResetEverywhereTests {
    private let clock = TestClock()
    private let held = HeldLoader()
    private let gate = CredentialGate()
    private let throttle = Throttle(limit: 5)
    private let deduplicate = Deduplicate()
    private let autocancel = Autocancel()

    private func chain() -> any HTTPLoader {
        let held = held
        let rate = LimitRate(1, per: .seconds(3_600), backoff: Backoff(clock: clock))
        return ResetGuard() --> autocancel --> Deadline(.seconds(7_200), clock: clock)
            --> Retry(validators: [], Backoff(maximumRetries: 1, clock: clock)) --> FollowRedirects()
            --> Authenticate() --> deduplicate --> rate.when { $0.host == "slow.test" }
            --> throttle
            --> AnyLoader { request in
                switch request.host {
                case "lost.test": throw HTTPError(.connectionLost, request: request)
                case "stream.test":
                    let body = HTTPResponseBody(length: nil) {
                        _ = try await held.load(request)
                        return nil
                    }
                    return HTTPResponse(request: request, status: .ok, body: body)
                case "slow.test": return .ok(request)
                default: return try await held.load(request)
                }
            }
    }

    private func start(_ urls: [String], _ chain: any HTTPLoader) throws -> [Task<Int, any Error>] {
        try urls.map { url in
            var request = try HTTPRequest.to(url)
            request.retryStrategy = .delayed(.seconds(600))
            if request.host == "signed.test" {
                let gate = gate
                request.authentication = .bearer { _ in await gate.next() }
            }
            let sent = request
            return Task { try await chain.load(sent).body.data().count }
        }
    }

    @Test func `a hundred loads in every state end with .cancelled, and afterwards the chain works`() async throws {
        let (chain, throttle, deduplicate, clock) = (chain(), throttle, deduplicate, clock)
        _ = try await chain.load(.to("https://slow.test/first"))
        var tasks = try start((0..<15).map { "https://lost.test/\($0)" }, chain)
        tasks += try start((0..<15).map { "https://slow.test/\($0)" }, chain)
        await clock.waitForSleepers(15 + 1)
        tasks += try start((0..<5).map { "https://signed.test/\($0)" }, chain)
        try await gate.opened(after: 5)
        tasks += try start(["https://stream.test/"], chain)
        await held.waitForRunning(1)
        tasks += try start((0..<4).map { "https://wire.test/\($0)" }, chain)
        await held.waitForRunning(5)
        tasks += try start((0..<40).map { "https://wire.test/1\($0)" }, chain)
        tasks += try start((0..<20).map { "https://wire.test/\($0 % 4)" }, chain)
        await until { throttle.waiting == 40 && deduplicate.waiting == 15 + 4 + 40 + 20 }
        #expect(tasks.count == 100)
        await chain.reset()
        #expect(throttle.running == 0 && throttle.waiting == 0 && deduplicate.waiting == 0)
        #expect(autocancel.running == 0 && held.running == 0)
        for task in tasks { #expect(await failure { try await task.value }?.code == .cancelled) }
        #expect(try await chain.load(.to("https://slow.test/last")).status == .ok)
    }
}
