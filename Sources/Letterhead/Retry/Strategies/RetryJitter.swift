/// How a wait is varied at random, so that clients that failed together do not come back together.
struct RetryJitter: Sendable, Hashable, CustomStringConvertible {
    /// How much of a wait is left to chance, 0...1.
    private let share: Double

    private init(share: Double) { self.share = share }

    /// The wait as it is.
    static let none = RetryJitter(share: 0)
    /// Anything between nothing and the wait, each as likely as the other.
    static let full = RetryJitter(share: 1)

    /// The wait, shortened at random by at most a share of it: 0.2 gives 80 to 100 %. Clamped to 0...1; NaN is 0.
    static func upTo(_ share: Double) -> RetryJitter {
        RetryJitter(share: share.isNaN ? 0 : min(max(share, 0), 1))
    }

    /// A wait, varied by a random number from 0 to 1, of which 1 gives the longest.
    func applied(to wait: Duration, random: () -> Double) -> Duration {
        guard share > 0, wait > .zero else { return wait }
        let drawn = random()
        let chance = drawn.isNaN ? 1 : min(max(drawn, 0), 1)
        return chance == 1 ? wait : wait * (1 - share + share * chance)
    }

    /// How much is left to chance.
    var description: String {
        switch share {
        case 0: "no jitter"
        case 1: "full jitter"
        default: "jitter of \(share)"
        }
    }
}
