public import Foundation

extension HTTPHeaders {
    /// How long the server asks to wait, by its `Retry-After` (RFC 9110, 10.2.3); nil when it does not say so in a form
    /// of the standard.
    ///
    /// Whole seconds, or a date in any of the three forms of HTTP; one that has passed is zero. What is negative, signed,
    /// fractional or otherwise malformed counts as not there; of several the longest counts. It may be very long: whoever
    /// waits sets a limit.
    ///
    /// - Parameter now: the present, which dates are measured against. Default: the system's time.
    public func retryAfter(now: Date = Date()) -> Duration? {
        values(for: .retryAfter).compactMap { Self.delay($0, now: now.timeIntervalSince1970) }.max()
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
