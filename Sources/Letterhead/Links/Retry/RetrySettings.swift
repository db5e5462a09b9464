// SPDX-License-Identifier: MIT
public import LetterheadFoundation

extension Retry {
    /// Set the limits, the clocks and the random source of ``Retry`` for a client.
    public struct Settings: Sendable {
        /// For requests that do not set their own. A negative number is `.invalidRequest`.
        public var maximumRetries: Int

        /// For requests that have none; with nil, only validators suggest retries. It replaces the waits that
        /// ``DefaultValidator`` suggests, and has no effect on requests whose maximum number of retries is 0.
        public var strategy: HTTPRetryStrategy?

        /// The longest `Retry-After` that is accepted. If the server requests a longer wait, the request is not
        /// retried, because any earlier retry would be too early.
        public var longestServerDelay: Duration

        public var budget: Retry.Budget

        /// Measures waits, and the deadlines of a client.
        public var clock: any Clock<Duration>

        /// The current date, for a `Retry-After` that is a date.
        public var now: @Sendable () -> Date

        /// Returns numbers from 0 to 1, for jitter; 1 results in the longest wait.
        public var random: @Sendable () -> Double

        /// Called before the wait of each retry.
        public var onRetry: @Sendable (Retry.Context) async -> Void

        public init(
            maximumRetries: Int = 0, strategy: HTTPRetryStrategy? = nil, longestServerDelay: Duration = .seconds(120),
            budget: Retry.Budget = .standard, clock: any Clock<Duration> = ContinuousClock(),
            now: @escaping @Sendable () -> Date = { Date() },
            random: @escaping @Sendable () -> Double = { .random(in: 0...1) },
            onRetry: @escaping @Sendable (Retry.Context) async -> Void = { _ in }
        ) {
            (self.maximumRetries, self.strategy, self.budget) = (maximumRetries, strategy, budget)
            (self.longestServerDelay, self.clock) = (longestServerDelay, clock)
            (self.now, self.random, self.onRetry) = (now, random, onRetry)
        }
    }
}

extension Retry.Settings {
    /// Retries each request that may be sent twice up to 3 times, with the waits of ``HTTPRetryStrategy/exponential``:
    /// `HTTPClient(environment: .production, retrying: .exponential)`.
    public static var exponential: Self { Self(maximumRetries: 3, strategy: .exponential) }
}

// MARK: A request

enum RetryStrategyOption: HTTPRequestOption { static let defaultOptionValue: HTTPRetryStrategy? = nil }
enum MaximumRetriesOption: HTTPRequestOption { static let defaultOptionValue: Int? = nil }
enum ValidatorsOption: HTTPRequestOption { static let defaultOptionValue: [any HTTPValidator] = [] }
enum ResponseTransformersOption: HTTPRequestOption { static let defaultOptionValue: [ModifyResponse] = [] }
enum IdempotencyOption: HTTPRequestOption { static let defaultOptionValue: HTTPRequest.IdempotencyKey? = nil }
enum RetryObserverOption: HTTPRequestOption {
    static let defaultOptionValue: (@Sendable (Retry.Context) async -> Void)? = nil
}

extension HTTPRequest {
    /// The `Idempotency-Key` of a request that may be sent twice (draft-ietf-httpapi-idempotency-key-header), by which
    /// the server recognizes a retry: `.random`, `.none`, or the text of a key.
    public struct IdempotencyKey: Sendable, Hashable, ExpressibleByStringLiteral {
        /// Each load has a random key, which all of its attempts share.
        public static let random = Self(nil, isSent: true)
        /// No key is sent, for a POST that only reads.
        public static let none = Self(nil, isSent: false)

        /// Nil for a random key.
        private let text: String?
        private let isSent: Bool

        private init(_ text: String?, isSent: Bool) { (self.text, self.isSent) = (text, isSent) }

        /// Creates a key, such as one that is stored across launches.
        public init(_ text: String) { self.init(text, isSent: true) }

        public init(stringLiteral text: String) { self.init(text) }

        /// The value for a load; nil if no key is sent.
        var value: String? { isSent ? text ?? ASCII.lowercased(UUID().uuidString) : nil }
    }
}

extension RequestSettings {
    /// Default: nil (the strategy of the client's ``Retry/Settings``, if any; otherwise only validators request
    /// retries).
    public var retryStrategy: HTTPRetryStrategy? {
        get { self[option: RetryStrategyOption.self] }
        set { self[option: RetryStrategyOption.self] = newValue }
    }

    /// The maximum number of retries of the request, those of the strategy and of validators together. With 2, there are
    /// at most 3 attempts. Default: nil (the maximum of the client); a negative number is `.invalidRequest`.
    public var maximumRetries: Int? {
        get { self[option: MaximumRetriesOption.self] }
        set { self[option: MaximumRetriesOption.self] = newValue }
    }

    /// Validators for this request. They run before those of the client. Default: none.
    public var validators: [any HTTPValidator] {
        get { self[option: ValidatorsOption.self] }
        set { self[option: ValidatorsOption.self] = newValue }
    }

    /// Response transformers for this request. They run after those of the client. Default: none.
    public var responseTransformers: [ModifyResponse] {
        get { self[option: ResponseTransformersOption.self] }
        set { self[option: ResponseTransformersOption.self] = newValue }
    }

    /// Observes the retries of this request, in addition to the observer of the client. Default: nil.
    public var onRetry: (@Sendable (Retry.Context) async -> Void)? {
        get { self[option: RetryObserverOption.self] }
        set { self[option: RetryObserverOption.self] = newValue }
    }

    /// Allows retries with any method. All attempts of a load have the same `Idempotency-Key`, by which the server can
    /// recognize a retry. With `.none`, they have no key: use it for a POST that only reads.
    public mutating func markIdempotent(key: HTTPRequest.IdempotencyKey = .random) { idempotency = key }

    var idempotency: HTTPRequest.IdempotencyKey? {
        get { self[option: IdempotencyOption.self] }
        set { self[option: IdempotencyOption.self] = newValue }
    }
}

extension HTTPRequest {
    /// Whether sending the request twice has the effect of sending it once: its method is idempotent (RFC 9110, 9.2.2),
    /// it was marked with ``RequestSettings/markIdempotent(key:)``, or it has an `Idempotency-Key`.
    public var isIdempotent: Bool { method.isIdempotent || isMarkedIdempotent }

    var isMarkedIdempotent: Bool { idempotency != nil || headers.contains(.idempotencyKey) }
}

extension RequestConfigurable {
    /// Retries the request after a temporary failure (``Retry/Condition/standard``), or after the outcomes that the
    /// condition of the strategy selects.
    ///
    /// ```swift
    /// try await client.send(GetUser(login: "ada").retry(.exponential, maximumRetries: 3))
    /// ```
    ///
    /// A `Retry-After` of the server takes precedence over the wait of the strategy. Mark a POST ``RequestTemplate/idempotent(key:)``
    /// if it may be sent twice; see ``Retry``. A negative maximum is `.invalidRequest`.
    public func retry(
        _ strategy: HTTPRetryStrategy, maximumRetries: Int = 3
    ) -> Configured {
        configured {
            $0.retryStrategy = strategy
            $0.maximumRetries = maximumRetries
        }
    }

    /// Sets ``RequestSettings/maximumRetries``.
    public func maximumRetries(_ count: Int?) -> Configured {
        configured { $0.maximumRetries = count }
    }
}

extension RequestTemplate {
    /// Adds validators to this endpoint. They run in the order written, before those of the client.
    public func validated(by validators: any HTTPValidator...) -> Modified<Self> {
        configured { $0.validators = options.validators + validators }
    }

    /// Adds transformers, which run in the order written, after those of the client and before validators.
    public func transformed(by transformers: ModifyResponse...) -> Modified<Self> {
        configured { $0.responseTransformers = options.responseTransformers + transformers }
    }

    /// Adds an observer, called before the wait of each retry. Observers are called in the order written.
    public func onRetry(
        _ observer: @escaping @Sendable (Retry.Context) async -> Void
    ) -> Modified<Self> {
        configured { $0.onRetry = joined(options.onRetry, observer) }
    }

    /// Allows retries with any method; see ``RequestSettings/markIdempotent(key:)``. Mark only requests to servers that
    /// recognize the key, or, with `.none`, requests that change nothing.
    ///
    /// ```swift
    /// try await client.send(CreateOrder(order).idempotent().retry(.exponential))
    /// try await client.send(Search(text).idempotent(key: .none).retry(.exponential))
    /// ```
    public func idempotent(key: HTTPRequest.IdempotencyKey = .random) -> Modified<Self> {
        configured { $0.markIdempotent(key: key) }
    }
}

func joined(
    _ first: (@Sendable (Retry.Context) async -> Void)?, _ second: @escaping @Sendable (Retry.Context) async -> Void
) -> @Sendable (Retry.Context) async -> Void {
    { context in
        await first?(context)
        await second(context)
    }
}
