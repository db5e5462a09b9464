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
