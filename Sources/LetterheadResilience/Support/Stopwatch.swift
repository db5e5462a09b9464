// SPDX-License-Identifier: MIT
import Letterhead

/// Measures the time since the link was created, with a clock of any type.
struct Stopwatch: Sendable {
    private let read: @Sendable () -> Duration

    init(_ clock: any Clock<Duration>) {
        // For the clock that almost every program uses, the compiler specializes the reader.
        read = if let clock = clock as? ContinuousClock { Self.reader(clock) } else { Self.reader(clock) }
    }

    var now: Duration { read() }

    private static func reader<Time: Clock<Duration>>(_ clock: Time) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
