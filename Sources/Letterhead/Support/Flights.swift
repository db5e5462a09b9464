import Synchronization

/// Operations that tasks share by key. A task joins the operation in flight for a key or starts one, and waits for its
/// value with a separate time limit and cancellation.
///
/// An operation runs in a task with the highest priority of its waiting tasks. It is cancelled when the last waiting
/// task leaves, unless it is lasting, and when the flights are reset. The key is then free at once, and the value is
/// discarded: an operation that stores its value has to check in the same critical section whether it was cancelled.
package final class Flights<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The result of waiting.
    package enum Outcome: Sendable {
        case value(Value)
        /// The waiting task was cancelled.
        case cancelled
        /// The time limit of the waiting task passed.
        case late
        /// The flights were reset.
        case reset
    }

    /// The place of one waiting task.
    package struct Ticket: Sendable {
        fileprivate let key: Key
        fileprivate let flight: Int
        fileprivate let number: Int
        fileprivate let waiter = OneShot<Outcome>()

        /// Whether this ticket started the operation.
        package var isFirst: Bool { number == flight }
    }

    private struct Flight {
        /// The number of its first ticket.
        let number: Int
        let task: Task<Void, Never>
        let isLasting: Bool
        var waiters: [Int: OneShot<Outcome>] = [:]

        func end(as outcome: Outcome) {
            for (_, waiter) in waiters.sorted(by: { $0.key < $1.key }) { waiter.set(outcome) }
        }
    }

    private struct State {
        var flights: [Key: Flight] = [:]
        var lastNumber = 0

        mutating func join(_ key: Key) -> Ticket? {
            guard let index = flights.index(forKey: key) else { return nil }
            lastNumber += 1
            let ticket = Ticket(key: key, flight: flights.values[index].number, number: lastNumber)
            flights.values[index].waiters[lastNumber] = ticket.waiter
            return ticket
        }

        /// Returns the index of the flight of a ticket; nil if it has ended.
        func index(of ticket: Ticket) -> Dictionary<Key, Flight>.Index? {
            flights.index(forKey: ticket.key).flatMap { flights.values[$0].number == ticket.flight ? $0 : nil }
        }
    }

    /// A flight that was removed. It is released after the lock, because releasing the data of a key may call a
    /// deallocator that cancels a waiting task.
    private typealias Removed = (key: Key, value: Flight)

    private let state = Mutex(State())

    package init() {}

    package var running: Int { state.withLock { $0.flights.count } }

    package var waiting: Int { state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiters.count } } }

    /// Joins the operation in flight for a key; nil if there is none.
    package func join(_ key: Key) -> Ticket? { state.withLock { $0.join(key) } }

    /// Joins the operation in flight for a key, or starts it.
    ///
    /// - Parameter isLasting: whether an operation that is started continues when no task waits for it.
    package func join(
        _ key: Key, isLasting: Bool = false, orStart operation: @escaping @Sendable () async -> Value
    ) -> Ticket {
        state.withLock { state in
            if let ticket = state.join(key) { return ticket }
            let ticket = launch(key, isLasting: isLasting, in: &state, operation)
            state.flights[key]?.waiters[ticket.number] = ticket.waiter
            return ticket
        }
    }

    /// Starts a lasting operation for which no task waits, unless one is in flight for the key.
    package func start(_ key: Key, _ operation: @escaping @Sendable () async -> Value) {
        state.withLock { state in
            if state.flights[key] == nil { _ = launch(key, isLasting: true, in: &state, operation) }
        }
    }

    /// Starts an operation under the lock, so that a reset finds every operation that can run.
    private func launch(
        _ key: Key, isLasting: Bool, in state: inout State, _ operation: @escaping @Sendable () async -> Value
    ) -> Ticket {
        state.lastNumber += 1
        let ticket = Ticket(key: key, flight: state.lastNumber, number: state.lastNumber)
        let task = Task { [self] in
            // A flight that was cancelled before its task began does nothing.
            if !Task.isCancelled { finish(ticket, with: await operation()) }
        }
        state.flights[key] = Flight(number: ticket.number, task: task, isLasting: isLasting)
        return ticket
    }

    /// Waits for the outcome, and raises the priority of the operation to that of the caller.
    ///
    /// - Parameter limit: the longest time to wait. nil means no limit.
    package func outcome(for ticket: Ticket, within limit: Duration?, on clock: any Clock<Duration>) async -> Outcome {
        if !ticket.isFirst, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            let task = state.withLock { state in state.index(of: ticket).map { state.flights.values[$0].task } }
            task?.escalatePriority(to: Task.currentPriority)
        }
        return await ticket.waiter.value(within: limit, on: clock) { [self] in
            leave(ticket, as: .late)
        } onCancel: { [self] in
            leave(ticket, as: .cancelled)
        }
    }

    /// Ends the waits for some keys with `.reset`, and cancels their operations without awaiting them. Default: all keys.
    package func reset(where isEnded: (Key) -> Bool = { _ in true }) {
        let ended = state.withLock { state in
            let ended = state.flights.filter { isEnded($0.key) }
            for key in ended.keys { state.flights[key] = nil }
            return ended
        }
        for flight in ended.values {
            flight.task.cancel()
            flight.end(as: .reset)
        }
    }

    private func finish(_ first: Ticket, with value: Value) {
        let ended = state.withLock { state -> Removed? in state.index(of: first).map { state.flights.remove(at: $0) } }
        ended?.value.end(as: .value(value))
    }

    private func leave(_ ticket: Ticket, as outcome: Outcome) {
        let abandoned = state.withLock { state -> Removed? in
            guard let index = state.index(of: ticket) else { return nil }
            state.flights.values[index].waiters[ticket.number] = nil
            let flight = state.flights.values[index]
            return flight.waiters.isEmpty && !flight.isLasting ? state.flights.remove(at: index) : nil
        }
        abandoned?.value.task.cancel()
        ticket.waiter.set(outcome)
    }
}
