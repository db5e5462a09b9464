enum RetryStrategyOption: HTTPRequestOption {
    static let defaultOptionValue: HTTPRetryStrategy? = nil
}

enum MaximumRetriesOption: HTTPRequestOption {
    static let defaultOptionValue: Int? = nil
}

enum ValidatorsOption: HTTPRequestOption {
    static let defaultOptionValue: [any HTTPValidator] = []
}

enum ResponseTransformersOption: HTTPRequestOption {
    static let defaultOptionValue: [ModifyResponse] = []
}

enum RetryObserverOption: HTTPRequestOption {
    static let defaultOptionValue: (@Sendable (RetryContext) async -> Void)? = nil
}

extension RequestSettings {
    /// The strategy with which the request is retried. Default: nil (the strategy of the client's ``RetrySettings``, if
    /// any; otherwise only validators request retries).
    public var retryStrategy: HTTPRetryStrategy? {
        get { self[option: RetryStrategyOption.self] }
        set { self[option: RetryStrategyOption.self] = newValue }
    }

    /// The maximum number of retries of the request. Retries that the strategy suggests and retries that validators
    /// suggest are counted together. With 2, there are at most 3 attempts. Default: nil (the maximum of the client).
    ///
    /// A negative number is `.invalidRequest`.
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
    public var onRetry: (@Sendable (RetryContext) async -> Void)? {
        get { self[option: RetryObserverOption.self] }
        set { self[option: RetryObserverOption.self] = newValue }
    }
}

extension RequestTemplate {
    /// Retries the request after a temporary failure: after the statuses 408 (once), 425, 429, 500, 502, 503, 504 and
    /// 529, and after failures of the network. If the strategy has a condition that selects other outcomes, the request
    /// is retried after these instead.
    ///
    /// ```swift
    /// try await client.send(GetUser(login: "ada").retry(.exponential, maximumRetries: 3))
    /// ```
    ///
    /// A `Retry-After` of the server takes precedence over the wait of the strategy. A request whose method is not
    /// idempotent is retried only if it is marked ``idempotent(key:)`` or if no byte of it was sent; see ``Retry`` for
    /// further exceptions.
    ///
    /// - Parameters:
    ///   - strategy: the waits between attempts, and the condition for a retry.
    ///   - maximumRetries: the maximum number of retries. Default: 3; a negative number is `.invalidRequest`.
    public func retry(
        _ strategy: HTTPRetryStrategy, maximumRetries: Int = 3
    ) -> Modified<Self> {
        settings {
            $0.retryStrategy = strategy
            $0.maximumRetries = maximumRetries
        }
    }

    /// Sets the maximum number of retries of a load, including the retries that validators request. With 2, there are
    /// at most 3 attempts. If the count is nil, the maximum of the client applies.
    public func maximumRetries(_ count: Int?) -> Modified<Self> {
        settings { $0.maximumRetries = count }
    }

    /// Adds validators to this endpoint. They run in the order written, before those of the client.
    public func validated(by validators: any HTTPValidator...) -> Modified<Self> {
        settings { $0.validators = options.validators + validators }
    }

    /// Adds transformers that change the responses of this endpoint before validators run. The transformers run in the
    /// order written, after those of the client.
    public func transformed(by transformers: ModifyResponse...) -> Modified<Self> {
        settings { $0.responseTransformers = options.responseTransformers + transformers }
    }

    /// Adds a closure that is called for each retry before its wait begins. Closures are called in the order written.
    public func onRetry(
        _ observer: @escaping @Sendable (RetryContext) async -> Void
    ) -> Modified<Self> {
        settings { $0.onRetry = joined(options.onRetry, observer) }
    }
}

/// Returns a closure that calls two closures in order.
func joined(
    _ first: (@Sendable (RetryContext) async -> Void)?, _ second: @escaping @Sendable (RetryContext) async -> Void
) -> @Sendable (RetryContext) async -> Void {
    { context in
        await first?(context)
        await second(context)
    }
}
