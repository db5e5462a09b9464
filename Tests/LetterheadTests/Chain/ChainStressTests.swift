// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadResilience
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// The recommended chain under random faults and cancellations.
@Suite(.timeLimit(.minutes(5))) struct ChainStressTests {
    private static let count = 10_000

    /// What happened. A class, because all loads share it.
    private final class Tally: Sendable {
        private let state = Mutex((ended: [Int: Int](), running: 0, requests: [Weak]()))

        /// A mark that every request carries, to see whether one is kept.
        final class Mark: Sendable {}

        struct Weak: Sendable {
            weak var mark: Mark?
        }

        var kept: Int { state.withLock { $0.requests.count { $0.mark != nil } } }
        var running: Int { state.withLock { $0.running } }
        var ended: [Int: Int] { state.withLock { $0.ended } }
        func end(_ index: Int) { state.withLock { $0.ended[index, default: 0] += 1 } }
        func watch(_ mark: Mark) { state.withLock { $0.requests.append(Weak(mark: mark)) } }
        func enter() { state.withLock { $0.running += 1 } }
        func leave() { state.withLock { $0.running -= 1 } }
    }

    private enum MarkOption: HTTPRequestOption {
        static let defaultOptionValue: Tally.Mark? = nil
    }

    /// A transport that answers, redirects, fails, stalls until it is cancelled, or takes its time, by the path.
    private struct Faults: HTTPLoader {
        let tally: Tally

        func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            tally.enter()
            defer { tally.leave() }
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

    private func request(_ index: Int, _ dice: inout some RandomNumberGenerator, _ tally: Tally) -> HTTPRequest {
        var request = HTTPRequest()
        request.host = "h\(index % 3).test"
        request.path = "/\(index % 50)"
        request.method = index % 4 == 0 ? .post : .get
        request.throttling = index % 11 == 0 ? .never : .priority(index % 3)
        let mark = Tally.Mark()
        tally.watch(mark)
        request[option: MarkOption.self] = mark
        if Int.random(in: 0..<5, using: &dice) == 0 { request.deadline = .seconds(3_600) }
        return request
    }

    @Test func `every load ends once, every slot is free, and no state remains`() async throws {
        let tally = Tally()
        let throttle = Throttle(limit: 8)
        let (autocancel, deduplicate) = (Autocancel(), Deduplicate())
        let rate = LimitRate(1_000_000, per: .milliseconds(1))
        let chain =
            ResetGuard() --> autocancel --> Deadline()
            --> Retry(Backoff(maximumRetries: 1, clock: TestClock(isAutomatic: true)))
            --> FollowRedirects() --> ApplyEnvironment() --> deduplicate --> rate --> throttle --> Faults(tally: tally)
        await withTaskGroup(of: Void.self) { group in
            var dice = SystemRandomNumberGenerator()
            for index in 0..<Self.count {
                let request = request(index, &dice, tally)
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
                    tally.end(index)
                }
                if index % 2_500 == 2_499 { group.addTask { await chain.reset() } }
            }
        }
        await until { deduplicate.running == 0 && tally.running == 0 }
        #expect(tally.ended.count == Self.count && tally.ended.values.allSatisfy { $0 == 1 })
        await until { throttle.running == 0 && throttle.waiting == 0 && rate.waiting == 0 }
        await until { autocancel.running == 0 && deduplicate.waiting == 0 }
        await until { tally.kept == 0 }
    }
}
