// SPDX-License-Identifier: MIT
import Letterhead

/// What the events of an exchange tell.
struct FlightPhases {
    private(set) var status: Int?
    private(set) var httpVersion = "HTTP/1.1"
    private(set) var address: String?
    private(set) var error: String?
    private(set) var failure: String?
    private(set) var bytes: Int?
    /// Whether the response's body has not arrived to its end.
    private(set) var isCut = false
    let start: Duration
    /// The time of each name's last event. The phases are computed from these.
    private var ends: [HTTPEvent.Name: Duration] = [:]

    init(from start: Duration, _ events: [HTTPEvent]) {
        self.start = start
        for event in events {
            ends[event.name] = event.time
            httpVersion = event[.httpVersion] ?? httpVersion
            address = event[.address] ?? address
            error = event[.error] ?? error
            if event.name == .responseHead || event.name == .exchangeFailed { status = event[.status] ?? status }
            if event.name == .exchangeFailed { failure = event[.errorType] }
            if event.name == .bodyEnd { bytes = event[.bytes] }
            if event[.isComplete] == false { isCut = true }
        }
    }

    var head: Duration? { ends[.responseHead] }
    /// When the exchange ended, or failed.
    var end: Duration? { ends[.exchangeEnd] ?? ends[.exchangeFailed] }

    /// The address without the port and without IPv6 brackets.
    var host: String? {
        guard let address else { return nil }
        if let (host, _) = address.cut(at: "]") { return String(host.dropFirst()) }
        return address.utf8.lastIndex(of: UInt8(ascii: ":")).map { String(address[..<$0]) } ?? address
    }

    /// `blocked`, `dns`, `connect` and `ssl` are -1 if they didn't occur. The other phases are never negative.
    var timings: HAR.Timings {
        let end = end ?? ends[.bodyEnd] ?? head ?? start
        let connected = ends[.tlsEnd] ?? ends[.connectEnd] ?? ends[.lookupEnd] ?? ends[.queueLeft] ?? start
        let sent = max(ends[.requestSent] ?? connected, connected)
        let head = max(head ?? end, sent)
        return HAR.Timings(
            blocked: span(start, ends[.queueLeft]), dns: span(ends[.lookupStart], ends[.lookupEnd]),
            connect: span(ends[.connectStart], ends[.tlsEnd] ?? ends[.connectEnd]),
            send: (sent - connected).inMilliseconds, wait: (head - sent).inMilliseconds,
            receive: max(end - head, .zero).inMilliseconds, ssl: span(ends[.tlsStart], ends[.tlsEnd]))
    }

    private func span(_ begin: Duration?, _ end: Duration?) -> Double {
        guard let begin, let end else { return -1 }
        return max(end - begin, .zero).inMilliseconds
    }
}
