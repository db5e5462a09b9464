// SPDX-License-Identifier: MIT
import Letterhead

/// The numbers that ``StatisticsRecorder`` counts for a client.
public struct HTTPStatistics: Sendable, CustomStringConvertible {
    public struct Entry: Sendable, Hashable {
        /// How many loads of a route, or exchanges with an origin, have ended.
        public internal(set) var count = 0
        /// How many of them failed, or received a status of 500 or more.
        public internal(set) var failures = 0
        public internal(set) var cancelled = 0
        /// How many retries began. For an origin, they followed an attempt that ended there.
        public internal(set) var retries = 0
        /// How many exchanges began while another exchange of their load waited for its response. Links that call the
        /// next loader several times at once cause these.
        public internal(set) var hedges = 0
        public internal(set) var latency = HTTPStatistics.Histogram()
    }

    /// The loads by route. `(no route)` counts loads without a known route, such as a request that was created from a
    /// URL.
    public internal(set) var routes: [String: Entry] = [:]
    /// The exchanges by origin, such as `https://api.example.com`.
    public internal(set) var origins: [String: Entry] = [:]
    public internal(set) var loadsInProgress = 0
    public internal(set) var connectionsOpened = 0
    /// How many exchanges reused a connection.
    public internal(set) var connectionsReused = 0
    public internal(set) var retries = 0
    /// How many exchanges began while another exchange of their load waited for its response.
    public internal(set) var hedges = 0
    /// The tokens that each origin's retry budget had left at the last decision.
    public internal(set) var budgetLeft: [String: Double] = [:]
    /// How many responses came from a cache, including those that the server has confirmed.
    public internal(set) var cacheHits = 0
    /// How many responses came from the server although the client has a cache. This includes requests that a cache
    /// never answers, such as POST, but not requests that bypass the cache.
    public internal(set) var cacheMisses = 0

    /// One line with the whole client's numbers, without ``budgetLeft``, and one line for each route and origin.
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
    /// Counts durations in buckets from 0.1 milliseconds to about three hours. Each is about 19% wider than the bucket
    /// before it, so the histogram's memory doesn't grow.
    public struct Histogram: Sendable, Hashable {
        /// How many durations each bucket contains, in the order of ``bounds``. Empty before the first duration.
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

        /// The upper bound of the bucket that contains a quantile from 0 to 1, such as 0.95, or zero for an empty
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

        /// The buckets' upper bounds, in whole microseconds. They double every four buckets, except for rounding. The
        /// last bucket also contains all longer durations.
        public static let bounds: [Duration] = (0..<108).map { index in
            let step = [1.0, 1.189_207_115, 1.414_213_562, 1.681_792_831][index % 4]
            return .microseconds(Int64(100 * step * Double(1 << (index / 4))))
        }
    }
}
