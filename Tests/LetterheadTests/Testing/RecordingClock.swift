// SPDX-License-Identifier: MIT
import Synchronization

/// A clock that ends each sleep at once, and writes it down.
final class RecordingClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let times = Mutex<[Duration]>([])

    /// How long each sleep was.
    var sleeps: [Duration] { times.withLock { $0 } }
    var now: Instant { Instant(offset: times.withLock { $0.reduce(.zero, +) }) }
    let minimumResolution = Duration.nanoseconds(1)

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        times.withLock { times in times.append(deadline.offset - times.reduce(.zero, +)) }
    }
}
