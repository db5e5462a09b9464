// SPDX-License-Identifier: MIT
extension Retry {
    /// Decide after which outcomes a strategy retries. Join conditions with `&&`, `||` and `!`.
    ///
    /// ```swift
    /// let strategy = HTTPRetryStrategy.exponential(base: .seconds(1))
    ///     .when((.statuses([503, 504]) || .failures([.timedOut])) && .attempts(3))
    /// ```
    ///
    /// A *selection* describes the outcomes after which a request is retried, and replaces ``standard``:
    /// ``statuses(_:)``, ``failures(_:)``, ``refusals`` and closures. A *limit* selects no outcomes, and narrows
    /// ``standard``, both alone and as one side of `||`: ``attempts(_:)``, ``within(_:)``, ``methods(_:)``, ``always`` and
    /// any condition that is negated with `!`.
    ///
    /// A response whose status counts as success is retried if ``statuses(_:)`` names that status, or if a limit holds
    /// and ``standardStatuses`` contains it; a closure alone is not enough. ``Retry`` lists what is never retried,
    /// regardless of conditions.
    public struct Condition: Sendable {
        private typealias Rule = @Sendable (_ context: Retry.Context, _ isSelected: Bool) -> Bool

        /// If the outcome is selected otherwise, every selection holds, so that the limits decide.
        private let rule: Rule
        private var selects = true
        /// A negated condition names none.
        private var named: Set<HTTPStatus> = []

        /// Creates a selection. The closure must not block.
        public init(_ holds: @escaping @Sendable (Retry.Context) -> Bool) { rule = { $1 || holds($0) } }

        fileprivate static func limit(_ holds: @escaping @Sendable (Retry.Context) -> Bool) -> Retry.Condition {
            Retry.Condition(selects: false, named: []) { context, _ in holds(context) }
        }

        private init(selects: Bool, named: Set<HTTPStatus>, _ rule: @escaping Rule) {
            (self.selects, self.named, self.rule) = (selects, named, rule)
        }

        /// Ignores the rules of ``Retry``.
        public func holds(in context: Retry.Context) -> Bool { rule(context, false) }

        /// With `isSuggested`, a validator has already judged the outcome and suggested a retry.
        func applies(in context: Retry.Context, isSuggested: Bool) -> Bool {
            let standard: Retry.Condition = isSuggested ? !.repeatedTimeout : .standard
            if !isSuggested, let status = context.response?.status, context.request.accepts(status) {
                guard named.contains(status) || (!selects && standard.named.contains(status)) else { return false }
            }
            return (selects || standard.holds(in: context)) && holds(in: context)
        }

        /// Whether the limits allow a retry after a refusal, which ``HTTPRetryStrategy/retryingRefusals()`` selects in
        /// addition.
        func admitsRefusal(in context: Retry.Context) -> Bool { rule(context, true) }

        /// A selection does not, because it alone determines after which outcomes a request is retried.
        func permitsRequestedRetry(in context: Retry.Context) -> Bool { !selects && holds(in: context) }

        public static func && (left: Retry.Condition, right: Retry.Condition) -> Retry.Condition {
            Retry.Condition(selects: left.selects || right.selects, named: left.named.union(right.named)) {
                left.rule($0, $1) && right.rule($0, $1)
            }
        }

        /// If only one side is a selection, the other one narrows ``standard``.
        public static func || (left: Retry.Condition, right: Retry.Condition) -> Retry.Condition {
            guard left.selects == right.selects else {
                return left.selects ? left || (.standard && right) : (.standard && left) || right
            }
            return Retry.Condition(selects: left.selects, named: left.named.union(right.named)) {
                left.rule($0, $1) || right.rule($0, $1)
            }
        }

        /// The result is always a limit.
        public static prefix func ! (condition: Retry.Condition) -> Retry.Condition {
            .limit { !condition.holds(in: $0) }
        }
    }
}

extension Retry.Condition {
    /// The statuses that describe a temporary state: 408, 425, 429, 500, 502, 503, 504 and 529.
    public static let standardStatuses: Set<HTTPStatus> = [408, 425, 429, 500, 502, 503, 504, 529]

    /// `.cannotConnect`, `.connectionLost` and `.timedOut`, which may be temporary.
    public static let standardFailures: Set<HTTPError.Code> = [.cannotConnect, .connectionLost, .timedOut]

    /// The default of a strategy: ``standardStatuses`` and ``standardFailures``. A 408 is retried only once.
    public static let standard = (.statuses(standardStatuses) && !.repeatedTimeout) || .failures(standardFailures)

    /// A limit that always holds. `.when(.always)` is the same as no condition: the strategy applies to the outcomes of
    /// ``standard``, and not to every failed attempt.
    ///
    /// To retry after every outcome that is not a success, write a selection: `.when(Retry.Condition { _ in true })`.
    public static let always = Retry.Condition.limit { _ in true }

    /// A limit on the number of attempts, including the first.
    public static func attempts(_ count: Int) -> Retry.Condition {
        .limit { $0.retry < count }
    }

    /// A limit on the time since the start of the load.
    public static func within(_ limit: Duration) -> Retry.Condition {
        .limit { $0.elapsed < limit }
    }

    /// A limit to requests with these methods. A request whose method is not idempotent must also be marked
    /// `.idempotent()`.
    public static func methods(_ methods: Set<HTTPMethod>) -> Retry.Condition {
        .limit { methods.contains($0.request.method) }
    }

    /// Selects responses with one of these statuses, even if a status counts as success.
    public static func statuses(_ statuses: Set<HTTPStatus>) -> Retry.Condition {
        var condition = Retry.Condition { $0.response.map { statuses.contains($0.status) } ?? false }
        condition.named = statuses
        return condition
    }

    /// Selects responses with which a server refused a request without processing it: a 429 or 529, or a 503 or 403 with
    /// a valid `Retry-After`. Add ``HTTPRetryStrategy/retryingRefusals()`` to retry requests of any method after them.
    public static let refusals = Retry.Condition { $0.isRefusal }

    /// Selects failures with one of these codes.
    public static func failures(_ codes: Set<HTTPError.Code>) -> Retry.Condition {
        Retry.Condition { $0.failure.map { codes.contains($0.code) } ?? false }
    }

    /// Selects a second 408. A server that has timed out twice while it waited for the request does not wait longer the
    /// next time (RFC 9110, 15.5.9).
    static let repeatedTimeout = Retry.Condition { context in
        context.response?.status == .requestTimeout && context.attempts.contains { $0.status == .requestTimeout }
    }
}

extension Retry {
    /// The state of a load after an attempt that may be retried.
    ///
    /// A ``Retry/Condition`` receives it before a retry is decided. ``Retry/Settings/onRetry`` and
    /// ``RequestSettings/onRetry`` receive it only if a retry follows, with the strategy and the wait.
    public struct Context: Sendable, CustomStringConvertible {
        /// The request of the load, with the changes of earlier alternates.
        public let request: HTTPRequest
        public let result: Result<HTTPResponse, HTTPError>
        /// The number of the possible retry: 1 after the first attempt.
        public let retry: Int
        /// The time since the start of the load.
        public let elapsed: Duration
        /// The earlier attempts; once a retry has been decided, with the last one and the reason for its retry.
        public let attempts: [HTTPRequest.Attempt]
        /// nil before the decision.
        public let strategy: HTTPRetryStrategy?
        /// nil before the decision.
        public let delay: Duration?

        /// For tests of conditions and of code that observes retries. By default, it is a first retry that has not been
        /// decided.
        public init(
            request: HTTPRequest, result: Result<HTTPResponse, HTTPError>, retry: Int = 1, elapsed: Duration = .zero,
            attempts: [HTTPRequest.Attempt] = [], strategy: HTTPRetryStrategy? = nil, delay: Duration? = nil
        ) {
            (self.request, self.result, self.retry, self.elapsed) = (request, result, retry, elapsed)
            (self.attempts, self.strategy, self.delay) = (attempts, strategy, delay)
        }

        public var response: HTTPResponse? { try? result.get() }

        public var failure: HTTPError? { result.failure }

        /// The request and the last of ``attempts``, or the state of the retry if there are none. It contains no secrets.
        public var description: String {
            "\(request.method.printable) \(request.redaction.outline(of: request)): "
                + (attempts.last?.description ?? delay.map { "retried after \($0)" } ?? "retry \(retry) is not decided")
        }
    }
}
