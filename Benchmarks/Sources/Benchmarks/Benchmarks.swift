// SPDX-License-Identifier: MIT
import Foundation

/// Prints what Letterhead costs beside code written by hand, and fails when a limit is not kept.
///
/// `swift run --package-path Benchmarks -c release benchmarks` runs all benchmarks, or with a word as its argument, the
/// ones with this word in their names.
@main
struct Benchmarks {
    static let all =
        Benchmark.building + Benchmark.chain + Benchmark.links + Benchmark.percentEncoding + Benchmark.bodies
        + Benchmark.retry + Benchmark.pages + Benchmark.streaming + Benchmark.caching + Benchmark.observing
        + Benchmark.signing

    static func main() async throws {
        #if os(Linux)
            if try await UploadMemory.runChild() { return }
            if try await SessionSpeed.runChild() { return }
        #endif
        let word = CommandLine.arguments.dropFirst().first
        let all = try await all + [.loopback()]
        let chosen = all.filter { benchmark in word.map { benchmark.name.contains($0) } ?? true }
        var broken = 0
        print("Medians of alternating runs in one process; each floor is hand-written, in the file of its benchmark.")
        for benchmark in chosen where try await !report(benchmark) { broken += 1 }
        var count = chosen.count
        for row in Growth.all where word.map({ row.name.contains($0) }) ?? true {
            count += 1
            if try await !row.report() { broken += 1 }
        }
        #if os(Linux)
            if word.map({ UploadMemory.name.contains($0) }) ?? true {
                count += 1
                if try await !UploadMemory.report() { broken += 1 }
            }
            if word.map({ CacheOpening.name.contains($0) }) ?? true {
                count += 1
                if try await !CacheOpening.report() { broken += 1 }
            }
            if word.map({ TransportSpeed.name.contains($0) }) ?? true {
                count += 1
                if try await !TransportSpeed.report() { broken += 1 }
            }
            if word.map({ LineSpeed.name.contains($0) }) ?? true {
                count += 1
                if try await !LineSpeed.report() { broken += 1 }
            }
            if word.map({ SessionSpeed.name.contains($0) }) ?? true {
                count += 1
                if try await !SessionSpeed.report() { broken += 1 }
            }
            if word.map({ TransferSpeed.name.contains($0) }) ?? true {
                count += 1
                if try await !TransferSpeed.report() { broken += 1 }
            }
        #endif
        print("\n\(count) benchmarks, \(broken) beyond a limit")
        if broken > 0 || count == 0 { exit(1) }
    }

    /// Measures and prints one comparison, and returns whether its limits are kept.
    private static func report(_ benchmark: Benchmark) async throws -> Bool {
        print("\n\(benchmark.name)")
        guard try await benchmark.agree() else {
            print("  the outputs differ: nothing was timed")
            return false
        }
        let result = try await Measurement.measure(benchmark)
        print("  floor      \(line(result.floor))")
        print("  Letterhead \(line(result.measured))")
        let verdicts = benchmark.limits.map { $0.verdict(on: result) }
        for verdict in verdicts { print("  \(verdict.text): \(verdict.isKept ? "kept" : "NOT KEPT")") }
        return verdicts.allSatisfy(\.isKept)
    }

    private static func line(_ cost: Measurement.Cost) -> String {
        let time = "\(text(cost.nanoseconds)) ns"
        let count = cost.allocations.map { "\(text($0)) allocations" } ?? ""
        return String(repeating: " ", count: max(0, 14 - time.count)) + time + "   " + count
    }
}
