// SPDX-License-Identifier: MIT
import Letterhead
import Synchronization

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
        var entries: [Entry] = []
        var records: [StubRecord] = []
        var refused: [String] = []
        var watchers: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWatcher = 0
    }

    private let state = Mutex(State())

    var records: [StubRecord] { state.withLock { $0.records } }

    /// The number of recorded calls.
    var count: Int { state.withLock { $0.records.count } }

    func add(_ stub: Stub) {
        state.withLock { state in
            state.entries.append(Entry(stub: stub))
        }
    }

    /// Records a request, and chooses the first stub that matches it and has calls left.
    ///
    /// Conditions are code of the test, so they run outside the lock. Stubs are never removed, so their indices do not
    /// change.
    func claim(_ input: StubInput, at time: Duration) -> Claim {
        let stubs = state.withLock { $0.entries.map(\.stub) }
        var chosen: (index: Int, turn: Int)?
        var isForbidden = false
        for (index, stub) in stubs.enumerated() where stub.differences(input).isEmpty {
            if stub.times.most == 0 {
                if stub.state?.difference != nil { continue }
                isForbidden = true
                break
            }
            if let turn = take(index, stub) {
                chosen = (index, turn)
                break
            }
        }
        let stub = chosen.map { stubs[$0.index] }
        let number = record(input, at: time, subject: stub?.subject)
        if let stub, let chosen {
            if let route = stub.route(input) { note(route, of: chosen.index) }
            return .stub(stub, turn: chosen.turn, number: number)
        }
        return .nothing(reason: reason(input, stubs), number: number, isForbidden: isForbidden)
    }

    /// Stores the result of a call. A streamed body stays with the caller.
    func finish(_ number: Int, _ result: Result<HTTPResponse, HTTPError>) {
        state.withLock { state in
            switch result {
            case .success(var response):
                if response.body.buffered == nil { response.body = HTTPResponseBody() }
                state.records[number - 1].response = response
            case .failure(let error): state.records[number - 1].error = error
            }
        }
    }

    func refuse(_ reason: String) { state.withLock { $0.refused.append(reason) } }

    /// One sentence for each fault of a stub and for each unexpected request.
    var violations: [String] {
        state.withLock { state in
            state.entries.flatMap { $0.stub.violations(count: $0.count, routes: $0.routes) } + state.refused
        }
    }

    /// Waits until more than `seen` calls are recorded.
    func waitForCall(after seen: Int) async throws {
        let number = state.withLock { state in
            state.lastWatcher += 1
            return state.lastWatcher
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if Task.isCancelled || state.records.count > seen { return true }
                    state.watchers[number] = continuation
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.watchers.removeValue(forKey: number) }?.resume()
        }
        try Task.checkCancellation()
    }

    /// Counts a call of a stub. Returns the number of earlier calls; nil if the stub has no calls left or its scenario
    /// is in another state.
    private func take(_ index: Int, _ stub: Stub) -> Int? {
        let turn = state.withLock { state -> Int? in
            guard state.entries[index].count < stub.times.most else { return nil }
            state.entries[index].count += 1
            return state.entries[index].count - 1
        }
        guard let turn, let required = stub.state else { return turn }
        if required.enter() { return turn }
        state.withLock { $0.entries[index].count -= 1 }
        return nil
    }

    private func note(_ route: String, of index: Int) {
        state.withLock { state in
            if !state.entries[index].routes.contains(route) { state.entries[index].routes.append(route) }
        }
    }

    private func record(_ input: StubInput, at time: Duration, subject: Stub.Subject?) -> Int {
        let (number, watchers) = state.withLock { state in
            let number = state.records.count + 1
            state.records.append(StubRecord(input: input, number: number, time: time, subject: subject))
            defer { state.watchers = [:] }
            return (number, state.watchers.values)
        }
        for watcher in watchers { watcher.resume() }
        return number
    }

    /// Describes a request that no stub answers, with the nearest stub and its differences.
    private func reason(_ input: StubInput, _ stubs: [Stub]) -> String {
        let counts = state.withLock { $0.entries.map(\.count) }
        let candidates = zip(stubs, counts).map { stub, count in
            (stub: stub, differences: stub.differences(from: input, count: count))
        }.filter { !$0.differences.isEmpty }
        let nearest = candidates.min { left, right in
            left.differences.reduce(0) { $0 + $1.weight } < right.differences.reduce(0) { $0 + $1.weight }
        }
        guard let nearest else { return "no stub matches \(input.outline): the loader has no stubs" }
        let differences = nearest.differences.map(\.text).joined(separator: "; ")
        return "no stub matches \(input.outline); the nearest is the stub of \(nearest.stub.name): \(differences)"
    }
}
