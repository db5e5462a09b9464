extension HTTPEvent {
    /// The name of an event. The constants are the events of the library.
    ///
    /// A literal is a name as well, so `event.name == "exchange.end"` is the same as `event.name == .exchangeEnd`. A
    /// custom event can have a constant as well:
    ///
    /// ```swift
    /// extension HTTPEvent.Name {
    ///     static let shardChosen: Self = "shard.chosen"
    /// }
    /// ```
    ///
    /// One load, from top to bottom. Braces contain events that occur only if they are needed, and alternatives are
    /// separated by a bar:
    ///
    /// ```
    /// load.start
    /// | attempt.start
    /// | | { cookie.sent   credentials.needed -> obtained | failed   deduplication.led | joined   queue.entered -> left }
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
        /// The name, such as `exchange.end`.
        public let rawValue: String

        /// Creates a name from a string that is not a literal.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Creates a name from a literal.
        public init(stringLiteral value: String) { rawValue = value }

        /// The name, such as `exchange.end`.
        public var description: String { rawValue }
    }
}

extension CustomStringConvertible where Self == HTTPEvent {
    /// The name as a string. It is used where only a string fits, as in `let names: [String] = events.map(\.name)`.
    @_disfavoredOverload
    public var name: String { (self as HTTPEvent).name.rawValue }
}

extension HTTPEvent.Name {
    // Loads.
    /// A load starts.
    public static let loadStart: Self = "load.start"
    /// The value or the response was returned, or a streamed body has ended or been dropped.
    public static let loadEnd: Self = "load.end"
    /// The load has thrown an error.
    public static let loadFailed: Self = "load.failed"
    /// The load was cancelled.
    public static let loadCancelled: Self = "load.cancelled"

    // Attempts, and what precedes an exchange.
    /// An attempt is about to be sent.
    public static let attemptStart: Self = "attempt.start"
    /// The response or the error of an attempt is known.
    public static let attemptEnd: Self = "attempt.end"
    /// A request waits for a throttle, a rate limit or a connection.
    public static let queueEntered: Self = "queue.entered"
    /// The wait in a queue is over.
    public static let queueLeft: Self = "queue.left"
    /// A request waits for credentials.
    public static let credentialsNeeded: Self = "credentials.needed"
    /// The credentials have arrived.
    public static let credentialsObtained: Self = "credentials.obtained"
    /// No credentials could be obtained.
    public static let credentialsFailed: Self = "credentials.failed"
    /// The server has responded with 401.
    public static let credentialsRefused: Self = "credentials.refused"
    /// The jar has added cookies to a request.
    public static let cookieSent: Self = "cookie.sent"
    /// The jar has stored a cookie of a response.
    public static let cookieStored: Self = "cookie.stored"
    /// The jar has removed a cookie, because a response has expired it.
    public static let cookieRemoved: Self = "cookie.removed"
    /// The jar has refused a cookie of a response.
    public static let cookieRefused: Self = "cookie.refused"
    /// A request starts a load that others may share.
    public static let deduplicationLed: Self = "deduplication.led"
    /// A request waits for the load of an equal one.
    public static let deduplicationJoined: Self = "deduplication.joined"
    /// The response of an equal request is returned.
    public static let deduplicationShared: Self = "deduplication.shared"
    /// A stored response is returned.
    public static let cacheHit: Self = "cache.hit"
    /// A stored response is returned although it is stale.
    public static let cacheStale: Self = "cache.stale"
    /// The server has confirmed a stored response.
    public static let cacheRevalidated: Self = "cache.revalidated"
    /// A response was stored.
    public static let cacheStored: Self = "cache.stored"
    /// A response was not stored.
    public static let cacheMissed: Self = "cache.missed"
    /// The cache does not apply to the request.
    public static let cacheBypassed: Self = "cache.bypassed"

    // Exchanges, in the order of their phases.
    /// A request is handed to the transport.
    public static let exchangeStart: Self = "exchange.start"
    /// The name of the host is looked up.
    public static let lookupStart: Self = "lookup.start"
    /// The address of the host is known.
    public static let lookupEnd: Self = "lookup.end"
    /// A connection is being opened.
    public static let connectStart: Self = "connect.start"
    /// The connection is open.
    public static let connectEnd: Self = "connect.end"
    /// TLS is being negotiated.
    public static let tlsStart: Self = "tls.start"
    /// TLS has been negotiated.
    public static let tlsEnd: Self = "tls.end"
    /// A new connection is ready for the request.
    public static let connectionOpened: Self = "connection.opened"
    /// An open connection is used for the request.
    public static let connectionReused: Self = "connection.reused"
    /// The connection has not outlived the exchange.
    public static let connectionClosed: Self = "connection.closed"
    /// The head and the body of the request have been sent.
    public static let requestSent: Self = "request.sent"
    /// An interim response (1xx) has arrived.
    public static let responseInterim: Self = "response.interim"
    /// The head of the response has arrived.
    public static let responseHead: Self = "response.head"
    /// The reader of a streamed body has received a piece.
    public static let bodyPiece: Self = "body.piece"
    /// The body has ended or was dropped.
    public static let bodyEnd: Self = "body.end"
    /// Trailer fields have arrived.
    public static let responseTrailers: Self = "response.trailers"
    /// The exchange has ended.
    public static let exchangeEnd: Self = "exchange.end"
    /// The exchange has failed.
    public static let exchangeFailed: Self = "exchange.failed"

    // Decisions about a response.
    /// The response is a redirect, which is followed or refused.
    public static let redirectDecided: Self = "redirect.decided"
    /// A validator has judged an attempt.
    public static let validatorVerdict: Self = "validator.verdict"
    /// An attempt is retried, or its retry is ruled out.
    public static let retryDecided: Self = "retry.decided"
    /// The body is about to be decoded.
    public static let decodingStart: Self = "decoding.start"
    /// The body was decoded.
    public static let decodingEnd: Self = "decoding.end"
    /// The body could not be decoded.
    public static let decodingFailed: Self = "decoding.failed"
}
