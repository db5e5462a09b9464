// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Synchronization

/// Receives the events of a client: the start and the end of each load, its attempts, the decisions of the links, and
/// the times of the connection.
///
/// Use an observer to see what a client does without taking part in it: to log, to measure or to trace. Use a link to
/// change requests or responses, and a validator to accept, reject or retry them.
///
/// ```swift
/// let client = HTTPClient(environment: .production, observers: [PrintLoader(.waterfall), HARRecorder()])
/// ```
///
/// Implement ``record(_:)`` to write one, and ignore the events and facts that you do not know, because later versions
/// of the library can add new ones:
///
/// ```swift
/// struct CountRetries: HTTPObserver {
///     func record(_ event: HTTPEvent) {
///         if event.name == .retryDecided, event[.isRetried] == true { retries.increment() }
///     }
/// }
/// ```
///
/// Law: the client calls ``record(_:)`` on the thread that caused the event, before the request continues, unless another
/// thread is delivering an event of the same load. Return quickly, do not wait for a lock that is held for long, and do
/// not send a request with the same client from this method. <doc:ObservingAClient> lists all events, their facts and
/// their order.
public protocol HTTPObserver: Sendable {
    /// Receives an event. It can be called by several loads at the same time.
    func record(_ event: HTTPEvent)
}

/// An observer that also reads the messages of an event. Only observers of the library do, because messages contain
/// secrets.
protocol MessageObserver: HTTPObserver {
    func record(_ message: ObservedMessage, of event: HTTPEvent)
}

/// The message that an event belongs to.
enum ObservedMessage: Sendable {
    case request(HTTPRequest)
    case response(HTTPResponse)
    /// A part of the body of a streamed response.
    case piece(Data)
}

/// The events of the loads in progress, for an observer that shows a load after the load has ended.
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
    var isEndOfLoad: Bool { name == .loadEnd || name == .loadFailed || name == .loadCancelled }
}
