import Synchronization

/// One operation whose value several tasks await, each with a separate time limit and cancellation.
///
/// It is a class, because the operation and the waiting tasks share its state. The owner keeps the flight until its
/// operation has ended, so that later callers can join it.
package final class SingleFlight<Value: Sendable>: Sendable {
    /// The result of waiting.
    package enum Outcome: Sendable {
        case value(Value)
        /// The waiting task was cancelled.
        case cancelled
        /// The time limit of the waiting task passed.
        case late
        /// The flight was reset.
        case reset
    }

    private struct State {
        var waiters: [Int: OneShot<Outcome>] = [:]
        var lastNumber = 0
        /// Whether the value is still expected.
        var isOpen = true
    }

    /// One waiting task.
    package struct Ticket: Sendable {
        fileprivate let number: Int
        fileprivate let waiter: OneShot<Outcome>
    }

    private let state = Mutex(State())
    private let work = OwnedWork()
    private let needsWaiters: Bool

    /// - Parameter needsWaiters: whether the operation is cancelled when the last task stops waiting for it.
    package init(needsWaiters: Bool) { self.needsWaiters = needsWaiters }

    /// The number of waiting tasks.
    package var waiting: Int { state.withLock { $0.waiters.count } }

    /// Whether the value is still expected.
    package var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Adds a waiting task; nil if the flight has ended.
    package func join() -> Ticket? {
        state.withLock { state in
            guard state.isOpen else { return nil }
            state.lastNumber += 1
            let ticket = Ticket(number: state.lastNumber, waiter: OneShot())
            state.waiters[ticket.number] = ticket.waiter
            return ticket
        }
    }

    /// Starts the operation, which has to call ``finish(with:)``. Call it once, after the first task has joined.
    package func start(_ operation: @escaping @Sendable () async -> Void) { work.start(operation) }

    /// Waits for the outcome.
    ///
    /// - Parameter limit: the longest time to wait. nil means no limit.
    package func outcome(for ticket: Ticket, within limit: Duration?, on clock: any Clock<Duration>) async -> Outcome {
        await ticket.waiter.value(within: limit, on: clock) { [self] in
            leave(ticket, as: .late)
        } onCancel: { [self] in
            leave(ticket, as: .cancelled)
        }
    }

    /// Passes the value to all waiting tasks. Returns false if the flight had already ended.
    @discardableResult
    package func finish(with value: Value) -> Bool { end(as: .value(value)) }

    /// Ends all waits with `.reset`, and cancels the operation. Await ``ended()`` for its end.
    package func reset() {
        _ = end(as: .reset)
        work.cancel()
    }

    /// Waits until the operation has ended. It returns at once if the caller belongs to the operation.
    package func ended() async { await work.ended() }

    /// Whether the caller belongs to the operation.
    package var containsCaller: Bool { work.containsCaller }

    private func end(as outcome: Outcome) -> Bool {
        let waiters = state.withLock { state -> [Int: OneShot<Outcome>]? in
            guard state.isOpen else { return nil }
            defer { state = State(isOpen: false) }
            return state.waiters
        }
        for waiter in (waiters ?? [:]).sorted(by: { $0.key < $1.key }) { waiter.value.set(outcome) }
        return waiters != nil
    }

    private func leave(_ ticket: Ticket, as outcome: Outcome) {
        let isLast = state.withLock { state in
            guard state.waiters.removeValue(forKey: ticket.number) != nil, state.waiters.isEmpty, needsWaiters else {
                return false
            }
            state.isOpen = false
            return true
        }
        if isLast { work.cancel() }
        ticket.waiter.set(outcome)
    }
}
