// SPDX-License-Identifier: MIT
public import LetterheadFoundation
import Synchronization

/// Receives the events of a client: loads, attempts, decisions of links, and connection times.
///
/// ```swift
/// let client = HTTPClient(environment: .production, observers: [PrintLoader(.line), StatisticsRecorder()])
/// ```
///
/// ## Use an observer
///
/// Use an observer to see what a client does without taking part in it: to log, to measure or to trace. Use a link to
/// change requests or responses, and a validator to accept, reject or retry them.
///
/// ## Implement an observer
///
/// Implement ``record(_:)``. Ignore events and facts that you don't know, because later versions can add new ones:
///
/// ```swift
/// struct CountRetries: HTTPObserver {
///     func record(_ event: HTTPEvent) {
///         if event.name == .retryDecided, event[.isRetried] == true { retries.increment() }
///     }
/// }
/// ```
///
/// Law: the client calls ``record(_:)`` on the thread that caused the event, before the request continues. If a
/// different thread is already delivering an event for the same load, that thread makes the call. Return quickly, don't
/// wait for a lock that is held for long, and don't send a request with the same client from this method.
///
/// <doc:ObservingAClient> lists all events, their facts and their order.
public protocol HTTPObserver: Sendable {
    /// Receives an event. Several loads can call it at the same time.
    func record(_ event: HTTPEvent)
}

/// An observer that also reads requests, responses and streamed bytes, for example to write HTTP Archive files.
///
/// Messages contain secrets. Before you store one, ask ``HTTPRequest/isSecret(_:)-(HTTPHeaders.Field)`` and
/// ``Redaction`` what is secret.
public protocol MessageObserver: HTTPObserver {
    /// Receives the message that an event belongs to, after ``HTTPObserver/record(_:)`` received the event.
    func record(_ message: ObservedMessage, of event: HTTPEvent)
}

/// The message that an event belongs to, for a ``MessageObserver``.
public enum ObservedMessage: Sendable {
    /// The request that is handed to the transport, for `exchange.start`.
    case request(HTTPRequest)
    /// The response, for `response.head`. A streamed body hasn't been read yet.
    case response(HTTPResponse)
    /// A piece of a streamed body, for `body.piece`.
    case piece(Data)
}

/// Collects the events of loads in progress, for an observer that shows a load after its end.
package final class EventCollector: Sendable {
    /// The maximum numbers of loads, and of events in each. Further loads and events aren't collected.
    private static let (mostLoads, mostEvents) = (1_000, 1_000)

    private let loads = Mutex<[Int: [HTTPEvent]]>([:])

    package init() {}

    /// Adds an event. Returns all events in a load if this event ends it, otherwise nil.
    package func add(_ event: HTTPEvent) -> [HTTPEvent]? {
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
    /// Whether the event is the last one of its load: `load.end`, `load.failed` or `load.cancelled`. Only events of an
    /// exchange that outlives the load can follow.
    public var isEndOfLoad: Bool { name == .loadEnd || name == .loadFailed || name == .loadCancelled }

    /// Returns one line about a load, as in `GET users/{} 200 in 142.0 ms`: the method, the route or the URL, the
    /// result and the duration. Pass all events of the load, in order.
    public static func line(of events: [HTTPEvent]) -> String {
        guard let first = events.first else { return "(no events)" }
        // Events of an exchange may follow the end of the load.
        let last = events.last(where: \.isEndOfLoad) ?? events.last ?? first
        var parts = [first[.method], first.route ?? first[.url]].compactMap(\.self)
        if let status = last[.status] { parts.append("\(status)") }
        if last.name == .loadFailed { parts.append(last[.errorType] ?? "failed") }
        if last.name == .loadCancelled { parts.append("cancelled") }
        return Redaction.visible(parts.joined(separator: " ")) + " in " + (last.time - first.time).milliseconds
    }
}
