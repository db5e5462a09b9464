// SPDX-License-Identifier: MIT
import Synchronization

/// Operations that tasks share by key, such as one token refresh for many requests.
///
/// A task joins the operation in flight for a key, or starts one. It waits for the value with its own time limit and
/// can be cancelled without affecting other tasks.
///
/// An operation runs in a separate task, with the highest priority of the tasks that wait for it. It is cancelled when
/// the flights are reset, and, unless it is lasting, when the last waiting task leaves. The key is then free at once,
/// and the value is discarded. An operation that stores its value must check in the same critical section whether it
/// was cancelled.
package final class Flights<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    package enum Outcome: Sendable {
        case value(Value)
        case cancelled
        /// The time limit for the waiting task passed.
        case late
        case reset
    }

    /// The entry of one waiting task.
    package struct Ticket: Sendable {
        fileprivate let key: Key
        fileprivate let flight: Int
        fileprivate let number: Int
        fileprivate let waiter = OneShot<Outcome>()

        /// Whether this ticket started the operation.
        package var isFirst: Bool { number == flight }
    }

    private struct Flight {
        /// The number of the first ticket, which identifies the flight.
        let number: Int
        let isLasting: Bool
        /// The operation until it is started, and its task afterwards.
        var operation: (@Sendable () async -> Value)?
        var task: Task<Void, Never>?
        /// The highest priority among the tasks that joined before the operation started.
        var priority: TaskPriority?
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

        mutating func create(
            _ key: Key, isLasting: Bool, _ operation: @escaping @Sendable () async -> Value
        ) -> Ticket {
            lastNumber += 1
            flights[key] = Flight(number: lastNumber, isLasting: isLasting, operation: operation)
            return Ticket(key: key, flight: lastNumber, number: lastNumber)
        }

        /// Notes the priority that a waiting task has, and returns the operation task if it has started.
        mutating func raise(_ ticket: Ticket, to priority: TaskPriority) -> Task<Void, Never>? {
            guard let index = index(of: ticket) else { return nil }
            flights.values[index].priority = max(flights.values[index].priority ?? priority, priority)
            return flights.values[index].task
        }

        /// Returns the index of the flight for a ticket, or nil if the flight has ended.
        func index(of ticket: Ticket) -> Dictionary<Key, Flight>.Index? {
            flights.index(forKey: ticket.key).flatMap { flights.values[$0].number == ticket.flight ? $0 : nil }
        }
    }

    /// A flight that was removed. It is released after the lock, because releasing a key may call a deallocator that
    /// cancels a waiting task.
    private typealias Removed = (key: Key, value: Flight)

    private let state = Mutex(State())

    package init() {}

    var running: Int { state.withLock { $0.flights.count } }

    var waiting: Int { state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiters.count } } }

    /// Joins the operation in flight for a key. Returns nil if no operation is in flight.
    func join(_ key: Key) -> Ticket? { state.withLock { $0.join(key) } }

    /// Joins the operation in flight for a key, or creates a flight. The task with the first ticket starts the
    /// operation when it waits for the outcome, so a flight can be created under a lock that the operation takes.
    ///
    /// - Parameter isLasting: whether an operation that is started continues when no task waits for it.
    package func join(
        _ key: Key, isLasting: Bool = false, orStart operation: @escaping @Sendable () async -> Value
    ) -> Ticket {
        state.withLock { state in
            if let ticket = state.join(key) { return ticket }
            let ticket = state.create(key, isLasting: isLasting, operation)
            state.flights[key]?.waiters[ticket.number] = ticket.waiter
            return ticket
        }
    }

    /// Starts a lasting operation that no task waits for, unless one is in flight for the key.
    package func start(_ key: Key, _ operation: @escaping @Sendable () async -> Value) {
        let ticket = state.withLock { state in
            state.flights[key] == nil ? state.create(key, isLasting: true, operation) : nil
        }
        if let ticket { launch(ticket) }
    }

    /// Starts an operation, unless its flight was removed. If a reset comes first, it removes the flight and the
    /// operation never starts. If it comes later, it cancels the task.
    private func launch(_ first: Ticket) {
        let operation = state.withLock { state in
            state.index(of: first).flatMap { state.flights.values[$0].operation.take() }
        }
        guard let operation else { return }
        let task = Self.task { [self] in finish(first, with: await operation()) }
        let (isRemoved, priority) = state.withLock { state -> (Bool, TaskPriority?) in
            guard let index = state.index(of: first) else { return (true, nil) }
            state.flights.values[index].task = task
            return (false, state.flights.values[index].priority)
        }
        if isRemoved { task.cancel() }
        if let priority { Self.escalate(task, to: priority) }
    }

    /// Creates a task that begins on the current thread, if the system can do that.
    private static func task(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            Task.immediate { await operation() }
        } else {
            Task { await operation() }
        }
    }

    private static func escalate(_ task: Task<Void, Never>, to priority: TaskPriority) {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        task.escalatePriority(to: priority)
    }

    /// Waits for the outcome, and raises the priority of the operation to the priority of the calling task.
    ///
    /// - Parameter limit: the longest time to wait. nil means no limit.
    package func outcome(for ticket: Ticket, within limit: Duration?, on clock: any Clock<Duration>) async -> Outcome {
        if ticket.isFirst {
            launch(ticket)
        } else if let task = state.withLock({ $0.raise(ticket, to: Task.currentPriority) }) {
            Self.escalate(task, to: Task.currentPriority)
        }
        return await ticket.waiter.value(within: limit, on: clock) { [self] in
            leave(ticket, as: .late)
        } onCancel: { [self] in
            leave(ticket, as: .cancelled)
        }
    }

    /// Ends all waits for some keys with `.reset`, and cancels the operations without awaiting them. Default: all keys.
    package func reset(where isEnded: (Key) -> Bool = { _ in true }) {
        let ended = state.withLock { state in
            let ended = state.flights.filter { isEnded($0.key) }
            for key in ended.keys { state.flights[key] = nil }
            return ended
        }
        for flight in ended.values {
            flight.task?.cancel()
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
        abandoned?.value.task?.cancel()
        ticket.waiter.set(outcome)
    }
}
