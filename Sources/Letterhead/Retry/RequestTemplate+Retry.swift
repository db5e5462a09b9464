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
        option(RetryStrategyOption.self, strategy).option(MaximumRetriesOption.self, maximumRetries)
    }

    /// Sets the maximum number of retries of a load, including the retries that validators request. With 2, there are
    /// at most 3 attempts. If the count is nil, the maximum of the client applies.
    public func maximumRetries(_ count: Int?) -> Modified<Self> {
        option(MaximumRetriesOption.self, count)
    }

    /// Marks the request as idempotent: sending it twice has the same effect as sending it once, so it may be retried
    /// with any method.
    ///
    /// The request contains an `Idempotency-Key`, which is the same in every attempt, so that the server can recognize
    /// a retry.
    ///
    /// - Parameter key: the key. Default: nil (a random key for each load).
    public func idempotent(key: String? = nil) -> Modified<Self> {
        option(IdempotencyOption.self, Idempotency(key: key))
    }

    /// Adds validators to this endpoint. They run in the order written, before those of the client.
    public func validated(by validators: any HTTPValidator...) -> Modified<Self> {
        option(ValidatorsOption.self, options[ValidatorsOption.self] + validators)
    }

    /// Adds transformers that change the responses of this endpoint before validators run. The transformers run in the
    /// order written, after those of the client.
    public func transformed(by transformers: ModifyResponse...) -> Modified<Self> {
        option(ResponseTransformersOption.self, options[ResponseTransformersOption.self] + transformers)
    }

    /// Adds a closure that is called for each retry before its wait begins. Closures are called in the order written.
    public func onRetry(
        _ observer: @escaping @Sendable (RetryContext) async -> Void
    ) -> Modified<Self> {
        guard let earlier = options[RetryObserverOption.self] else {
            return option(RetryObserverOption.self, observer)
        }
        return option(RetryObserverOption.self) { context in
            await earlier(context)
            await observer(context)
        }
    }
}

extension Modified {
    /// See ``RequestTemplate/retry(_:maximumRetries:)``.
    public func retry(_ strategy: HTTPRetryStrategy, maximumRetries: Int = 3) -> Self {
        option(RetryStrategyOption.self, strategy).option(MaximumRetriesOption.self, maximumRetries)
    }

    /// See ``RequestTemplate/maximumRetries(_:)``.
    public func maximumRetries(_ count: Int?) -> Self {
        option(MaximumRetriesOption.self, count)
    }

    /// See ``RequestTemplate/idempotent(key:)``.
    public func idempotent(key: String? = nil) -> Self {
        option(IdempotencyOption.self, Idempotency(key: key))
    }

    /// See ``RequestTemplate/validated(by:)``.
    public func validated(by validators: any HTTPValidator...) -> Self {
        option(ValidatorsOption.self, options[ValidatorsOption.self] + validators)
    }

    /// See ``RequestTemplate/transformed(by:)``.
    public func transformed(by transformers: ModifyResponse...) -> Self {
        option(ResponseTransformersOption.self, options[ResponseTransformersOption.self] + transformers)
    }

    /// See ``RequestTemplate/onRetry(_:)``.
    public func onRetry(_ observer: @escaping @Sendable (RetryContext) async -> Void) -> Self {
        guard let earlier = options[RetryObserverOption.self] else {
            return option(RetryObserverOption.self, observer)
        }
        return option(RetryObserverOption.self) { context in
            await earlier(context)
            await observer(context)
        }
    }
}
