/// Counts durations in buckets, from 0.1 milliseconds to about three hours. The upper bound of each bucket is about 19%
/// larger than that of the previous one. The memory of a histogram does not grow.
public struct LatencyHistogram: Sendable, Hashable {
    /// The number of durations in each bucket, in the order of ``bounds``; empty before the first duration.
    public private(set) var counts: [Int] = []
    /// The number of all durations.
    public private(set) var count = 0
    /// The sum of all durations.
    public private(set) var total = Duration.zero

    /// Creates an empty histogram.
    public init() {}

    /// Adds a duration.
    public mutating func add(_ duration: Duration) {
        if counts.isEmpty { counts = Array(repeating: 0, count: Self.bounds.count) }
        counts[Self.bounds.firstIndex { duration <= $0 } ?? Self.bounds.count - 1] += 1
        count += 1
        total += max(duration, .zero)
    }

    /// Returns an approximation of a quantile: the upper bound of the bucket that contains it; zero for an empty
    /// histogram. Between the first and the last bound, the result is less than 20% too large.
    ///
    /// - Parameter quantile: the quantile, from 0 to 1, such as 0.95.
    public func duration(atQuantile quantile: Double) -> Duration {
        guard count > 0 else { return .zero }
        let share = quantile.isNaN ? 1 : min(max(quantile, 0), 1)
        let rank = max(1, Int((Double(count) * share).rounded(.up)))
        var seen = 0
        for (index, count) in counts.enumerated() {
            seen += count
            if seen >= rank { return Self.bounds[index] }
        }
        return Self.bounds[Self.bounds.count - 1]
    }

    /// The upper bounds of the buckets, in whole microseconds. Except for rounding, the bound of a bucket is twice that
    /// of the fourth bucket before it. The last bucket also contains all longer durations.
    public static let bounds: [Duration] = (0..<108).map { index in
        let step = [1.0, 1.189_207_115, 1.414_213_562, 1.681_792_831][index % 4]
        return .microseconds(Int64(100 * step * Double(1 << (index / 4))))
    }
}
