// SPDX-License-Identifier: MIT
import Letterhead

/// The numbers that a ``StatisticsRecorder`` has counted for a client.
public struct HTTPStatistics: Sendable, CustomStringConvertible {
    /// The numbers for one route or for one origin. A route counts loads, and an origin counts exchanges.
    public struct Entry: Sendable, Hashable {
        /// How many loads of a route, or exchanges with an origin, have ended.
        public internal(set) var count = 0
        /// How many of these failed, or received a status of 500 or more. A load also fails if its status isn't
        /// accepted. Cancelled ones don't count as failures.
        public internal(set) var failures = 0
        /// How many of these were cancelled: by their task, by a reset, or because a hedge was faster.
        public internal(set) var cancelled = 0
        /// How many attempts led to a retry. A retry counts for the origin where the previous attempt ended.
        public internal(set) var retries = 0
        /// How many exchanges began while a different exchange of their load was waiting for its response. Links that
        /// call the next loader several times at once, such as `Hedge`, cause these.
        public internal(set) var hedges = 0
        /// How long the loads or exchanges took, including failed and cancelled ones.
        public internal(set) var latency = HTTPStatistics.Histogram()
    }

    /// The numbers for loads, by route. Loads without a known route count under `(no route)`, such as a request that
    /// was created from a URL.
    public internal(set) var routes: [String: Entry] = [:]
    /// The numbers for exchanges, by origin, such as `https://api.example.com`.
    public internal(set) var origins: [String: Entry] = [:]
    /// How many loads have started and not ended. A load with a streamed response ends when its body has been read or
    /// dropped.
    public internal(set) var loadsInProgress = 0
    /// How many exchanges opened a connection. A transport that doesn't measure its connections, such as a mock, counts
    /// neither here nor in ``connectionsReused``.
    public internal(set) var connectionsOpened = 0
    /// How many exchanges reused a connection that an earlier exchange had opened.
    public internal(set) var connectionsReused = 0
    /// How many retries began, in all loads.
    public internal(set) var retries = 0
    /// How many exchanges began while a different exchange of their load was waiting for its response.
    public internal(set) var hedges = 0
    /// How many tokens each origin had left in its retry budget at the last decision whether to retry.
    public internal(set) var budgetLeft: [String: Double] = [:]
    /// How many responses came from a cache, including those that the server has confirmed.
    public internal(set) var cacheHits = 0
    /// How many responses came from the server although the client has a cache. Requests that a cache never responds to
    /// count, such as POST. Requests that bypass the cache don't.
    public internal(set) var cacheMisses = 0

    /// One line with the numbers for the whole client, without ``budgetLeft``, and one line for each route and origin.
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
    /// One line with the numbers, and the median and the 99th percentile of the durations.
    public var description: String {
        "\(count) (\(failures) failed, \(cancelled) cancelled, \(retries) retries, \(hedges) hedges), median "
            + "\(latency.duration(atQuantile: 0.5).milliseconds), p99 \(latency.duration(atQuantile: 0.99).milliseconds)"
    }
}

extension HTTPStatistics {
    /// Counts durations in buckets from 0.1 milliseconds to about three hours. Each bucket is about 19% wider than the
    /// previous one. The number of buckets is fixed, so the memory doesn't grow.
    public struct Histogram: Sendable, Hashable {
        /// How many durations are in each bucket, in the order of ``bounds``. Empty before the first duration.
        public private(set) var counts: [Int] = []
        /// How many durations were added.
        public private(set) var count = 0
        /// The sum of all durations. A negative duration counts as zero.
        public private(set) var total = Duration.zero

        /// Creates an empty histogram.
        public init() {}

        /// Counts a duration in its bucket. One that is longer than the last bound counts in the last bucket.
        public mutating func add(_ duration: Duration) {
            if counts.isEmpty { counts = Array(repeating: 0, count: Self.bounds.count) }
            counts[Self.bounds.firstIndex { duration <= $0 } ?? Self.bounds.count - 1] += 1
            count += 1
            total += max(duration, .zero)
        }

        /// Returns the upper bound of the bucket that contains a quantile, or zero for an empty histogram.
        ///
        /// The result is less than 20% too large if the true value is between the first and the last bound.
        ///
        /// - Parameter quantile: a number from 0 to 1, such as 0.95.
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

        /// The upper bounds of the buckets, in whole microseconds. They double every four buckets, except for rounding.
        /// The last bucket also contains all longer durations.
        public static let bounds: [Duration] = (0..<108).map { index in
            let step = [1.0, 1.189_207_115, 1.414_213_562, 1.681_792_831][index % 4]
            return .microseconds(Int64(100 * step * Double(1 << (index / 4))))
        }
    }
}
