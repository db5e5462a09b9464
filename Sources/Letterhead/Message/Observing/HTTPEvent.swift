// SPDX-License-Identifier: MIT
/// One event of a load, with its facts. Secrets are redacted.
///
/// ```swift
/// if event.name == .exchangeEnd, let status = event[.status], let duration = event[.duration] {
///     histogram.record(duration, route: event.route ?? "none", status: status)
/// }
/// ```
///
/// Later versions can add names and facts. A custom link records its own events with ``HTTPRequest/record(_:_:)``.
public struct HTTPEvent: Sendable, CustomStringConvertible {
    /// The kind of event. <doc:ObservingAClient> lists the names and their facts.
    public let name: Name
    /// The load number, unique in the process.
    public let load: Int
    /// The number of the load that this load is sent for, or nil if a caller sent it.
    ///
    /// For a page of a page sequence, it is the load of the first page. For a request that a link sends, such as one
    /// for a token, it is the load that needs it.
    public let parent: Int?
    /// The attempt number, starting at 1, or 0 before the first attempt.
    public internal(set) var attempt: Int
    /// The time since the client was created, on a monotonic clock.
    public internal(set) var time: Duration
    /// The name of the template type without its decorators, or nil for a request without a template.
    public let template: String?
    /// The path without its values, such as `users/{}/followers`, or nil if it isn't known. See ``RequestPath/route``.
    public let route: String?
    /// The facts, in the order in which they were set.
    public private(set) var facts: [(name: String, value: any Sendable)] = []

    /// Creates an event, for tests of observers.
    public init(
        _ name: Name, load: Int = 1, parent: Int? = nil, attempt: Int = 0, time: Duration = .zero,
        template: String? = nil, route: String? = nil
    ) {
        (self.name, self.load, self.parent, self.attempt) = (name, load, parent, attempt)
        (self.time, self.template, self.route) = (time, template, route)
    }

    /// The value of a fact, or nil if the event doesn't have the fact.
    public subscript<Value: Sendable>(fact: Fact<Value>) -> Value? {
        get { facts.first { $0.name == fact.name }?.value as? Value }
        set {
            facts.removeAll { $0.name == fact.name }
            if let newValue { facts.append((fact.name, newValue)) }
        }
    }

    /// One line for a log: the time, the load, the attempt, the name, the route and the facts.
    public var description: String {
        var text = "\(time.milliseconds) load \(load)" + (parent.map { " of \($0)" } ?? "")
        if attempt > 0 { text += " attempt \(attempt)" }
        text += " \(Redaction.visible(name.rawValue))" + (route.map { " " + Redaction.visible($0) } ?? "")
        for fact in facts { text += " \(fact.name)=\(Self.text(of: fact.value))" }
        return text
    }

    private static func text(of value: any Sendable) -> String {
        switch value {
        case let duration as Duration: duration.milliseconds
        case let list as [String]: "[" + list.map(Redaction.visible).joined(separator: ", ") + "]"
        default: Redaction.visible("\(value)")
        }
    }
}

extension HTTPEvent {
    /// A fact name, and the type that its value has.
    ///
    /// To declare a fact for a custom event, extend the type:
    ///
    /// ```swift
    /// extension HTTPEvent.Fact where Value == Int {
    ///     static var shard: Self { Self("shard") }
    /// }
    /// ```
    public struct Fact<Value: Sendable>: Sendable {
        /// The key in an event, and the label in an event description. In one event, setting a fact replaces an earlier
        /// fact with the same name.
        public let name: String

        /// Declares a fact. Choose a name that no other fact has, such as `cache.shard`.
        public init(_ name: String) { self.name = name }
    }
}

extension Duration {
    /// The duration in milliseconds with one digit after the point: `12.3 ms`.
    package var milliseconds: String {
        let tenths = Int64(min(max(self / .microseconds(100), -9e18), 9e18))
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10) ms"
    }

    /// The duration for a message, in a unit that suits it: `93 ms`, `2.5 s`.
    package var shown: String {
        let (number, unit) = self < .seconds(1) ? (self / .milliseconds(1), "ms") : (self / .seconds(1), "s")
        let text = "\((number * 10).rounded() / 10)"
        return "\(text.ends(with: ".0") ? String(text.dropLast(2)) : text) \(unit)"
    }
}

extension HTTPEvent.Fact where Value == String {
    /// The method of the request, such as `GET`.
    public static var method: Self { Self("method") }
    /// The URL. The user, the password, and query values with secret names are redacted.
    public static var url: Self { Self("url") }
    /// The scheme and the host, with the port if it isn't the default one, such as `https://example.com`.
    public static var origin: Self { Self("origin") }
    /// The host of the origin.
    public static var host: Self { Self("host") }
    /// The reason for a decision, such as why a request isn't retried or why the cache doesn't store a response.
    public static var reason: Self { Self("reason") }
    /// The description of the error, without secrets. For metrics, use ``errorType``, which has few different values.
    public static var error: Self { Self("error") }
    /// The code of an ``HTTPError``, the type of any other error, or the status of a response if it is 400 or more.
    public static var errorType: Self { Self("error.type") }
    /// The kind of queue: `throttle`, `rate limit` or `connection`.
    public static var queue: Self { Self("queue") }
    /// The version of HTTP, such as `HTTP/1.1` or `HTTP/2`.
    public static var httpVersion: Self { Self("http.version") }
    /// The address and port of the server, or of the proxy if one is used.
    public static var address: Self { Self("address") }
    /// The version of TLS, such as `TLSv1.3`.
    public static var tlsVersion: Self { Self("tls.version") }
    /// The cipher suite of the TLS connection, such as `TLS_AES_256_GCM_SHA384`.
    public static var tlsCipher: Self { Self("tls.cipher") }
    /// The type name for a validator or a decoded value.
    public static var type: Self { Self("type") }
    /// The name of a cookie. No event contains its value.
    public static var name: Self { Self("name") }
    /// The validator verdict: `next`, `replaced`, `retry` or `failed`.
    public static var verdict: Self { Self("verdict") }
    /// The kind of load that serves a different load: `page`, `refresh`, `alternate` or `validation`.
    public static var kind: Self { Self("kind") }
    /// The trace identifier: 32 hexadecimal digits.
    public static var traceID: Self { Self("trace.id") }
    /// The span identifier for this exchange: 16 hexadecimal digits.
    public static var spanID: Self { Self("span.id") }
    /// The response header `Server-Timing`: the times that the server has measured.
    public static var serverTiming: Self { Self("server.timing") }
    /// The response header `Deprecation`: when the endpoint was or will be deprecated (RFC 9745).
    public static var deprecation: Self { Self("deprecation") }
    /// The response header `Sunset`: when the endpoint will probably disappear (RFC 8594).
    public static var sunset: Self { Self("sunset") }
}

extension HTTPEvent.Fact where Value == Int {
    /// The status code of the response, also if the response belongs to an error.
    public static var status: Self { Self("status") }
    /// The port of the origin, also if it is the default one.
    public static var port: Self { Self("port") }
    /// The exchange number within the load, starting at 1. Each redirect and each retry begins a new exchange.
    public static var exchange: Self { Self("exchange") }
    /// The number of earlier exchanges in the load.
    public static var resendCount: Self { Self("resend.count") }
    /// The number of bytes in a body after decompression, as its reader receives them.
    public static var bytes: Self { Self("bytes") }
    /// The number of transferred bytes: the heads, and the bodies before decompression.
    public static var wireBytes: Self { Self("wire.bytes") }
    /// How many cookies the jar has added to a request, or the number of a hedge in its load.
    public static var count: Self { Self("count") }
    /// The number of the load that shares its response.
    public static var sharedLoad: Self { Self("shared.load") }
}

extension HTTPEvent.Fact where Value == Double {
    /// The tokens left in the retry budget for the origin.
    public static var budgetLeft: Self { Self("budget.left") }
}

extension HTTPEvent.Fact where Value == Bool {
    /// Whether a retry follows the attempt.
    public static var isRetried: Self { Self("retried") }
    /// Whether the client follows the redirect.
    public static var isFollowed: Self { Self("followed") }
    /// Whether an exchange begins while an earlier exchange in the same load still waits for its response.
    public static var isHedge: Self { Self("hedge") }
    /// Whether a body was read to its end.
    public static var isComplete: Self { Self("complete") }
}

extension HTTPEvent.Fact where Value == Duration {
    /// The time that has passed since the matching start event.
    public static var duration: Self { Self("duration") }
    /// The wait before a retry or a hedge.
    public static var wait: Self { Self("wait") }
    /// The time until the load deadline.
    public static var timeLeft: Self { Self("time.left") }
}

extension HTTPEvent.Fact where Value == [String] {
    /// The names of headers that aren't sent after a redirect to a different origin.
    public static var withheld: Self { Self("withheld") }
    /// The names of the trailer fields.
    public static var names: Self { Self("names") }
    /// The requests that held all connections while a request waited until its time limit, such as
    /// `GET exports/{} (64)`. At most 10.
    public static var holders: Self { Self("holders") }
    /// Interim response headers, such as `Link: </style.css>; rel=preload`. Secrets are redacted.
    public static var headers: Self { Self("headers") }
}

extension HTTPEvent {
    /// An event name. The constants are the events that the library records.
    ///
    /// A literal is a name as well: `event.name == "exchange.end"` is the same as `event.name == .exchangeEnd`. To have
    /// a constant for a custom event, extend the type:
    ///
    /// ```swift
    /// extension HTTPEvent.Name {
    ///     static let shardChosen: Self = "shard.chosen"
    /// }
    /// ```
    ///
    /// One load, from top to bottom. Braces contain events that occur only if needed. A bar separates alternatives:
    ///
    /// ```
    /// load.start
    /// | attempt.start
    /// | | { cookie.sent   credentials.needed -> obtained | failed   credentials.withheld }
    /// | | { deduplication.led | joined   queue.entered -> left }
    /// | | exchange.start
    /// | | | { lookup.start -> end   connect.start -> end   tls.start -> end }   connection.opened | reused
    /// | | | request.sent   { response.interim }   response.head   { body.piece }   body.end   { response.trailers }
    /// | | exchange.end | failed
    /// | | { cookie.stored | removed | refused   cache.hit | stored | missed   credentials.refused   redirect.decided }
    /// | attempt.end
    /// | { validator.verdict   retry.decided }
    /// | { decoding.start -> end | failed }
    /// load.end | failed | cancelled
    /// ```
    public struct Name: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name as a string, such as `exchange.end`.
        public let rawValue: String

        /// Creates a name from a string, such as one in a log. A custom event may have any name.
        public init(rawValue: String) { self.rawValue = rawValue }

        public init(stringLiteral value: String) { rawValue = value }

        public var description: String { rawValue }
    }
}

extension CustomStringConvertible where Self == HTTPEvent {
    /// The name as a string, for code that needs a string, as in `let names: [String] = events.map(\.name)`.
    @_disfavoredOverload
    public var name: String { (self as HTTPEvent).name.rawValue }
}

extension HTTPEvent.Name {
    // Loads.
    /// A load has started: a caller sends a request, or a link sends one on behalf of a different load.
    public static let loadStart: Self = "load.start"
    /// The value or the response was returned, or a streamed body has ended or been dropped.
    public static let loadEnd: Self = "load.end"
    /// An error was thrown, or reading a streamed body has failed.
    public static let loadFailed: Self = "load.failed"
    /// The load was cancelled by its task or by a reset.
    public static let loadCancelled: Self = "load.cancelled"

    // Attempts, and what precedes an exchange.
    /// An attempt is about to be sent.
    public static let attemptStart: Self = "attempt.start"
    /// The attempt has a response or an error.
    public static let attemptEnd: Self = "attempt.end"
    /// A request waits for a throttle, a rate limit or a connection.
    public static let queueEntered: Self = "queue.entered"
    /// The request no longer waits in the queue.
    public static let queueLeft: Self = "queue.left"
    /// A request waits for credentials.
    public static let credentialsNeeded: Self = "credentials.needed"
    /// The credentials that a request waits for are available.
    public static let credentialsObtained: Self = "credentials.obtained"
    /// No credentials could be obtained.
    public static let credentialsFailed: Self = "credentials.failed"
    /// The server has responded with 401.
    public static let credentialsRefused: Self = "credentials.refused"
    /// A request is sent without client credentials, because they don't belong to its origin.
    public static let credentialsWithheld: Self = "credentials.withheld"
    /// The jar has added cookies to a request.
    public static let cookieSent: Self = "cookie.sent"
    /// The jar has stored a cookie from a response.
    public static let cookieStored: Self = "cookie.stored"
    /// The jar has removed a cookie, because a response has expired it.
    public static let cookieRemoved: Self = "cookie.removed"
    /// The jar has refused a cookie from a response.
    public static let cookieRefused: Self = "cookie.refused"
    /// A request starts a load that equal requests may share.
    public static let deduplicationLed: Self = "deduplication.led"
    /// A request waits for an equal request.
    public static let deduplicationJoined: Self = "deduplication.joined"
    /// The response to an equal request is returned.
    public static let deduplicationShared: Self = "deduplication.shared"
    /// A stored response is returned.
    public static let cacheHit: Self = "cache.hit"
    /// A stored response is returned although it is stale.
    public static let cacheStale: Self = "cache.stale"
    /// The server has confirmed a stored response.
    public static let cacheRevalidated: Self = "cache.revalidated"
    /// A response from the server was stored.
    public static let cacheStored: Self = "cache.stored"
    /// A response from the server wasn't stored. The ``HTTPEvent/Fact/reason`` tells why.
    public static let cacheMissed: Self = "cache.missed"
    /// The cache doesn't apply to the request.
    public static let cacheBypassed: Self = "cache.bypassed"

    // Exchanges, in the order of their phases.
    /// A request is handed to the transport.
    public static let exchangeStart: Self = "exchange.start"
    /// The host name is being looked up.
    public static let lookupStart: Self = "lookup.start"
    /// The host name was resolved.
    public static let lookupEnd: Self = "lookup.end"
    /// A connection to the server or the proxy is being opened.
    public static let connectStart: Self = "connect.start"
    /// The connection is open. TLS, if it is used, follows.
    public static let connectEnd: Self = "connect.end"
    /// The TLS handshake has begun.
    public static let tlsStart: Self = "tls.start"
    /// The TLS handshake is complete.
    public static let tlsEnd: Self = "tls.end"
    /// A new connection is ready for the request.
    public static let connectionOpened: Self = "connection.opened"
    /// An open connection is used for the request.
    public static let connectionReused: Self = "connection.reused"
    /// The connection hasn't outlived the exchange.
    public static let connectionClosed: Self = "connection.closed"
    /// The request head and body have been sent.
    public static let requestSent: Self = "request.sent"
    /// An interim response (1xx) has arrived.
    public static let responseInterim: Self = "response.interim"
    /// The response head has arrived.
    public static let responseHead: Self = "response.head"
    /// The reader of a streamed body has received a piece.
    public static let bodyPiece: Self = "body.piece"
    /// The body has ended or was dropped.
    public static let bodyEnd: Self = "body.end"
    /// Trailer fields have arrived.
    public static let responseTrailers: Self = "response.trailers"
    /// The exchange has ended with a response of any status: its body is complete or was dropped.
    public static let exchangeEnd: Self = "exchange.end"
    /// The exchange has ended with an error, before the response or while its body was read.
    public static let exchangeFailed: Self = "exchange.failed"

    // Decisions about a response.
    /// The response is a redirect, and the client follows or refuses it.
    public static let redirectDecided: Self = "redirect.decided"
    /// A validator has judged an attempt.
    public static let validatorVerdict: Self = "validator.verdict"
    /// An attempt is retried, or can't be.
    public static let retryDecided: Self = "retry.decided"
    /// The body is about to be decoded.
    public static let decodingStart: Self = "decoding.start"
    /// The value was decoded.
    public static let decodingEnd: Self = "decoding.end"
    /// The body couldn't be decoded.
    public static let decodingFailed: Self = "decoding.failed"
}
