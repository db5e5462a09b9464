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
        let load: UInt64
        let waiter: UInt64
    }

    private struct Load {
        let key: DeduplicationKey
        let task: Task<Void, Never>
        var waiters: [(number: UInt64, waiter: Waiter)]
    }

    private var numbers: [DeduplicationKey: UInt64] = [:]
    private var loads: [UInt64: Load] = [:]
    private var last: UInt64 = 0

    var running: Int { loads.count }
    var waiting: Int { loads.values.reduce(0) { $0 + $1.waiters.count } }
    var tasks: [Task<Void, Never>] { loads.values.map(\.task) }

    /// Waits for the load of an equal request, or begins one.
    mutating func join(
        _ key: DeduplicationKey, _ waiter: Waiter, begin: (UInt64) -> Task<Void, Never>
    ) -> Place {
        last += 1
        if let number = numbers[key] {
            loads[number]?.waiters.append((last, waiter))
            return Place(load: number, waiter: last)
        }
        numbers[key] = last
        loads[last] = Load(key: key, task: begin(last), waiters: [(last, waiter)])
        return Place(load: last, waiter: last)
    }

    /// Leaves before the end: nil when the end was first. Gives the load, too, when nobody waits for it any more.
    ///
    /// A load that is left is kept until it has ended, but no newcomer joins it.
    mutating func leave(_ key: DeduplicationKey, _ place: Place) -> (waiter: Waiter?, task: Task<Void, Never>?) {
        guard let index = loads[place.load]?.waiters.firstIndex(where: { $0.number == place.waiter }) else {
            return (nil, nil)
        }
        let waiter = loads[place.load]?.waiters.remove(at: index).waiter
        guard loads[place.load]?.waiters.isEmpty == true else { return (waiter, nil) }
        if numbers[key] == place.load { numbers[key] = nil }
        return (waiter, loads[place.load]?.task)
    }

    /// Forgets a load that has ended; those who waited are to be told.
    mutating func finish(_ number: UInt64) -> [Waiter] {
        guard let load = loads.removeValue(forKey: number) else { return [] }
        if numbers[load.key] == number { numbers[load.key] = nil }
        return load.waiters.map(\.waiter)
    }
}
