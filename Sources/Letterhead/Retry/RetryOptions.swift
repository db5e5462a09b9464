/// The strategy of a request.
enum RetryStrategyOption: HTTPRequestOption {
    /// None of its own.
    static let defaultOptionValue: HTTPRetryStrategy? = nil
}

/// How many retries a request may have.
enum MaximumRetriesOption: HTTPRequestOption {
    /// As the client says.
    static let defaultOptionValue: Int? = nil
}

/// The validators of a request.
enum ValidatorsOption: HTTPRequestOption {
    /// None beside the client's.
    static let defaultOptionValue: [any HTTPValidator] = []
}

/// The response transformers of a request.
enum ResponseTransformersOption: HTTPRequestOption {
    /// None beside the client's.
    static let defaultOptionValue: [ModifyResponse] = []
}

/// Who hears of the retries of a request.
enum RetryObserverOption: HTTPRequestOption {
    /// Nobody beside the client's.
    static let defaultOptionValue: (@Sendable (RetryEvent) async -> Void)? = nil
}

extension HTTPRequest {
    /// How the request is sent again when an attempt is worth a retry. Default: nil, as validators say.
    public var retryStrategy: HTTPRetryStrategy? {
        get { self[option: RetryStrategyOption.self] }
        set { self[option: RetryStrategyOption.self] = newValue }
    }

    /// How many retries there may be, whoever asks for them: 2 makes at most 3 attempts. Default: nil, as the client says.
    ///
    /// Less than zero is `.invalidRequest`.
    public var maximumRetries: Int? {
        get { self[option: MaximumRetriesOption.self] }
        set { self[option: MaximumRetriesOption.self] = newValue }
    }

    /// The request's own validators; they judge before those of the client. Default: none.
    public var validators: [any HTTPValidator] {
        get { self[option: ValidatorsOption.self] }
        set { self[option: ValidatorsOption.self] = newValue }
    }

    /// The request's own response transformers; they run behind those of the client. Default: none.
    public var responseTransformers: [ModifyResponse] {
        get { self[option: ResponseTransformersOption.self] }
        set { self[option: ResponseTransformersOption.self] = newValue }
    }

    /// Who hears of the retries of this request, beside the client's. Default: nil.
    public var onRetry: (@Sendable (RetryEvent) async -> Void)? {
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
    public var onRetry: (@Sendable (RetryEvent) async -> Void)? {
        get { self[RetryObserverOption.self] }
        set { self[RetryObserverOption.self] = newValue }
    }
}
