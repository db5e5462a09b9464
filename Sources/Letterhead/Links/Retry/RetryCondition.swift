// SPDX-License-Identifier: MIT
extension Retry {
    /// Decide after which outcomes a strategy retries, instead of those of ``standard``.
    ///
    /// ```swift
    /// let polling = HTTPRetryStrategy.exponential.when(.statuses([202, 503]) || .failures([.timedOut]))
    /// let brief = HTTPRetryStrategy.exponential.when(
    ///     Retry.Condition { Retry.Condition.standard.holds(in: $0) && $0.elapsed < .seconds(30) })
    /// ```
    ///
    /// A response whose status counts as success is retried only if ``statuses(_:)`` lists that status. ``Retry`` lists
    /// what is never retried, regardless of conditions.
    public struct Condition: Sendable {
        private let predicate: @Sendable (Retry.Context) -> Bool
        /// The statuses that are retried even if they count as success.
        let statuses: Set<HTTPStatus>

        /// The closure must not block.
        public init(_ holds: @escaping @Sendable (Retry.Context) -> Bool) { self.init([], holds) }

        private init(_ statuses: Set<HTTPStatus>, _ predicate: @escaping @Sendable (Retry.Context) -> Bool) {
            (self.statuses, self.predicate) = (statuses, predicate)
        }

        /// Ignores the rules of ``Retry``.
        public func holds(in context: Retry.Context) -> Bool { predicate(context) }

        public static func || (left: Retry.Condition, right: Retry.Condition) -> Retry.Condition {
            Retry.Condition(left.statuses.union(right.statuses)) { left.holds(in: $0) || right.holds(in: $0) }
        }
    }
}

extension Retry.Condition {
    /// The statuses that describe a temporary state: 408, 425, 429, 500, 502, 503, 504 and 529.
    public static let standardStatuses: Set<HTTPStatus> = [408, 425, 429, 500, 502, 503, 504, 529]

    /// `.cannotConnect`, `.connectionLost` and `.timedOut`, which may be temporary.
    public static let standardFailures: Set<HTTPError.Code> = [.cannotConnect, .connectionLost, .timedOut]

    /// The default of a strategy: ``standardStatuses`` and ``standardFailures``. A 408 is retried only once.
    public static let standard =
        Retry.Condition(standardStatuses) { context in
            context.response.map { standardStatuses.contains($0.status) } == true && !context.isRepeatedTimeout
        } || .failures(standardFailures)

    /// Holds for responses with one of these statuses, even if a status counts as success.
    public static func statuses(_ statuses: Set<HTTPStatus>) -> Retry.Condition {
        Retry.Condition(statuses) { $0.response.map { statuses.contains($0.status) } ?? false }
    }

    /// Holds for failures with one of these codes.
    public static func failures(_ codes: Set<HTTPError.Code>) -> Retry.Condition {
        Retry.Condition { $0.failure.map { codes.contains($0.code) } ?? false }
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
