/// Varies a wait at random, so that clients that failed together do not retry together.
struct RetryJitter: Sendable, Hashable, CustomStringConvertible {
    /// The random share of a wait, 0...1.
    private let share: Double

    private init(share: Double) { self.share = share }

    static let none = RetryJitter(share: 0)
    /// A random time between zero and the wait, uniformly distributed.
    static let full = RetryJitter(share: 1)

    /// Shortens the wait at random by at most a share: with 0.2, to 80–100%. The share is clamped to 0...1. NaN counts
    /// as 0.
    static func upTo(_ share: Double) -> RetryJitter {
        RetryJitter(share: share.isNaN ? 0 : min(max(share, 0), 1))
    }

    /// Varies a wait with a random number from 0 to 1. The number 1 results in the full wait.
    func applied(to wait: Duration, random: () -> Double) -> Duration {
        guard share > 0, wait > .zero else { return wait }
        let drawn = random()
        let chance = drawn.isNaN ? 1 : min(max(drawn, 0), 1)
        return chance == 1 ? wait : wait * (1 - share + share * chance)
    }

    var description: String {
        switch share {
        case 0: "no jitter"
        case 1: "full jitter"
        default: "jitter of \(share)"
        }
    }
}
