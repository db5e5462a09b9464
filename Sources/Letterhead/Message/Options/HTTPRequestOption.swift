// SPDX-License-Identifier: MIT
/// A typed value that is attached to a request or a response, and is never sent.
///
/// ```swift
/// enum Tenant: HTTPRequestOption {
///     static let defaultOptionValue = "none"
/// }
///
/// extension RequestSettings {
///     var tenant: String {
///         get { self[option: Tenant.self] }
///         set { self[option: Tenant.self] = newValue }
///     }
/// }
/// ```
///
/// With an option, a template tells a link or a loader what to do, and a loader or a validator hands values to the
/// caller. To define one, declare a type, usually an empty enumeration, with a default value, and a property for it in
/// ``RequestSettings``. Without a property, read and write it as `request[option: Tenant.self]` or
/// `response[option: Envelope.self]`.
///
/// An option with an optional value distinguishes an explicit nil from an unset value.
///
/// Law: the default never changes.
public protocol HTTPRequestOption {
    associatedtype Value: Sendable

    /// The value for a request that doesn't set the option.
    static var defaultOptionValue: Value { get }
}

/// Properties that an ``HTTPRequest`` and the ``HTTPRequestOptions`` of a template have in common.
///
/// Declare the property for a custom ``HTTPRequestOption`` in an extension of this protocol. Links can then read it in
/// a request, and templates can set it in their options.
public protocol RequestSettings: Sendable {
    /// The value of an option, or its default if it isn't set.
    subscript<Option: HTTPRequestOption>(option option: Option.Type) -> Option.Value { get set }
}

/// The modifiers that a ``RequestTemplate`` and an ``HTTPClient`` share.
///
/// The more specific setting takes precedence: a request over its template, a template over its client. Declare the
/// modifier for a custom ``HTTPRequestOption`` in an extension of this protocol:
///
/// ```swift
/// extension RequestConfigurable {
///     func tenant(_ tenant: String) -> Configured { configured { $0.tenant = tenant } }
/// }
///
/// let admin = client.tenant("admin")
/// try await admin.send(GetUser(login: "ada").tenant("guest"))
/// ```
public protocol RequestConfigurable: Sendable {
    /// The template or the client with changed settings.
    associatedtype Configured

    /// Returns the template or the client with the settings that a closure sets. They replace earlier ones.
    ///
    /// - Parameter change: receives empty settings and sets some of them. A setting that it sets to nil is set, and has
    ///   the value nil.
    func configured(_ change: (inout HTTPRequestOptions) -> Void) -> Configured
}

extension RequestConfigurable {
    /// Sets an option for links, loaders and validators. If the option has an optional value, nil is a value like any
    /// other and doesn't remove the option.
    public func option<Option: HTTPRequestOption>(_ option: Option.Type, _ value: Option.Value) -> Configured {
        configured { $0[option: option] = value }
    }

    /// Limits the time for each attempt. Nil means no limit. See ``RequestSettings/timeout``.
    public func timeout(_ timeout: Duration?) -> Configured { configured { $0.timeout = timeout } }

    /// Limits the time without a byte sent or received. Nil means the transport limit, and `.never` no limit. See
    /// ``RequestSettings/idleTimeout``.
    public func idleTimeout(_ limit: Duration?) -> Configured { configured { $0.idleTimeout = limit } }

    /// Limits the time for the name lookup, the connection and the TLS handshake together. Nil means the transport
    /// limit. See ``RequestSettings/connectTimeout``.
    public func connectTimeout(_ limit: Duration?) -> Configured { configured { $0.connectTimeout = limit } }

    /// Sets the accepted statuses, replacing those in the template: `.accepting([200, 404])`.
    public func accepting(_ statuses: HTTPStatusSet) -> Configured { configured { $0.acceptedStatuses = statuses } }

    /// Sets the secret names for all descriptions of a request, its response and its errors.
    public func redaction(_ redaction: Redaction) -> Configured { configured { $0.redaction = redaction } }

    /// Marks the request body and the response body as secret. See ``RequestSettings/isSecret``.
    public func secret(_ isSecret: Bool = true) -> Configured { configured { $0.isSecret = isSecret } }
}

/// The values of the options that a request or a template sets.
public struct HTTPRequestOptions: RequestSettings {
    private struct Entry: Sendable {
        let option: ObjectIdentifier
        var value: any Sendable
    }

    /// An array, because with few options a linear search is faster than a single hash.
    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    /// Creates options of which none is set.
    public init() {}

    /// The value of an option, or its default if it isn't set.
    public subscript<Option: HTTPRequestOption>(option option: Option.Type) -> Option.Value {
        get {
            guard let place = place(of: ObjectIdentifier(option)) else { return Option.defaultOptionValue }
            return stored(option, at: place)
        }
        set { set(ObjectIdentifier(option), to: Stored(value: newValue)) }
    }

    /// Returns whether an option was set, even to its default or to nil.
    public func contains(_ option: (some HTTPRequestOption).Type) -> Bool {
        place(of: ObjectIdentifier(option)) != nil
    }

    /// Removes an option, so that it has its default again.
    public mutating func remove(_ option: (some HTTPRequestOption).Type) {
        if let place = place(of: ObjectIdentifier(option)) { entries.remove(at: place) }
    }

    /// Sets every option that `other` sets, replacing the values here.
    public mutating func replace(with other: HTTPRequestOptions) {
        guard !entries.isEmpty else { return entries = other.entries }
        for entry in other.entries { set(entry.option, to: entry.value) }
    }

    /// Sets every option that `other` sets and that isn't set here.
    public mutating func fill(from other: HTTPRequestOptions) {
        guard !entries.isEmpty else { return entries = other.entries }
        for entry in other.entries where place(of: entry.option) == nil { entries.append(entry) }
    }

    /// Not inlined: the conversion looks up its types at run time, and most options aren't set.
    @inline(never)
    private func stored<Option: HTTPRequestOption>(_ option: Option.Type, at place: Int) -> Option.Value {
        (entries[place].value as? Stored<Option.Value>)?.value ?? Option.defaultOptionValue
    }

    private func place(of option: ObjectIdentifier) -> Int? {
        for place in entries.indices where entries[place].option == option { return place }
        return nil
    }

    private mutating func set(_ option: ObjectIdentifier, to value: any Sendable) {
        if let place = place(of: option) {
            entries[place].value = value
        } else {
            entries.append(Entry(option: option, value: value))
        }
    }

    /// A box that distinguishes an explicit nil from a missing value.
    private struct Stored<Value: Sendable>: Sendable {
        let value: Value
    }
}

enum TimeoutOption: HTTPRequestOption {
    static let defaultOptionValue: Duration? = nil
}

enum IdleTimeoutOption: HTTPRequestOption {
    /// Nil: the transport limit applies.
    static let defaultOptionValue: Duration? = nil
}

enum ConnectTimeoutOption: HTTPRequestOption {
    /// Nil: the transport limit applies.
    static let defaultOptionValue: Duration? = nil
}

enum AcceptedStatusesOption: HTTPRequestOption {
    /// Nil: ``HTTPStatusSet/success`` is accepted, and 304 if the request is conditional.
    static let defaultOptionValue: HTTPStatusSet? = nil
}

enum LiveStreamOption: HTTPRequestOption {
    static let defaultOptionValue = false
}

enum HandlesCookiesOption: HTTPRequestOption {
    static let defaultOptionValue = true
}

enum RedactionOption: HTTPRequestOption {
    static let defaultOptionValue = Redaction.standard
}

enum SecretBodiesOption: HTTPRequestOption {
    static let defaultOptionValue = false
}

extension RequestSettings {
    /// Whether the request body and the response body are secret as a whole, as for a token endpoint. Default: false.
    ///
    /// Descriptions, errors and logs don't show secret bodies, and a redirect doesn't send one to a different origin.
    public var isSecret: Bool {
        get { self[option: SecretBodiesOption.self] }
        set { self[option: SecretBodiesOption.self] = newValue }
    }

    /// The time limit of one attempt, from its start to the last byte of the response body. Default: nil (no limit).
    ///
    /// The limit has a precision of one millisecond.
    ///
    /// For a streamed response with an accepted status, the limit ends with the head, because the reader determines how
    /// fast the body is read. For any other status, the limit includes the body, because it becomes part of an error.
    /// An attempt that exceeds the limit fails with `.timedOut`. A limit of zero or less is `.invalidRequest`.
    public var timeout: Duration? {
        get { self[option: TimeoutOption.self] }
        set { self[option: TimeoutOption.self] = newValue }
    }

    /// The longest time that the connection may be idle, with no byte sent or received, while this request is in
    /// progress. Default: nil (the transport limit, ``TransportConfiguration/idleTimeout``, usually 60 seconds).
    ///
    /// While the reader requests no bytes from a streamed body, the time doesn't count. Set `.never` for no limit, for
    /// example for a stream that is silent for hours. A request that exceeds the limit fails with `.timedOut`. A limit
    /// of zero or less is `.invalidRequest`. `URLSession` rounds the limit up to whole seconds, at most one day.
    public var idleTimeout: Duration? {
        get { self[option: IdleTimeoutOption.self] }
        set { self[option: IdleTimeoutOption.self] = newValue }
    }

    /// The time limit for the name lookup, the connection and the TLS handshake together, with a precision of one
    /// millisecond. Default: nil (the transport limit, ``TransportConfiguration/connectTimeout``). Set `.never` for no
    /// limit.
    ///
    /// Waiting for a free connection doesn't count. A request that exceeds the limit fails with `.timedOut`. A limit of
    /// zero or less is `.invalidRequest`. `URLSession` doesn't support any limit and fails with `.invalidRequest`.
    public var connectTimeout: Duration? {
        get { self[option: ConnectTimeoutOption.self] }
        set { self[option: ConnectTimeoutOption.self] = newValue }
    }

    /// Whether the response is a live stream, such as server-sent events. Default: false.
    ///
    /// Each request for a live stream is sent: a cache doesn't look for a response, and no other request shares the
    /// response. `LetterheadStreaming` sets it for events and for a stream of values that it follows.
    public var isLiveStream: Bool {
        get { self[option: LiveStreamOption.self] }
        set { self[option: LiveStreamOption.self] = newValue }
    }

    /// Whether a ``CookieJar`` adds its cookies to the request, and stores cookies from the response. Default: true.
    public var handlesCookies: Bool {
        get { self[option: HandlesCookiesOption.self] }
        set { self[option: HandlesCookiesOption.self] = newValue }
    }

    /// The statuses that count as success. Default: nil (2xx, and 304 if the request is conditional).
    public var acceptedStatuses: HTTPStatusSet? {
        get { self[option: AcceptedStatusesOption.self] }
        set { self[option: AcceptedStatusesOption.self] = newValue }
    }

    /// The names whose values are redacted when the request, its response or an error is described or logged. Default:
    /// ``Redaction/standard``.
    public var redaction: Redaction {
        get { self[option: RedactionOption.self] }
        set { self[option: RedactionOption.self] = newValue }
    }
}

extension Duration {
    /// No limit, for settings where nil means the transport limit: `.idleTimeout(.never)`. It is longer than any
    /// program runs.
    public static var never: Duration { .seconds(Int64.max) }
}

extension HTTPRequest {
    /// Returns whether the reader determines how fast the response body is read: the response is streamed and its
    /// status accepted.
    package func isOpenEnded(after status: HTTPStatus) -> Bool { responseDelivery == .streamed && accepts(status) }

    /// Returns whether a status counts as success for this request. By default, 2xx does, and 304 if the request is
    /// conditional. ``RequestSettings/acceptedStatuses`` replaces this rule.
    ///
    /// The client checks the status once, after the chain and before decoding. A status that isn't accepted is
    /// `.unacceptableStatus`, with the response in the error. Transports and most links return responses with any
    /// status. A link can throw an error for a response, as ``Retry`` does if a validator rejects it.
    ///
    /// A template sets the accepted statuses with ``RequestTemplate/acceptedStatuses`` or `.accepting([200, 404])`.
    public func accepts(_ status: HTTPStatus) -> Bool {
        if let acceptedStatuses { return acceptedStatuses.contains(status) }
        return status.isSuccess || (status == .notModified && isConditional)
    }

    /// The rule that the limit violates, or nil if the request can be sent.
    var brokenConnectTimeout: String? {
        guard let connectTimeout, connectTimeout <= .zero else { return nil }
        return "the connectTimeout is zero or less (use nil for the transport's limit)"
    }

    private var isConditional: Bool { headers.contains(.ifNoneMatch) || headers.contains(.ifModifiedSince) }
}

enum RedirectedOption: HTTPRequestOption {
    static let defaultOptionValue: Set<HTTPHeaders.Name>? = nil
}

extension HTTPRequest {
    /// Whether a redirect created the request. The server determined its URL, so links must not add to it.
    public var isRedirected: Bool { self[option: RedirectedOption.self] != nil }

    /// The headers that a redirect to a different origin has removed from the request for good. Empty if no redirect
    /// did.
    ///
    /// Law for links below a redirect link: while this set isn't empty, don't add what belongs to the first origin,
    /// such as credentials and environment headers. The law holds even if a later redirect returns to that origin. Only
    /// a link that assigns each value to an origin, such as a cookie jar, is exempt.
    ///
    /// Setting the property marks the request as redirected.
    public var removedHeaders: Set<HTTPHeaders.Name> {
        get { self[option: RedirectedOption.self] ?? [] }
        set { self[option: RedirectedOption.self] = newValue }
    }
}

enum RequiredOriginOption: HTTPRequestOption {
    static let defaultOptionValue: HTTPOrigin? = nil
}

extension HTTPRequest {
    /// The rule that the request origin violates, or nil if the request may be sent to it.
    ///
    /// The transport checks it, because links can change the origin until then. The rule ends once the request has had
    /// the required origin. See ``meetRequiredOrigin()``.
    var brokenOrigin: String? {
        guard let required = self[option: RequiredOriginOption.self], let origin, origin != required else { return nil }
        return "the URL of the page leads to \(required), but the request would be sent to \(origin) (send it to the "
            + "page's origin, or start at the first page)"
    }

    /// Ends the rule if the request has the required origin. Links below may then send it to a different host, for
    /// example to balance the load.
    mutating func meetRequiredOrigin() {
        guard options.contains(RequiredOriginOption.self), host != nil, brokenOrigin == nil else { return }
        options.remove(RequiredOriginOption.self)
    }
}
