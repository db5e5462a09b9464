// SPDX-License-Identifier: MIT
public import Letterhead

/// A waterfall in text: the attempts and phases of one load. Use it to see where the time went.
///
/// ```
/// GET users/{} 200 in 142.0 ms
/// attempt 1
///   connect   |##                            |     9.1 ms  93.184.216.34:443
///   wait      |  ####                        |    21.0 ms  503
/// retry       |      ###########             |    50.0 ms  exponential
/// attempt 2
///   wait      |                 ########     |    40.2 ms  200
///   body      |                         #####|    21.7 ms  5120 bytes
/// ```
///
/// Each row is a phase. Its bar begins and ends when the phase did. ``PrintTimeline`` prints a timeline for each load.
public struct HTTPTimeline: Sendable, CustomStringConvertible {
    /// A phase with a bar, or a note without one, such as `attempt 1`.
    struct Row: Equatable, Sendable {
        var label: String
        var start: Duration?
        var end: Duration?
        var note = ""
    }

    let title: String
    let rows: [Row]
    let start: Duration
    let end: Duration

    /// Creates the timeline of one load from its events, in the order in which an observer received them.
    ///
    /// The first event determines the load. Events of other loads are ignored, so you can pass all recorded events.
    public init(_ events: [HTTPEvent]) {
        let own = events.filter { $0.load == events.first?.load }
        var rows = TimelineRows()
        for event in own { rows.add(event) }
        (self.rows, title) = (rows.rows, HTTPEvent.line(of: own))
        (start, end) = (own.first?.time ?? .zero, own.last?.time ?? .zero)
    }

    /// The text of the timeline, with lines of 80 columns. See ``text(width:)``.
    public var description: String { text() }

    /// Returns one line for the load, and one line of ASCII for each phase.
    ///
    /// - Parameter width: the width of a line, in columns. Values below 40 count as 40. The title and the notes can be
    ///   wider. Default: 80.
    public func text(width: Int = 80) -> String {
        let columns = max(40, width) - Self.labelWidth - 16
        let lines = rows.map { row -> String in
            let label = row.label.padding(to: Self.labelWidth)
            guard let begin = row.start, let end = row.end else { return (label + " " + row.note).trimmingEnd }
            let time = (end - begin).milliseconds.padding(before: 11)
            return (label + "|" + bar(from: begin, to: end, columns) + "|" + time + "  " + row.note).trimmingEnd
        }
        return ([title] + lines).joined(separator: "\n")
    }

    private static let labelWidth = 12

    private func bar(from begin: Duration, to end: Duration, _ columns: Int) -> String {
        let total = max(self.end - start, .microseconds(1))
        func column(_ time: Duration) -> Double {
            min(max((time - start) / total * Double(columns), 0), Double(columns))
        }
        let first = min(columns - 1, Int(column(begin)))
        let last = max(first + 1, Int(column(end).rounded()))
        return String(repeating: " ", count: first) + String(repeating: "#", count: last - first)
            + String(repeating: " ", count: columns - last)
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    fileprivate func padding(before width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
    fileprivate var trimmingEnd: String { String(self[..<(lastIndex { $0 != " " }.map(index(after:)) ?? startIndex)]) }
}

struct TimelineRows {
    private(set) var rows: [HTTPTimeline.Row] = []
    /// The start of each phase that hasn't ended, by its label.
    private var open: [String: Duration] = [:]
    private var sent: Duration?
    private var head: Duration?

    mutating func add(_ event: HTTPEvent) {
        switch event.name {
        case .attemptStart: note("attempt \(event.attempt)", "")
        case .exchangeStart: (sent, head) = (event.time, nil)
        case .requestSent:
            if let begin = sent, event.time - begin > .milliseconds(1) { bar("  send", begin, event) { _ in nil } }
            sent = event.time
        case .responseHead: addHead(event)
        case .bodyEnd:
            if let head, event.time > head { bar("  body", head, event) { $0[.bytes].map { "\($0) bytes" } } }
        case .exchangeFailed: addFailure(event)
        case .retryDecided: addRetry(event)
        case .redirectDecided: addRedirect(event)
        default: addPhase(event)
        }
    }

    private static let starts: [HTTPEvent.Name: String] = [
        .queueEntered: "  queue", .lookupStart: "  lookup", .connectStart: "  connect", .tlsStart: "  TLS",
        .decodingStart: "  decode", .credentialsNeeded: "  credentials",
    ]

    private static let ends: [HTTPEvent.Name: String] = [
        .queueLeft: "  queue", .lookupEnd: "  lookup", .connectEnd: "  connect", .tlsEnd: "  TLS",
        .decodingEnd: "  decode", .decodingFailed: "  decode",
        .credentialsObtained: "  credentials", .credentialsFailed: "  credentials",
    ]

    private mutating func addPhase(_ event: HTTPEvent) {
        if let label = Self.starts[event.name] { open[label] = event.time }
        guard let label = Self.ends[event.name], let begin = open.removeValue(forKey: label) else { return }
        bar(label, begin, event) { $0[.queue] ?? $0[.tlsVersion] ?? $0[.address] ?? $0[.errorType] }
        if event.name == .connectEnd || event.name == .tlsEnd { sent = event.time }
    }

    private mutating func addHead(_ event: HTTPEvent) {
        if let sent { bar("  wait", sent, event) { $0[.status].map(String.init) } }
        head = event.time
        for timing in event[.serverTiming].map(HTTPHeaders.ServerTiming.list)?.prefix(20) ?? [] {
            note("  server", "\(timing)")
        }
        if let date = event[.deprecation] { note("  deprecated", date) }
        if let date = event[.sunset] { note("  sunset", date) }
    }

    private mutating func addFailure(_ event: HTTPEvent) {
        bar("  failed", head ?? sent ?? event.time, event) { $0[.errorType] }
    }

    private mutating func addRetry(_ event: HTTPEvent) {
        guard event[.isRetried] == true, let wait = event[.wait] else { return note("no retry", event[.reason] ?? "") }
        rows.append(.init(label: "retry", start: event.time, end: event.time + wait, note: event[.reason] ?? ""))
    }

    private mutating func addRedirect(_ event: HTTPEvent) {
        let target = event[.isFollowed] == true ? "to \(event[.url] ?? "")" : event[.reason] ?? ""
        note("  redirect", "\(event[.status] ?? 0) \(target)")
    }

    private mutating func note(_ label: String, _ note: String) {
        rows.append(.init(label: label, note: Redaction.visible(note)))
    }

    private mutating func bar(_ label: String, _ begin: Duration, _ event: HTTPEvent, _ note: (HTTPEvent) -> String?) {
        rows.append(.init(label: label, start: begin, end: event.time, note: Redaction.visible(note(event) ?? "")))
    }
}
