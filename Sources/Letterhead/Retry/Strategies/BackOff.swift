#if canImport(Darwin)
    import Darwin
#else
    import Foundation
#endif

/// The arithmetic of waits: never negative, never longer than the cap, and without overflow for any number of retries.
enum BackOff {
    /// The upper limit of every wait: one year.
    static let longest = Duration.seconds(31_536_000)

    static func clamped(_ wait: Duration, cap: Duration = longest) -> Duration {
        min(max(wait, .zero), max(min(cap, longest), .zero))
    }

    /// `base`, multiplied by `factor` for each further retry. A factor of 1 or less changes nothing.
    static func exponential(_ retry: Int, base: Duration, factor: Double, cap: Duration) -> Duration {
        guard factor > 1 else { return clamped(base, cap: cap) }
        return times(pow(factor, Double(max(retry, 1) - 1)), unit: base, cap: cap)
    }

    /// 1, 1, 2, 3, 5 … units.
    static func fibonacci(_ retry: Int, unit: Duration, cap: Duration) -> Duration {
        var (last, current) = (0.0, 1.0)
        for _ in 1..<max(retry, 1) {
            guard current.isFinite, times(current, unit: unit, cap: cap) < clamped(cap) else { break }
            (last, current) = (current, last + current)
            if unit <= .zero { break }
        }
        return times(current, unit: unit, cap: cap)
    }

    /// The comparison uses floating point, because a product of durations would overflow.
    private static func times(_ multiple: Double, unit: Duration, cap: Duration) -> Duration {
        let (unit, cap) = (clamped(unit), clamped(cap))
        guard unit > .zero else { return .zero }
        return multiple >= cap / unit ? cap : clamped(unit * multiple, cap: cap)
    }
}
