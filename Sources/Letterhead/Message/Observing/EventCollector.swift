import Synchronization

/// The events of the loads in progress, for an observer that shows a load after the load has ended.
///
/// This type is a class because all loads add events.
final class EventCollector: Sendable {
    /// The maximum numbers of loads and of events of a load. The events of further loads are not collected.
    private static let (mostLoads, mostEvents) = (1_000, 1_000)

    private let loads = Mutex<[Int: [HTTPEvent]]>([:])

    /// Adds an event. Returns all events of its load if the event is the last one of the load; otherwise nil.
    func add(_ event: HTTPEvent) -> [HTTPEvent]? {
        loads.withLock { loads in
            var events = loads.removeValue(forKey: event.load) ?? []
            if event.name == .loadStart ? loads.count < Self.mostLoads : !events.isEmpty {
                if events.count < Self.mostEvents || event.isEndOfLoad { events.append(event) }
            }
            if event.isEndOfLoad { return events.isEmpty ? nil : events }
            if !events.isEmpty { loads[event.load] = events }
            return nil
        }
    }
}

extension HTTPEvent {
    /// Whether no event of the load follows.
    var isEndOfLoad: Bool { name == .loadEnd || name == .loadFailed || name == .loadCancelled }
}
