/// When the next request may go: so many in a window, evenly refilled, and never against what the server said.
///
/// A generic cell rate algorithm: `due` is when the bucket would be full again, and everything follows from it. All points
/// are on the timeline of the link, which begins at zero.
struct RateBucket {
    private let interval: Duration
    private let burst: Duration
    private var due = Duration.zero
    private var heldUntil = Duration.zero
    private var window: (remaining: Int, end: Duration)?

    /// `count` requests in a window; that many may go at once when none went before.
    init(count: Int, per window: Duration) {
        interval = count == .max ? .zero : window / count
        burst = interval * (count - 1)
    }

    /// Whether it holds nobody back as long as it learns nothing.
    var isUnlimited: Bool { interval == .zero }

    /// How long to wait when so many others go first.
    func wait(at now: Duration, ahead: Int = 0) -> Duration {
        var start = max(now, heldUntil)
        if let window, start < window.end, window.remaining <= ahead { start = window.end }
        let refilled = max(due, now) + interval * ahead - burst
        return max(start, refilled) - now
    }

    /// Whether it knows nothing that a new one would not.
    func isFull(at now: Duration) -> Bool { due <= now && heldUntil <= now && (window?.end ?? .zero) <= now }

    /// Takes what one request needs.
    mutating func take(at now: Duration) {
        due = max(due, now) + interval
        if let window { self.window = now < window.end ? (window.remaining - 1, window.end) : nil }
    }

    /// Learns what the server said; it can only make the bucket stricter, until the server's window ends.
    ///
    /// Answers arrive in any order, so that of one window the smallest remainder counts.
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
