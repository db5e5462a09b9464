/// Who runs and who waits, without a clock or a task: asked under a lock, it tells whom to wake.
///
/// As long as somebody waits, everything that the limit allows is running: a slot that becomes free goes to the next in
/// line in the same step, so that no newcomer slips in between.
struct ThrottleState<Waiter> {
    /// What becomes of a newcomer.
    enum Arrival: Equatable {
        case runs
        case waits(place: UInt64)
        case full
        case refused
    }

    private struct Lane {
        var running = 0
        var line = WaitingLine<Waiter>()
        var isIdle: Bool { running == 0 && line.isEmpty }
    }

    /// The lane of the link's own scope is apart, since most have no other.
    private var client = Lane()
    /// So is the one asked for last, idle or not, since most talk to one host for a while.
    private var recent = (key: ThrottleKey.client, lane: Lane())
    /// All others in which somebody is.
    private var lanes: [ThrottleKey: Lane] = [:]
    private var lastPlace: UInt64 = 0
    private(set) var limit: Int

    init(limit: Int) { self.limit = limit }

    var running: Int { lanes.values.reduce(client.running + recent.lane.running) { $0 + $1.running } }
    var waiting: Int { lanes.values.reduce(client.line.count + recent.lane.line.count) { $0 + $1.line.count } }
    /// How many lanes are kept beside the link's own.
    var laneCount: Int { lanes.count + (recent.lane.isIdle ? 0 : 1) }

    /// Takes a slot if one is free.
    mutating func enter(_ key: ThrottleKey) -> Bool {
        let limit = limit
        return withLane(key) { lane in
            guard lane.running < limit else { return false }
            lane.running += 1
            return true
        }
    }

    /// Takes a slot, or else a place in the line, if there is one.
    mutating func arrive(_ key: ThrottleKey, priority: Int, queueLimit: Int, waiter: Waiter) -> Arrival {
        guard limit >= 0 else { return .refused }
        if enter(key) { return .runs }
        lastPlace += 1
        let place = lastPlace
        return withLane(key) { lane in
            guard lane.line.count < queueLimit else { return .full }
            lane.line.join(waiter, at: place, priority: priority)
            return .waits(place: place)
        }
    }

    /// Leaves the line; nil when it was its turn already.
    mutating func leaveLine(_ key: ThrottleKey, place: UInt64) -> Waiter? {
        withLane(key) { $0.line.leave(place) }
    }

    /// Gives a slot back; whoever has it now is to be woken.
    mutating func leave(_ key: ThrottleKey) -> Waiter? {
        let limit = limit
        return withLane(key) { lane in
            let next = lane.running <= limit ? lane.line.next() : nil
            if next == nil { lane.running -= 1 }
            return next
        }
    }

    /// Changes the limit; those whose turn has come are to be woken.
    mutating func setLimit(_ limit: Int) -> [Waiter] {
        self.limit = limit
        return withEveryLane { lane, woken in
            while lane.running < limit, let next = lane.line.next() {
                lane.running += 1
                woken.append(next)
            }
        }
    }

    /// Sends everybody away who waits; they are to be woken.
    mutating func clearLines() -> [Waiter] {
        withEveryLane { lane, woken in
            while let next = lane.line.next() { woken.append(next) }
        }
    }

    /// Works on a lane in place.
    @inline(__always)
    private mutating func withLane<Result>(_ key: ThrottleKey, _ body: (inout Lane) -> Result) -> Result {
        if key.isClient { return body(&client) }
        if key != recent.key { bring(key) }
        return body(&recent.lane)
    }

    /// Makes a lane the recent one.
    private mutating func bring(_ key: ThrottleKey) {
        if !recent.lane.isIdle { lanes[recent.key] = recent.lane }
        recent = (key, lanes.removeValue(forKey: key) ?? Lane())
    }

    private mutating func withEveryLane(_ body: (inout Lane, inout [Waiter]) -> Void) -> [Waiter] {
        var woken: [Waiter] = []
        body(&client, &woken)
        body(&recent.lane, &woken)
        for index in lanes.indices { body(&lanes.values[index], &woken) }
        lanes = lanes.filter { !$0.value.isIdle }
        return woken
    }
}
