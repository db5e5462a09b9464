// SPDX-License-Identifier: MIT
#if os(Linux)
    /// Finds a smaller case with the same fault: each factor is set to its default as long as the fault stays.
    enum Shrink {
        /// - Parameter repetitions: how often a case may pass before it counts as free of the fault, which may depend on
        ///   times.
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
                            of: candidate, within: fault.rule == "hang" ? .seconds(2) : .seconds(5))
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
