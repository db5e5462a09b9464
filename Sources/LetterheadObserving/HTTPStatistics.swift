// SPDX-License-Identifier: MIT
import Letterhead

/// The numbers that ``StatisticsRecorder`` counts for a client.
public struct HTTPStatistics: Sendable, CustomStringConvertible {
    public struct Entry: Sendable, Hashable {
        /// The number of loads of a route, or of exchanges with an origin.
        public internal(set) var count = 0
        /// The number of loads or exchanges that failed, or received a status of 500 or more.
        public internal(set) var failures = 0
        public internal(set) var cancelled = 0
        /// The number of retries. For an origin, they followed an attempt that ended there.
        public internal(set) var retries = 0
        /// The number of exchanges that began while another one of their load waited for its response, as those of a link
        /// that calls the next loader several times at once.
        public internal(set) var hedges = 0
        public internal(set) var latency = HTTPStatistics.Histogram()
    }

    /// The loads of each route. Loads whose route is not known, such as those of a request that was created from a URL,
    /// are under `(no route)`.
    public internal(set) var routes: [String: Entry] = [:]
    /// The exchanges with each origin, such as `https://api.example.com`.
    public internal(set) var origins: [String: Entry] = [:]
    public internal(set) var loadsInProgress = 0
    public internal(set) var connectionsOpened = 0
    /// The number of exchanges that reused a connection.
    public internal(set) var connectionsReused = 0
    public internal(set) var retries = 0
    /// The number of exchanges that began while another one of their load waited for its response.
    public internal(set) var hedges = 0
    /// The tokens that were left in the retry budget at the last decision, by origin.
    public internal(set) var budgetLeft: [String: Double] = [:]
    /// The number of responses that came from a cache, including those that the server has confirmed.
    public internal(set) var cacheHits = 0
    /// The number of requests to which the server responded and not the cache. Requests that the cache never answers,
    /// such as POST, are included; requests that bypass the cache are not.
    public internal(set) var cacheMisses = 0

    /// One line with the numbers of the whole client, without ``budgetLeft``, and one line for each route and origin.
    public var description: String {
        var lines = [
            "in progress \(loadsInProgress), retries \(retries), hedges \(hedges), connections opened \(connectionsOpened), "
                + "reused \(connectionsReused), cache hits \(cacheHits), misses \(cacheMisses)"
        ]
        for (name, entry) in routes.sorted(by: { $0.key < $1.key }) { lines.append("route \(name): \(entry)") }
        for (name, entry) in origins.sorted(by: { $0.key < $1.key }) { lines.append("origin \(name): \(entry)") }
        return lines.joined(separator: "\n")
    }
}

extension HTTPStatistics.Entry: CustomStringConvertible {
    /// The numbers, and the median and the 99th percentile of the durations.
    public var description: String {
        "\(count) (\(failures) failed, \(cancelled) cancelled, \(retries) retries, \(hedges) hedges), median "
            + "\(latency.duration(atQuantile: 0.5).milliseconds), p99 \(latency.duration(atQuantile: 0.99).milliseconds)"
    }
}

extension HTTPStatistics {
    /// Counts durations in buckets, from 0.1 milliseconds to about three hours, each about 19% wider than the one
    /// before, so that its memory does not grow.
    public struct Histogram: Sendable, Hashable {
        /// The number of durations in each bucket, in the order of ``bounds``; empty before the first duration.
        public private(set) var counts: [Int] = []
        public private(set) var count = 0
        public private(set) var total = Duration.zero

        public init() {}

        public mutating func add(_ duration: Duration) {
            if counts.isEmpty { counts = Array(repeating: 0, count: Self.bounds.count) }
            counts[Self.bounds.firstIndex { duration <= $0 } ?? Self.bounds.count - 1] += 1
            count += 1
            total += max(duration, .zero)
        }

        /// The upper bound of the bucket that contains a quantile from 0 to 1, such as 0.95; zero for an empty
        /// histogram. Between the first and the last bound, it is less than 20% too large.
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
}
