// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadResilience
import LetterheadTesting
import TestKit
import Testing

/// The recommended chain under random faults and cancellations.
@Suite(.timeLimit(.minutes(5))) struct ChainStressTests {
    private static let count = 10_000

    /// A transport that answers, redirects, fails, stalls until it is cancelled, or takes its time, by the path.
    private struct Faults: HTTPLoader {
        let running: Observed<Int>

        func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            running.change { $0 += 1 }
            defer { running.change { $0 -= 1 } }
            let lot = request.path.segments.last.flatMap { Int($0) } ?? 0
            for _ in 0..<lot % 7 { await Task.yield() }
            if Task.isCancelled { throw HTTPError(.cancelled, request: request) }
            switch lot % 10 {
            case 0: throw HTTPError(.connectionLost, request: request)
            case 1: return HTTPResponse(request: request, status: 503)
            case 2: return HTTPResponse(request: request, status: 302, headers: ["Location": "/to/\(lot + 1)"])
            case 3:
                let chunks = Chunks(3)
                return HTTPResponse(
                    request: request, status: .ok, body: HTTPResponseBody(length: nil) { chunks.next() })
            default: return .ok(request)
            }
        }
    }

    private func request(_ index: Int, _ dice: inout some RandomNumberGenerator) -> HTTPRequest {
        var request = HTTPRequest()
        request.host = "h\(index % 3).test"
        request.path = "/\(index % 50)"
        request.method = index % 4 == 0 ? .post : .get
        request.throttling = index % 11 == 0 ? .never : .priority(index % 3)
        if Int.random(in: 0..<5, using: &dice) == 0 { request.deadline = .seconds(3_600) }
        return request
    }

    @Test func `every load ends, every slot is free, and no state remains`() async throws {
        let (running, throttle) = (Observed(0), Throttle(limit: 8))
        let (autocancel, deduplicate) = (Autocancel(), Deduplicate())
        let rate = LimitRate(1_000_000, per: .milliseconds(1))
        let chain =
            ResetGuard() --> autocancel --> Deadline()
            --> Retry(Backoff(maximumRetries: 1, clock: TestClock(isAutomatic: true)))
            --> FollowRedirects() --> ApplyEnvironment() --> deduplicate --> rate --> throttle
            --> Faults(running: running)
        await withTaskGroup(of: Void.self) { group in
            var dice = SystemRandomNumberGenerator()
            for index in 0..<Self.count {
                let request = request(index, &dice)
                let isCancelled = Int.random(in: 0..<4, using: &dice) == 0
                let yields = Int.random(in: 0..<20, using: &dice)
                group.addTask {
                    let load = Task {
                        let response = try? await chain.load(request)
                        if index % 2 == 0 { _ = try? await response?.body.data() }
                    }
                    if isCancelled {
                        for _ in 0..<yields { await Task.yield() }
                        load.cancel()
                    }
                    await load.value
                }
                if index % 2_500 == 2_499 { group.addTask { await chain.reset() } }
            }
        }
        await until { deduplicate.running == 0 && running.value == 0 }
        await until { throttle.running == 0 && throttle.waiting == 0 && rate.waiting == 0 }
        await until { autocancel.running == 0 && deduplicate.waiting == 0 }
        #expect(try await chain.load(.to("https://h0.test/4")).status == .ok)
    }
}
