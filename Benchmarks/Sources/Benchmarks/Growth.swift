// SPDX-License-Identifier: MIT
import Foundation

/// What one element costs among few and among many: equal costs mean that the time grows with the number, and not with
/// its square.
///
/// To add one, write a row in one of the lists of `Growth+Rows.swift`. Where an operation handles one element among
/// others, its time is divided by the number of the others.
struct Growth: Sendable {
    /// What the time is for, as a phrase.
    let name: String
    /// How many elements are few, and how many are many.
    let sizes: (few: Int, many: Int)
    /// The largest ratio of the two costs. For linear time, it leaves room for the processor's caches and other
    /// programs. For time that is known to grow faster, it is the ratio of the sizes.
    let limit: Double
    private let prepare: @Sendable (Int) async throws -> @Sendable () async throws -> Void
    private let elements: @Sendable (Int) -> Int

    /// - Parameters:
    ///   - elements: by how many elements the time of an operation is divided, for a number of elements.
    ///   - prepare: returns an operation for a number of elements.
    init(
        _ name: String, _ few: Int, _ many: Int, limit: Double = 4,
        dividedBy elements: @escaping @Sendable (Int) -> Int = { $0 },
        prepare: @escaping @Sendable (Int) async throws -> @Sendable () async throws -> Void
    ) {
        (self.name, sizes, self.limit) = ("growth: \(name)", (few, many), limit)
        (self.elements, self.prepare) = (elements, prepare)
    }

    /// Measures and prints the costs, and returns whether the limit is kept.
    func report() async throws -> Bool {
        let (few, many) = try await measure()
        let isKept = many / few <= limit
        print("\n\(name)\n  \(text(few)) ns among \(sizes.few), \(text(many)) ns among \(sizes.many)")
        print("  \(text(many / few)) times as much, limit \(text(limit)): \(isKept ? "kept" : "NOT KEPT")")
        return isKept
    }

    /// The processor time for one element in nanoseconds: the best of a few rounds, because other programs run.
    private func measure() async throws -> (few: Double, many: Double) {
        var best = (few: Double.infinity, many: Double.infinity)
        let operations = (few: try await prepare(sizes.few), many: try await prepare(sizes.many))
        for _ in 0..<3 {
            best.few = min(best.few, try await Self.time(operations.few) / Double(elements(sizes.few)))
            best.many = min(best.many, try await Self.time(operations.many) / Double(elements(sizes.many)))
        }
        return best
    }

    /// Runs an operation for at least ten milliseconds, and returns the nanoseconds of one run.
    @concurrent
    private static func time(_ operation: @Sendable () async throws -> Void) async throws -> Double {
        let start = processorTime()
        var times = 0.0
        while true {
            try await operation()
            times += 1
            let total = processorTime() - start
            if total > 10_000_000 { return total / times }
        }
    }
}
