import Foundation
public import Letterhead

extension MockServer.Response {
    /// Returns a response with server-sent events (HTML Standard, section 9.2). Each event is sent in a separate chunk.
    ///
    /// ```swift
    /// .events([ServerSentEvent(data: "one"), ServerSentEvent(data: "two", id: "2")], every: .milliseconds(100))
    /// ```
    ///
    /// After the last event, the connection stays open for the next request. The identifier and the retry time of an
    /// event are sent only if they are set. The type is sent only if it is not `message`.
    ///
    /// - Parameters:
    ///   - events: the events, in order.
    ///   - interval: the time between two events. Default: zero.
    ///   - clock: measures the time. Default: the continuous clock.
    public static func events(
        _ events: [ServerSentEvent], every interval: Duration = .zero,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> MockServer.Response {
        let pieces = AsyncStream(unfolding: EventPieces(events: events, interval: interval, clock: clock).next)
        return MockServer.Response(headers: ["Content-Type": "text/event-stream"], chunks: pieces)
    }
}

/// Formats the events one after another. It is an actor, because it counts the events that have been sent.
private actor EventPieces {
    private let events: [ServerSentEvent]
    private let interval: Duration
    private let clock: any Clock<Duration>
    private var index = 0

    init(events: [ServerSentEvent], interval: Duration, clock: any Clock<Duration>) {
        (self.events, self.interval, self.clock) = (events, interval, clock)
    }

    func next() async -> Data? {
        guard index < events.count else { return nil }
        if index > 0, interval > .zero {
            do { try await clock.pause(for: interval) } catch { return nil }
        }
        defer { index += 1 }
        return Data(events[index].eventStreamText.utf8)
    }
}

extension ServerSentEvent {
    /// The event in the format of an event stream.
    var eventStreamText: String {
        var text = event == "message" ? "" : "event: \(event)\n"
        if let id { text += "id: \(id)\n" }
        if let retry {
            text += "retry: \(retry.components.seconds * 1000 + retry.components.attoseconds / 1_000_000_000_000_000)\n"
        }
        for line in data.split(at: "\n", omittingEmpty: false) { text += "data: \(line)\n" }
        return text + "\n"
    }
}
