// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// The rate limit that a response reports.
///
/// It reads these fields, and treats a malformed value as absent:
///
/// - `RateLimit` in its two forms (draft-ietf-httpapi-ratelimit-headers): `"default";r=0;t=30`, and in earlier drafts
///   `limit=10, remaining=0, reset=30`
/// - `RateLimit-Remaining` and `-Reset`, `X-RateLimit-Remaining` and `-Reset`, `X-Rate-Limit-Remaining` and `-Reset`
/// - the same for requests and for tokens, as language model APIs send them (`X-RateLimit-Remaining-Tokens` and
///   `-Reset-Tokens`, `Anthropic-RateLimit-Tokens-Remaining` and `-Reset`)
/// - `Retry-After` (RFC 9110, 10.2.3) or `Retry-After-Ms` in a 403, 429, 503 or 529
struct RateReport: Equatable {
    /// How many requests or tokens are left until a window ends.
    struct Window: Equatable {
        var remaining: Int
        var reset: Duration
    }

    var window: Window?
    /// The pause that the server asks for.
    var hold: Duration?

    /// Returns nil if the response reports no limit. `now`, in seconds since 1970, is called only if a header needs it.
    init?(_ response: HTTPResponse, now: () -> Double) {
        let status = response.status.code
        var (remaining, reset): (Double?, Double?)
        var asksForPause = false
        var budgets: [String: (remaining: Double?, reset: Double?)] = [:]
        for field in response.headers where Self.isCandidate(field.name.rawValue) {
            switch field.name {
            case "RateLimit": note(RateLimitFields.windows(in: field.value))
            case "RateLimit-Remaining", "X-RateLimit-Remaining", "X-Rate-Limit-Remaining":
                remaining = RateLimitFields.number(field.value).map { min($0, remaining ?? $0) } ?? remaining
            case "RateLimit-Reset", "X-RateLimit-Reset", "X-Rate-Limit-Reset":
                reset = RateLimitFields.number(field.value).map { RateLimitFields.delta($0, now: now) } ?? reset
            case .retryAfter, .retryAfterMilliseconds:
                asksForPause = asksForPause || [403, 429, 503, 529].contains(status)
            default: Self.note(field, in: &budgets, now: now)
            }
        }
        // `retryAfter` is called once, because it combines all fields of the name.
        if asksForPause { hold = response.headers.retryAfter(now: Date(timeIntervalSince1970: now())) }
        if let remaining, let reset { note([(remaining, reset)]) }
        for budget in budgets.values {
            if let remaining = budget.remaining, let reset = budget.reset { note([(remaining, reset)]) }
        }
        if window == nil, hold == nil { return nil }
    }

    private mutating func note(_ windows: [(remaining: Double, reset: Double)]) {
        for told in windows {
            let new = Window(remaining: Int(min(told.remaining, Double(Int32.max))), reset: .seconds(told.reset))
            if let window, window.remaining < new.remaining { continue }
            if let window, window.remaining == new.remaining, window.reset >= new.reset { continue }
            window = new
        }
    }

    /// Stores what is left of a budget for requests or tokens, by the budget's name.
    private static func note(
        _ field: HTTPHeaders.Field, in budgets: inout [String: (remaining: Double?, reset: Double?)],
        now: () -> Double
    ) {
        var words = ASCII.keyword(field.name.rawValue).split(at: "-")
        guard words.count > 3, words[1] == "ratelimit" else { return }
        let kind: Substring
        switch words[0] {
        case "x": kind = words.remove(at: 2)
        case "anthropic": kind = words.removeLast()
        default: return
        }
        let budget = words.dropFirst(2).joined(separator: "-")
        guard budgetNames.contains(budget), kind == "reset" || kind == "remaining" else { return }
        if kind == "reset" {
            budgets[budget, default: (nil, nil)].reset = time(field.value, now: now)
        } else {
            budgets[budget, default: (nil, nil)].remaining = RateLimitFields.number(field.value)
        }
    }

    private static let budgetNames: Set<String> = ["requests", "tokens", "input-tokens", "output-tokens"]

    /// Returns the seconds from now until a time. The text is a number, a duration such as `6m0.5s` or `20ms`, or a
    /// date (RFC 3339).
    private static func time(_ text: String, now: () -> Double) -> Double? {
        let text = ASCII.trimmed(text)
        if let number = RateLimitFields.number(text) { return RateLimitFields.delta(number, now: now) }
        if text.utf8.contains(UInt8(ascii: "T")), text.utf8.count < 64, let date = try? Date(text, strategy: .iso8601) {
            return max(0, date.timeIntervalSince1970 - now())
        }
        return duration(text)
    }

    /// Returns a duration's seconds. The text contains hours, minutes, seconds and milliseconds, in this order, each
    /// with its unit.
    private static func duration(_ text: String) -> Double? {
        var (rest, seconds) = (text.utf8[...], 0.0)
        for (unit, factor) in [("h", 3600), ("m", 60), ("s", 1), ("ms", 0.001)] as [(String, Double)] {
            let digits = rest.prefix { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
            let name = rest.dropFirst(digits.count).prefix { (97...122).contains($0 | 0x20) }
            guard name.elementsEqual(unit.utf8) else { continue }
            guard let number = RateLimitFields.number(String(Substring(digits))) else { return nil }
            seconds += number * factor
            rest = rest.dropFirst(digits.count + name.count)
        }
        return rest.isEmpty && !text.isEmpty ? min(seconds, 1e15) : nil
    }

    /// A quick check that excludes most header names.
    private static func isCandidate(_ name: String) -> Bool {
        switch name.utf8.first {
        case UInt8(ascii: "R"), UInt8(ascii: "r"), UInt8(ascii: "X"), UInt8(ascii: "x"), UInt8(ascii: "A"),
            UInt8(ascii: "a"):
            true
        default: false
        }
    }
}
