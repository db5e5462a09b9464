// SPDX-License-Identifier: MIT
import Synchronization
import TestKit

/// A clock and an executor on one thread: when no task can run, the time moves to the end of the next sleep. The tasks
/// of a simulation run in the same order each time.
final class SimulatedTime: Clock, TaskExecutor {
    struct Instant: InstantProtocol {
        let offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    /// A sleep, ordered by its end and its number.
    private struct Sleep: Comparable {
        let end: Duration
        let number: Int

        static func < (left: Sleep, right: Sleep) -> Bool { (left.end, left.number) < (right.end, right.number) }
    }

    private struct State {
        var now = Duration.zero
        var last = 0
        var jobs: [UnownedJob] = []
        var heap: [Sleep] = []
        /// The sleeps that have not been cancelled.
        var sleepers: [Int: CheckedContinuation<Void, any Error>] = [:]
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())

    var now: Instant { Instant(offset: state.withLock { $0.now }) }
    var minimumResolution: Duration { .zero }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
    }

    func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if state.cancelled.remove(number) != nil { return true }
                    state.sleepers[number] = continuation
                    state.heap.push(Sleep(end: deadline.offset, number: number))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: number)
                if sleeper == nil { state.cancelled.insert(number) }
                return sleeper
            }
            sleeper?.resume(throwing: CancellationError())
        }
    }

    /// Runs the tasks of this executor until none of them can run or sleeps.
    func run() {
        while true {
            let jobs = state.withLock { state in
                defer { state.jobs = [] }
                return state.jobs
            }
            for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
            if jobs.isEmpty, !wakeNext() { return }
        }
    }

    private func wakeNext() -> Bool {
        let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            while let sleep = state.heap.pop() {
                guard let sleeper = state.sleepers.removeValue(forKey: sleep.number) else { continue }
                state.now = max(state.now, sleep.end)
                return sleeper
            }
            return nil
        }
        next?.resume()
        return next != nil
    }
}

extension Array where Element: Comparable {
    /// Adds an element to a binary heap.
    fileprivate mutating func push(_ element: Element) {
        append(element)
        var place = count - 1
        while place > 0, self[place] < self[(place - 1) / 2] {
            swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    /// Removes the least element of a binary heap.
    fileprivate mutating func pop() -> Element? {
        guard let least = first else { return nil }
        let end = removeLast()
        guard !isEmpty else { return least }
        self[0] = end
        var place = 0
        while let child = [2 * place + 1, 2 * place + 2].filter({ $0 < count }).min(by: { self[$0] < self[$1] }),
            self[child] < self[place]
        {
            swapAt(place, child)
            place = child
        }
        return least
    }
}

/// Reproducible random numbers, which tasks share.
final class Seeded: Sendable {
    private let generator: Mutex<SeededGenerator>

    init(_ seed: Int) {
        generator = Mutex(SeededGenerator(seed: UInt64(bitPattern: Int64(seed)) &* 0x9E37_79B9_7F4A_7C15))
    }

    /// Returns a number from 0 to 1, without 1.
    func unit() -> Double { Double(generator.withLock { $0.next() } >> 11) / 9_007_199_254_740_992 }
}
