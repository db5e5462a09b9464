// SPDX-License-Identifier: MIT
import Letterhead
import Testing

@testable import LetterheadResilience

@Suite struct CircuitTableTests {
    private func enter(_ table: inout CircuitTable, _ name: String, _ health: ServerHealth) -> Bool {
        let admission = table.admission(RouteKey(name: name), .consecutiveFailures(1), probes: 1, at: .zero)
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

    @Test func `a circuit that moves when the table is full still counts the outcome of its probe`() throws {
        var table = CircuitTable()
        let rule = CircuitBreaker.Rule.consecutiveFailures(1)
        for number in 0..<998 { #expect(enter(&table, "\(number)", .good)) }
        #expect(enter(&table, "open", .bad))
        guard
            case .permit(let probe) = table.admission(RouteKey(name: "open"), rule, probes: 1, at: .seconds(30)),
            case .permit(let late) = table.admission(RouteKey(name: "0"), rule, probes: 1, at: .seconds(30))
        else { throw CancellationError() }
        for number in 2_000..<2_002 { #expect(enter(&table, "\(number)", .good)) }
        #expect(table.count == 2 && table.states == ["open": .halfOpen])
        // The circuit of this outcome is forgotten, and another circuit has its place.
        table.settle(late, .bad, at: .seconds(30), probes: 1, openTime: .seconds(30))
        #expect(table.states == ["open": .halfOpen])
        table.settle(probe, .good, at: .seconds(30), probes: 1, openTime: .seconds(30))
        #expect(table.states.isEmpty)
    }
}
