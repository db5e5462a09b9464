// SPDX-License-Identifier: MIT
import Letterhead

/// What the events of an exchange tell.
struct FlightPhases {
    let start: Duration
    let events: [HTTPEvent]

    /// Returns the last value of a fact.
    ///
    /// - Parameter names: the events that count, or all without a name.
    func last<Value>(_ fact: HTTPEvent.Fact<Value>, in names: HTTPEvent.Name...) -> Value? {
        events.last { (names.isEmpty || names.contains($0.name)) && $0[fact] != nil }?[fact]
    }

    private func time(_ name: HTTPEvent.Name) -> Duration? { events.last { $0.name == name }?.time }

    var head: Duration? { time(.responseHead) }
    /// When the exchange ended, or failed.
    var end: Duration? { time(.exchangeEnd) ?? time(.exchangeFailed) }

    /// The address without the port and without IPv6 brackets.
    var host: String? {
        guard let address = last(.address) else { return nil }
        if let (host, _) = address.cut(at: "]") { return String(host.dropFirst()) }
        return address.utf8.lastIndex(of: UInt8(ascii: ":")).map { String(address[..<$0]) } ?? address
    }

    /// `blocked`, `dns`, `connect` and `ssl` are -1 if they didn't occur. The other phases are never negative.
    var timings: HAR.Timings {
        let end = end ?? time(.bodyEnd) ?? head ?? start
        let connected = time(.tlsEnd) ?? time(.connectEnd) ?? time(.lookupEnd) ?? time(.queueLeft) ?? start
        let sent = max(time(.requestSent) ?? connected, connected)
        let head = max(head ?? end, sent)
        return HAR.Timings(
            blocked: span(start, time(.queueLeft)), dns: span(time(.lookupStart), time(.lookupEnd)),
            connect: span(time(.connectStart), time(.tlsEnd) ?? time(.connectEnd)),
            send: (sent - connected).inMilliseconds, wait: (head - sent).inMilliseconds,
            receive: max(end - head, .zero).inMilliseconds, ssl: span(time(.tlsStart), time(.tlsEnd)))
    }

    private func span(_ begin: Duration?, _ end: Duration?) -> Double {
        guard let begin, let end else { return -1 }
        return max(end - begin, .zero).inMilliseconds
    }
}
