// SPDX-License-Identifier: MIT
import LetterheadFoundation
public import Letterhead
import Synchronization

/// Checks the event order that an `HTTPObserver` receives.
///
/// Write one test for each custom link that records events. The check uses clients that contain the link, once above
/// the attempts and once below them. Their requests are retried and redirected. Some are streamed, fail, or are
/// cancelled.
///
/// ```swift
/// @Test func `ApplyTenant keeps the order of events`() async throws {
///     try await ObserverLaws(link: { ApplyTenant() }).check()
/// }
/// ```
///
/// The laws, for each load:
/// - **Start and end**: the first event is `load.start`, and the last is `load.end`, `load.failed` or `load.cancelled`.
///   These two events occur only once. An exchange can outlive its load, so only its events may follow the end.
/// - **Time**: event times never decrease.
/// - **Attempts**: attempts are numbered from 1 without gaps, and one ends before the next starts.
/// - **Exchanges**: exchanges are numbered from 1 without gaps. Each ends at most once, and has no events after its
///   end.
/// - **Connections**: `connection.closed` occurs at most once in an exchange, after its `connection.opened` or
///   `connection.reused`.
/// - **Pairs**: a phase (`lookup`, `connect`, `tls`, `decoding`, `queue`) starts before it ends.
/// - **Identity**: all events have the same parent, template and route.
/// - **Parents**: a load that serves a parent load starts later than the parent.
public struct ObserverLaws: Sendable {
    private let makeLink: @Sendable () -> any LoaderLink

    /// Creates a check for a link.
    ///
    /// - Parameter link: creates the link. It's called twice for each scenario.
    public init(link: @escaping @Sendable () -> any LoaderLink) { makeLink = link }

    /// Returns the violated laws. The array is empty if there are none.
    public func violations() async -> [LawViolation] {
        var found: [LawViolation] = []
        for scene in ObserverScene.allCases {
            for isAbove in [true, false] {
                let events = await scene.events(of: makeLink(), isAbove: isAbove)
                found += Self.violations(of: events)
                if events.isEmpty {
                    found.append(LawViolation("start and end", nil, "a load that \(scene.rawValue) has no events"))
                }
            }
        }
        return found
    }

    /// Throws an error if the events violate a law.
    ///
    /// - Throws: ``LawViolations`` with all violations.
    public func check() async throws {
        try await violations().check()
    }

    /// Returns the violations in a list of events. All their loads must have ended.
    ///
    /// - Parameter events: all events that an observer has received, in order.
    public static func violations(of events: [HTTPEvent]) -> [LawViolation] {
        var loads: [Int: EventOrder] = [:]
        var found: [LawViolation] = []
        for event in events {
            if let parent = event.parent, loads[parent] == nil {
                found.append(LawViolation("parents", nil, "\(event.name) comes before its parent load"))
            }
            loads[event.load, default: EventOrder()].add(event)
        }
        for order in loads.sorted(by: { $0.key < $1.key }) { found += order.value.ended }
        return found
    }
}

/// A scenario for a load. The load is retried once, follows a redirect, and receives a streamed body, unless the
/// scenario makes it fail or cancels it earlier.
private enum ObserverScene: String, CaseIterable {
    case succeeds
    case isStreamed = "is streamed"
    case isDropped = "is streamed and dropped"
    case fails
    case isCancelled = "is cancelled"

    /// Returns the events of a load with a client that contains the link above or below the attempts.
    func events(of link: any LoaderLink, isAbove: Bool) async -> [HTTPEvent] {
        let recorder = EventRecorder()
        let count = Atomic(0)
        let transport = AnyLoader { try respond(to: $0, count.add(1, ordering: .relaxed).newValue) }
        let client = HTTPClient(
            retrying: Backoff(.immediate, maximumRetries: 2), links: isAbove ? link : nil,
            attemptLinks: isAbove ? nil : link, observers: [recorder], transport: transport)
        let request = HTTPRequest(url: URL(string: "https://laws.example/1") ?? URL(filePath: "/1"))
        // In one scenario, the task is cancelled, so each load has a separate task.
        try? await Task {
            guard [.isStreamed, .isDropped].contains(self) else { return _ = try await client.send(request) }
            let body = try await client.stream(request).body
            if self == .isStreamed { for try await _ in body {} }
        }.value
        // If the body is dropped, the load may end a moment later.
        let ends: Set = [HTTPEvent.Name.loadEnd, .loadFailed, .loadCancelled]
        for _ in 0..<500 where ends.isDisjoint(with: recorder.names) { try? await Task.sleep(for: .milliseconds(2)) }
        return recorder.events
    }

    private func respond(to request: HTTPRequest, _ number: Int) throws -> HTTPResponse {
        switch (self, number) {
        case (.fails, _): throw HTTPError(.invalidResponse, request: request, message: "no HTTP")
        case (.isCancelled, _):
            // The transport runs in the task of the load, so it can cancel this task.
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            throw HTTPError(.cancelled, request: request)
        case (_, 1): return HTTPResponse(request: request, status: .serviceUnavailable)
        case (_, 2): return HTTPResponse(request: request, status: .found, headers: [.location: "/2"])
        default:
            let pieces = Array(repeating: (delay: Duration.zero, data: Data("law".utf8)), count: 3)
            let body = HTTPResponseBody(pieces: pieces, clock: ContinuousClock())
            return HTTPResponse(request: request, status: .ok, body: body)
        }
    }
}

private struct EventOrder {
    private var violations: [LawViolation] = []
    private var first: HTTPEvent?
    private var last: HTTPEvent?
    private var isEnded = false
    private var attempt = 0
    private var exchange = 0
    /// The phases that have started and not ended.
    private var open: [String] = []

    /// The violations, if no further event follows.
    var ended: [LawViolation] {
        guard !isEnded else { return violations }
        return violations + [LawViolation("start and end", nil, "a load does not end")]
    }

    mutating func add(_ event: HTTPEvent) {
        checkLoad(event)
        checkNumbers(event)
        checkPhases(event)
        last = event
    }

    private mutating func note(_ law: String, _ reason: String) {
        violations.append(LawViolation(law, nil, reason))
    }

    private mutating func checkLoad(_ event: HTTPEvent) {
        if (first == nil) != (event.name == .loadStart) { note("start and end", "\(event.name) is out of place") }
        // An exchange can outlive its load, if other loads wait for its response.
        if isEnded, event[.exchange] == nil { note("start and end", "\(event.name) follows the end of the load") }
        if [.loadEnd, .loadFailed, .loadCancelled].contains(event.name) { isEnded = true }
        if let last, event.time < last.time { note("time", "\(event.name) is earlier than \(last.name) before it") }
        let first = first ?? event
        self.first = first
        if first.parent != event.parent || first.template != event.template || first.route != event.route {
            note("identity", "\(event.name) differs in its parent, template or route from \(first.name)")
        }
    }

    private mutating func checkNumbers(_ event: HTTPEvent) {
        if event.name == .attemptStart {
            if open.contains("attempt") { note("attempts", "an attempt starts within another attempt") }
            if event.attempt != attempt + 1 { note("attempts", "attempt \(event.attempt) follows attempt \(attempt)") }
            attempt = event.attempt
        } else if event.attempt < attempt {
            note("attempts", "\(event.name) has the number of an earlier attempt")
        }
        guard let number = event[.exchange] else { return }
        if event.name == .exchangeStart {
            if number != exchange + 1 { note("exchanges", "exchange \(number) follows exchange \(exchange)") }
            exchange = number
        } else if !open.contains("exchange \(number)") {
            note("exchanges", "\(event.name) is outside of its exchange")
        }
    }

    /// Checks that each phase that ends has started, and ends only once.
    private mutating func checkPhases(_ event: HTTPEvent) {
        let (exchange, parts) = (event[.exchange] ?? 0, event.name.rawValue.split(separator: "."))
        let law: String
        var phase = String(parts.first ?? "")
        switch phase {
        case "attempt": law = "attempts"
        case "exchange", "connection": (law, phase) = (phase + "s", "\(phase) \(exchange)")
        case "lookup", "connect", "tls", "decoding", "queue": (law, phase) = ("pairs", phase + (event[.queue] ?? ""))
        default: return
        }
        if ["start", "entered", "opened", "reused"].contains(parts.last) {
            open.append(phase)
        } else if let index = open.lastIndex(of: phase) {
            open.remove(at: index)
        } else if law != "exchanges" {
            note(law, "\(event.name) has no start, or is the second end")
        }
    }
}
