// SPDX-License-Identifier: MIT
import CountAllocations
import Foundation

/// Counts the memory allocations of common operations, and compares them with the counts that are on record.
///
/// Counts don't depend on how busy a machine is, so one allocation more is a failure. They do depend on the version of
/// Swift and its Foundation, so each version has a file of its own. `.ci/run allocations` sets the environment that
/// makes hashing and formatting the same in each run.
///
/// ```
/// allocations counts.txt            # compare
/// allocations --update counts.txt   # record
/// ```
@main
struct Allocations {
    static func main() async throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let updates = arguments.first == "--update"
        if updates { arguments.removeFirst() }
        guard let path = arguments.first else { fail("pass the file with the counts") }
        guard count_allocations_works() == 1 else { return print("SKIPPED: allocations are counted with glibc only") }
        var lines: [String] = []
        for operation in try await Operation.all() {
            lines.append("\(try await count(operation)) \(operation.name)\n")
        }
        let counted = lines.joined()
        if updates { return try counted.write(toFile: path, atomically: true, encoding: .utf8) }
        let recorded = try String(contentsOfFile: path, encoding: .utf8)
        let differences = counted.split(separator: "\n").difference(from: recorded.split(separator: "\n"))
        if differences.isEmpty { return print("\(lines.count) operations allocate as often as recorded in \(path)") }
        for line in differences.removals { print("recorded: \(line.element)") }
        for line in differences.insertions { print("counted:  \(line.element)") }
        fail("allocations differ from \(path) (record them with .ci/stages/allocations --update if that's intended)")
    }

    /// The allocations of one operation, as the lowest average of several rounds. Another thread's allocations and what
    /// is created only once can only add to a round.
    private static func count(_ operation: Operation) async throws -> Int {
        let (rounds, times) = (12, max(1, 64 / operation.units))
        try await operation.run(times)
        var lowest = Double.infinity
        for _ in 0..<rounds {
            count_allocations_start()
            try await operation.run(times)
            lowest = min(lowest, Double(count_allocations_stop()) / Double(times * operation.units))
        }
        return Int(lowest.rounded())
    }

    private static func fail(_ text: String) -> Never {
        print("error: \(text)")
        exit(1)
    }
}

extension CollectionDifference.Change {
    fileprivate var element: ChangeElement {
        switch self {
        case .insert(_, let element, _), .remove(_, let element, _): element
        }
    }
}
