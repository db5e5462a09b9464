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

    private struct Entry {
        let key: DeduplicationKey
        let load: OwnedWork
        var waiters: [(number: UInt64, waiter: Waiter)] = []
    }

    /// The loads that other requests may join: at least one request still waits for each of them.
    private var open: [DeduplicationKey: OwnedWork] = [:]
    private var loads: [ObjectIdentifier: Entry] = [:]
    private var last: UInt64 = 0

    var running: Int { loads.count }
    var waiting: Int { loads.values.reduce(0) { $0 + $1.waiters.count } }
    var all: [OwnedWork] { loads.values.map(\.load) }

    /// Adds a waiter to the load of an equal request, or to a new load.
    mutating func join(_ key: DeduplicationKey, _ waiter: Waiter, make: () -> OwnedWork) -> Place {
        last += 1
        let equal = open[key]
        let load = equal ?? make()
        open[key] = load
        loads[ObjectIdentifier(load), default: Entry(key: key, load: load)].waiters.append((last, waiter))
        return Place(load: load, number: last, isFirst: equal == nil)
    }

    /// Removes a waiter. `waiter` is nil if the load has already ended; `isLast` is true if no request waits for the
    /// load any longer.
    ///
    /// A load without waiters is kept until it has ended, but no request can join it.
    mutating func leave(_ place: Place) -> (waiter: Waiter?, isLast: Bool) {
        let id = ObjectIdentifier(place.load)
        guard let index = loads[id]?.waiters.firstIndex(where: { $0.number == place.number }),
            let waiter = loads[id]?.waiters.remove(at: index).waiter, let load = loads[id]
        else { return (nil, false) }
        if load.waiters.isEmpty { close(load) }
        return (waiter, load.waiters.isEmpty)
    }

    /// Removes a load that has ended. The caller must notify the waiters.
    ///
    /// - Returns: the waiters, and the key. The caller must release the lock before it drops the key, because the key
    ///   contains the data of a body, whose deallocator may cancel a load that waits here.
    mutating func finish(_ load: OwnedWork) -> (waiters: [Waiter], key: DeduplicationKey?) {
        guard let ended = loads.removeValue(forKey: ObjectIdentifier(load)) else { return ([], nil) }
        close(ended)
        return (ended.waiters.map(\.waiter), ended.key)
    }

    private mutating func close(_ load: Entry) {
        guard let index = open.index(forKey: load.key), open[index].value === load.load else { return }
        open.remove(at: index)
    }
}
