// SPDX-License-Identifier: MIT
import Letterhead
import Testing

@testable import LetterheadResilience

@Suite struct LatenciesTests {
    @Test func `a quantile follows the last response times`() {
        var latencies = Latencies(quantile: 0.95)
        let key = RouteKey(name: "orders/{}")
        let place = latencies.place(of: key)
        for number in 1...31 { latencies.add(.milliseconds(number), at: place) }
        #expect(latencies.delay(at: place) == nil)
        latencies.add(.milliseconds(32), at: latencies.place(of: key))
        #expect(latencies.delay(at: place) == .milliseconds(31))
        for _ in 0..<128 { latencies.add(.milliseconds(500), at: place) }
        #expect(latencies.delay(at: place) == .milliseconds(500))
    }

    @Test func `routes are kept apart, and a request that was sent before a reset does not count`() {
        var latencies = Latencies(quantile: 0.95)
        let keys = [
            RouteKey(name: "orders/{}"), RouteKey(method: "GET", name: "orders/{}"),
            RouteKey(origin: logical, name: "orders/{}"),
        ]
        let places = keys.map { latencies.place(of: $0) }
        for (number, place) in places.enumerated() {
            for _ in 0..<32 { latencies.add(.seconds(number), at: place) }
        }
        #expect(keys.map { latencies.delay(at: latencies.place(of: $0)) } == [.zero, .seconds(1), .seconds(2)])
        latencies.reset()
        let place = latencies.place(of: keys[0])
        for _ in 0..<32 { latencies.add(.seconds(9), at: places[0]) }
        #expect(latencies.delay(at: places[0]) == nil && latencies.delay(at: place) == nil && latencies.count == 1)
    }

    @Test func `the number of routes has a limit`() {
        var latencies = Latencies(quantile: 0.95)
        for number in 0..<5_000 { latencies.add(.seconds(1), at: latencies.place(of: RouteKey(name: "\(number)"))) }
        #expect(latencies.count <= 500)
    }
}
