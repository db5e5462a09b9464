/// The running loads and the requests that wait for them. Callers must hold a lock.
struct SharedLoads {
    /// The result of waiting for a load.
    enum Outcome: Sendable {
        case result(Result<HTTPResponse, HTTPError>)
        /// The response cannot be shared, and another request has received it.
        case notShared
        case cancelled
        case tooLate
    }

    typealias Waiter = OneShot<Outcome>

    /// A waiting request and its load.
    struct Place {
        let load: OwnedWork
        let number: UInt64
        /// Whether the request is the first of the load, which must start it.
        let isFirst: Bool
    }

    private struct Load {
        let key: DeduplicationKey
        let load: OwnedWork
        /// The first request is separate from the others, because most loads have only one.
        var first: (number: UInt64, waiter: Waiter)?
        var others: [(number: UInt64, waiter: Waiter)] = []
        /// Whether other requests may join: at least one request still waits.
        var isOpen: Bool { first != nil }

        var count: Int { others.count + (first == nil ? 0 : 1) }

        mutating func leave(_ number: UInt64) -> Waiter? {
            if let first, first.number == number {
                self.first = others.isEmpty ? nil : others.removeFirst()
                return first.waiter
            }
            return others.firstIndex { $0.number == number }.map { others.remove(at: $0).waiter }
        }
    }

    /// The running load, if there is only one, which is the most frequent case. It is found without hashing.
    private var lone: Load?
    private var open: [DeduplicationKey: OwnedWork] = [:]
    private var loads: [ObjectIdentifier: Load] = [:]
    private var last: UInt64 = 0

    var running: Int { loads.count + (lone == nil ? 0 : 1) }
    var waiting: Int { loads.values.reduce(lone?.count ?? 0) { $0 + $1.count } }
    var all: [OwnedWork] { loads.values.map(\.load) + (lone.map { [$0.load] } ?? []) }

    /// Adds a waiter to the load of an equal request, or to a new load.
    mutating func join(_ key: DeduplicationKey, _ waiter: Waiter, make: () -> OwnedWork) -> Place {
        last += 1
        if let load = equalLoad(key, waiter) { return Place(load: load, number: last, isFirst: false) }
        let new = Load(key: key, load: make(), first: (last, waiter))
        if lone == nil, loads.isEmpty { lone = new } else { list(new) }
        return Place(load: new.load, number: last, isFirst: true)
    }

    /// Removes a waiter. `waiter` is nil if the load has already ended; `isLast` is true if no request waits for the
    /// load any longer.
    ///
    /// A load without waiters is kept until it has ended, but no request can join it.
    mutating func leave(_ place: Place) -> (waiter: Waiter?, isLast: Bool) {
        if lone?.load === place.load {
            guard let waiter = lone?.leave(place.number) else { return (nil, false) }
            return (waiter, lone?.isOpen == false)
        }
        let id = ObjectIdentifier(place.load)
        guard let waiter = loads[id]?.leave(place.number), let load = loads[id] else { return (nil, false) }
        guard !load.isOpen else { return (waiter, false) }
        close(load)
        return (waiter, true)
    }

    /// Removes a load that has ended. The caller must notify the waiters.
    ///
    /// - Returns: the waiters, and the key. The caller must release the lock before it drops the key, because the key
    ///   contains the data of a body, whose deallocator may cancel a load that waits here.
    mutating func finish(_ load: OwnedWork) -> (first: Waiter?, others: [Waiter], key: DeduplicationKey?) {
        let ended: Load
        if lone?.load === load, let own = lone.take() {
            ended = own
        } else {
            guard let listed = loads.removeValue(forKey: ObjectIdentifier(load)) else { return (nil, [], nil) }
            close(listed)
            ended = listed
        }
        return (ended.first?.waiter, ended.others.map(\.waiter), ended.key)
    }

    /// Adds a waiter to a running load of an equal request, if there is one.
    private mutating func equalLoad(_ key: DeduplicationKey, _ waiter: Waiter) -> OwnedWork? {
        if lone.map({ $0.isOpen && $0.key == key }) == true {
            lone?.others.append((last, waiter))
            return lone?.load
        }
        if let other = lone.take() { list(other) }
        guard !open.isEmpty, let load = open[key] else { return nil }
        loads[ObjectIdentifier(load)]?.others.append((last, waiter))
        return load
    }

    private mutating func list(_ load: Load) {
        if load.isOpen { open[load.key] = load.load }
        loads[ObjectIdentifier(load.load)] = load
    }

    private mutating func close(_ load: Load) {
        guard let index = open.index(forKey: load.key), open[index].value === load.load else { return }
        open.remove(at: index)
    }
}
