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

// The name of a constant is the name of its field.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension HTTPHeaders.Name {
    public static let accept = HTTPHeaders.Name("Accept")
    public static let acceptEncoding = HTTPHeaders.Name("Accept-Encoding")
    public static let acceptLanguage = HTTPHeaders.Name("Accept-Language")
    public static let acceptRanges = HTTPHeaders.Name("Accept-Ranges")
    public static let age = HTTPHeaders.Name("Age")
    public static let allow = HTTPHeaders.Name("Allow")
    public static let authorization = HTTPHeaders.Name("Authorization")
    public static let cacheControl = HTTPHeaders.Name("Cache-Control")
    public static let connection = HTTPHeaders.Name("Connection")
    public static let contentDisposition = HTTPHeaders.Name("Content-Disposition")
    public static let contentEncoding = HTTPHeaders.Name("Content-Encoding")
    public static let contentLanguage = HTTPHeaders.Name("Content-Language")
    public static let contentLength = HTTPHeaders.Name("Content-Length")
    public static let contentLocation = HTTPHeaders.Name("Content-Location")
    public static let contentRange = HTTPHeaders.Name("Content-Range")
    public static let contentType = HTTPHeaders.Name("Content-Type")
    public static let cookie = HTTPHeaders.Name("Cookie")
    public static let date = HTTPHeaders.Name("Date")
    public static let eTag = HTTPHeaders.Name("ETag")
    public static let expect = HTTPHeaders.Name("Expect")
    public static let expires = HTTPHeaders.Name("Expires")
    public static let host = HTTPHeaders.Name("Host")
    public static let idempotencyKey = HTTPHeaders.Name("Idempotency-Key")
    public static let ifMatch = HTTPHeaders.Name("If-Match")
    public static let ifModifiedSince = HTTPHeaders.Name("If-Modified-Since")
    public static let ifNoneMatch = HTTPHeaders.Name("If-None-Match")
    public static let ifRange = HTTPHeaders.Name("If-Range")
    public static let ifUnmodifiedSince = HTTPHeaders.Name("If-Unmodified-Since")
    public static let lastModified = HTTPHeaders.Name("Last-Modified")
    public static let link = HTTPHeaders.Name("Link")
    public static let location = HTTPHeaders.Name("Location")
    public static let origin = HTTPHeaders.Name("Origin")
    public static let prefer = HTTPHeaders.Name("Prefer")
    public static let proxyAuthenticate = HTTPHeaders.Name("Proxy-Authenticate")
    public static let proxyAuthorization = HTTPHeaders.Name("Proxy-Authorization")
    public static let range = HTTPHeaders.Name("Range")
    public static let referer = HTTPHeaders.Name("Referer")
    public static let retryAfter = HTTPHeaders.Name("Retry-After")
    /// `Retry-After-Ms`: milliseconds, which some APIs send in addition to `Retry-After`.
    public static let retryAfterMilliseconds = HTTPHeaders.Name("Retry-After-Ms")
    public static let server = HTTPHeaders.Name("Server")
    public static let setCookie = HTTPHeaders.Name("Set-Cookie")
    public static let te = HTTPHeaders.Name("TE")
    public static let trailer = HTTPHeaders.Name("Trailer")
    public static let transferEncoding = HTTPHeaders.Name("Transfer-Encoding")
    public static let upgrade = HTTPHeaders.Name("Upgrade")
    public static let userAgent = HTTPHeaders.Name("User-Agent")
    public static let vary = HTTPHeaders.Name("Vary")
    public static let via = HTTPHeaders.Name("Via")
    public static let wwwAuthenticate = HTTPHeaders.Name("WWW-Authenticate")
}
