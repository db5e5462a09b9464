// SPDX-License-Identifier: MIT
import Letterhead
import Testing

@testable import LetterheadResilience

@Suite struct CircuitTableTests {
    private func enter(_ table: inout CircuitTable, _ name: String, _ health: ServerHealth) -> Bool {
        let admission = table.admission(
            RouteKey(name: name), .consecutiveFailures(1), probes: 1, at: .zero)
        if case .permit(let permit) = admission {
            table.settle(permit, health, at: .zero, probes: 1, openTime: .seconds(30))
        }
        if case .refused = admission { return false }
        return true
    }

    @Test func `the number of circuits has a limit`() {
        var table = CircuitTable()
        for number in 0..<5_000 { #expect(enter(&table, "\(number)", .good)) }
        #expect(table.count <= 1_000)
    }

    @Test func `an open circuit is kept, and a request without a circuit is sent`() {
        var table = CircuitTable()
        for number in 0..<1_000 { #expect(enter(&table, "\(number)", .bad)) }
        #expect(enter(&table, "another", .bad) && enter(&table, "another", .bad))
        #expect(!enter(&table, "0", .good) && !enter(&table, "999", .good))
        #expect(table.count == 1_000)
    }
}
