// SPDX-License-Identifier: MIT
public import Letterhead

/// Prints each load as a waterfall when it has ended. Add it while you develop.
///
/// ```swift
/// let client = HTTPClient(environment: .production, observers: [PrintTimeline()])
/// ```
public struct PrintTimeline: HTTPObserver {
    private let collector = EventCollector()
    private let write: @Sendable (String) -> Void

    /// `write` receives each load's text, without a line break at the end. Default: prints it.
    public init(write: (@Sendable (String) -> Void)? = nil) { self.write = write ?? { print($0) } }

    public func record(_ event: HTTPEvent) {
        // The pieces of a body are counted at its end.
        guard event.name != .bodyPiece, let events = collector.add(event) else { return }
        write(HTTPTimeline(events).text())
    }
}
