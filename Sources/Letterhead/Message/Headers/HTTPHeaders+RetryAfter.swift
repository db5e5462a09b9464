public import Foundation

extension HTTPHeaders {
    /// Returns the wait that the server requests in `Retry-After` (RFC 9110, 10.2.3) or `Retry-After-Ms`; nil if
    /// neither has a valid value.
    ///
    /// `Retry-After` is in whole seconds, or a date in one of the three formats of HTTP. A date in the past results in
    /// a wait of zero. A negative, signed, fractional or otherwise malformed value counts as absent. `Retry-After-Ms`,
    /// which some APIs send in addition, is in milliseconds, may have a fraction, and takes precedence. If a field has
    /// several values, the longest wait applies. The wait may be very long, so limit it.
    ///
    /// - Parameter now: the date from which a wait until a date is calculated. Default: the date of the system.
    public func retryAfter(now: Date = Date()) -> Duration? {
        let milliseconds = values(for: .retryAfterMilliseconds).compactMap { Self.milliseconds($0) }.max()
        return milliseconds
            ?? values(for: .retryAfter).compactMap { Self.delay($0, now: now.timeIntervalSince1970) }.max()
    }

    private static func milliseconds(_ value: String) -> Duration? {
        // Only decimal digits and a point: `Double` also reads exponents and hexadecimal numbers.
        guard value.utf8.first.map({ (48...57).contains($0) }) == true,
            value.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") }), let number = Double(value)
        else { return nil }
        return .microseconds(Int64(Swift.min(number * 1000, 1e18)))
    }

    private static func delay(_ value: String, now: Double) -> Duration? {
        guard now.isFinite, abs(now) < 1e12 else { return nil }
        if !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }) {
            return .seconds(Int64(value) ?? .max)
        }
        guard let date = HTTPDate.seconds(of: value, now: Int64(now)) else { return nil }
        // Whole seconds are subtracted first, because a date in seconds is too large for exact fractions.
        let second = Int64(now.rounded(.down))
        return Swift.max(.zero, .seconds(date - second) - .seconds(now - Double(second)))
    }
}

extension HTTPHeaders {
    /// The value of `X-Should-Retry`, which some APIs send with an error; nil if the field is absent or neither `true`
    /// nor `false`.
    var shouldRetry: Bool? {
        switch self["X-Should-Retry"].map(ASCII.keyword) {
        case "true": true
        case "false": false
        default: nil
        }
    }
}
