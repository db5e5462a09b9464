import Synchronization
import Testing

@testable import Letterhead

/// A random source with a seed: SplitMix64.
private struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

@Suite struct RetryJitterTests {
    @Test func `ten thousand draws of full jitter are spread evenly`() {
        var source = Seeded(state: 42)
        var buckets = Array(repeating: 0, count: 10)
        for _ in 0..<10_000 {
            let wait = RetryJitter.full.applied(to: .seconds(8)) { Double.random(in: 0...1, using: &source) }
            #expect(wait >= .zero && wait <= .seconds(8))
            buckets[min(9, Int(wait / .milliseconds(800)))] += 1
        }
        #expect(buckets.allSatisfy { (800...1_200).contains($0) }, "\(buckets)")
    }

    @Test(arguments: [
        (RetryJitter.none, 0.0, 8.0), (.none, 1, 8), (.full, 0, 0), (.full, 0.25, 2), (.full, 1, 8), (.upTo(0.5), 0, 4),
        (.upTo(0.5), 0.5, 6), (.upTo(0.5), 1, 8), (.upTo(0.25), 0, 6), (.upTo(0.25), 1, 8), (.upTo(.nan), 0, 8),
        (.upTo(-1), 0, 8), (.upTo(7), 0, 0),
    ]) func `the wait is multiplied by the random number`(jitter: RetryJitter, drawn: Double, seconds: Double) {
        #expect(jitter.applied(to: .seconds(8)) { drawn } == .seconds(seconds))
    }

    @Test(arguments: [Double.nan, 2, .infinity]) func `a random number outside of 0...1 results in the longest wait`(
        drawn: Double
    ) {
        #expect(RetryJitter.full.applied(to: .seconds(8)) { drawn } == .seconds(8))
    }

    @Test func `by default, back-off has full jitter and fixed waits have none`() {
        func jitter(_ strategy: HTTPRetryStrategy) -> RetryJitter? { strategy.wait(before: 1, after: nil)?.jitter }
        #expect(jitter(.exponential(base: .seconds(1))) == .full)
        #expect(jitter(.fibonacci(unit: .seconds(1))) == .full)
        #expect(jitter(.delayed(.seconds(1))) == RetryJitter.none)
        #expect(jitter(.delays([.seconds(1)])) == RetryJitter.none)
        #expect(jitter(.exponential(base: .seconds(1)).jitter(0)) == RetryJitter.none)
        #expect(jitter(.delayed(.seconds(1)).jitter(0.5)) == .upTo(0.5))
    }
}
