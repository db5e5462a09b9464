extension HTTPHeaders {
    /// The name of a header field. Names that differ only in the case of ASCII letters are equal.
    ///
    /// Common names are static properties, such as `.contentType`. Write any other name as a literal, such as
    /// `"X-Trace"`, or create it with `Name(text)`.
    public struct Name: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name with its original spelling. HTTP/2 and HTTP/3 send it in lower case.
        public let rawValue: String

        /// Creates a name from any string. A request with a name that is not a token (RFC 9110, 5.6.2) is refused
        /// before anything is sent.
        public init(_ text: String) { rawValue = text }

        /// Creates a name from a literal.
        public init(stringLiteral value: String) { rawValue = value }

        /// The name with its original spelling.
        public var description: String { rawValue }
    }
}

extension HTTPHeaders.Name: Hashable {
    /// Returns whether two names are equal, ignoring the case of ASCII letters.
    public static func == (left: HTTPHeaders.Name, right: HTTPHeaders.Name) -> Bool {
        ASCII.equalIgnoringCase(left.rawValue, right.rawValue)
    }

    /// Hashes the name in lower case.
    public func hash(into hasher: inout Hasher) {
        for byte in rawValue.utf8 { hasher.combine(ASCII.lowercased(byte)) }
    }
}

extension HTTPHeaders.Name {
    /// `Accept`.
    public static let accept = HTTPHeaders.Name("Accept")
    /// `Accept-Encoding`.
    public static let acceptEncoding = HTTPHeaders.Name("Accept-Encoding")
    /// `Accept-Language`.
    public static let acceptLanguage = HTTPHeaders.Name("Accept-Language")
    /// `Accept-Ranges`.
    public static let acceptRanges = HTTPHeaders.Name("Accept-Ranges")
    /// `Age`.
    public static let age = HTTPHeaders.Name("Age")
    /// `Allow`.
    public static let allow = HTTPHeaders.Name("Allow")
    /// `Authorization`.
    public static let authorization = HTTPHeaders.Name("Authorization")
    /// `Cache-Control`.
    public static let cacheControl = HTTPHeaders.Name("Cache-Control")
    /// `Connection`.
    public static let connection = HTTPHeaders.Name("Connection")
    /// `Content-Disposition`.
    public static let contentDisposition = HTTPHeaders.Name("Content-Disposition")
    /// `Content-Encoding`.
    public static let contentEncoding = HTTPHeaders.Name("Content-Encoding")
    /// `Content-Language`.
    public static let contentLanguage = HTTPHeaders.Name("Content-Language")
    /// `Content-Length`.
    public static let contentLength = HTTPHeaders.Name("Content-Length")
    /// `Content-Location`.
    public static let contentLocation = HTTPHeaders.Name("Content-Location")
    /// `Content-Range`.
    public static let contentRange = HTTPHeaders.Name("Content-Range")
    /// `Content-Type`.
    public static let contentType = HTTPHeaders.Name("Content-Type")
    /// `Cookie`.
    public static let cookie = HTTPHeaders.Name("Cookie")
    /// `Date`.
    public static let date = HTTPHeaders.Name("Date")
    /// `ETag`.
    public static let eTag = HTTPHeaders.Name("ETag")
    /// `Expect`.
    public static let expect = HTTPHeaders.Name("Expect")
    /// `Expires`.
    public static let expires = HTTPHeaders.Name("Expires")
    /// `Host`.
    public static let host = HTTPHeaders.Name("Host")
    /// `Idempotency-Key`.
    public static let idempotencyKey = HTTPHeaders.Name("Idempotency-Key")
    /// `If-Match`.
    public static let ifMatch = HTTPHeaders.Name("If-Match")
    /// `If-Modified-Since`.
    public static let ifModifiedSince = HTTPHeaders.Name("If-Modified-Since")
    /// `If-None-Match`.
    public static let ifNoneMatch = HTTPHeaders.Name("If-None-Match")
    /// `If-Range`.
    public static let ifRange = HTTPHeaders.Name("If-Range")
    /// `If-Unmodified-Since`.
    public static let ifUnmodifiedSince = HTTPHeaders.Name("If-Unmodified-Since")
    /// `Last-Modified`.
    public static let lastModified = HTTPHeaders.Name("Last-Modified")
    /// `Link`.
    public static let link = HTTPHeaders.Name("Link")
    /// `Location`.
    public static let location = HTTPHeaders.Name("Location")
    /// `Origin`.
    public static let origin = HTTPHeaders.Name("Origin")
    /// `Prefer`.
    public static let prefer = HTTPHeaders.Name("Prefer")
    /// `Proxy-Authenticate`.
    public static let proxyAuthenticate = HTTPHeaders.Name("Proxy-Authenticate")
    /// `Proxy-Authorization`.
    public static let proxyAuthorization = HTTPHeaders.Name("Proxy-Authorization")
    /// `Range`.
    public static let range = HTTPHeaders.Name("Range")
    /// `Referer`.
    public static let referer = HTTPHeaders.Name("Referer")
    /// `Retry-After`.
    public static let retryAfter = HTTPHeaders.Name("Retry-After")
    /// `Retry-After-Ms`: milliseconds, which some APIs send in addition to `Retry-After`.
    public static let retryAfterMilliseconds = HTTPHeaders.Name("Retry-After-Ms")
    /// `Server`.
    public static let server = HTTPHeaders.Name("Server")
    /// `Set-Cookie`.
    public static let setCookie = HTTPHeaders.Name("Set-Cookie")
    /// `TE`.
    public static let te = HTTPHeaders.Name("TE")
    /// `Trailer`.
    public static let trailer = HTTPHeaders.Name("Trailer")
    /// `Transfer-Encoding`.
    public static let transferEncoding = HTTPHeaders.Name("Transfer-Encoding")
    /// `Upgrade`.
    public static let upgrade = HTTPHeaders.Name("Upgrade")
    /// `User-Agent`.
    public static let userAgent = HTTPHeaders.Name("User-Agent")
    /// `Vary`.
    public static let vary = HTTPHeaders.Name("Vary")
    /// `Via`.
    public static let via = HTTPHeaders.Name("Via")
    /// `WWW-Authenticate`.
    public static let wwwAuthenticate = HTTPHeaders.Name("WWW-Authenticate")
}
