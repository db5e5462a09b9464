// SPDX-License-Identifier: MIT
import Letterhead

/// The stubs of a loader, the number of their calls, and the record.
///
/// This type is a class because tests read it while requests change it.
final class StubBoard: Sendable {
    /// The result of looking for a stub. The number identifies the record.
    enum Claim {
        case stub(Stub, turn: Int, number: Int)
        /// No stub responds. The request is forbidden if a stub that matches it allows no calls.
        case nothing(reason: String, number: Int, isForbidden: Bool)
    }

    private struct Entry {
        let stub: Stub
        var count = 0
        /// The routes of the requests that the stub has answered, if the stub is meant for one route.
        var routes: [String] = []
    }

    private struct State {
        /// All stubs. The index of an entry does not change.
        var entries: [Entry] = []
        /// The indices of the stubs in the order in which they are tried. Stubs that were overridden are not among them.
        var order: [Int] = []

        var current: [(index: Int, entry: Entry)] { order.map { ($0, entries[$0]) } }
        var records: [StubRecord] = []
        var refused: [String] = []
    }

    private let state = Watched(State())

    var records: [StubRecord] { state.value.records }

    /// Adds a stub after all others, or in the place of the first stub with the same subject. Without such a stub, a stub
    /// that overrides others precedes all of them.
    func add(_ stub: Stub, isOverride: Bool) {
        state.change { state in
            state.entries.append(Entry(stub: stub))
            let index = state.entries.count - 1
            guard isOverride else { return state.order.append(index) }
            let retired = state.order.filter { state.entries[$0].stub.subject == stub.subject }
            let place = retired.first.flatMap(state.order.firstIndex) ?? 0
            state.order.removeAll(where: retired.contains)
            state.order.insert(index, at: place)
        }
    }

    /// Records a request, and chooses the first stub that matches it and has calls left.
    ///
    /// Conditions are code of the test, so they run outside the lock.
    func claim(_ input: StubInput, at time: Duration) -> Claim {
        let stubs = state.value.current.map { ($0.index, $0.entry.stub) }
        var chosen: (index: Int, stub: Stub, turn: Int)?
        var isForbidden = false
        for (index, stub) in stubs where stub.differences(input).isEmpty {
            if stub.times.most == 0 {
                if stub.state?.difference != nil { continue }
                isForbidden = true
                break
            }
            if let turn = take(index, stub) {
                chosen = (index, stub, turn)
                break
            }
        }
        let number = record(input, at: time, subject: chosen?.stub.subject)
        guard let chosen else { return .nothing(reason: reason(input), number: number, isForbidden: isForbidden) }
        if let route = chosen.stub.route(input) { note(route, of: chosen.index) }
        return .stub(chosen.stub, turn: chosen.turn, number: number)
    }

    /// Stores the result of a call. A streamed body stays with the caller.
    func finish(_ number: Int, _ result: Result<HTTPResponse, HTTPError>) {
        state.change { state in
            switch result {
            case .success(var response):
                if response.body.buffered == nil { response.body = HTTPResponseBody() }
                state.records[number - 1].response = response
            case .failure(let error): state.records[number - 1].error = error
            }
        }
    }

    func refuse(_ reason: String) { state.change { $0.refused.append(reason) } }

    /// One sentence for each fault of a stub and for each unexpected request.
    var violations: [String] {
        let state = state.value
        return state.current.flatMap { $0.entry.stub.violations(count: $0.entry.count, routes: $0.entry.routes) }
            + state.refused
    }

    /// Waits until a condition is fulfilled. It is checked after each change.
    func wait(until isFulfilled: () -> Bool) async throws {
        guard await state.value(where: { _ in isFulfilled() }) != nil else { throw CancellationError() }
    }

    /// Counts a call of a stub. Returns the number of earlier calls; nil if the stub has no calls left, was overridden
    /// in the meantime, or has a scenario that is in another state.
    private func take(_ index: Int, _ stub: Stub) -> Int? {
        let turn = state.change { state -> Int? in
            guard state.entries[index].count < stub.times.most, state.order.contains(index) else { return nil }
            state.entries[index].count += 1
            return state.entries[index].count - 1
        }
        guard let turn, let required = stub.state else { return turn }
        if required.enter() { return turn }
        state.change { $0.entries[index].count -= 1 }
        return nil
    }

    private func note(_ route: String, of index: Int) {
        state.change { state in
            if !state.entries[index].routes.contains(route) { state.entries[index].routes.append(route) }
        }
    }

    private func record(_ input: StubInput, at time: Duration, subject: Stub.Subject?) -> Int {
        state.change { state in
            let number = state.records.count + 1
            state.records.append(StubRecord(input: input, number: number, time: time, subject: subject))
            return number
        }
    }

    /// Describes a request that no stub answers, with the nearest stub and its differences.
    private func reason(_ input: StubInput) -> String {
        let candidates = state.value.current.map { _, entry in
            (stub: entry.stub, differences: entry.stub.differences(from: input, count: entry.count))
        }.filter { !$0.differences.isEmpty }
        guard let nearest = candidates.min(by: { $0.differences.weight < $1.differences.weight }) else { return "no stub matches \(input.outline): the loader has no stubs" }
        let differences = nearest.differences.map(\.text).joined(separator: "; ")
        return "no stub matches \(input.outline); the nearest is the stub of \(nearest.stub.name): \(differences)"
    }
}
