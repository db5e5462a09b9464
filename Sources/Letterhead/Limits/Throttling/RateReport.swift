import Foundation

/// What a response says of the rate that its server allows.
///
/// Read are `RateLimit` in its two forms (draft-ietf-httpapi-ratelimit-headers: `"default";r=0;t=30`, and
/// `limit=10, remaining=0, reset=30` of the earlier ones), `RateLimit-Remaining` and `-Reset`, `X-RateLimit-Remaining` and
/// `-Reset`, `X-Rate-Limit-Remaining` and `-Reset`; and `Retry-After` (RFC 9110, 10.2.3) of a 403, 429 or 503. What
/// is malformed counts for nothing.
struct RateReport: Equatable {
    /// How many requests are left until a window ends.
    struct Window: Equatable {
        var remaining: Int
        var reset: Duration
    }

    var window: Window?
    /// How long nothing is to be sent.
    var hold: Duration?

    /// nil when it says nothing.
    ///
    /// - Parameter now: seconds since 1970, asked only when a header needs it.
    init?(_ response: HTTPResponse, now: () -> Double) {
        let status = response.status.code
        var (remaining, reset): (Double?, Double?)
        var asksForPause = false
        for field in response.headers where Self.isCandidate(field.name.rawValue) {
            switch field.name {
            case "RateLimit": note(Self.windows(in: field.value))
            case "RateLimit-Remaining", "X-RateLimit-Remaining", "X-Rate-Limit-Remaining":
                remaining = Self.number(field.value).map { min($0, remaining ?? $0) } ?? remaining
            case "RateLimit-Reset", "X-RateLimit-Reset", "X-Rate-Limit-Reset":
                reset = Self.number(field.value).map { Self.delta($0, now: now) } ?? reset
            case .retryAfter where [403, 429, 503].contains(status): asksForPause = true
            default: break
            }
        }
        // Once for all fields of the name, since it reads all of them.
        if asksForPause { hold = response.headers.retryAfter(now: Date(timeIntervalSince1970: now())) }
        if let remaining, let reset { note([(remaining, reset)]) }
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

    /// A quick look, since almost no header is one of them.
    private static func isCandidate(_ name: String) -> Bool {
        switch name.utf8.first {
        case UInt8(ascii: "R"), UInt8(ascii: "r"), UInt8(ascii: "X"), UInt8(ascii: "x"): true
        default: false
        }
    }

    private static func windows(in value: String) -> [(remaining: Double, reset: Double)] {
        let isEarly = value.contains("remaining=")
        let policies = isEarly ? [Substring(value)] : value.split(separator: ",")
        return policies.compactMap { policy in
            var (remaining, reset): (Double?, Double?)
            for parameter in policy.split(whereSeparator: { $0 == ";" || $0 == "," }) {
                let parts = parameter.split(separator: "=", maxSplits: 1).map { ASCII.trimmed(String($0)) }
                guard parts.count == 2 else { continue }
                switch parts[0] {
                case "r", "remaining": remaining = number(parts[1])
                case "t", "reset": reset = number(parts[1])
                default: break
                }
            }
            guard let remaining, let reset else { return nil }
            return (remaining, reset)
        }
    }

    /// A count or a number of seconds, within what is sane.
    private static func number(_ text: String) -> Double? {
        let text = ASCII.trimmed(text)
        guard text.utf8.first.map({ (48...57).contains($0) }) == true, let number = Double(text) else { return nil }
        return number.isFinite ? min(number, 1e15) : nil
    }

    /// Seconds from now; a number as large as the seconds or milliseconds since 1970 is a point in time.
    private static func delta(_ number: Double, now: () -> Double) -> Double {
        if number > 1e11 { return max(0, number / 1_000 - now()) }
        return number > 1e9 ? max(0, number - now()) : number
    }
}
