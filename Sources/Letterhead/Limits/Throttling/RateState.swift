/// Who goes when, without a clock or a task: asked under a lock, it tells whom to wake.
///
/// In each lane, the first in line sleeps until the bucket lets it go; the others wait to become the first. So a hold that
/// the server asks for holds all of them, and the order stays.
struct RateState<Turn> {
    /// What becomes of a newcomer.
    enum Arrival: Equatable {
        case passes
        case waits(place: UInt64, isFirst: Bool)
        case full
        case tooLate
    }

    /// What the first in line does.
    enum Step {
        case passes(next: Turn?)
        case sleeps(Duration)
        /// It was sent away.
        case gone
    }

    private struct Waiting {
        let place: UInt64
        let turn: Turn
        /// The point at which it must have gone.
        let latest: Duration?
    }

    private struct Lane {
        var bucket: RateBucket
        var first: Waiting?
        var line = WaitingLine<Waiting>()
    }

    private let fresh: RateBucket
    private let longestHold: Duration
    private var lanes: [ThrottleKey: Lane] = [:]
    private var lastPlace: UInt64 = 0
    private var sweepsAt = 64

    init(_ bucket: RateBucket, longestHold: Duration) {
        fresh = bucket
        self.longestHold = longestHold
    }

    /// Whether nobody is held back, whoever comes: there is no limit, and no server has said anything.
    var isOpen: Bool { lanes.isEmpty && fresh.isUnlimited }

    var waiting: Int { lanes.values.reduce(0) { $0 + $1.line.count + ($1.first == nil ? 0 : 1) } }
    var laneCount: Int { lanes.count }

    /// Goes at once, if nobody waits and nothing is against it.
    mutating func pass(_ key: ThrottleKey, at now: Duration) -> Bool {
        sweep(at: now)
        return withLane(key) { lane in
            guard lane.first == nil, lane.bucket.wait(at: now) <= .zero else { return false }
            lane.bucket.take(at: now)
            return true
        }
    }

    /// Goes at once, or takes a place in the line, if it can come to its turn in time.
    mutating func arrive(
        _ key: ThrottleKey, priority: Int, queueLimit: Int, timeLeft: Duration?, turn: Turn, at now: Duration
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

    /// What the first in line does now; `turn` wakes it if it is to sleep.
    mutating func step(_ key: ThrottleKey, place: UInt64, turn: Turn, at now: Duration) -> Step {
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

    /// Leaves the line; nil when it has become the first already.
    mutating func leaveLine(_ key: ThrottleKey, place: UInt64) -> Turn? {
        withLane(key) { $0.line.leave(place)?.turn }
    }

    /// Leaves as the first; with whoever is the first then.
    mutating func leaveFirst(_ key: ThrottleKey, place: UInt64) -> Turn? {
        withLane(key) { lane in
            guard lane.first?.place == place else { return nil }
            lane.first = lane.line.next()
            return lane.first?.turn
        }
    }

    /// Learns what the server said; those who cannot come to their turn in time any more are to be sent away.
    mutating func learn(_ report: RateReport, _ key: ThrottleKey, at now: Duration) -> [Turn] {
        let longestHold = longestHold
        return withLane(key) { lane in
            lane.bucket.learn(report, at: now, longestHold: longestHold)
            var (late, ahead): ([Turn], Int) = ([], 1)
            if let first = lane.first, let latest = first.latest, now + lane.bucket.wait(at: now) > latest {
                late.append(first.turn)
                ahead = 0
            }
            for place in lane.line.places {
                guard let latest = lane.line[place]?.latest, now + lane.bucket.wait(at: now, ahead: ahead) > latest
                else {
                    ahead += 1
                    continue
                }
                if let waiting = lane.line.leave(place) { late.append(waiting.turn) }
            }
            return late
        }
    }

    /// Forgets everything; who waits is to be sent away.
    mutating func clear() -> [Turn] {
        var turns: [Turn] = []
        for key in Array(lanes.keys) {
            if let first = lanes[key]?.first { turns.append(first.turn) }
            while let next = lanes[key]?.line.next() { turns.append(next.turn) }
        }
        lanes = [:]
        return turns
    }

    private mutating func withLane<Result>(_ key: ThrottleKey, _ body: (inout Lane) -> Result) -> Result {
        body(&lanes[key, default: Lane(bucket: fresh)])
    }

    /// Forgets lanes that know nothing any more, as often as their number has doubled.
    private mutating func sweep(at now: Duration) {
        guard lanes.count >= sweepsAt else { return }
        lanes = lanes.filter { $0.value.first != nil || !$0.value.bucket.isFull(at: now) }
        sweepsAt = max(64, lanes.count * 2)
    }
}
