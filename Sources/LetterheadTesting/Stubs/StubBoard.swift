// SPDX-License-Identifier: MIT
import Letterhead

/// The stubs of a loader, with their call counts and a record of all requests.
///
/// This type is a class because tests read it while requests change it.
final class StubBoard: Sendable {
    /// The result of searching a stub for a request.
    struct Claim {
        /// The request number in the record.
        let number: Int
        /// The stub and how many calls it had before, or nil if no stub responds.
        let found: (stub: Stub, turn: Int)?
        /// Whether a stub that matches the request allows no calls.
        let isForbidden: Bool
    }

    private struct Entry {
        let stub: Stub
        var count = 0
        /// The different routes of the requests that this stub has answered. It stays empty if the stub is meant for
        /// several routes.
        var routes: [String] = []
    }

    private struct State {
        /// All stubs, including overridden ones. The index of a stub never changes.
        var entries: [Entry] = []
        /// Stub indices in the order in which requests try them, without overridden stubs.
        var order: [Int] = []

        var current: [(index: Int, entry: Entry)] { order.map { ($0, entries[$0]) } }
        var records: [StubRecord] = []
        var refused: [String] = []
    }

    private let state = Watched(State())

    var records: [StubRecord] { state.value.records }

    /// Adds a stub after all others.
    ///
    /// A stub that overrides replaces all stubs with the same subject, at the position of the first one. If there are
    /// none, it comes before all others.
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
    /// Conditions are test code, so they run outside the lock.
    func claim(_ input: StubInput, at time: Duration) -> Claim {
        var found: (stub: Stub, turn: Int)?
        var isForbidden = false
        for (index, entry) in state.value.current where entry.stub.differences(input).isEmpty {
            isForbidden = entry.stub.times.most == 0 && entry.stub.state?.difference == nil
            if isForbidden { break }
            guard let turn = take(index, entry.stub) else { continue }
            found = (entry.stub, turn)
            if let route = entry.stub.route(input) { note(route, of: index) }
            break
        }
        let number = record(input, at: time, subject: found?.stub.subject)
        return Claim(number: number, found: found, isForbidden: isForbidden)
    }

    /// Stores a call result. The record doesn't contain a streamed body, because the caller reads it.
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

    /// Stores the reason why no stub answers a request, and returns it.
    func refuse(_ input: StubInput) -> String {
        let reason = reason(input)
        state.change { $0.refused.append(reason) }
        return reason
    }

    /// One sentence for each stub fault and for each unexpected request.
    var violations: [String] {
        let state = state.value
        return state.current.flatMap { $0.entry.stub.violations(count: $0.entry.count, routes: $0.entry.routes) }
            + state.refused
    }

    /// Waits until a condition is fulfilled. It is checked after each change.
    func wait(until isFulfilled: () -> Bool) async throws {
        guard await state.value(where: { _ in isFulfilled() }) != nil else { throw CancellationError() }
    }

    /// Counts a call, and returns how many calls the stub had before.
    ///
    /// Returns nil if the stub has no calls left, was overridden in the meantime, or requires a state that its scenario
    /// has left.
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

    /// Describes a request that no stub answers. The text names the nearest stub and the differences.
    private func reason(_ input: StubInput) -> String {
        let candidates = state.value.current.map { _, entry in
            (stub: entry.stub, differences: entry.stub.differences(from: input, count: entry.count))
        }.filter { !$0.differences.isEmpty }
        guard let nearest = candidates.min(by: { $0.differences.weight < $1.differences.weight }) else {
            return "no stub matches \(input.outline): the loader has no stubs"
        }
        let differences = nearest.differences.map(\.text).joined(separator: "; ")
        return "no stub matches \(input.outline), and the nearest is the stub of \(nearest.stub.name): \(differences)"
    }
}
