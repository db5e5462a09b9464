import Foundation

/// The age of a stored response, and the time for which it is fresh (RFC 9111, 4.2), in seconds.
struct CacheFreshness: Equatable, Sendable {
    /// The current age.
    let age: Int64
    /// The age at which the response becomes stale.
    let lifetime: Int64
    /// Whether the lifetime was estimated from `Last-Modified`.
    let isHeuristic: Bool

    var isFresh: Bool { age < lifetime }
    /// The time since the response became stale.
    var staleness: Int64 { max(0, age - lifetime) }

    /// - Parameter now: the current time in seconds since 1970. A time before the response was received makes the
    ///   response stale, because its age is then unknown.
    init(_ head: CachedHead, now: Int64) {
        let date = head.headers[.date].flatMap { Self.date($0, now: head.responseTime) } ?? head.responseTime
        age = Self.age(of: head, date: date, now: now)
        (lifetime, isHeuristic) = Self.lifetime(of: head, date: date)
    }

    private static func age(of head: CachedHead, date: Int64, now: Int64) -> Int64 {
        guard now >= head.responseTime else { return 1 << 31 }
        let apparent = max(0, head.responseTime - date)
        let delay = max(0, head.responseTime - head.requestTime)
        let corrected = ageValue(head.headers) + delay
        return max(apparent, corrected) + (now - head.responseTime)
    }

    /// Returns the first value of `Age`; 0 if it is malformed (RFC 9111, 5.1).
    private static func ageValue(_ headers: HTTPHeaders) -> Int64 {
        let first = headers.first { $0.name == .age }?.value.split(at: ",").first
        return first.flatMap { CacheControl.deltaSeconds(ASCII.trimmed($0)) } ?? 0
    }

    private static func lifetime(of head: CachedHead, date: Int64) -> (Int64, isHeuristic: Bool) {
        if let seconds = head.control.seconds("max-age") { return (seconds, false) }
        if head.headers.contains(.expires) {
            // A malformed date counts as a date in the past (RFC 9111, 5.3).
            let values = head.headers.values(for: .expires)
            guard let value = values.first, values.allSatisfy({ $0.isSame(as: value) }),
                let end = self.date(value, now: head.responseTime)
            else { return (0, false) }
            return (max(0, end - date), false)
        }
        guard CacheRules.isHeuristicallyCacheable(head),
            let modified = head.headers[.lastModified].flatMap({ self.date($0, now: head.responseTime) }),
            modified < date
        else { return (0, false) }
        // A tenth of the time since the last change (RFC 9111, 4.2.2), at most a day.
        return (min((date - modified) / 10, 86_400), true)
    }

    /// Parses a date, whose spaces must be exact: only the day of the asctime format may have two before it.
    static func date(_ text: String, now: Int64) -> Int64? {
        text.utf8.count == 24 || !text.holds("  ") ? HTTPDate.seconds(of: text, now: now) : nil
    }
}
