// SPDX-License-Identifier: MIT
public import Letterhead
import Synchronization

/// An observer that keeps all events, so that a test can check what a client does.
///
/// ```swift
/// let recorder = EventRecorder()
/// let client = HTTPClient(environment: environment, observers: [recorder], transport: stubs)
/// _ = try await client.send(GetUser(login: "ada"))
/// #expect(recorder.names.last == .loadEnd && !recorder.names.contains(.retryDecided))
/// #expect(recorder.first(.exchangeEnd)?[.status] == 200)
/// ```
public final class EventRecorder: HTTPObserver {
    private let state = Mutex<[HTTPEvent]>([])

    /// Creates an empty recorder.
    public init() {}

    /// All events, in order.
    public var events: [HTTPEvent] { state.withLock { $0 } }

    /// The names of all ``events``, in order.
    public var names: [HTTPEvent.Name] { events.map(\.name) }

    /// The events grouped by load, the first load first. If loads run at the same time, their events are mixed in
    /// ``events``, but not here.
    public var loads: [[HTTPEvent]] {
        var numbers: [Int: Int] = [:]
        return events.reduce(into: []) { loads, event in
            if let index = numbers[event.load] { return loads[index].append(event) }
            numbers[event.load] = loads.count
            loads.append([event])
        }
    }

    /// Returns the first event with a name, or nil.
    public func first(_ name: HTTPEvent.Name) -> HTTPEvent? { events.first { $0.name == name } }

    /// Keeps an event.
    public func record(_ event: HTTPEvent) { state.withLock { $0.append(event) } }
}
