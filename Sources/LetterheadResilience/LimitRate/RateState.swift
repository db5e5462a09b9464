// SPDX-License-Identifier: MIT
import Letterhead

/// The queues and buckets for a rate limit, without a clock or a task. Callers must hold a lock. Methods return the
/// requests to resume.
///
/// In each queue, the first request sleeps until the bucket allows it, and the others wait to become the first. A pause
/// that the server asks for therefore delays all of them and keeps their order.
struct RateState<Turn> {
    typealias Key = String?

    enum Arrival: Equatable {
        case passes
        case waits(place: UInt64, isFirst: Bool)
        case full
        case tooLate
    }

    enum Step {
        case passes(next: Turn?)
        case sleeps(Duration)
        case gone
    }

    private struct Waiting {
        let place: UInt64
        let turn: Turn
        /// The time at which the request deadline passes.
        let latest: Duration?
    }

    private struct Lane {
        var bucket: RateBucket
        var first: Waiting?
        var line = WaitingLine<Waiting>()
    }

    private let fresh: RateBucket
    private var lanes: [Key: Lane] = [:]
    private var lastPlace: UInt64 = 0
    private var sweepsAt = 64

    init(_ bucket: RateBucket) { fresh = bucket }

    /// Whether no request is limited, because no rate is set and no server has reported a limit.
    var isOpen: Bool { lanes.isEmpty && fresh.isUnlimited }

    var waiting: Int { lanes.values.reduce(0) { $0 + $1.line.count + ($1.first == nil ? 0 : 1) } }
    var laneCount: Int { lanes.count }

    /// Returns whether the request may be sent at once: no request waits, and the bucket allows it.
    mutating func pass(_ key: Key, at now: Duration) -> Bool {
        sweep(at: now)
        return withLane(key) { lane in
            guard lane.first == nil, lane.bucket.wait(at: now) <= .zero else { return false }
            lane.bucket.take(at: now)
            return true
        }
    }

    /// Lets the request pass, or adds it to the queue if it can be sent before its deadline.
    mutating func arrive(
        _ key: Key, priority: Int, queueLimit: Int, timeLeft: Duration?, turn: Turn, at now: Duration
    ) -> Arrival {
        if pass(key, at: now) { return .passes }
        lastPlace += 1
        let place = lastPlace
        return withLane(key) { lane in
            guard lane.line.count + (lane.first == nil ? 0 : 1) < queueLimit else { return .full }
            if let timeLeft {
                let ahead = lane.first == nil ? 0 : 1 + lane.line.count(from: priority)
                if lane.bucket.wait(at: now, ahead: ahead) > timeLeft { return .tooLate }
            }
            let waiting = Waiting(place: place, turn: turn, latest: timeLeft.map { now + $0 })
            guard lane.first != nil else {
                lane.first = waiting
                return .waits(place: place, isFirst: true)
            }
            lane.line.join(waiting, at: place, priority: priority)
            return .waits(place: place, isFirst: false)
        }
    }

    /// Returns the next step for the first request. If it sleeps, `turn` resumes it.
    mutating func step(_ key: Key, place: UInt64, turn: Turn, at now: Duration) -> Step {
        withLane(key) { lane in
            guard let first = lane.first, first.place == place else { return .gone }
            let wait = lane.bucket.wait(at: now)
            guard wait <= .zero else {
                lane.first = Waiting(place: place, turn: turn, latest: first.latest)
                return .sleeps(wait)
            }
            lane.bucket.take(at: now)
            lane.first = lane.line.next()
            return .passes(next: lane.first?.turn)
        }
    }

    /// Removes a request from the queue and returns it, or nil if it is already the first.
    mutating func leaveLine(_ key: Key, place: UInt64) -> Turn? {
        withLane(key) { $0.line.leave(place)?.turn }
    }

    /// Removes the first request, and returns the next one.
    mutating func leaveFirst(_ key: Key, place: UInt64) -> Turn? {
        withLane(key) { lane in
            guard lane.first?.place == place else { return nil }
            lane.first = lane.line.next()
            return lane.first?.turn
        }
    }

    /// Applies a server report and the cost of a response, and returns the requests that can no longer be sent before
    /// their deadlines.
    mutating func learn(
        _ report: RateReport?, cost: Int, _ key: Key, at now: Duration, longestServerDelay: Duration
    ) -> [Turn] {
        withLane(key) { lane in
            if let report { lane.bucket.learn(report, at: now, longestServerDelay: longestServerDelay) }
            lane.bucket.take(cost, at: now, longestServerDelay: longestServerDelay)
            var (late, ahead): ([Turn], Int) = ([], 1)
            if let first = lane.first, let latest = first.latest, now + lane.bucket.wait(at: now) > latest {
                late.append(first.turn)
                ahead = 0
            }
            let bucket = lane.bucket
            let removed = lane.line.removeAll { waiting in
                if let latest = waiting.latest, now + bucket.wait(at: now, ahead: ahead) > latest { return true }
                ahead += 1
                return false
            }
            return late + removed.map(\.turn)
        }
    }

    /// Removes all reported limits, and the waiting requests for which `isEnded` returns true. Returns the removed
    /// requests, and the requests that are now the first in their queues.
    mutating func clear(where isEnded: (Turn) -> Bool) -> (ended: [Turn], first: [Turn]) {
        var result = (ended: [Turn](), first: [Turn]())
        let fresh = fresh
        for key in Array(lanes.keys) {
            withLane(key) { lane in
                lane.bucket = fresh
                if let first = lane.first, isEnded(first.turn) {
                    result.ended.append(first.turn)
                    lane.first = nil
                }
                result.ended += lane.line.removeAll { isEnded($0.turn) }.map(\.turn)
                lane.first = lane.first ?? lane.line.next()
                if let first = lane.first { result.first.append(first.turn) }
            }
        }
        lanes = lanes.filter { $0.value.first != nil }
        return result
    }

    private mutating func withLane<Result>(_ key: Key, _ body: (inout Lane) -> Result) -> Result {
        body(&lanes[key, default: Lane(bucket: fresh)])
    }

    /// Removes queues without state. It runs whenever the number of queues has doubled, so that a lookup stays cheap.
    private mutating func sweep(at now: Duration) {
        guard lanes.count >= sweepsAt else { return }
        lanes = lanes.filter { $0.value.first != nil || !$0.value.bucket.isFull(at: now) }
        sweepsAt = max(64, lanes.count * 2)
    }
}

/// Calculates when the next request may be sent. The result depends on a bucket that is refilled at a constant rate,
/// and on the limits that the server reported.
///
/// It uses the generic cell rate algorithm. The only state for the rate is `due`, the time when the bucket is full
/// again. All times are on the link's timeline, which begins at zero.
struct RateBucket {
    private let interval: Duration
    private let burst: Duration
    private var due = Duration.zero
    private var heldUntil = Duration.zero
    private var window: (remaining: Int, end: Duration)?

    /// Allows `count` requests in a window, and that many at once after a pause.
    init(count: Int, per window: Duration) {
        interval = count == .max ? .zero : window / count
        burst = interval * (count - 1)
    }

    /// Whether the bucket has no limit until a server reports one.
    var isUnlimited: Bool { interval == .zero }

    /// Returns how long a request waits if `ahead` requests are before it.
    func wait(at now: Duration, ahead: Int = 0) -> Duration {
        var start = max(now, heldUntil)
        if let window, start < window.end, window.remaining <= ahead { start = window.end }
        let refilled = max(due, now) + interval * ahead - burst
        return max(start, refilled) - now
    }

    /// Whether the bucket is full and no reported limit applies. It then equals a new bucket, and need not be kept.
    func isFull(at now: Duration) -> Bool { due <= now && heldUntil <= now && (window?.end ?? .zero) <= now }

    mutating func take(at now: Duration) {
        due = max(due, now) + interval
        if let window { self.window = now < window.end ? (window.remaining - 1, window.end) : nil }
    }

    /// Takes the cost of a response, for which the next request may have to wait. A server may choose the cost, so the
    /// wait that it causes has a limit. A cost is never returned to the bucket.
    mutating func take(_ cost: Int, at now: Duration, longestServerDelay: Duration) {
        let end = max(due, now) + interval * min(max(0, cost), Int(Int32.max))
        due = max(due, min(end, now + burst + longestServerDelay))
    }

    /// Applies a report. It can only reduce the rate, and only until the reported window ends. Because responses arrive
    /// in any order, the smallest remainder that was reported for a window applies.
    mutating func learn(_ report: RateReport, at now: Duration, longestServerDelay: Duration) {
        if let hold = report.hold { heldUntil = max(heldUntil, now + min(hold, longestServerDelay)) }
        guard let told = report.window, told.reset > .zero else { return }
        let end = now + min(told.reset, longestServerDelay)
        if let window, now < window.end, end < window.end + .seconds(2), window.end < end + .seconds(2) {
            self.window = (min(window.remaining, told.remaining), max(window.end, end))
        } else {
            window = (told.remaining, end)
        }
    }
}
