// SPDX-License-Identifier: MIT
import LetterheadFoundation

enum OmittedHeadersOption: HTTPRequestOption {
    static let defaultOptionValue: Set<HTTPHeaders.Name> = []
}

extension RequestSettings {
    /// Headers that only the request itself may set. The body, the client, the environment and the transport don't add
    /// them. Default: none.
    ///
    /// List a default header such as `[.contentType]`, `[.accept]`, `[.acceptEncoding]` or `[.host]`, or a header that
    /// the client or the environment adds. For one endpoint, or a whole client, use
    /// ``RequestTemplate/omittingHeader(_:)``. To replace a header, set it in ``HTTPRequest/headers`` instead.
    ///
    /// - A header that the request sets is sent even if it is omitted here, and so are cookies and credentials.
    /// - Setting the property in an attempt link has no effect on client and environment headers, because the request
    ///   has them already.
    /// - Omitting Content-Length or Transfer-Encoding is `.invalidRequest`, because they frame the message.
    /// - `URLSession` adds its own headers nevertheless.
    public var omittedHeaders: Set<HTTPHeaders.Name> {
        get { self[option: OmittedHeadersOption.self] }
        set { self[option: OmittedHeadersOption.self] = newValue }
    }
}

extension HTTPRequest {
    /// Returns the headers to send: the request headers and the body headers, with at most one Content-Type.
    ///
    /// The boundary of a multipart body always comes from the body. A request may set a different multipart type and
    /// gets the boundary added. Any other type would make a multipart body unreadable, so the body type replaces it. An
    /// empty body has no headers. The result contains neither Content-Length nor Transfer-Encoding: a transport derives
    /// them from the length of ``framedBody()``.
    public func framedHeaders() -> HTTPHeaders {
        var merged = headers
        let omitted = omittedHeaders
        merged.removeFallbacks { omitted.contains($0) }
        // Validation refuses any other length.
        if merged.contains(.contentLength), let length = body.contentLength,
            merged.values(for: .contentLength).allSatisfy({ $0.isSame(as: "\(length)") })
        {
            merged[.contentLength] = nil
        }
        guard !body.isEmpty else { return merged }
        let own = body.additionalHeaders
        var added = own
        for name in omitted { added[name] = nil }
        merged.fill(from: added)
        if let asked = headers[.contentType], let own = own[.contentType] {
            merged[.contentType] = Self.contentType(asked: asked, own: own)
        }
        return merged
    }

    /// Returns the bytes to send, beginning with the first byte, and enforces the length that the body declares.
    ///
    /// Call it before you send anything, so that a body that can't be encoded fails early. The ``BodyChunks/length`` is
    /// exact, or nil if it isn't known. Convert iteration errors with
    /// ``HTTPError/init(ofBody:request:mayHaveBeenSent:)``.
    ///
    /// - Throws: the body error, converted by ``HTTPError/init(ofBody:request:mayHaveBeenSent:)``: usually
    ///   `.invalidRequest` with this error as the underlying error.
    public func framedBody() throws(HTTPError) -> BodyChunks {
        guard !body.isEmpty else { return BodyChunks(Data()) }
        do {
            return try body.chunks().held(to: body.contentLength)
        } catch {
            throw HTTPError(ofBody: error, request: self)
        }
    }

    var framed: HTTPRequest {
        var framed = self
        framed.headers = framedHeaders()
        return framed
    }

    private static func contentType(asked: String, own: String) -> String {
        guard let own = MediaType(own), own.isMultipart, let boundary = own["boundary"] else { return asked }
        guard let type = MediaType(asked), type.isMultipart else { return own.description }
        return type.setting("boundary", to: boundary).description
    }
}

extension HTTPMethod {
    /// Whether a server expects a length even without a body (RFC 9110, 8.6).
    package var expectsBody: Bool { self == .post || self == .put || self == .patch }
}

extension HTTPError {
    /// Creates an error for a request body that failed to encode or to send.
    ///
    /// - Parameters:
    ///   - error: the error that the body threw. An ``HTTPError`` is kept, a `CancellationError` becomes `.cancelled`,
    ///     and any other error becomes the underlying error of `.invalidRequest`.
    ///   - request: the request.
    ///   - mayHaveBeenSent: whether some bytes may have been sent. Default: false.
    public init(ofBody error: any Error, request: HTTPRequest, mayHaveBeenSent: Bool = false) {
        if let error = error as? HTTPError {
            self = error
        } else {
            self.init(
                error is CancellationError ? .cancelled : .invalidRequest, request: request, underlying: error,
                message: Self.summary(of: error), mayHaveBeenSent: mayHaveBeenSent)
        }
    }
}

extension HTTPRequest {
    /// Checks the request before anything is sent. Call it first if you write a transport. All transports in the
    /// library do so.
    ///
    /// - Throws: `.invalidRequest`. The message names the field and the rule, but never the value. The rules:
    ///   - The method and all header names are tokens. Header values contain no control characters. This includes the
    ///     body headers.
    ///   - Headers that frame the message aren't set, because the library writes them.
    ///   - There is at most one Content-Type and one Host, and Host is a valid host.
    ///   - Proxy-Authorization isn't set, because it belongs to a proxy and could reach the server.
    ///   - The scheme is http or https, the host is valid, the port is in 1...65535, and the URL has no user or
    ///     password.
    ///   - The ``RequestPath`` is valid, and all query values can be written.
    ///   - The method isn't CONNECT, which belongs to proxies, and a HEAD or TRACE has no body.
    ///   - ``RequestSettings/timeout`` and ``RequestSettings/idleTimeout`` are greater than zero, and
    ///     ``RequestSettings/responseLimit`` isn't negative.
    ///   - A page that is identified by a URL is requested at the origin of that URL.
    public func validate() throws(HTTPError) {
        if let rule = brokenRule { throw HTTPError(.invalidRequest, request: self, message: rule) }
    }

    private var brokenRule: String? {
        if !ASCII.isToken(method.rawValue) {
            return "the method is not a token (RFC 9110): use letters, digits and !#$%&'*+-.^_`|~"
        }
        if method == .connect { return "CONNECT is reserved for proxies (set a proxy in the TransportConfiguration)" }
        if let rule = headers.brokenRule(bodyLength: body.contentLength) { return rule }
        if (method == .head || method == .trace) && !body.isEmpty { return "\(method) cannot carry a body" }
        if !body.isEmpty, let rule = body.additionalHeaders.brokenBodyRule {
            return "the body is refused: \(rule)"
        }
        if let defect = path.defect { return "the path is refused: \(defect.rule)" }
        if let timeout, timeout <= .zero { return "the timeout is not greater than zero" }
        if let idleTimeout, idleTimeout <= .zero { return "the idleTimeout is not greater than zero" }
        if let name = omittedHeaders.first(where: { $0 == .contentLength || $0 == .transferEncoding }) {
            return "the header \(name) frames the message and cannot be omitted"
        }
        if responseLimit < 0 { return "the responseLimit is less than zero" }
        return brokenAddress
    }

    private var brokenAddress: String? {
        guard let host, !host.isEmpty else { return missingHost.message }
        if !hasHTTPScheme { return "the scheme is not http or https" }
        if !Self.isHost(host) {
            return "the host contains a character that is not allowed (international names need Punycode, xn--)"
        }
        if let port, !(1...65535).contains(port) { return "the port is not in 1...65535" }
        if userInfo != nil { return "the URL contains a user or password (use HTTPAuthentication)" }
        if !ASCII.isPrintable(path.string) { return "the path contains a character that must be escaped" }
        return query.brokenRule ?? brokenOrigin
    }

    var hasHTTPScheme: Bool {
        ASCII.equalIgnoringCase(scheme, "https") || ASCII.equalIgnoringCase(scheme, "http")
    }

    /// Returns whether a string is a registered name, an IPv4 address, or an IPv6 address in brackets (RFC 3986,
    /// 3.2.2). A `%` is refused, because parsers disagree about what follows it.
    package static func isHost(_ text: String) -> Bool {
        // The slice ends with the bytes.
        text.withBytes { bytes in
            guard unsafe bytes.first == UInt8(ascii: "["), unsafe bytes.last == UInt8(ascii: "]") else {
                return unsafe !bytes.contains(where: EscapeSet.unreserved.escapes)
            }
            let inside = unsafe bytes.dropFirst().dropLast()
            return unsafe inside.contains(UInt8(ascii: ":"))
                && inside.allSatisfy { isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
        }
    }

    fileprivate static func isHostAndPort(_ text: String) -> Bool {
        let parts = URLParts("//" + text)
        guard let (host, port) = parts.hostAndPort, parts.authority == text, parts.userInfo == nil else { return false }
        return !host.isEmpty && isHost(host) && port.map { (1...65535).contains($0) } ?? true
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
    }
}

extension QueryParameters {
    /// The rule that an item violates, or nil if all items can be written.
    fileprivate var brokenRule: String? {
        for place in items.indices {
            if let refusal = items[place].refusal {
                let name = items[place].name
                // A template doesn't expand to a single item.
                if name.isEmpty { return "the query cannot be written: \(refusal)" }
                return "the query item \(Redaction.visible(name)) cannot be written: \(refusal)"
            }
            guard let original = items[place].original else { continue }
            if !ASCII.isPrintable(original) || original.utf8.contains(UInt8(ascii: "#")) {
                return "the query contains a character that must be escaped"
            }
        }
        return nil
    }
}

extension HTTPHeaders {
    /// The rule that body or part headers violate, or nil if all are well formed.
    var brokenBodyRule: String? {
        if let rule = brokenRule() { return rule }
        guard let type = first(where: { $0.name == .contentType })?.value, MediaType(type) == nil else { return nil }
        return "the header Content-Type is not a media type (RFC 9110, 8.3.1), such as text/plain"
    }

    /// The rule of RFC 9110, 5.1 and 5.5 that a field violates, or nil if all are well formed. A Content-Length
    /// violates one, unless it is the length of the body.
    func brokenRule(bodyLength: @autoclosure () -> Int? = nil) -> String? {
        var contentTypes = 0
        var hasHost = false
        for place in fields.indices {
            // The field is read in the array, because copying it costs as much as checking it.
            guard ASCII.isToken(fields[place].name.rawValue) else {
                return
                    "the name of header \(place + 1) is not a token: use letters, digits and !#$%&'*+-.^_`|~"
            }
            guard ASCII.isFieldValue(fields[place].value) else {
                return
                    "the value of the header \(fields[place].name) contains a control character (CR, LF, NUL …)"
            }
            // The lengths of Host, Content-Type, Content-Length, Transfer-Encoding and Proxy-Authorization. Few other
            // names have one of these lengths, so few names are compared.
            switch fields[place].name.rawValue.utf8.count {
            case 4, 12, 14, 17, 19: break
            default: continue
            }
            let name = fields[place].name
            if name == .host {
                if hasHost { return "the header Host is set more than once (RFC 9112, 3.2)" }
                guard HTTPRequest.isHostAndPort(fields[place].value) else {
                    return "the value of the header Host is not a host with an optional port"
                }
                hasHost = true
            }
            if name == .proxyAuthorization {
                return "the header Proxy-Authorization could reach the server (set the proxy's credentials with "
                    + "TransportConfiguration.Proxy.authenticated(user:password:))"
            }
            if name == .contentLength, let length = bodyLength(), fields[place].value.isSame(as: "\(length)") {
                continue
            }
            if name == .contentLength || name == .transferEncoding {
                return "the header \(name) frames the message and is written by the library (set the body instead)"
            }
            if name == .contentType { contentTypes += 1 }
            if contentTypes > 1 { return "the header Content-Type is set more than once" }
        }
        return nil
    }
}
