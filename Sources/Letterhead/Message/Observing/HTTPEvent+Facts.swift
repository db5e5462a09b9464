extension HTTPEvent.Fact where Value == String {
    /// The method of the request.
    public static var method: Self { Self("method") }
    /// The URL. The user, the password, and query values with secret names are redacted.
    public static var url: Self { Self("url") }
    /// The scheme and the host, with the port if it is not the default one, such as `https://example.com`.
    public static var origin: Self { Self("origin") }
    /// The host of the request.
    public static var host: Self { Self("host") }
    /// The reason for a decision.
    public static var reason: Self { Self("reason") }
    /// The description of an error, without secrets.
    public static var error: Self { Self("error") }
    /// The code of an ``HTTPError``, the type of another error, or the status of a response if it is 400 or more.
    public static var errorType: Self { Self("error.type") }
    /// The kind of a queue: `throttle`, `rate limit` or `connection`.
    public static var queue: Self { Self("queue") }
    /// The version of HTTP, such as `HTTP/1.1`.
    public static var httpVersion: Self { Self("http.version") }
    /// The address and port of the server, or of the proxy if one is used.
    public static var address: Self { Self("address") }
    /// The version of TLS, such as `TLSv1.3`.
    public static var tlsVersion: Self { Self("tls.version") }
    /// The cipher suite of TLS.
    public static var tlsCipher: Self { Self("tls.cipher") }
    /// The name of a type: of a validator, or of a decoded value.
    public static var type: Self { Self("type") }
    /// The name of a cookie.
    public static var name: Self { Self("name") }
    /// The verdict of a validator: `next`, `replaced`, `retry` or `failed`.
    public static var verdict: Self { Self("verdict") }
    /// The kind of a load that is sent on behalf of another one: `page`, `refresh` or `alternate`.
    public static var kind: Self { Self("kind") }
    /// The identifier of the trace: 32 hexadecimal digits.
    public static var traceID: Self { Self("trace.id") }
    /// The identifier of the span of this exchange: 16 hexadecimal digits.
    public static var spanID: Self { Self("span.id") }
    /// The `Server-Timing` header.
    public static var serverTiming: Self { Self("server.timing") }
    /// The `Deprecation` header (RFC 9745).
    public static var deprecation: Self { Self("deprecation") }
    /// The `Sunset` header (RFC 8594).
    public static var sunset: Self { Self("sunset") }
}

extension HTTPEvent.Fact where Value == Int {
    /// The status of a response.
    public static var status: Self { Self("status") }
    /// The port of the request.
    public static var port: Self { Self("port") }
    /// The number of the exchange in its load, starting at 1. Each redirect and each retry begins a new exchange.
    public static var exchange: Self { Self("exchange") }
    /// The number of earlier exchanges of the load.
    public static var resendCount: Self { Self("resend.count") }
    /// The number of bytes of a body after decompression, as its reader receives them.
    public static var bytes: Self { Self("bytes") }
    /// The number of bytes that were transferred: the heads, and the bodies before decompression.
    public static var wireBytes: Self { Self("wire.bytes") }
    /// The number of cookies.
    public static var count: Self { Self("count") }
    /// The number of the load whose response is shared.
    public static var sharedLoad: Self { Self("shared.load") }
}

extension HTTPEvent.Fact where Value == Double {
    /// The tokens that are left in the retry budget of the origin.
    public static var budgetLeft: Self { Self("budget.left") }
}

extension HTTPEvent.Fact where Value == Bool {
    /// Whether a retry follows.
    public static var isRetried: Self { Self("retried") }
    /// Whether a redirect is followed.
    public static var isFollowed: Self { Self("followed") }
    /// Whether a body was read to its end.
    public static var isComplete: Self { Self("complete") }
}

extension HTTPEvent.Fact where Value == Duration {
    /// The time that has passed since the matching start event.
    public static var duration: Self { Self("duration") }
    /// The wait before a retry.
    public static var wait: Self { Self("wait") }
    /// The time until the deadline of the load.
    public static var timeLeft: Self { Self("time.left") }
}

extension HTTPEvent.Fact where Value == [String] {
    /// The names of the headers that a redirect to another origin does not receive.
    public static var withheld: Self { Self("withheld") }
    /// The names of trailer fields.
    public static var names: Self { Self("names") }
    /// The header fields of an interim response, such as `Link: </style.css>; rel=preload`. Secrets are redacted.
    public static var headers: Self { Self("headers") }
}
