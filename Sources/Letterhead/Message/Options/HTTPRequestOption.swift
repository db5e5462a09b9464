// SPDX-License-Identifier: MIT
/// A typed value that is attached to a request or a response, and is never sent. With it, a template tells a link or a
/// loader what to do, and a loader or a validator hands values to the caller. Read and write it as `request[option:
/// Tenant.self]` or `response[option: Envelope.self]`.
///
/// To define an option, declare a type, usually an empty enumeration, with a default value, and a property for it in
/// ``RequestSettings``:
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
/// Law: the default never changes. An option whose value is optional distinguishes an explicit nil from an unset value.
public protocol HTTPRequestOption {
    associatedtype Value: Sendable

    /// The value of a request that does not set the option.
    static var defaultOptionValue: Value { get }
}

/// Properties that an ``HTTPRequest`` and the ``HTTPRequestOptions`` of a template have in common.
///
/// Declare the property of a custom ``HTTPRequestOption`` in an extension of this protocol, so that links can read it
/// in a request, and templates can set it in their options.
public protocol RequestSettings: Sendable {
    /// The value of an option; its default if it is not set.
    subscript<Option: HTTPRequestOption>(option option: Option.Type) -> Option.Value { get set }
}

/// What begins its requests with settings: a ``RequestTemplate`` and an ``HTTPClient``. Each modifier for a setting is
/// declared once, for both. The more specific takes precedence: a request over its template, a template over its client.
///
/// Declare the modifier of a custom ``HTTPRequestOption`` in an extension of this protocol:
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
    /// - Parameter change: receives settings that are all unset. A setting that it sets to nil is set to nil.
    func configured(_ change: (inout HTTPRequestOptions) -> Void) -> Configured
}

extension RequestConfigurable {
    /// Sets an option for the links. If the value is nil, the option is set to nil; it is not removed.
    public func option<Option: HTTPRequestOption>(_ option: Option.Type, _ value: Option.Value) -> Configured {
        configured { $0[option: option] = value }
    }

    /// Limits the time of each attempt; nil means no limit. See ``RequestSettings/timeout``.
    public func timeout(_ timeout: Duration?) -> Configured { configured { $0.timeout = timeout } }

    /// Limits the time during which no byte is sent or received; nil means the limit of the transport, and `.never` no
    /// limit. See ``RequestSettings/idleTimeout``.
    public func idleTimeout(_ limit: Duration?) -> Configured { configured { $0.idleTimeout = limit } }

    /// Limits the time for the name lookup, the connection and the TLS handshake together; nil means the limit of the
    /// transport. See ``RequestSettings/connectTimeout``.
    public func connectTimeout(_ limit: Duration?) -> Configured { configured { $0.connectTimeout = limit } }

    /// Sets the accepted statuses. They replace those of the template: `.accepting([200, 404])`.
    public func accepting(_ statuses: HTTPStatusSet) -> Configured { configured { $0.acceptedStatuses = statuses } }

    /// Sets the names that are secret in all descriptions of a request, its response and its errors.
    public func redaction(_ redaction: Redaction) -> Configured { configured { $0.redaction = redaction } }

    /// Marks the bodies of a request and of its response as secret; see ``RequestSettings/isSecret``.
    public func secret(_ isSecret: Bool = true) -> Configured { configured { $0.isSecret = isSecret } }
}

/// The options of a request or a template, by type.
public struct HTTPRequestOptions: RequestSettings {
    private struct Entry: Sendable {
        let option: ObjectIdentifier
        var value: any Sendable
    }

    /// An array, because there are few options: a linear search is faster than a single hash.
    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    public init() {}

    /// The value of an option; its default if it is not set.
    public subscript<Option: HTTPRequestOption>(option option: Option.Type) -> Option.Value {
        get {
            guard let place = place(of: ObjectIdentifier(option)) else { return Option.defaultOptionValue }
            return stored(option, at: place)
        }
        set { set(ObjectIdentifier(option), to: Stored(value: newValue)) }
    }

    /// Returns whether an option was set, including to its default or to nil.
    public func contains(_ option: (some HTTPRequestOption).Type) -> Bool {
        place(of: ObjectIdentifier(option)) != nil
    }

    /// Removes an option, so that it has its default again.
    public mutating func remove(_ option: (some HTTPRequestOption).Type) {
        if let place = place(of: ObjectIdentifier(option)) { entries.remove(at: place) }
    }

    /// Sets every option that is set in `other`, replacing the values here.
    public mutating func replace(with other: HTTPRequestOptions) {
        guard !entries.isEmpty else { return entries = other.entries }
        for entry in other.entries { set(entry.option, to: entry.value) }
    }

    /// Sets every option that is set in `other` and not set here.
    public mutating func fill(from other: HTTPRequestOptions) {
        guard !entries.isEmpty else { return entries = other.entries }
        for entry in other.entries where place(of: entry.option) == nil { entries.append(entry) }
    }

    /// Not inlined: the types of the conversion are looked up at run time, and most options are not set.
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

    /// A box that distinguishes an explicit nil from an absent value.
    private struct Stored<Value: Sendable>: Sendable {
        let value: Value
    }
}

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
    /// Set it to true if the bodies of the request and of its response are secret as a whole, such as those of a token
    /// endpoint: they are not shown in descriptions, errors or logs, and a redirect does not send them to another
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
    /// ``TransportConfiguration/idleTimeout`` of the transport, 60 seconds by default). Set `.never` for no limit, for
    /// example for a stream that is silent for hours. A request that exceeds the limit fails with
    /// `.timedOut`; a limit of zero or less is `.invalidRequest`. `URLSession` rounds the limit up to whole seconds, at
    /// most one day.
    public var idleTimeout: Duration? {
        get { self[option: IdleTimeoutOption.self] }
        set { self[option: IdleTimeoutOption.self] = newValue }
    }

    /// The time limit for the name lookup, the connection and the TLS handshake of this request together, with a
    /// precision of one millisecond. Default: nil (the ``TransportConfiguration/connectTimeout`` of the transport). Set
    /// `.never` for no limit.
    ///
    /// Waiting for a free connection does not count. A request that exceeds the limit fails with `.timedOut`; a limit
    /// of zero or less is `.invalidRequest`, and so is any limit with `URLSession`, which does not support it.
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

extension Duration {
    /// No limit, for settings in which nil means the limit of the transport: `.idleTimeout(.never)`. It is longer than
    /// any program runs.
    public static var never: Duration { .seconds(Int64.max) }
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
    static let defaultOptionValue: Set<HTTPHeaders.Name>? = nil
}

extension HTTPRequest {
    /// Whether the request is the result of a redirect. The server has determined its URL, so links must not add to it.
    public var isRedirected: Bool { self[option: RedirectedOption.self] != nil }

    /// The headers that a redirect to another origin has removed for the rest of the request; empty if no redirect did.
    ///
    /// If you write a link that stands below a redirect link, obey a law: as long as this set is not empty, do not add
    /// what belongs to the origin of the first request, such as its credentials and the headers of its environment. The
    /// law holds even if a later redirect returns to the first origin. An exception is a link that knows what belongs
    /// to which origin, such as a cookie jar. Setting the property marks the request as redirected.
    public var removedHeaders: Set<HTTPHeaders.Name> {
        get { self[option: RedirectedOption.self] ?? [] }
        set { self[option: RedirectedOption.self] = newValue }
    }
}

enum RequiredOriginOption: HTTPRequestOption {
    static let defaultOptionValue: HTTPOrigin? = nil
}

extension HTTPRequest {
    /// The rule that the origin of the request violates; nil if the request may be sent to it.
    ///
    /// The rule is checked by the transport, because links can change the origin until then. It no longer applies when
    /// the request has had its origin; see ``meetRequiredOrigin()``.
    var brokenOrigin: String? {
        guard let required = self[option: RequiredOriginOption.self], let origin, origin != required else { return nil }
        return "the URL of the page leads to \(required), but the request would be sent to \(origin); send it to the "
            + "origin of the page, or start at the first page"
    }

    /// Ends the rule if the request has the required origin. Links below may then send it to another host, as for
    /// balancing.
    mutating func meetRequiredOrigin() {
        guard options.contains(RequiredOriginOption.self), host != nil, brokenOrigin == nil else { return }
        options.remove(RequiredOriginOption.self)
    }
}
