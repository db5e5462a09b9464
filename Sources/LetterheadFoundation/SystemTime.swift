// SPDX-License-Identifier: MIT

/// The system's times in nanoseconds.
///
/// Only this file uses the members of `timespec`. Several system modules declare them, and which module counts depends
/// on the files that the compiler reads together.
package enum SystemTime {
    /// A clock's time.
    package static func nanoseconds(of clock: clockid_t) -> Int64 {
        // The system stores a time before it returns.
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return nanoseconds(time)
    }

    /// A file's last modification.
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
