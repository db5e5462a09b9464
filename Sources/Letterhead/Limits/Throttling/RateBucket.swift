/// Calculates when the next request may be sent, from a bucket that is refilled at a constant rate and from the limits
/// that the server reported.
///
/// The algorithm is the generic cell rate algorithm: the only state of the rate is `due`, the time at which the bucket
/// is full again. All times are on the timeline of the link, which begins at zero.
struct RateBucket {
    private let interval: Duration
    private let burst: Duration
    private var due = Duration.zero
    private var heldUntil = Duration.zero
    private var window: (remaining: Int, end: Duration)?

    /// Allows `count` requests in a window, and that many at once after a pause.
    init(count: Int, per window: Duration) {
        interval = count == .max ? .zero : window / count
        burst = interval * (count - 1)
    }

    /// Whether the bucket has no limit until a server reports one.
    var isUnlimited: Bool { interval == .zero }

    /// Returns the wait for a request with `ahead` other requests before it.
    func wait(at now: Duration, ahead: Int = 0) -> Duration {
        var start = max(now, heldUntil)
        if let window, start < window.end, window.remaining <= ahead { start = window.end }
        let refilled = max(due, now) + interval * ahead - burst
        return max(start, refilled) - now
    }

    /// Whether the state equals that of a new bucket.
    func isFull(at now: Duration) -> Bool { due <= now && heldUntil <= now && (window?.end ?? .zero) <= now }

    /// Counts one request.
    mutating func take(at now: Duration) {
        due = max(due, now) + interval
        if let window { self.window = now < window.end ? (window.remaining - 1, window.end) : nil }
    }

    /// Applies a report of the server. A report can only reduce the rate, and only until the window of the server ends.
    ///
    /// Responses arrive in any order, so the smallest remainder of a window applies.
    mutating func learn(_ report: RateReport, at now: Duration, longestHold: Duration) {
        if let hold = report.hold { heldUntil = max(heldUntil, now + min(hold, longestHold)) }
        guard let told = report.window, told.reset > .zero else { return }
        let end = now + min(told.reset, longestHold)
        if let window, now < window.end, end < window.end + .seconds(2), window.end < end + .seconds(2) {
            self.window = (min(window.remaining, told.remaining), max(window.end, end))
        } else {
            window = (told.remaining, end)
        }
    }
}
