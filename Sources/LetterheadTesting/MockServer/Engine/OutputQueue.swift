import Foundation

/// What is to go out on a connection, in order, and what is to happen in between.
struct OutputQueue {
    enum Segment {
        case bytes(Data)
        /// A fault may strike here.
        case moment(MockServer.Moment)
        /// Who made the bytes before may make more.
        case resume(CheckedContinuation<Void, any Error>)
        /// The answer is complete.
        case answered
        /// The server has nothing more to say on this connection.
        case goodbye
    }

    private var segments: [Segment] = []
    private var first = 0

    var isEmpty: Bool { first == segments.count }
    var next: Segment? { isEmpty ? nil : segments[first] }

    mutating func append(_ segment: Segment) {
        if case .bytes(let bytes) = segment, bytes.isEmpty { return }
        segments.append(segment)
    }

    mutating func removeFirst() {
        first += 1
        guard isEmpty else { return }
        segments.removeAll(keepingCapacity: true)
        first = 0
    }

    /// Takes away bytes that went out from the segment in front.
    mutating func dropBytes(_ count: Int) {
        guard case .bytes(let bytes) = next else { return }
        if count == bytes.count { removeFirst() } else { segments[first] = .bytes(bytes.dropFirst(count)) }
    }

    /// Throws everything away and lets go of who waits.
    mutating func discard() {
        for case .resume(let continuation) in segments[first...] { continuation.resume(throwing: CancellationError()) }
        segments = []
        first = 0
    }
}
