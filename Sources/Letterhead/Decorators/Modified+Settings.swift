extension RequestTemplate {
    /// Sets the environment of the request. It replaces the whole environment of the client; nil applies no
    /// environment.
    public func environment(_ environment: ServerEnvironment?) -> Modified<Self> {
        option(ServerEnvironmentOption.self, environment)
    }

    /// Limits the time of each attempt, with a precision of one millisecond; nil means no limit. An attempt that
    /// exceeds the limit fails with `.timedOut`. See ``HTTPRequest/timeout``.
    public func timeout(_ timeout: Duration?) -> Modified<Self> {
        option(TimeoutOption.self, timeout)
    }

    /// Limits the time during which no byte is sent or received; nil means the limit of the transport. A request that
    /// exceeds the limit fails with `.timedOut`. See ``HTTPRequest/idleTimeout``.
    public func idleTimeout(_ limit: Duration?) -> Modified<Self> {
        option(IdleTimeoutOption.self, limit)
    }

    /// Sets the decoder for the response. It replaces the decoder of the client.
    public func decoder(_ decoder: any HTTPBodyDecoder) -> Modified<Self> {
        option(ResponseDecoderOption.self, decoder)
    }

    /// Sets the names that are secret in all descriptions of the request, its response and its errors.
    public func redaction(_ redaction: Redaction) -> Modified<Self> {
        option(RedactionOption.self, redaction)
    }

    /// Sets the accepted statuses. They replace those of the template: `.accepting([200, 404])`.
    public func accepting(_ statuses: HTTPStatusSet) -> Modified<Self> {
        option(AcceptedStatusesOption.self, statuses)
    }

    /// Marks the bodies of the request and of its response as secret; see ``HTTPRequest/isSecret``.
    public func secret(_ isSecret: Bool = true) -> Modified<Self> { option(SecretBodiesOption.self, isSecret) }

    /// Sets how the body of the response is delivered. ``HTTPClient/stream(_:)-(Template)`` and
    /// ``HTTPClient/download(_:to:)-(Template,_)`` replace this setting.
    public func responseDelivery(_ delivery: ResponseDelivery) -> Modified<Self> {
        option(ResponseDeliveryOption.self, delivery)
    }
}

extension Modified {
    /// See ``RequestTemplate/environment(_:)``.
    public func environment(_ environment: ServerEnvironment?) -> Self {
        option(ServerEnvironmentOption.self, environment)
    }

    /// See ``RequestTemplate/timeout(_:)``.
    public func timeout(_ timeout: Duration?) -> Self {
        option(TimeoutOption.self, timeout)
    }

    /// See ``RequestTemplate/idleTimeout(_:)``.
    public func idleTimeout(_ limit: Duration?) -> Self {
        option(IdleTimeoutOption.self, limit)
    }

    /// See ``RequestTemplate/decoder(_:)``.
    public func decoder(_ decoder: any HTTPBodyDecoder) -> Self {
        option(ResponseDecoderOption.self, decoder)
    }

    /// See ``RequestTemplate/redaction(_:)``.
    public func redaction(_ redaction: Redaction) -> Self {
        option(RedactionOption.self, redaction)
    }

    /// See ``RequestTemplate/accepting(_:)``.
    public func accepting(_ statuses: HTTPStatusSet) -> Self {
        option(AcceptedStatusesOption.self, statuses)
    }

    /// See ``RequestTemplate/secret(_:)``.
    public func secret(_ isSecret: Bool = true) -> Self { option(SecretBodiesOption.self, isSecret) }

    /// See ``RequestTemplate/responseDelivery(_:)``.
    public func responseDelivery(_ delivery: ResponseDelivery) -> Self { option(ResponseDeliveryOption.self, delivery) }
}
