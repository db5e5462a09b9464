/// When a strategy applies; joined with `&&`, `||` and `!`.
///
/// ```swift
/// let strategy = HTTPRetryStrategy.exponential(base: .seconds(1))
///     .when((.statuses([503, 504]) || .failures([.timedOut])) && .attempts(3))
/// let brief = HTTPRetryStrategy.immediate.when(.standard && .within(.seconds(30)))
/// ```
///
/// A condition only narrows: what is never repeated, whatever a condition says, is listed at ``Retry``.
public struct RetryCondition: Sendable {
    private let holds: @Sendable (RetryContext) -> Bool

    /// A condition of your own. It must not wait.
    public init(_ holds: @escaping @Sendable (RetryContext) -> Bool) { self.holds = holds }

    /// Whether it holds.
    public func holds(in context: RetryContext) -> Bool { holds(context) }

    /// Both.
    public static func && (left: RetryCondition, right: RetryCondition) -> RetryCondition {
        RetryCondition { left.holds($0) && right.holds($0) }
    }

    /// At least one.
    public static func || (left: RetryCondition, right: RetryCondition) -> RetryCondition {
        RetryCondition { left.holds($0) || right.holds($0) }
    }

    /// The contrary.
    public static prefix func ! (condition: RetryCondition) -> RetryCondition {
        RetryCondition { !condition.holds($0) }
    }
}

extension RetryCondition {
    /// The statuses that are about the moment: 408, 425, 429, 500, 502, 503 and 504.
    public static let standardStatuses: Set<HTTPStatus> = [408, 425, 429, 500, 502, 503, 504]

    /// The failures that are about the moment: `.cannotConnect`, `.connectionLost` and `.timedOut`.
    public static let standardFailures: Set<HTTPError.Code> = [.cannotConnect, .connectionLost, .timedOut]

    /// What a strategy repeats unless it says otherwise: ``standardStatuses``, though 408 only once, and
    /// ``standardFailures``.
    public static let standard = (.statuses(standardStatuses) && !.repeatedTimeout) || .failures(standardFailures)

    /// Always.
    public static let always = RetryCondition { _ in true }

    /// Up to so many attempts in all, the first one counted.
    public static func attempts(_ count: Int) -> RetryCondition { RetryCondition { $0.retry < count } }

    /// As long as the load has taken less than this.
    public static func within(_ limit: Duration) -> RetryCondition { RetryCondition { $0.elapsed < limit } }

    /// For these methods only. It opens nothing: a method that is not idempotent needs `.idempotent()`.
    public static func methods(_ methods: Set<HTTPMethod>) -> RetryCondition {
        RetryCondition { methods.contains($0.request.method) }
    }

    /// After a response with one of these statuses.
    public static func statuses(_ statuses: Set<HTTPStatus>) -> RetryCondition {
        RetryCondition { $0.response.map { statuses.contains($0.status) } ?? false }
    }

    /// After a failure with one of these codes.
    public static func failures(_ codes: Set<HTTPError.Code>) -> RetryCondition {
        RetryCondition { $0.failure.map { codes.contains($0.code) } ?? false }
    }

    /// A server that gave up waiting twice is not going to wait longer (RFC 9110, 15.5.9).
    static let repeatedTimeout = RetryCondition { context in
        context.response?.status == .requestTimeout && context.earlier.contains { $0.status == .requestTimeout }
    }
}
