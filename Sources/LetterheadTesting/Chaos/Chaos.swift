// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// The faults of an unreliable network. A seed makes them reproducible.
///
/// ```swift
/// let chaos = Chaos(seed: 42, latency: .exponential(mean: .milliseconds(80)), resets: 0.05, truncations: 0.02)
/// let client = HTTPClient(environment: environment, transport: ChaosLoader(chaos, over: stubs))
/// ```
///
/// The faults of a request depend on the seed, on the method, path and query of the request, and on the number of
/// earlier requests with the same method, path and query. They do not depend on the order in which different requests
/// arrive. A second run with the same seed therefore has the same faults, even if requests are concurrent.
///
/// A share is a probability from 0 to 1; other values are clamped to this range. In addition to the delay, a request
/// has at most one fault. Resets are drawn first, then storms, truncations and corruptions.
public struct Chaos: Sendable {
    /// The distribution of the time before a response.
    public enum Latency: Sendable, Hashable {
        /// No delay.
        case none
        /// Always the same delay.
        case constant(Duration)
        /// Any delay in a range, with equal probability.
        case uniform(ClosedRange<Duration>)
        /// Mostly short and sometimes long delays, with the given mean. No delay exceeds ten times the mean.
        case exponential(mean: Duration)
    }

    /// The seed. Default: random.
    public let seed: UInt64
    /// The time before a response. Default: none.
    public var latency: Latency
    /// The share of requests whose connection is lost. Default: 0.
    public var resets: Double
    /// The share of requests with which a storm, a series of 503 responses, begins. Default: 0.
    public var storms: Double
    /// The number of requests with the same method, path and query that receive 503 in a storm, including the first.
    /// Default: 3.
    public var stormLength: Int
    /// The share of responses whose body is truncated. Default: 0.
    public var truncations: Double
    /// The share of responses in whose body one byte is changed. Default: 0.
    public var corruptions: Double
    /// The time before each piece of a body, which then arrives in pieces of 16 bytes. Default: zero (bodies arrive as
    /// a whole).
    public var drip: Duration

    /// Creates faults; see the properties for the defaults.
    public init(
        seed: UInt64 = .random(in: 0...0xFFFF_FFFF), latency: Latency = .none, resets: Double = 0, storms: Double = 0,
        stormLength: Int = 3, truncations: Double = 0, corruptions: Double = 0, drip: Duration = .zero
    ) {
        self.seed = seed
        self.latency = latency
        self.resets = resets
        self.storms = storms
        self.stormLength = max(1, stormLength)
        self.truncations = truncations
        self.corruptions = corruptions
        self.drip = max(.zero, drip)
    }
}

/// The faults of one request.
struct ChaosPlan: Sendable, Hashable {
    enum Fault: Sendable, Hashable {
        case reset
        case refusal
        /// Truncates the body after this share of its bytes.
        case truncation(Double)
        /// Changes the byte at this share of the body.
        case corruption(Double)
    }

    var delay = Duration.zero
    var fault: Fault?
}

extension Chaos {
    /// Returns the faults of a request.
    ///
    /// - Parameters:
    ///   - key: the method and the target.
    ///   - occurrence: the number of equal requests before it.
    func plan(_ key: String, occurrence: Int) -> ChaosPlan {
        var random = draw(key, occurrence)
        var plan = ChaosPlan(delay: delay(random.unit()))
        if random.unit() < resets {
            plan.fault = .reset
        } else if isInStorm(key, occurrence) {
            plan.fault = .refusal
        } else if random.unit() < truncations {
            plan.fault = .truncation(random.unit())
        } else if random.unit() < corruptions {
            plan.fault = .corruption(random.unit())
        }
        return plan
    }

    private func isInStorm(_ key: String, _ occurrence: Int) -> Bool {
        guard storms > 0 else { return false }
        return (0..<min(stormLength, occurrence + 1)).contains { earlier in
            var random = draw("storm \(key)", occurrence - earlier)
            return random.unit() < storms
        }
    }

    private func delay(_ unit: Double) -> Duration {
        switch latency {
        case .none: .zero
        case .constant(let delay): max(.zero, delay)
        case .uniform(let range): max(.zero, range.lowerBound + (range.upperBound - range.lowerBound) * unit)
        case .exponential(let mean): max(.zero, mean * min(10, -log(1 - unit)))
        }
    }

    private func draw(_ key: String, _ occurrence: Int) -> SplitMix {
        // FNV-1a, because the hashes of the standard library differ in each process.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        // The state is mixed, because the streams of neighboring states are the same numbers, shifted by one.
        var mixed = SplitMix(state: (seed ^ hash) &+ UInt64(truncatingIfNeeded: occurrence) &* 0x9E37_79B9_7F4A_7C15)
        return SplitMix(state: mixed.next())
    }
}

/// A generator of reproducible random numbers (SplitMix64).
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    /// Returns a number from 0 to 1, without 1.
    mutating func unit() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }
}
