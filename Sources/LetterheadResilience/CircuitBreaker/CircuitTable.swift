// SPDX-License-Identifier: MIT

/// The circuits of a ``CircuitBreaker`` and the readers of their changes, without a clock. Callers must hold a lock, so
/// that each reader receives the changes in their order.
struct CircuitTable {
    /// A request that a circuit has let through.
    struct Permit {
        let key: RouteKey
        let epoch: UInt64
    }

    enum Admission {
        case permit(Permit)
        case untracked
        case refused(String)
    }

    /// The maximum number of circuits. If it is reached, those that are closed are forgotten.
    private static let mostCircuits = 1_000

    private var circuits: [RouteKey: Circuit] = [:]
    private var lastEpoch: UInt64 = 0
    private var lastWatcher = 0
    private var watchers: [Int: AsyncStream<CircuitBreaker.Change>.Continuation] = [:]
    private(set) var isIsolated = false
    /// The last change of a circuit, for an event.
    private var change: CircuitBreaker.Change?

    var states: [String: CircuitBreaker.State] {
        var states: [String: CircuitBreaker.State] = [:]
        for (key, circuit) in circuits where circuit.phase != .closed { states["\(key)"] = circuit.state }
        return states
    }

    var count: Int { circuits.count }

    mutating func admission(
        _ key: RouteKey, _ rule: CircuitBreaker.Rule, probes: Int, at now: Duration
    ) -> Admission {
        if isIsolated { return .refused("all circuits are isolated until close() is called") }
        guard var circuit = circuits[key] else {
            if circuits.count >= Self.mostCircuits { circuits = circuits.filter { $0.value.isNeeded(at: now) } }
            // If the table is full of open circuits, another request is sent rather than refused.
            guard circuits.count < Self.mostCircuits else { return .untracked }
            lastEpoch += 1
            circuits[key] = Circuit(rule, epoch: lastEpoch)
            return .permit(Permit(key: key, epoch: lastEpoch))
        }
        if circuit.phase == .closed { return .permit(Permit(key: key, epoch: circuit.epoch)) }
        let isAdmitted = circuit.admits(at: now, probes: probes, newEpoch: lastEpoch + 1)
        store(circuit, key)
        return isAdmitted ? .permit(Permit(key: key, epoch: circuit.epoch)) : .refused(reason(circuit, key, at: now))
    }

    mutating func settle(
        _ permit: Permit, _ health: ServerHealth, at now: Duration, probes: Int, openTime: Duration
    ) {
        guard let place = circuits.index(forKey: permit.key), circuits.values[place].epoch == permit.epoch else {
            return
        }
        circuits.values[place].settle(
            health, at: now, probes: probes, openTime: openTime, newEpoch: lastEpoch + 1)
        if circuits.values[place].epoch != permit.epoch { store(circuits.values[place], permit.key) }
    }

    /// Returns the change that the last call has made.
    mutating func takeChange() -> CircuitBreaker.Change? { change.take() }

    mutating func isolate() {
        guard !isIsolated else { return }
        isIsolated = true
        announce(nil, .isolated)
    }

    mutating func closeAll(endingIsolation: Bool) {
        for (key, circuit) in circuits where circuit.phase != .closed { announce(key, .closed) }
        circuits = [:]
        if endingIsolation, isIsolated {
            isIsolated = false
            announce(nil, .closed)
        }
        // No request has made these changes.
        change = nil
    }

    mutating func watch(_ continuation: AsyncStream<CircuitBreaker.Change>.Continuation) -> Int {
        lastWatcher += 1
        watchers[lastWatcher] = continuation
        return lastWatcher
    }

    mutating func unwatch(_ number: Int) { watchers[number] = nil }

    func endWatching() { for watcher in watchers.values { watcher.finish() } }

    private mutating func store(_ circuit: Circuit, _ key: RouteKey) {
        circuits[key] = circuit
        guard circuit.epoch > lastEpoch else { return }
        lastEpoch = circuit.epoch
        announce(key, circuit.state)
    }

    private mutating func announce(_ key: RouteKey?, _ state: CircuitBreaker.State) {
        let change = CircuitBreaker.Change(circuit: key.map { "\($0)" }, state: state)
        for watcher in watchers.values { watcher.yield(change) }
        self.change = change
    }

    private func reason(_ circuit: Circuit, _ key: RouteKey, at now: Duration) -> String {
        guard case .open(let end) = circuit.phase else { return "the circuit of \(key) waits for its probes" }
        return "the circuit of \(key) is open for another \(end - now)"
    }
}
