// SPDX-License-Identifier: MIT
/// Identifies the slots of a throttle that a request uses. Requests with equal keys share them.
struct SlotKey: Hashable {
    /// The name of the scope. Nil if the scope contains all requests.
    let name: String?
    /// Whether the key is for streamed responses with separate slots.
    var isStream = false
}

/// The slots and queues of a throttle, without a clock or a task. Callers must hold a lock. Methods return the requests
/// to resume.
///
/// While a request waits, the number of running loads is at least the limit: a released slot passes to the next request
/// in the queue in the same step, so that no new request can take it.
struct ThrottleState<Waiter> {
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

    private var lanes: [SlotKey: Lane] = [:]
    private var lastPlace: UInt64 = 0
    private(set) var limit: Int
    /// The limit for streamed responses. Nil if they count as all others.
    let streams: Int?

    init(limit: Int, streams: Int? = nil) { (self.limit, self.streams) = (limit, streams) }

    var running: Int { lanes.values.reduce(0) { $0 + $1.running } }
    var waiting: Int { lanes.values.reduce(0) { $0 + $1.line.count } }
    var laneCount: Int { lanes.count }

    /// Takes a slot if one is free.
    mutating func enter(_ key: SlotKey) -> Bool {
        let limit = limit(of: key)
        return withLane(key) { lane in
            guard lane.running < limit else { return false }
            lane.running += 1
            return true
        }
    }

    /// Takes a slot, or adds the request to the queue. If the queue is full, does neither.
    mutating func arrive(_ key: SlotKey, priority: Int, queueLimit: Int, waiter: Waiter) -> Arrival {
        guard limit(of: key) >= 0 else { return .refused }
        if enter(key) { return .runs }
        lastPlace += 1
        let place = lastPlace
        return withLane(key) { lane in
            guard lane.line.count < queueLimit else { return .full }
            lane.line.join(waiter, at: place, priority: priority)
            return .waits(place: place)
        }
    }

    /// Removes a request from the queue. Returns nil if the request already has a slot.
    mutating func leaveLine(_ key: SlotKey, place: UInt64) -> Waiter? {
        withLane(key) { $0.line.leave(place) }
    }

    /// Releases a slot, and returns the request that receives it.
    mutating func leave(_ key: SlotKey) -> Waiter? {
        let limit = limit(of: key)
        return withLane(key) { lane in
            let next = lane.running <= limit ? lane.line.next() : nil
            if next == nil { lane.running -= 1 }
            return next
        }
    }

    /// Changes the limit, and returns the requests that receive a slot.
    mutating func setLimit(_ limit: Int) -> [Waiter] {
        self.limit = limit
        let hasStreams = streams != nil
        return withEveryLane { key, lane, woken in
            // Streams with separate slots have a different limit.
            if hasStreams, key.isStream { return }
            while lane.running < limit, let next = lane.line.next() {
                lane.running += 1
                woken.append(next)
            }
        }
    }

    /// Removes the waiting requests that a closure accepts, and returns them. Default: all of them.
    mutating func clearLines(where isEnded: (Waiter) -> Bool = { _ in true }) -> [Waiter] {
        withEveryLane { _, lane, woken in woken += lane.line.removeAll(where: isEnded) }
    }

    private mutating func withLane<Result>(_ key: SlotKey, _ body: (inout Lane) -> Result) -> Result {
        let result = body(&lanes[key, default: Lane()])
        if lanes[key]?.isIdle == true { lanes[key] = nil }
        return result
    }

    private func limit(of key: SlotKey) -> Int { key.isStream ? streams ?? limit : limit }

    private mutating func withEveryLane(_ body: (SlotKey, inout Lane, inout [Waiter]) -> Void) -> [Waiter] {
        var woken: [Waiter] = []
        for index in lanes.indices { body(lanes.keys[index], &lanes.values[index], &woken) }
        lanes = lanes.filter { !$0.value.isIdle }
        return woken
    }
}
