// SPDX-License-Identifier: MIT
public import Letterhead

/// Prints each load as a waterfall when it has ended. Add this observer while you develop.
///
/// ```swift
/// let client = HTTPClient(environment: .production, observers: [PrintTimeline()])
/// ```
public struct PrintTimeline: HTTPObserver {
    private let collector = EventCollector()
    private let write: @Sendable (String) -> Void

    /// Creates an observer that prints timelines, or passes them on.
    ///
    /// - Parameter write: receives the text for each load, without a line break at the end. Default: prints it.
    public init(write: (@Sendable (String) -> Void)? = nil) { self.write = write ?? { print($0) } }

    public func record(_ event: HTTPEvent) {
        // `HTTPTimeline` shows how many bytes a body had at its end, so it doesn't need events for its pieces.
        guard event.name != .bodyPiece, let events = collector.add(event) else { return }
        write(HTTPTimeline(events).text())
    }
}
