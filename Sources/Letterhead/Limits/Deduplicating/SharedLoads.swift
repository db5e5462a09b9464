/// Who waits for which load; asked under a lock.
struct SharedLoads {
    /// How a waiter's part ended.
    enum Outcome: Sendable {
        case result(Result<HTTPResponse, HTTPError>)
        /// The response cannot be shared, and somebody else has it.
        case notShared
        case cancelled
        case tooLate
    }

    typealias Waiter = OneShot<Outcome>

    /// One who waits, and for which load.
    struct Place {
        let load: OwnedLoad
        let number: UInt64
        /// Whether it came first, and is to start the load.
        let isFirst: Bool
    }

    private struct Load {
        let key: DeduplicationKey
        let load: OwnedLoad
        /// Apart from the others, since most loads have no other.
        var first: (number: UInt64, waiter: Waiter)?
        var others: [(number: UInt64, waiter: Waiter)] = []
        /// Whether newcomers may join it: somebody waits for it.
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

    /// The load that runs while no other does, as is the case most of the time: nobody looks it up by a hash.
    private var lone: Load?
    private var open: [DeduplicationKey: OwnedLoad] = [:]
    private var loads: [ObjectIdentifier: Load] = [:]
    private var last: UInt64 = 0

    var running: Int { loads.count + (lone == nil ? 0 : 1) }
    var waiting: Int { loads.values.reduce(lone?.count ?? 0) { $0 + $1.count } }
    var all: [OwnedLoad] { loads.values.map(\.load) + (lone.map { [$0.load] } ?? []) }

    /// Waits for the load of an equal request, or for a new one.
    mutating func join(_ key: DeduplicationKey, _ waiter: Waiter, make: () -> OwnedLoad) -> Place {
        last += 1
        if let load = equalLoad(key, waiter) { return Place(load: load, number: last, isFirst: false) }
        let new = Load(key: key, load: make(), first: (last, waiter))
        if lone == nil, loads.isEmpty { lone = new } else { list(new) }
        return Place(load: new.load, number: last, isFirst: true)
    }

    /// Leaves before the end: nil when the end was first. Says, too, whether nobody waits for the load any more.
    ///
    /// A load that is left is kept until it has ended, but no newcomer joins it.
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

    /// Forgets a load that has ended; those who waited are to be told.
    ///
    /// - Returns: who waited, and the key, which is to be released after the lock: it holds the data of a body, whose
    ///   deallocator may cancel a load that waits here.
    mutating func finish(_ load: OwnedLoad) -> (first: Waiter?, others: [Waiter], key: DeduplicationKey?) {
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

    /// Waits for a load that runs already, if there is an equal one.
    private mutating func equalLoad(_ key: DeduplicationKey, _ waiter: Waiter) -> OwnedLoad? {
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
