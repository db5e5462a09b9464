// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Synchronization

@testable import LetterheadResilience

/// The links of each of 1,000 clients, and what comes of them.
enum Policy: String, CaseIterable, Sendable {
    case none = "nothing"
    case plain = "3 retries"
    case budget = "3 retries with a budget"
    case breaker = "a circuit breaker"
    case hedge = "a hedge"
    case all = "all of them"

    func chain(over service: SimulatedService, _ time: SimulatedTime, _ random: Seeded) -> any HTTPLoader {
        func retry(_ budget: Retry.Budget) -> Retry {
            Retry(
                Backoff(
                    .exponential(base: .milliseconds(100)), maximumRetries: 3, clock: time, random: { random.unit() }),
                budget: budget)
        }
        let breaker = CircuitBreaker(
            per: .host, opening: .consecutiveFailures(3), openTime: .seconds(4), backoff: Backoff(clock: time))
        let hedge = Hedge(after: .fixed(.milliseconds(100)), share: 0.1, clock: time, executor: time)
        let budget = Retry.Budget.ratio(capacity: 4, perSuccess: 0.1)
        return switch self {
        case .none: service
        case .plain: retry(.unlimited) --> service
        case .budget: retry(budget) --> service
        case .breaker: breaker --> service
        case .hedge: hedge --> service
        case .all: retry(budget) --> hedge --> breaker --> service
        }
    }
}

/// The calls of 1,000 clients. Each client makes one every two seconds.
struct SimulatedFleet: Sendable {
    private struct Calls {
        var all = [Int](repeating: 0, count: 4)
        var good = [Int](repeating: 0, count: 4)
        var times: [Duration] = []
    }

    let policy: Policy
    /// For each phase, the requests that were sent for a call, and the share of calls that succeeded.
    let (sent, succeeded): ([Double], [Double])
    /// The number of requests for a call in all phases.
    let amplification: Double
    /// The 99th percentile of the times of the calls that succeeded while the service was well, once each client has
    /// saved up its first hedge.
    let p99: Duration

    /// Runs on a separate thread, because it blocks its thread until the end.
    static func run(_ policy: Policy) async -> SimulatedFleet {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: SimulatedFleet(policy)) }
        }
    }

    private init(_ policy: Policy) {
        let time = SimulatedTime()
        let service = SimulatedService(time)
        let calls = Mutex(Calls())
        let record = { @Sendable (start: Duration, isGood: Bool) in
            let phase = SimulatedService.phase(at: start)
            calls.withLock { calls in
                calls.all[phase.rawValue] += 1
                if isGood { calls.good[phase.rawValue] += 1 }
                if isGood, phase == .well, start > .seconds(20) { calls.times.append(time.now.offset - start) }
            }
        }
        for number in 0..<1_000 {
            let random = Seeded(number)
            let chain = policy.chain(over: service, time, random)
            Task(executorPreference: time) {
                try await time.sleep(for: .seconds(2 * random.unit()))
                while time.now.offset < SimulatedService.ends[3] {
                    let start = time.now.offset
                    let status = try? await chain.load(HTTPRequest(host: "orders.test")).status
                    record(start, status == .ok)
                    try await time.sleep(for: max(.zero, start + .seconds(1 + 2 * random.unit()) - time.now.offset))
                }
            }
        }
        time.run()
        let result = calls.withLock { $0 }
        self.policy = policy
        sent = zip(service.sent, result.all).map { Double($0) / Double(max($1, 1)) }
        succeeded = zip(result.good, result.all).map { Double($0) / Double(max($1, 1)) }
        amplification = Double(service.sent.reduce(0, +)) / Double(max(result.all.reduce(0, +), 1))
        let times = result.times.sorted()
        p99 = times.isEmpty ? .zero : times[times.count * 99 / 100]
    }

    static let head = """
        | links | sent per call: well | overloaded | down | recovered | succeed: well | overloaded | down | recovered | p99 |
        |---|---|---|---|---|---|---|---|---|---|
        """

    /// A row of the table.
    var row: String {
        let sent = sent.map { text($0, digits: 2) }
        let succeeded = succeeded.map { text(100 * $0, digits: 1) + " %" }
        let p99 = "\(Int((p99 / .milliseconds(1)).rounded())) ms"
        return "| " + ([policy.rawValue] + sent + succeeded + [p99]).joined(separator: " | ") + " |"
    }

    private func text(_ number: Double, digits: Int) -> String { String(format: "%.\(digits)f", number) }
}
