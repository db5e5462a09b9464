// SPDX-License-Identifier: MIT
import CountAllocations
import Foundation

/// What one operation costs, by hand and with Letterhead.
struct Measurement {
    let floor: Cost
    let measured: Cost

    struct Cost {
        let nanoseconds: Double
        /// nil where they cannot be counted.
        let allocations: Double?
    }

    /// Runs both in turns, so that other programs slow both, and takes the median of each.
    static func measure(_ benchmark: Benchmark, rounds: Int = 41) async throws -> Measurement {
        let floorTimes = try await repeats(of: benchmark.floor)
        let measuredTimes = try await repeats(of: benchmark.measured)
        var floor: [Double] = []
        var measured: [Double] = []
        for _ in 0..<rounds {
            floor.append(try await time(benchmark.floor, times: floorTimes))
            measured.append(try await time(benchmark.measured, times: measuredTimes))
        }
        return Measurement(
            floor: Cost(nanoseconds: median(floor), allocations: try await allocations(of: benchmark.floor)),
            measured: Cost(nanoseconds: median(measured), allocations: try await allocations(of: benchmark.measured)))
    }

    /// How often an operation is run in one round: for about twenty milliseconds, so that cold caches at its
    /// begin are a small part of it.
    private static func repeats(of routine: Routine) async throws -> Int {
        var times = 1
        try await routine.run(100)
        while true {
            let total = try await time(routine, times: times) * Double(times)
            if total > 10_000_000 { return max(1, Int(Double(times) * 20_000_000 / total)) }
            times *= 4
        }
    }

    /// Nanoseconds that the process spent on one operation, on average over one round. What other processes do
    /// meanwhile does not count.
    private static func time(_ routine: Routine, times: Int) async throws -> Double {
        let start = processorTime()
        try await routine.run(times)
        return (processorTime() - start) / Double(times)
    }

    /// Allocations of one operation, on average. What is made only once does not count.
    private static func allocations(of routine: Routine) async throws -> Double? {
        guard count_allocations_works() == 1 else { return nil }
        let times = 64
        try await routine.run(times)
        count_allocations_start()
        try await routine.run(times)
        return (Double(count_allocations_stop()) / Double(times) * 10).rounded() / 10
    }

    private static func median(_ numbers: [Double]) -> Double { numbers.sorted()[numbers.count / 2] }
}
