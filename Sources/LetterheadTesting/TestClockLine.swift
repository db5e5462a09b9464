// SPDX-License-Identifier: MIT
/// The tasks that sleep on a ``TestClock``.
struct TestClockLine {
    /// The value is true if the clock has moved to the deadline, and false if the deadline was not in the future.
    typealias Continuation = CheckedContinuation<Bool, any Error>

    /// The result of starting a sleep.
    enum Woken {
        case awake, asleep, cancelled

        func resume(_ continuation: Continuation) {
            switch self {
            case .awake: continuation.resume(returning: false)
            case .asleep: break
            case .cancelled: continuation.resume(throwing: CancellationError())
            }
        }
    }

    private struct Sleeper {
        let number: Int
        let deadline: TestClock.Instant
        let continuation: Continuation
    }

    private var sleeping: [Sleeper] = []
    /// The sleeps that were cancelled before they started.
    private var cancelled: Set<Int> = []
    private var lastNumber = 0
    /// The number of sleeps that have begun or ended.
    private(set) var changes = 0
    /// The number of sleeping tasks after each of them fell asleep.
    private(set) var counts: [Int] = []

    var count: Int { sleeping.count }

    /// The earliest deadline; nil if no task sleeps.
    var nextDeadline: TestClock.Instant? { sleeping.map(\.deadline).min() }

    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Adds a sleep, unless it was cancelled before.
    mutating func join(_ number: Int, until deadline: TestClock.Instant, _ continuation: Continuation) -> Woken {
        if cancelled.remove(number) != nil { return .cancelled }
        changes += 1
        sleeping.append(Sleeper(number: number, deadline: deadline, continuation: continuation))
        counts.append(count)
        return .asleep
    }

    mutating func cancel(_ number: Int) -> Continuation? {
        guard let place = sleeping.firstIndex(where: { $0.number == number }) else {
            cancelled.insert(number)
            return nil
        }
        changes += 1
        return sleeping.remove(at: place).continuation
    }

    mutating func wake(at now: TestClock.Instant) -> [Continuation] {
        let woken = sleeping.filter { $0.deadline <= now }.sorted { $0.deadline < $1.deadline }
        changes += woken.count
        sleeping.removeAll { $0.deadline <= now }
        return woken.map(\.continuation)
    }
}
