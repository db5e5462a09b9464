// SPDX-License-Identifier: MIT
import Foundation
import Synchronization

/// Tries the features of the library in combination.
///
/// `joints check 4000 20260101` runs cases of a covering array, and prints each rule that is broken with the smallest
/// case that breaks it, and `joints check 1000 1 delivery=uploaded` sets the same level in each.
/// `joints run plan=302 delivery=stream` runs one case, and `joints show` also prints what happened.
@main
enum Main {
    static func main() async {
        #if os(Linux)
            let arguments = Array(CommandLine.arguments.dropFirst())
            await Nginx.shared?.start()
            switch arguments.first {
            case "check":
                let count = arguments.dropFirst().first.flatMap { Int($0) } ?? 4_000
                let seed = arguments.dropFirst(2).first.flatMap { UInt64($0) } ?? 1
                guard let fixed = Case(arguments.dropFirst(3).joined(separator: " ")) else { return usage() }
                await Check(count: count, seed: seed, fixed: fixed).run()
            case "run", "show":
                guard let testCase = Case(arguments.dropFirst().joined(separator: " ")) else { return usage() }
                let faults = await Run.faults(of: testCase, shows: arguments.first == "show")
                for fault in faults { print(fault) }
                print(faults.isEmpty ? "passed: \(testCase)" : "failed: \(testCase)")
                exit(faults.isEmpty ? 0 : 1)
            default: usage()
            }
        #endif
    }

    private static func usage() {
        print(
            "joints check [COUNT] [SEED] [FACTOR=LEVEL …], or joints run or show FACTOR=LEVEL …; the factors and their levels:"
        )
        for factor in Factor.allCases { print("  \(factor): \(factor.levels.joined(separator: " "))") }
        exit(2)
    }
}

#if os(Linux)
    /// Runs many cases, several at a time.
    struct Check {
        let count: Int
        let seed: UInt64
        /// The levels that each case has.
        let fixed: Case
        /// How many cases with the same broken rule are shrunk.
        private static let mostShrunk = 4
        private static let width = 8

        func run() async {
            let start = ContinuousClock.now
            print("seed \(seed), \(count) cases")
            let cases = Mutexed((array: CoveringArray(seed: seed), left: count))
            let found = Mutexed<[(Case, Fault)]>([])
            await withTaskGroup { group in
                for _ in 0..<Self.width {
                    group.addTask {
                        while let testCase = next(of: cases) {
                            for fault in await Run.faults(of: testCase, within: .seconds(40)) {
                                found.value.withLock { $0.append((testCase, fault)) }
                            }
                        }
                    }
                }
            }
            var faults = found.value.withLock { $0 }
            let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
            // A case that hangs keeps its connections.
            if open > 100, !faults.contains(where: { $0.1.rule == "hang" }) {
                faults.append((Case(), Fault(rule: "descriptors", detail: "\(open) are open")))
            }
            await report(faults)
            let seconds = Int((ContinuousClock.now - start) / .seconds(1))
            let failed = Set(faults.map(\.0)).count
            print("joints: \(count) cases, seed \(seed), \(failed) failed, in \(seconds) s")
            exit(failed == 0 ? 0 : 1)
        }

        private func next(of cases: Mutexed<(array: CoveringArray, left: Int)>) -> Case? {
            cases.value.withLock { cases in
                cases.left -= 1
                guard cases.left >= 0 else { return nil }
                var testCase = cases.array.next()
                for factor in fixed.changed { testCase[factor] = fixed[factor] }
                return testCase
            }
        }

        /// Prints each fault with a case that was shrunk, and how many cases have broken the same rule.
        private func report(_ faults: [(Case, Fault)]) async {
            for (rule, broken) in Dictionary(grouping: faults, by: \.1.rule).sorted(by: { $0.key < $1.key }) {
                print("--- \(rule): \(broken.count) cases")
                var shown: Set<Case> = []
                for (testCase, fault) in broken.sorted(by: { $0.0.changed.count < $1.0.changed.count }).prefix(
                    Self.mostShrunk)
                {
                    let (smallest, same) = await Shrink.smallest(testCase, fault)
                    guard shown.insert(smallest).inserted else { continue }
                    print("\(same)\n  joints run \(smallest)\n  seed \(seed), from \(testCase)")
                }
            }
        }
    }

    /// Finds a smaller case with the same fault: each factor is set to its default as long as the fault stays.
    enum Shrink {
        /// - Parameter repetitions: how often a case may pass before it counts as free of the fault, which may depend
        ///   on times.
        static func smallest(_ testCase: Case, _ fault: Fault, repetitions: Int = 2) async -> (Case, Fault) {
            var (smallest, found) = (testCase, fault)
            var hasChanged = true
            while hasChanged {
                hasChanged = false
                for factor in smallest.changed {
                    var candidate = smallest
                    candidate[factor] = factor.levels[0]
                    for _ in 0..<repetitions {
                        let faults = await Run.faults(
                            of: candidate, within: fault.rule == "hang" ? .seconds(6) : .seconds(20))
                        guard let same = faults.first(where: { $0.rule == fault.rule }) else { continue }
                        (smallest, found, hasChanged) = (candidate, same, true)
                        break
                    }
                }
            }
            return (smallest, found)
        }
    }
#endif
