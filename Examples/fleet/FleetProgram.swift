// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadObserving
import LetterheadResilience
import LetterheadTesting

struct GetOrder: RequestTemplate {
    typealias Response = HTTPResponse
    let id: Int
    var path: RequestPath { "orders/\(id)" }
}

/// One row of the table: what 300 calls, 6 at a time, have met.
func row(_ name: String, _ replicas: [Replica], _ links: (any LoaderLink)?, retries: Int) async -> String {
    let logical = replicas[0].origin.map { ServerEnvironment("\($0)") }
    let recorder = StatisticsRecorder()
    let client = HTTPClient(
        environment: logical,
        retrying: Backoff(.exponential(base: .milliseconds(10)), maximumRetries: retries),
        attemptLinks: links, observers: [recorder])
    let times = await withTaskGroup(of: [Duration?].self) { group in
        for worker in 0..<6 {
            group.addTask {
                var times: [Duration?] = []
                for number in 0..<50 {
                    let start = ContinuousClock.now
                    let isSent = (try? await client.send(GetOrder(id: worker * 50 + number))) != nil
                    times.append(isSent ? ContinuousClock.now - start : nil)
                }
                return times
            }
        }
        return await group.reduce(into: [Duration?]()) { $0 += $1 }
    }
    let good = times.compactMap(\.self).sorted()
    let sent = recorder.statistics.origins.values.reduce(0) { $0 + $1.count }
    let p99 = good.isEmpty ? .zero : good[min(good.count - 1, good.count * 99 / 100)]
    return "| \(name) | \(100 * good.count / times.count) % | \(Int(p99 / .milliseconds(1))) ms | \(sent) |"
}

@main struct FleetProgram {
    static func main() async throws {
        let calls = Counter()
        let fast = try await MockServer.start { _ in .text("fast") }
        let slow = try await MockServer.start { _ in
            try await Task.sleep(for: .milliseconds(250))
            return .text("slow")
        }
        let failing = try await MockServer.start { _ in .text("", status: await calls.next() % 10 < 7 ? 503 : 200) }
        let replicas = [fast, slow, failing].map { Replica($0.url) }

        print("| links | calls that succeed | 99th percentile | requests sent |\n|---|---|---|---|")
        let plain = Balance(among: replicas, by: .roundRobin, restingAfter: .max)
        print(await row("one after the other", replicas, plain, retries: 0))
        print(await row("and two retries", replicas, plain, retries: 2))
        print(await row("the less busy of two", replicas, Balance(among: replicas), retries: 2))
        print(
            await row(
                "and a hedge and circuits", replicas,
                Hedge(after: .fixed(.milliseconds(40)), share: 0.2)
                    --> Balance(among: replicas)
                    --> CircuitBreaker(per: .host, opening: .consecutiveFailures(3)),
                retries: 2))
        for server in [fast, slow, failing] { await server.stop() }
    }
}

/// Numbers the calls of the failing server.
actor Counter {
    private var count = 0

    func next() -> Int {
        defer { count += 1 }
        return count
    }
}
