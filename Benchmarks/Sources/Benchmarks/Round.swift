// SPDX-License-Identifier: MIT
import Foundation

/// The costs of operations that wait for another thread: real time, and processor time of this process.
struct Round: CustomStringConvertible {
    /// In nanoseconds an operation, both.
    let time: Double
    let processor: Double

    var description: String {
        "\(text(1e9 / time)) a second, \(text(processor / 1000)) us of processor each"
    }

    /// Runs the contenders in turns, so that other programs slow all of them, and takes the median of each.
    ///
    /// - Parameter contenders: do an operation so many times.
    static func measure(
        _ contenders: [@Sendable (Int) async throws -> Void], rounds: Int
    ) async throws -> [Round] {
        var all = contenders.map { _ in [Round]() }
        var counts: [Int] = []
        for contender in contenders {
            _ = try await once(contender, 500)
            counts.append(max(100, Int(300_000_000 / (try await once(contender, 2000)).time)))
        }
        // In a random order, because the system places the threads of a contender depending on what ran before it.
        for _ in 0..<rounds {
            for index in contenders.indices.shuffled() {
                all[index].append(try await once(contenders[index], counts[index]))
            }
        }
        return all.map { rounds in
            Round(time: median(rounds.map(\.time)), processor: median(rounds.map(\.processor)))
        }
    }

    @concurrent
    private static func once(_ contender: @Sendable (Int) async throws -> Void, _ count: Int) async throws -> Round {
        let start = (ContinuousClock.now, processorTime())
        try await contender(count)
        let (time, processor) = ((ContinuousClock.now - start.0) / .nanoseconds(1), processorTime() - start.1)
        return Round(time: time / Double(count), processor: processor / Double(count))
    }

    private static func median(_ numbers: [Double]) -> Double { numbers.sorted()[numbers.count / 2] }
}

/// Nanoseconds that the processors spent on this process.
func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}
