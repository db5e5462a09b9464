// SPDX-License-Identifier: MIT
public import Letterhead
import Synchronization

/// An observer that counts the loads, exchanges, connections and retries of a client.
///
/// Print the numbers, or export them to Prometheus with ``HTTPStatistics/openMetrics()``.
///
/// ```swift
/// let recorder = StatisticsRecorder()
/// let client = HTTPClient(environment: .production, observers: [recorder])
/// print(recorder.statistics)
/// ```
///
/// The memory is bounded: when `maximumNames` routes or origins are known, further ones are counted together under
/// `(other)`.
public final class StatisticsRecorder: HTTPObserver {
    private let maximumNames: Int
    private let state = Mutex(HTTPStatistics())

    /// Creates a recorder.
    ///
    /// - Parameter maximumNames: how many routes, and how many origins, have separate numbers. Default: 200.
    public init(maximumNames: Int = 200) { self.maximumNames = max(1, maximumNames) }

    /// The numbers so far.
    public var statistics: HTTPStatistics { state.withLock { $0 } }

    public func record(_ event: HTTPEvent) {
        state.withLock { $0.count(event, atMost: maximumNames) }
    }
}

extension HTTPStatistics {
    fileprivate mutating func count(_ event: HTTPEvent, atMost limit: Int) {
        switch event.name {
        case .loadStart: loadsInProgress += 1
        case .loadEnd, .loadFailed, .loadCancelled:
            loadsInProgress -= 1
            Self.change(&routes, event.route ?? "(no route)", limit) { $0.count(event) }
        case .exchangeStart:
            guard event[.isHedge] == true else { return }
            hedges += 1
            Self.change(&routes, event.route ?? "(no route)", limit) { $0.hedges += 1 }
            if let origin = event[.origin] { Self.change(&origins, origin, limit) { $0.hedges += 1 } }
        case .exchangeEnd, .exchangeFailed:
            if let origin = event[.origin] { Self.change(&origins, origin, limit) { $0.count(event) } }
        case .retryDecided: countDecision(event, limit)
        case .connectionOpened: connectionsOpened += 1
        case .connectionReused: connectionsReused += 1
        case .cacheHit, .cacheStale, .cacheRevalidated: cacheHits += 1
        case .cacheMissed, .cacheStored: cacheMisses += 1
        default: break
        }
    }

    private mutating func countDecision(_ event: HTTPEvent, _ limit: Int) {
        if event[.isRetried] == true {
            retries += 1
            Self.change(&routes, event.route ?? "(no route)", limit) { $0.retries += 1 }
            if let origin = event[.origin] { Self.change(&origins, origin, limit) { $0.retries += 1 } }
        }
        if let left = event[.budgetLeft], let origin = event[.origin],
            budgetLeft[origin] != nil || budgetLeft.count < limit
        {
            budgetLeft[origin] = left
        }
    }

    private static func change(
        _ entries: inout [String: Entry], _ name: String, _ limit: Int, _ change: (inout Entry) -> Void
    ) {
        let isKnown = entries[name] != nil || entries.count < limit
        change(&entries[isKnown ? name : "(other)", default: Entry()])
    }
}

extension HTTPStatistics.Entry {
    fileprivate mutating func count(_ event: HTTPEvent) {
        count += 1
        if event.name == .loadCancelled || event[.errorType] == "cancelled" {
            cancelled += 1
        } else if event.name == .loadFailed || event.name == .exchangeFailed || event[.status] ?? 0 >= 500 {
            failures += 1
        }
        if let duration = event[.duration] { latency.add(duration) }
    }
}
