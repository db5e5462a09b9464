// SPDX-License-Identifier: MIT
import Letterhead
import TestKit
import Testing

@Suite struct RetryJitterTests {
    private let full = HTTPRetryStrategy.delayed(.seconds(8)).jitter(1)

    @Test func `ten thousand draws of full jitter are spread evenly`() {
        var source = SeededGenerator(seed: 42)
        var buckets = Array(repeating: 0, count: 10)
        for _ in 0..<10_000 {
            let wait = full.delay(before: 1, random: { Double.random(in: 0...1, using: &source) }) ?? .seconds(-1)
            #expect(wait >= .zero && wait <= .seconds(8))
            buckets[min(9, max(0, Int(wait / .milliseconds(800))))] += 1
        }
        #expect(buckets.allSatisfy { (800...1_200).contains($0) }, "\(buckets)")
    }

    @Test(arguments: [
        (0.0, 0.0, 8.0), (0, 1, 8), (1, 0, 0), (1, 0.25, 2), (1, 1, 8), (0.5, 0, 4), (0.5, 0.5, 6), (0.5, 1, 8),
        (0.25, 0, 6), (0.25, 1, 8), (.nan, 0, 8), (-1, 0, 8), (7, 0, 0),
    ]) func `the wait is multiplied by the random number`(share: Double, drawn: Double, seconds: Double) {
        let strategy = HTTPRetryStrategy.delayed(.seconds(8)).jitter(share)
        #expect(strategy.delay(before: 1, random: { drawn }) == .seconds(seconds))
    }

    @Test(arguments: [Double.nan, 2, .infinity])
    func `a random number outside of 0...1 results in the longest wait`(drawn: Double) {
        #expect(full.delay(before: 1, random: { drawn }) == .seconds(8))
    }

    @Test func `by default, back-off has full jitter and fixed waits have none`() {
        func shortest(_ strategy: HTTPRetryStrategy) -> Duration? { strategy.delay(before: 1, random: { 0 }) }
        #expect(shortest(.exponential(base: .seconds(1))) == .zero && shortest(.fibonacci(unit: .seconds(1))) == .zero)
        #expect(shortest(.delayed(.seconds(1))) == .seconds(1) && shortest(.delays([.seconds(1)])) == .seconds(1))
        #expect(shortest(.exponential(base: .seconds(1)).jitter(0)) == .seconds(1))
        #expect(shortest(.delayed(.seconds(1)).jitter(0.5)) == .milliseconds(500))
    }
}
