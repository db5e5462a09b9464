// SPDX-License-Identifier: MIT
import Letterhead
import Synchronization

/// A value that closures share.
final class SharedValue<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        state.withLock { value in
            var copy = value
            defer { value = copy }
            return body(&copy)
        }
    }
}

/// An observer that keeps all events.
final class EventLog: HTTPObserver {
    private let state = Mutex<[HTTPEvent]>([])

    var events: [HTTPEvent] { state.withLock { $0 } }
    var names: [String] { events.map(\.name) }

    func record(_ event: HTTPEvent) { state.withLock { $0.append(event) } }

    func first(_ name: String) -> HTTPEvent? { events.first { $0.name == name } }
}
