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
