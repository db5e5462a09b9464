extension RequestTemplate {
    /// Sets the environment, in place of the client's whole; nil uses none at all.
    public func environment(_ environment: ServerEnvironment?) -> WithOption<Self, ServerEnvironmentOption> {
        option(ServerEnvironmentOption.self, environment)
    }

    /// Limits how long one attempt may take, to the millisecond; nil is no limit. Passing it is `.timedOut`.
    public func timeout(_ timeout: Duration?) -> WithOption<Self, TimeoutOption> {
        option(TimeoutOption.self, timeout)
    }

    /// Limits how long nothing may move on the connection of this request; nil is the limit of the transport. Passing it is
    /// `.timedOut`.
    public func idleTimeout(_ limit: Duration?) -> WithOption<Self, IdleTimeoutOption> {
        option(IdleTimeoutOption.self, limit)
    }

    /// Sets the decoder of the response, in place of the client's.
    public func decoder(_ decoder: any HTTPBodyDecoder) -> WithOption<Self, ResponseDecoderOption> {
        option(ResponseDecoderOption.self, decoder)
    }

    /// Says which names are secret in all texts made of the request, its response and its errors.
    public func redaction(_ redaction: Redaction) -> WithOption<Self, RedactionOption> {
        option(RedactionOption.self, redaction)
    }
}
