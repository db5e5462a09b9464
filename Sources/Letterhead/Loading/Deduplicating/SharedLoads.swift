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

        var count: Int { others.count + (first == nil ? 0 : 1) }

        mutating func leave(_ number: UInt64) -> Waiter? {
            if let first, first.number == number {
                self.first = others.isEmpty ? nil : others.removeFirst()
                return first.waiter
            }
            return others.firstIndex { $0.number == number }.map { others.remove(at: $0).waiter }
        }
    }

    private var open: [DeduplicationKey: OwnedLoad] = [:]
    private var loads: [ObjectIdentifier: Load] = [:]
    private var last: UInt64 = 0

    var running: Int { loads.count }
    var waiting: Int { loads.values.reduce(0) { $0 + $1.count } }
    var all: [OwnedLoad] { loads.values.map(\.load) }

    /// Waits for the load of an equal request, or for a new one.
    mutating func join(_ key: DeduplicationKey, _ waiter: Waiter, make: () -> OwnedLoad) -> Place {
        last += 1
        if let load = open[key] {
            loads[ObjectIdentifier(load)]?.others.append((last, waiter))
            return Place(load: load, number: last, isFirst: false)
        }
        let load = make()
        open[key] = load
        loads[ObjectIdentifier(load)] = Load(key: key, load: load, first: (last, waiter))
        return Place(load: load, number: last, isFirst: true)
    }

    /// Leaves before the end: nil when the end was first. Says, too, whether nobody waits for the load any more.
    ///
    /// A load that is left is kept until it has ended, but no newcomer joins it.
    mutating func leave(_ place: Place) -> (waiter: Waiter?, isLast: Bool) {
        let id = ObjectIdentifier(place.load)
        guard let waiter = loads[id]?.leave(place.number), let load = loads[id] else { return (nil, false) }
        guard load.first == nil else { return (waiter, false) }
        close(load)
        return (waiter, true)
    }

    /// Forgets a load that has ended; those who waited are to be told.
    mutating func finish(_ load: OwnedLoad) -> (first: Waiter?, others: [Waiter]) {
        guard let ended = loads.removeValue(forKey: ObjectIdentifier(load)) else { return (nil, []) }
        close(ended)
        return (ended.first?.waiter, ended.others.map(\.waiter))
    }

    private mutating func close(_ load: Load) {
        guard let index = open.index(forKey: load.key), open[index].value === load.load else { return }
        open.remove(at: index)
    }
}
