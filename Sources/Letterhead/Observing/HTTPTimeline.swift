/// The attempts and phases of one load, drawn as a waterfall in text.
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
/// ``PrintLoader`` prints a timeline at the level ``PrintLoader/Level/waterfall``.
public struct HTTPTimeline: Sendable, CustomStringConvertible {
    /// One line: a phase with a bar, or a note without one.
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

    /// Creates the timeline of one load.
    ///
    /// - Parameter events: the events of the load, in order. Those of other loads are ignored.
    public init(_ events: [HTTPEvent]) {
        let own = events.filter { $0.load == events.first?.load }
        var rows = TimelineRows()
        for event in own { rows.add(event) }
        (self.rows, title) = (rows.rows, Self.title(own))
        (start, end) = (own.first?.time ?? .zero, own.last?.time ?? .zero)
    }

    /// The timeline in ASCII, for a width of 80 columns.
    public var description: String { text() }

    /// Returns the timeline, with one line for each phase.
    ///
    /// - Parameter width: the number of columns. Values below 40 count as 40. The title and the notes may exceed the
    ///   width. Default: 80.
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

    private static func title(_ events: [HTTPEvent]) -> String {
        guard let first = events.first, let last = events.last else { return "(no events)" }
        var parts = [first[.method], first.route ?? first[.url]].compactMap(\.self)
        if let status = last[.status] { parts.append("\(status)") }
        if last.name == .loadFailed { parts.append(last[.errorType] ?? "failed") }
        if last.name == .loadCancelled { parts.append("cancelled") }
        return Redaction.visible(parts.joined(separator: " ")) + " in " + (last.time - first.time).milliseconds
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    fileprivate func padding(before width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
    fileprivate var trimmingEnd: String { String(self[..<(lastIndex { $0 != " " }.map(index(after:)) ?? startIndex)]) }
}
