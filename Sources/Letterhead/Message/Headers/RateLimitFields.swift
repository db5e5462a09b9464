// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// Parses the fields in which servers report their rate limits.
package enum RateLimitFields {
    /// Returns the windows in a `RateLimit` field: `"default";r=0;t=30` (draft-ietf-httpapi-ratelimit-headers), or in
    /// earlier drafts `limit=10, remaining=0, reset=30`. The reset is in seconds from now.
    package static func windows(in value: String) -> [(remaining: Double, reset: Double)] {
        let policies = value.holds("remaining=") ? [value[...]] : value.split(at: ",")
        return policies.compactMap { policy in
            var (remaining, reset): (Double?, Double?)
            for parameter in policy.split(at: ";").flatMap({ $0.split(at: ",") }) {
                guard let (name, value) = parameter.cut(at: "=") else { continue }
                switch ASCII.keyword(ASCII.trimmed(name)) {
                case "r", "remaining": remaining = number(String(value))
                case "t", "reset": reset = number(String(value))
                default: break
                }
            }
            guard let remaining, let reset else { return nil }
            return (remaining, reset)
        }
    }

    /// Parses a count or a number in seconds. A number above 10^15 becomes 10^15. Returns nil if the text does not
    /// begin with a digit or is not a finite number.
    package static func number(_ text: String) -> Double? {
        let text = ASCII.trimmed(text)
        guard text.utf8.first.map({ (48...57).contains($0) }) == true, let number = Double(text) else { return nil }
        return number.isFinite ? min(number, 1e15) : nil
    }

    /// Returns seconds from now. A number as large as the seconds or milliseconds since 1970 is a date.
    package static func delta(_ number: Double, now: () -> Double) -> Double {
        if number > 1e11 { return max(0, number / 1_000 - now()) }
        return number > 1e9 ? max(0, number - now()) : number
    }
}

extension HTTPHeaders {
    private static let rateLimitNames: [(remaining: Name, reset: Name)] = [
        ("RateLimit-Remaining", "RateLimit-Reset"), ("X-RateLimit-Remaining", "X-RateLimit-Reset"),
        ("X-Rate-Limit-Remaining", "X-Rate-Limit-Reset"),
    ]

    /// Returns whether a rate limit is used up, and the wait until it resets. The wait is nil if it isn't reported, or
    /// if requests are left. Of several limits that are used up, the longest wait applies.
    ///
    /// - Parameter now: the current date, for a reset that is a date. Default: the system's date.
    func rateLimit(now: Date = Date()) -> (isUsedUp: Bool, wait: Duration?) {
        var limits = values(for: "RateLimit").flatMap { RateLimitFields.windows(in: $0) }
            .map { (remaining: Double?.some($0.remaining), reset: Double?.some($0.reset)) }
        for (remaining, reset) in Self.rateLimitNames {
            limits.append(
                (
                    values(for: remaining).compactMap { RateLimitFields.number($0) }.min(),
                    values(for: reset).compactMap { RateLimitFields.number($0) }.max()
                        .map { RateLimitFields.delta($0) { now.timeIntervalSince1970 } }
                ))
        }
        let isUsedUp = limits.contains { $0.remaining == 0 }
        if !isUsedUp, limits.contains(where: { $0.remaining != nil }) { return (false, nil) }
        let wait = limits.filter { !isUsedUp || $0.remaining == 0 }.compactMap(\.reset).max()
        return (isUsedUp, wait.map { .seconds(Swift.min($0, 1e15)) })
    }
}
