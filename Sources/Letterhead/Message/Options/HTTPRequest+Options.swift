/// How long one attempt may take.
enum TimeoutOption: HTTPRequestOption {
    /// No limit of its own.
    static let defaultOptionValue: Duration? = nil
}

/// How long nothing may move on the connection of one request.
enum IdleTimeoutOption: HTTPRequestOption {
    /// As the transport's configuration says.
    static let defaultOptionValue: Duration? = nil
}

/// Which statuses count as success.
enum AcceptedStatusesOption: HTTPRequestOption {
    /// ``HTTPStatusSet/success``, and 304 when the request is conditional.
    static let defaultOptionValue: HTTPStatusSet? = nil
}

/// Which names are secret beside the standard ones.
enum RedactionOption: HTTPRequestOption {
    /// The standard names.
    static let defaultOptionValue = Redaction.standard
}

/// Whether bodies are secret as a whole.
enum SecretBodiesOption: HTTPRequestOption {
    /// They are not.
    static let defaultOptionValue = false
}

extension HTTPRequest {
    /// Whether the bodies of the request and of its response are secret as a whole, as those of a token endpoint, so that
    /// no text shows any of them, and no redirect takes the body to another origin. Default: no.
    public var isSecret: Bool {
        get { self[option: SecretBodiesOption.self] }
        set { self[option: SecretBodiesOption.self] = newValue }
    }

    /// How long one attempt may take, from its start to the last byte of the body, to the millisecond.
    ///
    /// Of a streamed response with an accepted status only the head counts, since its reader sets the pace of the body. The
    /// body of any other status is part of an error and counts. Default: nil, no limit. Passing it is `.timedOut`; zero or
    /// less is `.invalidRequest`.
    public var timeout: Duration? {
        get { self[option: TimeoutOption.self] }
        set { self[option: TimeoutOption.self] = newValue }
    }

    /// How long nothing may move on the connection, in either direction, while this request is under way.
    ///
    /// Time in which the reader of a streamed body does not ask for more does not count. Default: nil, the
    /// ``TransportConfiguration/idleTimeout`` of the transport. Passing it is `.timedOut`; zero or less is `.invalidRequest`.
    /// The transport over `URLSession` rounds it up to whole seconds, at most one day.
    public var idleTimeout: Duration? {
        get { self[option: IdleTimeoutOption.self] }
        set { self[option: IdleTimeoutOption.self] = newValue }
    }

    /// Whether the body of a response may take as long as its reader likes: a streamed one with an accepted status.
    package func isOpenEnded(after status: HTTPStatus) -> Bool { responseDelivery == .streamed && accepts(status) }

    /// Which statuses count as success at the front door. Default: nil, 2xx, and 304 when the request is conditional.
    public var acceptedStatuses: HTTPStatusSet? {
        get { self[option: AcceptedStatusesOption.self] }
        set { self[option: AcceptedStatusesOption.self] = newValue }
    }

    /// Which names are secret in every text that is made of the request, its response and its errors.
    public var redaction: Redaction {
        get { self[option: RedactionOption.self] }
        set { self[option: RedactionOption.self] = newValue }
    }

    /// Whether a status counts as success for this request: those of ``acceptedStatuses``, else 2xx, and 304 when the
    /// request is conditional.
    ///
    /// It is judged once, at the front door: behind the chain, before the response is decoded. One that is not accepted is
    /// `.unacceptableStatus`, with the response. For loaders and links every status is an answer. A template says which
    /// it accepts by ``RequestTemplate/acceptedStatuses`` or `.accepting([200, 404])`.
    public func accepts(_ status: HTTPStatus) -> Bool {
        if let acceptedStatuses { return acceptedStatuses.contains(status) }
        return status.isSuccess || (status == .notModified && isConditional)
    }

    private var isConditional: Bool { headers.contains(.ifNoneMatch) || headers.contains(.ifModifiedSince) }
}

extension HTTPRequestOptions {
    /// See ``HTTPRequest/isSecret``.
    public var isSecret: Bool {
        get { self[SecretBodiesOption.self] }
        set { self[SecretBodiesOption.self] = newValue }
    }

    /// See ``HTTPRequest/timeout``.
    public var timeout: Duration? {
        get { self[TimeoutOption.self] }
        set { self[TimeoutOption.self] = newValue }
    }

    /// See ``HTTPRequest/idleTimeout``.
    public var idleTimeout: Duration? {
        get { self[IdleTimeoutOption.self] }
        set { self[IdleTimeoutOption.self] = newValue }
    }

    /// See ``HTTPRequest/acceptedStatuses``.
    public var acceptedStatuses: HTTPStatusSet? {
        get { self[AcceptedStatusesOption.self] }
        set { self[AcceptedStatusesOption.self] = newValue }
    }

    /// See ``HTTPRequest/redaction``.
    public var redaction: Redaction {
        get { self[RedactionOption.self] }
        set { self[RedactionOption.self] = newValue }
    }
}

/// What redirects have done to a request on its way.
enum RedirectedOption: HTTPRequestOption {
    /// No redirect led to it.
    static let defaultOptionValue: Set<HTTPHeaders.Name>? = nil
}

extension HTTPRequest {
    /// Whether a redirect led to it: its URL is the server's word, and no link adds to it.
    public var isRedirected: Bool { self[option: RedirectedOption.self] != nil }

    /// The headers that a redirect to another origin took away for the rest of the load; empty when none did.
    ///
    /// A law for links below a redirect link: what belongs to the origin of the first request, its credentials and the
    /// headers of its environment, is not put back while this is not empty, even when a later redirect leads home again.
    /// Only a link that knows what belongs to which origin, such as a cookie jar, gives each its own. Setting it marks
    /// the request as redirected.
    public var withheldHeaders: Set<HTTPHeaders.Name> {
        get { self[option: RedirectedOption.self] ?? [] }
        set { self[option: RedirectedOption.self] = newValue }
    }
}
