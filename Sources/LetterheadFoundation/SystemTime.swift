// SPDX-License-Identifier: MIT

/// Times of the system in nanoseconds.
///
/// The members of `timespec` are used here alone: several modules of the system declare them, and which of them counts
/// depends on the files that the compiler reads together.
package enum SystemTime {
    /// The time of a clock.
    package static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return nanoseconds(time)
    }

    /// When a file was modified.
    package static func modification(of facts: stat) -> Int64 {
        #if canImport(Darwin)
            nanoseconds(facts.st_mtimespec)
        #else
            nanoseconds(facts.st_mtim)
        #endif
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        // Nanoseconds end in the year 2262, and a file system can store later times.
        min(max(0, Int64(time.tv_sec)), 9_000_000_000) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
