/// The strategy of a request.
enum RetryStrategyOption: HTTPRequestOption {
    static let defaultOptionValue: HTTPRetryStrategy? = nil
}

/// How many retries a request may have.
enum MaximumRetriesOption: HTTPRequestOption {
    static let defaultOptionValue: Int? = nil
}

/// The validators of a request.
enum ValidatorsOption: HTTPRequestOption {
    static let defaultOptionValue: [any HTTPValidator] = []
}

/// The response transformers of a request.
enum ResponseTransformersOption: HTTPRequestOption {
    static let defaultOptionValue: [ModifyResponse] = []
}

/// The observer of the retries of a request.
enum RetryObserverOption: HTTPRequestOption {
    static let defaultOptionValue: (@Sendable (RetryContext) async -> Void)? = nil
}

extension HTTPRequest {
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

extension HTTPRequestOptions {
    /// See ``HTTPRequest/retryStrategy``.
    public var retryStrategy: HTTPRetryStrategy? {
        get { self[RetryStrategyOption.self] }
        set { self[RetryStrategyOption.self] = newValue }
    }

    /// See ``HTTPRequest/maximumRetries``.
    public var maximumRetries: Int? {
        get { self[MaximumRetriesOption.self] }
        set { self[MaximumRetriesOption.self] = newValue }
    }

    /// See ``HTTPRequest/validators``.
    public var validators: [any HTTPValidator] {
        get { self[ValidatorsOption.self] }
        set { self[ValidatorsOption.self] = newValue }
    }

    /// See ``HTTPRequest/responseTransformers``.
    public var responseTransformers: [ModifyResponse] {
        get { self[ResponseTransformersOption.self] }
        set { self[ResponseTransformersOption.self] = newValue }
    }

    /// See ``HTTPRequest/onRetry``.
    public var onRetry: (@Sendable (RetryContext) async -> Void)? {
        get { self[RetryObserverOption.self] }
        set { self[RetryObserverOption.self] = newValue }
    }
}
