import Foundation

extension PrintLoader: HTTPObserver {
    /// Prints the load when it has ended.
    public func record(_ event: HTTPEvent) {
        // The pieces of a body are counted at its end.
        guard event.name != "body.piece", let events = collector.add(event), let last = events.last else { return }
        let timeline = HTTPTimeline(events)
        guard level == .waterfall else {
            return write(timeline.title + (last.attempt > 1 ? ", \(last.attempt) attempts" : ""))
        }
        // Colors and blocks are for a terminal only.
        let isTerminal = writesToTerminal && Self.isTerminal
        write(timeline.text(isUnicode: isTerminal, isColored: isTerminal))
    }

    private static let isTerminal = isatty(1) == 1
}
