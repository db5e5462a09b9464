/// A clock of any kind, read as the time since the timeline was made; so its points are plain durations.
package struct Timeline: Sendable {
    private let read: @Sendable () -> Duration

    /// Begins at the clock's present time.
    package init(_ clock: any Clock<Duration>) { read = Self.reader(clock) }

    /// How long it is since the beginning.
    package var now: Duration { read() }

    private static func reader<Time: Clock<Duration>>(_ clock: Time) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}

extension Clock where Duration == Swift.Duration {
    /// Sleeps as `sleep(for:)` does, however long: a time that is more than a clock can count would end the process there.
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
    /// In nanoseconds; nothing below zero, and as much as fits above.
    package var wholeNanoseconds: UInt64 {
        guard self < .seconds(Int64.max) else { return .max }
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (scaled, isOver) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isOverToo) = scaled.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
        return isOver || isOverToo ? .max : sum
    }

    /// In milliseconds, the last one begun counting whole, at most what 32 bits hold.
    package var wholeMilliseconds: Int {
        let nanoseconds = wholeNanoseconds
        let milliseconds = nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1)
        return Int(min(milliseconds, UInt64(Int32.max)))
    }
}

extension Task {
    /// Cancels it; true when whoever asks is the task itself or a child of it, and would wait for itself.
    package func cancelsCaller() -> Bool {
        let wasCancelled = Task<Never, Never>.isCancelled
        cancel()
        if Task<Never, Never>.isCancelled, !wasCancelled { return true }
        return withUnsafeCurrentTask { $0?.hashValue } == hashValue
    }
}
