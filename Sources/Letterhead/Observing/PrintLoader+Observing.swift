extension PrintLoader: HTTPObserver {
    /// Prints the load when it has ended.
    public func record(_ event: HTTPEvent) {
        // The pieces of a body are counted at its end.
        guard event.name != .bodyPiece, let events = collector.add(event), let last = events.last else { return }
        let timeline = HTTPTimeline(events)
        let attempts = last.attempt > 1 ? ", \(last.attempt) attempts" : ""
        write(level == .waterfall ? timeline.text() : timeline.title + attempts)
    }
}
