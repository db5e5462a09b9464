// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// The header fields in a message, in order (RFC 9110, 5).
///
/// ```swift
/// var headers: HTTPHeaders = ["Accept": "application/json"]
/// headers["accept"]                      // "application/json"
/// headers.append("Accept", "text/plain") // two fields
/// headers.values(for: "Accept")          // both, in order
/// headers["Accept"] = nil                // none
/// ```
///
/// Use the subscript for a field with one value, and ``append(_:_:)`` and ``values(for:)`` for a field that may occur
/// several times. Names are case-insensitive and keep their spelling. Whitespace around a value is removed (RFC 9110,
/// 5.5).
///
/// A request fails before anything is sent if a name isn't a token, or if a value contains a control character other
/// than the tab, such as CR, LF or NUL.
public struct HTTPHeaders: Hashable, Sendable {
    private(set) var fields: [Field]

    /// One line of a header section.
    public struct Field: Hashable, Sendable {
        /// The name as it was written. Comparing names ignores their case.
        public let name: Name
        /// The value as it is sent, without whitespace around it, even if the field is secret.
        public let value: String
        fileprivate var mark: Mark?
        /// Whether descriptions, errors and logs redact the value even if the name isn't a secret one.
        public var isSecret: Bool { mark?.isSecret == true }
        /// The origin that the field is for, or nil for any. A redirect to a different origin removes the field.
        public var origin: HTTPOrigin? { mark?.origin }
        /// Whether the field applies only if no other source of headers sets it.
        var isFallback: Bool { mark === Mark.fallback }

        /// Rarely used parts, stored out of line to keep a field small.
        fileprivate final class Mark: Sendable {
            static let secret = Mark(isSecret: true, origin: nil)
            static let fallback = Mark(isSecret: false, origin: nil)
            let isSecret: Bool
            let origin: HTTPOrigin?

            init(isSecret: Bool, origin: HTTPOrigin?) { (self.isSecret, self.origin) = (isSecret, origin) }
        }

        /// Creates a field, and removes whitespace around its value.
        ///
        /// - Parameters:
        ///   - name: the name.
        ///   - value: the value.
        ///   - isSecret: whether descriptions always redact the value. Default: false (the name decides).
        ///   - origin: the only origin that receives the field. A redirect to a different one removes the field.
        ///     Default: nil (any origin).
        public init(_ name: Name, _ value: String, isSecret: Bool = false, for origin: HTTPOrigin? = nil) {
            self.name = name
            self.value = ASCII.trimmed(value)
            mark = origin.map { Mark(isSecret: isSecret, origin: $0) } ?? (isSecret ? .secret : nil)
        }

        init(_ name: Name, trimmed value: String, isFallback: Bool = false) {
            self.name = name
            self.value = value
            mark = isFallback ? .fallback : nil
        }

        /// Compares names and values, but not ``isSecret``.
        public static func == (first: Field, second: Field) -> Bool {
            first.name == second.name && first.value.isSame(as: second.value)
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(bytesOf: value)
        }
    }

    /// Creates headers without fields.
    public init() { fields = [] }

    /// Creates headers from fields, in order. Fields may have the same name.
    public init(_ fields: some Sequence<Field>) { self.fields = Array(fields) }

    /// Creates headers sorted by name, so that equal dictionaries create equal headers.
    public init(_ dictionary: [String: String]) {
        fields = dictionary.sorted { $0.key < $1.key }.map { Field(Name($0.key), $0.value) }
    }

    /// The value of a header field, or nil if the field is missing.
    ///
    /// Several values are joined by `, ` (RFC 9110, 5.2), and for `Cookie` by `; ` (RFC 9113, 8.2.3). Values of
    /// `Set-Cookie` can't be joined, so only the first one is returned.
    ///
    /// Set a value to replace all fields with the name by a single one, at the position of the first. Set nil to remove
    /// them.
    public subscript(name: Name) -> String? {
        get {
            guard let first = fields.firstIndex(where: { $0.name == name }) else { return nil }
            let value = fields[first].value
            guard name != .setCookie, fields[(first + 1)...].contains(where: { $0.name == name }) else { return value }
            return values(for: name).joined(separator: name == .cookie ? "; " : ", ")
        }
        set { fields.replace(with: newValue.map { Field(name, $0) }) { $0.name == name } }
    }

    /// Replaces all fields with a name by a single one. All descriptions redact its value.
    public mutating func setSecret(_ value: String, for name: Name) {
        fields.replace(with: Field(name, value, isSecret: true)) { $0.name == name }
    }

    /// Marks all fields as belonging to an origin.
    mutating func bind(to origin: HTTPOrigin?) {
        fields = fields.map { Field($0.name, $0.value, isSecret: $0.isSecret, for: origin ?? $0.origin) }
    }

    /// Returns the value of each field with a name, in order. Unlike the subscript, it doesn't join them.
    public func values(for name: Name) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// Returns whether at least one field has the name.
    public func contains(_ name: Name) -> Bool { fields.contains { $0.name == name } }

    /// Appends a field, and keeps fields with the same name. Only an `Accept` that was derived from the decoder is
    /// replaced.
    public mutating func append(_ name: Name, _ value: String) {
        if name == .accept { removeFallbacks { $0 == name } }
        fields.append(Field(name, value))
    }

    /// Appends a field that applies only if no other source of headers sets it.
    mutating func append(fallback name: Name, _ value: String) {
        if !contains(name) { fields.append(Field(name, trimmed: value, isFallback: true)) }
    }

    mutating func removeFallbacks(_ isNamed: (Name) -> Bool) {
        if let place = fields.firstIndex(where: { $0.isFallback && isNamed($0.name) }) { fields.remove(at: place) }
    }

    /// Appends the fields of `other` with names that are missing here.
    public mutating func fill(from other: HTTPHeaders) {
        removeFallbacks { other.contains($0) }
        guard !fields.isEmpty else { return fields = other.fields }
        let names = names(for: other.fields.count)
        fields += other.fields.filter { !(names?.contains($0.name) ?? contains($0.name)) }
    }

    /// Removes the fields with names in `other`, and appends all fields of `other`.
    public mutating func replace(with other: HTTPHeaders) {
        guard !other.fields.isEmpty else { return }
        let names = other.names(for: fields.count)
        fields.removeAll { names?.contains($0.name) ?? other.contains($0.name) }
        fields += other.fields
    }

    /// Returns the names as a set if a set is faster than a linear search, otherwise nil.
    private func names(for count: Int) -> Set<Name>? {
        fields.count > 16 && count > 16 ? Set(fields.lazy.map(\.name)) : nil
    }
}

extension HTTPHeaders: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { fields.count }
    public subscript(position: Int) -> Field { fields[position] }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (Name, String)...) {
        fields = []
        fields.reserveCapacity(elements.count)
        // The elements are moved out of the array from the end. Only its last element can be moved, and none remains to
        // be destroyed. Swapping in the memory of the array doesn't copy them, and keeps each element once.
        var elements = elements
        unsafe elements.withUnsafeMutableBufferPointer { unsafe $0.reverse() }
        while let (name, value) = elements.popLast() { fields.append(Field(name, value)) }
    }
}

extension HTTPHeaders: CustomStringConvertible, CustomReflectable {
    /// One line for each field. Secret values are redacted.
    public var description: String { Redaction.standard.text(of: self) }
    public var customMirror: Mirror { Mirror(describing: self, as: .collection) }
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomReflectable {
    /// `Name: value`. A secret value is redacted.
    public var description: String { Redaction.standard.text(of: self) }
    public var customMirror: Mirror { Mirror(describing: self) }
}

extension HTTPHeaders {
    /// A header field name. Names that differ only in the case of ASCII letters are equal.
    ///
    /// Common names are static properties, such as `.contentType`. Write any other name as a literal, such as
    /// `"X-Trace"`, or create it with `Name(text)`.
    public struct Name: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name with its original spelling. HTTP/2 and HTTP/3 send it in lower case.
        public let rawValue: String

        /// Creates a name from any string. A request with a name that isn't a token (RFC 9110, 5.6.2) fails before
        /// anything is sent.
        public init(_ text: String) { rawValue = text }

        public init(stringLiteral value: String) { rawValue = value }

        public var description: String { rawValue }
    }
}

extension HTTPHeaders.Name: Hashable {
    public static func == (left: HTTPHeaders.Name, right: HTTPHeaders.Name) -> Bool {
        ASCII.equalIgnoringCase(left.rawValue, right.rawValue)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in rawValue.utf8 { hasher.combine(ASCII.lowercased(byte)) }
    }
}

extension HTTPHeaders.Name {
    /// The media types that the client accepts in the response.
    public static let accept = HTTPHeaders.Name("Accept")
    /// The content codings that the client accepts, such as `gzip`. The transport sets it.
    public static let acceptEncoding = HTTPHeaders.Name("Accept-Encoding")
    /// The natural languages that the client prefers.
    public static let acceptLanguage = HTTPHeaders.Name("Accept-Language")
    /// Whether the server supports requests with `Range`, in a response.
    public static let acceptRanges = HTTPHeaders.Name("Accept-Ranges")
    /// The seconds since the server generated a response that comes from a cache (RFC 9111, 5.1).
    public static let age = HTTPHeaders.Name("Age")
    /// The methods that the resource supports, in a response.
    public static let allow = HTTPHeaders.Name("Allow")
    /// The credentials of the request. Pass an `HTTPAuthentication` to the client instead of setting it.
    public static let authorization = HTTPHeaders.Name("Authorization")
    /// The rules for caches, in a request or a response (RFC 9111, 5.2).
    public static let cacheControl = HTTPHeaders.Name("Cache-Control")
    /// Options for this connection, such as `close`.
    public static let connection = HTTPHeaders.Name("Connection")
    /// How to save or present the content, usually with a filename (RFC 6266). See ``HTTPResponse/suggestedFilename``.
    public static let contentDisposition = HTTPHeaders.Name("Content-Disposition")
    /// The codings that were applied to the content, such as `gzip`.
    public static let contentEncoding = HTTPHeaders.Name("Content-Encoding")
    /// The natural languages of the content.
    public static let contentLanguage = HTTPHeaders.Name("Content-Language")
    /// The number of bytes in the content. A request derives it from its body.
    public static let contentLength = HTTPHeaders.Name("Content-Length")
    /// The URL of the representation in the response, if it differs from the URL of the request.
    public static let contentLocation = HTTPHeaders.Name("Content-Location")
    /// The position of the content in the whole representation, in a 206 or 416.
    public static let contentRange = HTTPHeaders.Name("Content-Range")
    /// The media type of the content. A request has the media type of its body.
    public static let contentType = HTTPHeaders.Name("Content-Type")
    /// The cookies that the client sends back (RFC 6265). A ``CookieJar`` sets it.
    public static let cookie = HTTPHeaders.Name("Cookie")
    /// The time at which the message was created.
    public static let date = HTTPHeaders.Name("Date")
    /// The version of the representation in the response. Send it in `If-Match` or `If-None-Match`.
    public static let eTag = HTTPHeaders.Name("ETag")
    /// What the client expects before it sends the body: `100-continue`.
    public static let expect = HTTPHeaders.Name("Expect")
    /// The time until which a cache may reuse the response (RFC 9111, 5.3).
    public static let expires = HTTPHeaders.Name("Expires")
    /// The host and port of the request. The transport derives it from the URL.
    public static let host = HTTPHeaders.Name("Host")
    /// The key by which a server recognizes a retry. See ``RequestTemplate/idempotent(key:)``.
    public static let idempotencyKey = HTTPHeaders.Name("Idempotency-Key")
    /// Processes the request only if the resource has one of these entity tags, to avoid lost updates.
    public static let ifMatch = HTTPHeaders.Name("If-Match")
    /// Requests a representation only if it has changed since this date. Otherwise, the response is a 304.
    public static let ifModifiedSince = HTTPHeaders.Name("If-Modified-Since")
    /// Requests a representation only if it has none of these entity tags. Otherwise, the response is a 304.
    public static let ifNoneMatch = HTTPHeaders.Name("If-None-Match")
    /// Applies `Range` only if the representation still has this entity tag or date.
    public static let ifRange = HTTPHeaders.Name("If-Range")
    /// Processes the request only if the resource hasn't changed since this date.
    public static let ifUnmodifiedSince = HTTPHeaders.Name("If-Unmodified-Since")
    /// The date of the last change to the representation.
    public static let lastModified = HTTPHeaders.Name("Last-Modified")
    /// Links to related resources (RFC 8288). See ``HTTPResponse/links``.
    public static let link = HTTPHeaders.Name("Link")
    /// The URL of a created resource or a redirect. See ``HTTPResponse/location``.
    public static let location = HTTPHeaders.Name("Location")
    /// The origin of the web page that sends a request (RFC 6454, 7).
    public static let origin = HTTPHeaders.Name("Origin")
    /// Optional behavior that the client prefers, such as `return=minimal` (RFC 7240).
    public static let prefer = HTTPHeaders.Name("Prefer")
    /// What a proxy requires in a 407. See ``HTTPResponse/challenges``.
    public static let proxyAuthenticate = HTTPHeaders.Name("Proxy-Authenticate")
    /// The credentials for a proxy. A request that sets it fails: set them in the transport instead.
    public static let proxyAuthorization = HTTPHeaders.Name("Proxy-Authorization")
    /// The part of the representation that the client requests, such as `bytes=0-1023`.
    public static let range = HTTPHeaders.Name("Range")
    /// The URL of the page that contains the link to the request.
    public static let referer = HTTPHeaders.Name("Referer")
    /// The wait before a retry, in seconds or as a date. See ``HTTPHeaders/retryAfter(now:)``.
    public static let retryAfter = HTTPHeaders.Name("Retry-After")
    /// `Retry-After-Ms`: milliseconds. Some APIs send it in addition to `Retry-After`.
    public static let retryAfterMilliseconds = HTTPHeaders.Name("Retry-After-Ms")
    /// The software of the server.
    public static let server = HTTPHeaders.Name("Server")
    /// A cookie that the server sets (RFC 6265). The field occurs once for each cookie.
    public static let setCookie = HTTPHeaders.Name("Set-Cookie")
    /// The transfer codings that the client accepts, and whether it accepts trailers.
    public static let te = HTTPHeaders.Name("TE")
    /// The names of the fields that follow the body. See ``HTTPResponse/trailers``.
    public static let trailer = HTTPHeaders.Name("Trailer")
    /// The transfer codings of the message in HTTP/1.1. A transport sets it.
    public static let transferEncoding = HTTPHeaders.Name("Transfer-Encoding")
    /// The protocols to which the connection should change.
    public static let upgrade = HTTPHeaders.Name("Upgrade")
    /// The software of the client.
    public static let userAgent = HTTPHeaders.Name("User-Agent")
    /// The request headers that the choice of the representation depends on. Caches compare them.
    public static let vary = HTTPHeaders.Name("Vary")
    /// The proxies that forwarded the message.
    public static let via = HTTPHeaders.Name("Via")
    /// What a server requires in a 401. See ``HTTPResponse/challenges``.
    public static let wwwAuthenticate = HTTPHeaders.Name("WWW-Authenticate")
}

extension HTTPHeaders {
    /// Returns the date in a field such as `Last-Modified`, or nil if the field is absent, malformed, or has several
    /// values. All three HTTP date formats are accepted (RFC 9110, 5.6.7).
    public func date(of name: Name) -> Date? {
        let values = values(for: name)
        guard let value = values.first, values.count == 1 else { return nil }
        return HTTPDate.seconds(of: value, now: Int64(Date().timeIntervalSince1970))
            .map { Date(timeIntervalSince1970: Double($0)) }
    }
}
