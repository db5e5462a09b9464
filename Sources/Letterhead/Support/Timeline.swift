// SPDX-License-Identifier: MIT
/// A clock of any type, read as the duration since the timeline was created.
package struct Timeline: Sendable {
    private let read: @Sendable () -> Duration

    /// Starts at the current clock time.
    package init(_ clock: any Clock<Duration>) { read = Self.reader(clock) }

    package var now: Duration { read() }

    private static func reader<Time: Clock<Duration>>(_ clock: Time) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}

extension Clock where Duration == Swift.Duration {
    /// Sleeps like `sleep(for:)`, but accepts any duration. `sleep(for:)` crashes if the duration overflows the clock.
    package func pause(for duration: Duration) async throws {
        var left = duration
        while left > Self.longestSleep {
            try await sleep(for: Self.longestSleep)
            left -= Self.longestSleep
        }
        try await sleep(for: left)
    }

    private static var longestSleep: Duration { .seconds(1 << 30) }
}

extension Duration {
    /// Creates a duration from seconds that a server, a file or a store determines. It is limited to 100 years, so that
    /// no calculation with it can overflow. A negative number and NaN become zero.
    package init(limiting seconds: Double) { self = .seconds(seconds > 0 ? min(seconds, 3_155_760_000) : 0) }

    /// The duration in nanoseconds: 0 for negative durations, and the largest number if it overflows.
    var wholeNanoseconds: UInt64 {
        guard self < .seconds(Int64.max) else { return .max }
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (scaled, isOver) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isOverToo) = scaled.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
        return isOver || isOverToo ? .max : sum
    }

    /// The duration in milliseconds, rounded up, and at most the largest 32-bit number.
    package var wholeMilliseconds: Int {
        let nanoseconds = wholeNanoseconds
        let milliseconds = nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1)
        return Int(min(milliseconds, UInt64(Int32.max)))
    }
}

extension UInt64 {
    /// Returns the sum, or the largest number if it overflows.
    func addingUnlessOver(_ other: UInt64) -> UInt64 {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? .max : sum
    }
}
