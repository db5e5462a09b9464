enum TimeoutOption: HTTPRequestOption {
    /// No limit.
    static let defaultOptionValue: Duration? = nil
}

enum IdleTimeoutOption: HTTPRequestOption {
    /// The value of the transport's configuration.
    static let defaultOptionValue: Duration? = nil
}

enum ConnectTimeoutOption: HTTPRequestOption {
    /// The limit of the transport's configuration.
    static let defaultOptionValue: Duration? = nil
}

enum AcceptedStatusesOption: HTTPRequestOption {
    /// ``HTTPStatusSet/success``, and 304 if the request is conditional.
    static let defaultOptionValue: HTTPStatusSet? = nil
}

enum RedactionOption: HTTPRequestOption {
    static let defaultOptionValue = Redaction.standard
}

enum SecretBodiesOption: HTTPRequestOption {
    static let defaultOptionValue = false
}

extension RequestSettings {
    /// Whether the bodies of the request and of its response are secret as a whole, such as those of a token endpoint.
    /// Secret bodies are not shown in descriptions, errors or logs, and a redirect does not send them to another
    /// origin. Default: false.
    public var isSecret: Bool {
        get { self[option: SecretBodiesOption.self] }
        set { self[option: SecretBodiesOption.self] = newValue }
    }

    /// The time limit of one attempt, from its start to the last byte of the response body. It has a precision of one
    /// millisecond.
    ///
    /// For a streamed response with an accepted status, the limit ends with the head, because the reader determines the
    /// pace of the body. The body of any other status is part of an error, so the limit includes it. Default: nil (no
    /// limit). An attempt that exceeds the limit fails with `.timedOut`. A limit of zero or less is `.invalidRequest`.
    public var timeout: Duration? {
        get { self[option: TimeoutOption.self] }
        set { self[option: TimeoutOption.self] = newValue }
    }

    /// The maximum time for which the connection may be idle, with no byte sent or received, while this request is in
    /// progress.
    ///
    /// Time during which the reader of a streamed body requests no bytes is not counted. Default: nil (the
    /// ``TransportConfiguration/idleTimeout`` of the transport). A request that exceeds the limit fails with
    /// `.timedOut`. A limit of zero or less is `.invalidRequest`. The transport over `URLSession` rounds the limit up
    /// to whole seconds, at most one day.
    public var idleTimeout: Duration? {
        get { self[option: IdleTimeoutOption.self] }
        set { self[option: IdleTimeoutOption.self] = newValue }
    }

    /// The time limit for the name lookup, the connection and the TLS handshake of this request together, with a
    /// precision of one millisecond. Default: nil (the ``TransportConfiguration/connectTimeout`` of the transport).
    ///
    /// Waiting for a free connection does not count. A request that exceeds the limit fails with `.timedOut`. If the
    /// limit is zero or less, the request fails with `.invalidRequest`. `URLSession` does not support this limit: with
    /// that transport, a request that sets the limit fails with `.invalidRequest`.
    public var connectTimeout: Duration? {
        get { self[option: ConnectTimeoutOption.self] }
        set { self[option: ConnectTimeoutOption.self] = newValue }
    }

    /// The statuses that count as success. Default: nil (2xx, and 304 if the request is conditional).
    public var acceptedStatuses: HTTPStatusSet? {
        get { self[option: AcceptedStatusesOption.self] }
        set { self[option: AcceptedStatusesOption.self] = newValue }
    }

    /// The names whose values are redacted in descriptions and logs of the request, its response and its errors.
    /// Default: ``Redaction/standard``.
    public var redaction: Redaction {
        get { self[option: RedactionOption.self] }
        set { self[option: RedactionOption.self] = newValue }
    }
}

extension HTTPRequest {
    /// Returns whether the reader determines the pace of the response body: the body of a streamed response with an
    /// accepted status.
    package func isOpenEnded(after status: HTTPStatus) -> Bool { responseDelivery == .streamed && accepts(status) }

    /// Returns whether a status counts as success for this request: one of ``RequestSettings/acceptedStatuses``, or by
    /// default 2xx, and 304 if the request is conditional.
    ///
    /// The client checks the status once: after the response has passed the chain, and before it is decoded. A status
    /// that is not accepted is `.unacceptableStatus`, with the response in the error. A transport returns responses
    /// with any status, and so do most links. A link can throw an error for a response: for example, ``Retry`` does if
    /// a validator rejects the response. A template sets the accepted statuses with
    /// ``RequestTemplate/acceptedStatuses`` or `.accepting([200, 404])`.
    public func accepts(_ status: HTTPStatus) -> Bool {
        if let acceptedStatuses { return acceptedStatuses.contains(status) }
        return status.isSuccess || (status == .notModified && isConditional)
    }

    /// The rule that the limit violates; nil if the request can be sent.
    var brokenConnectTimeout: String? {
        guard let connectTimeout, connectTimeout <= .zero else { return nil }
        return "the connectTimeout is zero or less; use nil for the limit of the transport"
    }

    private var isConditional: Bool { headers.contains(.ifNoneMatch) || headers.contains(.ifModifiedSince) }
}

enum RedirectedOption: HTTPRequestOption {
    /// The request is not the result of a redirect.
    static let defaultOptionValue: Set<HTTPHeaders.Name>? = nil
}

extension HTTPRequest {
    /// Whether the request is the result of a redirect. The server has determined its URL, so links must not add to it.
    public var isRedirected: Bool { self[option: RedirectedOption.self] != nil }

    /// The headers that a redirect to another origin has removed for the rest of the request; empty if no redirect did.
    ///
    /// Links below a redirect link must obey a law: as long as this set is not empty, they do not add what belongs to
    /// the origin of the first request, such as its credentials and the headers of its environment. The law holds even
    /// if a later redirect returns to the first origin. An exception is a link that knows what belongs to which origin,
    /// such as a cookie jar. Setting the property marks the request as redirected.
    public var withheldHeaders: Set<HTTPHeaders.Name> {
        get { self[option: RedirectedOption.self] ?? [] }
        set { self[option: RedirectedOption.self] = newValue }
    }
}
