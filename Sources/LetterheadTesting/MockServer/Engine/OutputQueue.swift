// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// A connection's queued output: bytes, and the events between them, in order.
struct OutputQueue {
    enum Segment {
        case bytes(Data)
        /// A fault may occur here.
        case moment(MockServer.Moment)
        /// Whatever produced the preceding bytes may produce more.
        case resume(CheckedContinuation<Void, any Error>)
        /// The answer is complete.
        case answered
        /// The server sends nothing more on this connection.
        case goodbye
    }

    private var segments: [Segment] = []

    var isEmpty: Bool { segments.isEmpty }
    var next: Segment? { segments.first }

    mutating func append(_ segment: Segment) {
        if case .bytes(let bytes) = segment, bytes.isEmpty { return }
        segments.append(segment)
    }

    mutating func removeFirst() { segments.removeFirst() }

    /// Removes sent bytes from the first segment.
    mutating func dropBytes(_ count: Int) {
        guard case .bytes(let bytes) = next else { return }
        if count == bytes.count { removeFirst() } else { segments[0] = .bytes(bytes.dropFirst(count)) }
    }

    /// Discards the queue and resumes all waiting producers.
    mutating func discard() {
        for case .resume(let continuation) in segments { continuation.resume(throwing: CancellationError()) }
        segments = []
    }
}
