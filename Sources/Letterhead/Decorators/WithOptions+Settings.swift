extension RequestTemplate {
    /// Sets the environment, in place of the client's whole; nil uses none at all.
    public func environment(_ environment: ServerEnvironment?) -> WithOptions<Self> {
        option(ServerEnvironmentOption.self, environment)
    }

    /// Limits how long one attempt may take, to the millisecond; nil is no limit. Passing it is `.timedOut`.
    public func timeout(_ timeout: Duration?) -> WithOptions<Self> {
        option(TimeoutOption.self, timeout)
    }

    /// Limits how long nothing may move on the connection of this request; nil is the limit of the transport. Passing it is
    /// `.timedOut`.
    public func idleTimeout(_ limit: Duration?) -> WithOptions<Self> {
        option(IdleTimeoutOption.self, limit)
    }

    /// Sets the decoder of the response, in place of the client's.
    public func decoder(_ decoder: any HTTPBodyDecoder) -> WithOptions<Self> {
        option(ResponseDecoderOption.self, decoder)
    }

    /// Says which names are secret in all texts made of the request, its response and its errors.
    public func redaction(_ redaction: Redaction) -> WithOptions<Self> {
        option(RedactionOption.self, redaction)
    }

    /// Sets which statuses count as success, in place of the template's own: `.accepting([200, 404])`.
    public func accepting(_ statuses: HTTPStatusSet) -> WithOptions<Self> {
        option(AcceptedStatusesOption.self, statuses)
    }

    /// Makes the bodies of the request and of its response secret as a whole; see ``HTTPRequest/isSecret``.
    public func secret(_ isSecret: Bool = true) -> WithOptions<Self> { option(SecretBodiesOption.self, isSecret) }

    /// Sets how the body of the response is handed over. ``HTTPClient/stream(_:)`` and ``HTTPClient/download(_:to:)`` do so,
    /// too.
    public func responseDelivery(_ delivery: ResponseDelivery) -> WithOptions<Self> {
        option(ResponseDeliveryOption.self, delivery)
    }
}

extension WithOptions {
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
