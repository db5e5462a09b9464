// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A rate limit that a response reports: the requests or tokens that are left, and the seconds until the limit resets.
/// A part that isn't reported is nil.
typealias ReportedLimit = (remaining: Double?, reset: Double?)

extension HTTPHeaders {
    /// Returns the wait that the server requests in `Retry-After` (RFC 9110, 10.2.3) or `Retry-After-Ms`, or nil if
    /// neither has a valid value.
    ///
    /// - `Retry-After` is in whole seconds, or an HTTP date in any of its three formats. A date in the past results in
    ///   a wait of zero.
    /// - `Retry-After-Ms` is in milliseconds, may have a fraction, and takes precedence.
    /// - A negative, signed, fractional or otherwise malformed `Retry-After` counts as absent.
    /// - The longest of several values applies.
    ///
    /// The wait may be very long, so limit it, or use ``Backoff/serverDelay(in:)``.
    ///
    /// - Parameter now: the current date, to calculate the wait until a date. Default: the system date.
    public func retryAfter(now: @autoclosure () -> Date = Date()) -> Duration? {
        let milliseconds = values(for: .retryAfterMilliseconds).compactMap(ServerDelays.number).max()
        return milliseconds.map { .microseconds(Int64($0 * 1000)) }
            ?? values(for: .retryAfter).compactMap { ServerDelays.delay($0, now: now) }.max()
    }

    /// The rate limits that the fields report. A malformed value counts as absent.
    ///
    /// - `RateLimit` in its two forms (draft-ietf-httpapi-ratelimit-headers): `"default";r=0;t=30`, and in earlier
    ///   drafts `limit=10, remaining=0, reset=30`
    /// - `RateLimit-Remaining` and `-Reset`, also with the prefixes `X-RateLimit` and `X-Rate-Limit`, and
    ///   `-Reset-After`
    /// - the same for requests and for tokens, as APIs of language models send them: `X-RateLimit-Remaining-Tokens`,
    ///   `X-RateLimit-Requests-Remaining`, `Anthropic-RateLimit-Tokens-Remaining`
    ///
    /// A reset is in seconds, a time since 1970 in seconds or milliseconds, a duration such as `6m0s`, or a date as in
    /// RFC 3339 or in `Retry-After`.
    ///
    /// - Parameter now: returns the current date. It is called only if a field needs it.
    package func rateLimits(now: () -> Date) -> [(remaining: Double?, reset: Double?)] {
        var limits: [ReportedLimit] = []
        var budgets: [String: ReportedLimit] = [:]
        for field in self where ServerDelays.isCandidate(field.name.rawValue) {
            if field.name == "RateLimit" { limits += ServerDelays.windows(in: field.value) }
            guard let (budget, isReset) = ServerDelays.place(of: field.name.rawValue) else { continue }
            var limit = budgets[budget] ?? (nil, nil)
            if isReset, let reset = ServerDelays.time(field.value, now: now) {
                limit.reset = Swift.max(reset, limit.reset ?? reset)
            } else if !isReset, let count = ServerDelays.number(field.value) {
                limit.remaining = Swift.min(count, limit.remaining ?? count)
            }
            budgets[budget] = limit
        }
        return limits + budgets.values
    }

    /// Returns whether a rate limit is used up, and the wait until it resets. The wait is nil if it isn't reported, or
    /// if requests are left. Of several limits that are used up, the longest wait applies.
    ///
    /// - Parameter now: the current date, for a reset that is a date. Default: the system date.
    func rateLimit(now: Date = Date()) -> (isUsedUp: Bool, wait: Duration?) {
        let limits = rateLimits { now }
        let usedUp = limits.filter { $0.remaining.map { $0 < 1 } ?? false }
        if usedUp.isEmpty, limits.contains(where: { $0.remaining != nil }) { return (false, nil) }
        let wait = (usedUp.isEmpty ? limits : usedUp).compactMap(\.reset).max()
        return (!usedUp.isEmpty, wait.map { .seconds($0) })
    }
}

/// Parses the fields in which servers ask for a wait or report their rate limits.
private enum ServerDelays {
    /// A quick check that excludes most header names.
    static func isCandidate(_ name: String) -> Bool { name.utf8.first.map { "RrXxAa".utf8.contains($0) } ?? false }

    /// Returns what the limit in a field counts, such as `requests`, and whether the field contains the reset or the
    /// number that is left.
    static func place(of name: String) -> (budget: String, isReset: Bool)? {
        var words = ASCII.keyword(name).split(at: "-")
        if words.first == "x" || words.first == "anthropic" { words.removeFirst() }
        if words.starts(with: ["rate", "limit"]) { words.replaceSubrange(..<2, with: ["ratelimit"]) }
        guard words.first == "ratelimit", let kind = words.firstIndex(where: { $0 == "reset" || $0 == "remaining" })
        else { return nil }
        let isReset = words.remove(at: kind) == "reset"
        let budget = words.dropFirst().filter { !isReset || $0 != "after" }.joined(separator: "-")
        return ["", "requests", "tokens", "input-tokens", "output-tokens"].contains(budget) ? (budget, isReset) : nil
    }

    /// Returns the limits in a `RateLimit` field.
    static func windows(in value: String) -> [ReportedLimit] {
        let policies = value.holds("remaining=") ? [value[...]] : value.split(at: ",")
        return policies.compactMap { policy in
            var limit: ReportedLimit = (nil, nil)
            for parameter in policy.split(at: ";").flatMap({ $0.split(at: ",") }) {
                guard let (name, value) = parameter.cut(at: "=") else { continue }
                switch ASCII.keyword(ASCII.trimmed(name)) {
                case "r", "remaining": limit.remaining = number(String(value))
                case "t", "reset": limit.reset = number(String(value))
                default: break
                }
            }
            return limit.remaining == nil || limit.reset == nil ? nil : limit
        }
    }

    /// Parses a number of digits, which may have a fraction. A number above 10^15 becomes 10^15. `Double` alone would
    /// also read exponents and hexadecimal digits.
    static func number(_ text: String) -> Double? {
        let text = ASCII.trimmed(text)
        guard text.utf8.first.map(isDigit) == true, text.utf8.allSatisfy({ isDigit($0) || $0 == UInt8(ascii: ".") })
        else { return nil }
        return Double(text).map { min($0, 1e15) }
    }

    /// Parses a `Retry-After`: whole seconds or a date.
    static func delay(_ text: String, now: () -> Date) -> Duration? {
        guard !text.isEmpty, text.utf8.allSatisfy(isDigit) else { return wait(until: text, now: now) }
        return .seconds(Int64(text) ?? .max)
    }

    /// Returns the seconds from now until a time. A number as large as the seconds or milliseconds since 1970 is a
    /// date.
    static func time(_ text: String, now: () -> Date) -> Double? {
        let text = ASCII.trimmed(text)
        if let number = number(text) {
            return number > 1e9 ? max(0, number / (number > 1e11 ? 1_000 : 1) - now().timeIntervalSince1970) : number
        }
        if text.utf8.contains(UInt8(ascii: "T")), text.utf8.count < 64, let date = try? Date(text, strategy: .iso8601) {
            return max(0, date.timeIntervalSince(now()))
        }
        return duration(text) ?? wait(until: text, now: now).map { $0 / .seconds(1) }
    }

    /// Returns the wait until an HTTP date in any of its three formats, or zero if the date has passed.
    private static func wait(until text: String, now: () -> Date) -> Duration? {
        let now = now().timeIntervalSince1970
        guard abs(now) < 1e12, let date = HTTPDate.seconds(of: text, now: Int64(now)) else { return nil }
        // Subtract whole seconds first, because a date in seconds is too large for exact fractions.
        let second = Int64(now.rounded(.down))
        return max(.zero, .seconds(date - second) - .seconds(now - Double(second)))
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    /// Parses a duration, and returns its seconds. The text contains days, hours, minutes, seconds and milliseconds, in
    /// this order, each with its unit.
    private static func duration(_ text: String) -> Double? {
        var (rest, seconds) = (text.utf8[...], 0.0)
        for (unit, factor) in [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1), ("ms", 0.001)] as [(String, Double)] {
            let digits = rest.prefix { isDigit($0) || $0 == UInt8(ascii: ".") }
            let name = rest.dropFirst(digits.count).prefix { (97...122).contains($0 | 0x20) }
            guard name.elementsEqual(unit.utf8) else { continue }
            guard let number = number(String(Substring(digits))) else { return nil }
            seconds += number * factor
            rest = rest.dropFirst(digits.count + name.count)
        }
        return rest.isEmpty && !text.isEmpty ? min(seconds, 1e15) : nil
    }
}

extension HTTPHeaders {
    /// The value of `X-Should-Retry`, which some APIs send with an error, or nil if it is neither `true` nor `false`.
    var shouldRetry: Bool? {
        switch self["X-Should-Retry"].map(ASCII.keyword) {
        case "true": true
        case "false": false
        default: nil
        }
    }
}
