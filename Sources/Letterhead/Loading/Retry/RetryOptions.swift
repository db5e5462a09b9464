/// The strategy of a request.
public enum RetryStrategyOption: HTTPRequestOption {
    /// None of its own.
    public static let defaultOptionValue: HTTPRetryStrategy? = nil
}

/// How many repeats a request may have.
public enum MaximumRetriesOption: HTTPRequestOption {
    /// As the client says.
    public static let defaultOptionValue: Int? = nil
}

/// The validators of a request.
public enum ValidatorsOption: HTTPRequestOption {
    /// None beside the client's.
    public static let defaultOptionValue: [any HTTPValidator] = []
}

/// The response transformers of a request.
public enum ResponseTransformersOption: HTTPRequestOption {
    /// None beside the client's.
    public static let defaultOptionValue: [HTTPResponseTransformer] = []
}

/// Who hears of the repeats of a request.
public enum RetryObserverOption: HTTPRequestOption {
    /// Nobody beside the client's.
    public static let defaultOptionValue: (@Sendable (RetryEvent) async -> Void)? = nil
}

extension HTTPRequest {
    /// How the request is sent again when an attempt is worth a repeat. Default: nil, as validators say.
    public var retryStrategy: HTTPRetryStrategy? {
        get { self[option: RetryStrategyOption.self] }
        set { self[option: RetryStrategyOption.self] = newValue }
    }

    /// How many repeats there may be, whoever asks for them: 2 makes at most 3 attempts. Default: nil, as the client says.
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
    public var responseTransformers: [HTTPResponseTransformer] {
        get { self[option: ResponseTransformersOption.self] }
        set { self[option: ResponseTransformersOption.self] = newValue }
    }

    /// Who hears of the repeats of this request, beside the client's. Default: nil.
    public var onRetry: (@Sendable (RetryEvent) async -> Void)? {
        get { self[option: RetryObserverOption.self] }
        set { self[option: RetryObserverOption.self] = newValue }
    }
}
