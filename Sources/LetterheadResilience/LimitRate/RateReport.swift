// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// The rate limit that a response reports. If it reports several, the one with the fewest requests left counts, and
/// among these the one with the latest reset.
struct RateReport: Equatable {
    /// How many requests or tokens are left until a window ends.
    struct Window: Equatable {
        var remaining: Int
        var reset: Duration
    }

    var window: Window?
    /// The pause that the server asks for: a `Retry-After` (RFC 9110, 10.2.3) or `Retry-After-Ms` in a 403, 429, 503
    /// or 529.
    var hold: Duration?

    /// Returns nil if the response reports no limit. The closure is called only if a header needs the current date.
    init?(_ response: HTTPResponse, now: () -> Date) {
        let headers = response.headers
        if [403, 429, 503, 529].contains(response.status.code) { hold = headers.retryAfter(now: now()) }
        for case (let remaining?, let reset?) in headers.rateLimits(now: now) {
            let new = Window(remaining: Int(min(remaining, Double(Int32.max))), reset: .seconds(reset))
            let isLess = window.map { ($0.remaining, new.reset) > (new.remaining, $0.reset) } ?? true
            if isLess { window = new }
        }
        if window == nil, hold == nil { return nil }
    }
}
