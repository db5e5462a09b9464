// SPDX-License-Identifier: MIT
import Foundation
import Testing

/// The table of the guide "Staying up".
@Suite(.timeLimit(.minutes(5))) struct StayingUpTests {
    private static let guide = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Sources/LetterheadResilience/LetterheadResilience.docc/StayingUp.md")

    @Test func `the table of the guide is what 1,000 simulated clients do, and extra load is bounded`() async throws {
        let fleets = await withTaskGroup(of: SimulatedFleet.self) { group in
            for policy in Policy.allCases { group.addTask { await SimulatedFleet.run(policy) } }
            return await group.reduce(into: [Policy: SimulatedFleet]()) { $0[$1.policy] = $1 }
        }
        let rows = Policy.allCases.compactMap { fleets[$0]?.row }
        let table = ([SimulatedFleet.head] + rows).joined(separator: "\n")
        print(table)
        let guide = try String(contentsOf: Self.guide, encoding: .utf8)
        #expect(guide.contains(table), "the guide has another table; this is the right one:\n\(table)")

        let none = try #require(fleets[.none]), all = try #require(fleets[.all])
        #expect(none.sent == [1, 1, 1, 1])
        // A hedge adds at most its share, whatever the service does.
        let hedge = try #require(fleets[.hedge])
        #expect(hedge.amplification <= 1.1 && hedge.p99 < none.p99 / 2)
        // A service that is overloaded or down receives no more than without any link, and far less than with retries.
        #expect(all.sent[1] <= 1.1 && all.sent[2] < 0.8)
        #expect(all.amplification <= 1.1)
        #expect(try #require(fleets[.plain]).sent[2] > 3.5)
    }
}
