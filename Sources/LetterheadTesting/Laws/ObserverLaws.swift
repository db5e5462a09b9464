// SPDX-License-Identifier: MIT
public import Letterhead

/// Checks the event order that an `HTTPObserver` sees.
///
/// Write one test for each custom link that records events. The check uses a client that contains the link, first above
/// the attempts and then below them. Its requests succeed or fail, or are retried, redirected, streamed or cancelled.
///
/// ```swift
/// @Test func `ApplyTenant keeps the order of events`() async throws {
///     try await ObserverLaws(link: { ApplyTenant() }).check()
/// }
/// ```
///
/// The laws, for each load:
/// - **Start and end**: the first event is `load.start`, and the last is `load.end`, `load.failed` or `load.cancelled`.
///   These four occur once. Only an exchange's events follow the end, because an exchange may outlive its load.
/// - **Time**: event times never decrease.
/// - **Attempts**: attempts are numbered from 1 without gaps, and one ends before the next starts.
/// - **Exchanges**: exchanges are numbered from 1 without gaps. Each ends at most once, and none has events after its
///   end.
/// - **Connections**: `connection.closed` occurs at most once in an exchange, after its `connection.opened` or
///   `connection.reused`.
/// - **Pairs**: a phase (`lookup`, `connect`, `tls`, `decoding`, `queue`) starts before it ends.
/// - **Identity**: all events have the same parent, template and route.
/// - **Parents**: a load that serves another load starts later than that load.
public struct ObserverLaws: Sendable {
    private let makeLink: @Sendable () -> any LoaderLink

    /// Creates a check for a link.
    ///
    /// - Parameter link: creates the link. It is called twice for each scenario.
    public init(link: @escaping @Sendable () -> any LoaderLink) { makeLink = link }

    /// Returns the violations, if any.
    public func violations() async -> [LawViolation] {
        var found: [LawViolation] = []
        for scene in ObserverScene.all {
            for isAbove in [true, false] {
                let events = await scene.events(of: makeLink(), isAbove: isAbove)
                found += Self.violations(of: events)
                if events.isEmpty {
                    found.append(LawViolation("start and end", nil, "a load that \(scene.name) has no events"))
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
