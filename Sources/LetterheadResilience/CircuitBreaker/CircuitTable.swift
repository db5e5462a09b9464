// SPDX-License-Identifier: MIT
import Letterhead

/// The circuits of a ``CircuitBreaker`` and the readers of their changes, without a clock. Callers must hold a lock, so
/// that each reader receives the changes in order.
struct CircuitTable {
    /// A request that a circuit has let through.
    struct Permit {
        /// The circuit index when the request was sent. The circuit may have moved since.
        let place: Int
        let epoch: UInt64
        /// How often the table had moved its circuits at that time.
        let moves: Int
    }

    enum Admission {
        case permit(Permit)
        case untracked
        case refused(String)
    }

    /// The maximum number of circuits. Beyond it, the table forgets closed circuits.
    private static let mostCircuits = 1_000

    private var places: [RouteKey: Int] = [:]
    /// The keys and their circuits, with the same indices.
    private var keys: [RouteKey] = []
    private var circuits: [Circuit] = []
    private var lastEpoch: UInt64 = 0
    private var moves = 0
    private var lastWatcher = 0
    private var watchers: [Int: AsyncStream<CircuitBreaker.Change>.Continuation] = [:]
    private(set) var isIsolated = false
    /// The last circuit change, which becomes an event of the request that caused it.
    private var change: CircuitBreaker.Change?

    var states: [String: CircuitBreaker.State] {
        var states: [String: CircuitBreaker.State] = [:]
        for (key, circuit) in zip(keys, circuits) where circuit.phase != .closed { states["\(key)"] = circuit.state }
        return states
    }

    var count: Int { circuits.count }

    mutating func admission(
        _ key: RouteKey, _ rule: CircuitBreaker.Rule, probes: Int, at now: Duration
    ) -> Admission {
        if isIsolated { return .refused("all requests are refused after isolate() (call close() to allow them)") }
        guard let place = places[key] else {
            if circuits.count >= Self.mostCircuits { removeClosed(at: now) }
            // If the table is full of open circuits, a further request is sent rather than refused.
            guard circuits.count < Self.mostCircuits else { return .untracked }
            lastEpoch += 1
            places[key] = circuits.count
            keys.append(key)
            circuits.append(Circuit(rule, epoch: lastEpoch))
            return .permit(Permit(place: circuits.count - 1, epoch: lastEpoch, moves: moves))
        }
        let isAdmitted = circuits[place].admits(at: now, probes: probes, newEpoch: lastEpoch + 1)
        announceChange(of: place)
        return isAdmitted
            ? .permit(Permit(place: place, epoch: circuits[place].epoch, moves: moves))
            : .refused(reason(circuits[place], key, at: now))
    }

    mutating func settle(
        _ permit: Permit, _ health: ServerHealth, at now: Duration, probes: Int, openTime: Duration
    ) {
        guard let place = place(of: permit) else { return }
        circuits[place].settle(
            health, at: now, probes: probes, openTime: openTime, newEpoch: lastEpoch + 1)
        announceChange(of: place)
    }

    /// Returns the change that the last call has made.
    mutating func takeChange() -> CircuitBreaker.Change? { change.take() }

    mutating func isolate() {
        guard !isIsolated else { return }
        isIsolated = true
        announce(nil, .isolated)
    }

    mutating func closeAll(endingIsolation: Bool) {
        for (key, circuit) in zip(keys, circuits) where circuit.phase != .closed { announce(key, .closed) }
        (places, keys, circuits) = ([:], [], [])
        if endingIsolation, isIsolated {
            isIsolated = false
            announce(nil, .closed)
        }
        // No request has caused these changes.
        change = nil
    }

    mutating func watch(_ continuation: AsyncStream<CircuitBreaker.Change>.Continuation) -> Int {
        lastWatcher += 1
        watchers[lastWatcher] = continuation
        return lastWatcher
    }

    mutating func unwatch(_ number: Int) { watchers[number] = nil }

    func endWatching() { for watcher in watchers.values { watcher.finish() } }

    private mutating func removeClosed(at now: Duration) {
        let needed = circuits.indices.filter { circuits[$0].isNeeded(at: now) }
        guard needed.count < circuits.count else { return }
        moves += 1
        (keys, circuits) = (needed.map { keys[$0] }, needed.map { circuits[$0] })
        places = [:]
        for (place, key) in keys.enumerated() { places[key] = place }
    }

    /// Finds the circuit that let a request through. Returns nil if that circuit has changed since. No two circuits
    /// have the same epoch, so an epoch identifies a circuit even after it has moved.
    private func place(of permit: Permit) -> Int? {
        if permit.place < circuits.count, circuits[permit.place].epoch == permit.epoch { return permit.place }
        return permit.moves == moves ? nil : circuits.firstIndex { $0.epoch == permit.epoch }
    }

    /// Announces the state of a circuit whose epoch is new.
    private mutating func announceChange(of place: Int) {
        guard circuits[place].epoch > lastEpoch else { return }
        lastEpoch = circuits[place].epoch
        announce(keys[place], circuits[place].state)
    }

    private mutating func announce(_ key: RouteKey?, _ state: CircuitBreaker.State) {
        let change = CircuitBreaker.Change(circuit: key.map { "\($0)" }, state: state)
        for watcher in watchers.values { watcher.yield(change) }
        self.change = change
    }

    private func reason(_ circuit: Circuit, _ key: RouteKey, at now: Duration) -> String {
        guard case .open(let end) = circuit.phase else {
            return "the circuit of \(key) is half open and waits for the results of its probes"
        }
        return "the circuit of \(key) is open and refuses requests for the next \((end - now).shown)"
    }
}
