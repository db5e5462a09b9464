public import Foundation

extension HTTPHeaders {
    /// How long the server asks to wait, by its `Retry-After` (RFC 9110, 10.2.3) or `Retry-After-Ms`; nil when neither is
    /// there in a valid form.
    ///
    /// `Retry-After` is whole seconds, or a date in any of the three forms of HTTP; a date in the past is zero. A negative,
    /// signed, fractional or otherwise malformed value counts as absent; of several values the longest counts.
    /// `Retry-After-Ms`, which some APIs send in addition, is milliseconds and wins. The time may be very long: set a limit.
    ///
    /// - Parameter now: the present, which dates are measured against. Default: the system's time.
    public func retryAfter(now: Date = Date()) -> Duration? {
        let milliseconds = values(for: .retryAfterMilliseconds).compactMap { Self.milliseconds($0) }.max()
        return milliseconds
            ?? values(for: .retryAfter).compactMap { Self.delay($0, now: now.timeIntervalSince1970) }.max()
    }

    private static func milliseconds(_ value: String) -> Duration? {
        guard value.utf8.first.map({ (48...57).contains($0) }) == true, let number = Double(value), number.isFinite
        else { return nil }
        return .microseconds(Int64(Swift.min(number * 1000, 1e18)))
    }

    private static func delay(_ value: String, now: Double) -> Duration? {
        guard now.isFinite, abs(now) < 1e12 else { return nil }
        if !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }) {
            return .seconds(Int64(value) ?? .max)
        }
        guard let date = HTTPDate.seconds(of: value, now: Int64(now)) else { return nil }
        // By whole seconds first, since so large a time has no exact fractions.
        let second = Int64(now.rounded(.down))
        return Swift.max(.zero, .seconds(date - second) - .seconds(now - Double(second)))
    }
}

extension HTTPHeaders {
    /// Whether the server wants the request to be sent again, by `X-Should-Retry`, which some APIs send with an error; nil
    /// when the field is absent or neither `true` nor `false`.
    var shouldRetry: Bool? {
        switch self["X-Should-Retry"] {
        case "true": true
        case "false": false
        default: nil
        }
    }
}
