// SPDX-License-Identifier: MIT
import Letterhead
import Testing

@testable import LetterheadResilience

@Suite struct LatenciesTests {
    @Test func `a quantile follows the last response times`() {
        var latencies = Latencies(quantile: 0.95)
        let key = RouteKey(name: "orders/{}")
        for number in 1...31 { latencies.add(.milliseconds(number), for: key) }
        #expect(latencies.delay(for: key) == nil)
        latencies.add(.milliseconds(32), for: key)
        #expect(latencies.delay(for: key) == .milliseconds(31))
        for _ in 0..<128 { latencies.add(.milliseconds(500), for: key) }
        #expect(latencies.delay(for: key) == .milliseconds(500))
    }

    @Test func `the number of routes has a limit`() {
        var latencies = Latencies(quantile: 0.95)
        for number in 0..<5_000 { latencies.add(.seconds(1), for: RouteKey(name: "\(number)")) }
        #expect(latencies.count <= 500)
    }
}
