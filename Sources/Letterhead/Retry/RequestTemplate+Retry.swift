extension RequestTemplate {
    /// Sends it again when an attempt is worth it: statuses 408, 425, 429, 500, 502, 503, 504 and failures of the network,
    /// or what the condition of the strategy says.
    ///
    /// ```swift
    /// try await client.send(GetUser(login: "ada").retry(.exponential, maximumRetries: 3))
    /// ```
    ///
    /// A `Retry-After` of the server counts more than the strategy's wait. Requests whose method is not idempotent are
    /// sent again only when they are marked ``idempotent(key:)``, or when nothing of them was sent; see ``Retry``.
    ///
    /// - Parameters:
    ///   - strategy: which waits, and when.
    ///   - maximumRetries: how many retries there may be. Default: 3; less than zero is `.invalidRequest`.
    public func retry(
        _ strategy: HTTPRetryStrategy, maximumRetries: Int = 3
    ) -> WithOptions<Self> {
        option(RetryStrategyOption.self, strategy).option(MaximumRetriesOption.self, maximumRetries)
    }

    /// Sets how many retries there may be, whoever asks for them: 2 makes at most 3 attempts; nil is as the client says.
    public func maximumRetries(_ count: Int?) -> WithOptions<Self> {
        option(MaximumRetriesOption.self, count)
    }

    /// Says that sending it twice means no more than sending it once, so that it may be sent again whatever its method.
    ///
    /// It then carries an `Idempotency-Key`, the same in every attempt, by which the server knows a retry.
    ///
    /// - Parameter key: the key. Default: nil, a random one for each load.
    public func idempotent(key: String? = nil) -> WithOptions<Self> {
        option(IdempotencyOption.self, Idempotency(key: key))
    }

    /// Adds validators for this endpoint. They judge in the order written, before those of the client.
    public func validated(by validators: any HTTPValidator...) -> WithOptions<Self> {
        option(ValidatorsOption.self, options[ValidatorsOption.self] + validators)
    }

    /// Adds transformers that change the responses of this endpoint before validators judge them. They run in the order
    /// written, after those of the client.
    public func transformed(by transformers: ModifyResponse...) -> WithOptions<Self> {
        option(ResponseTransformersOption.self, options[ResponseTransformersOption.self] + transformers)
    }

    /// Adds a closure that is called for each retry before its wait begins. Closures are called in the order written.
    public func onRetry(
        _ observer: @escaping @Sendable (RetryEvent) async -> Void
    ) -> WithOptions<Self> {
        guard let earlier = options[RetryObserverOption.self] else {
            return option(RetryObserverOption.self, observer)
        }
        return option(RetryObserverOption.self) { event in
            await earlier(event)
            await observer(event)
        }
    }
}

extension WithOptions {
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
    public func onRetry(_ observer: @escaping @Sendable (RetryEvent) async -> Void) -> Self {
        guard let earlier = options[RetryObserverOption.self] else {
            return option(RetryObserverOption.self, observer)
        }
        return option(RetryObserverOption.self) { event in
            await earlier(event)
            await observer(event)
        }
    }
}
