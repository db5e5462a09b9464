// SPDX-License-Identifier: MIT
public import LetterheadFoundation
import Synchronization

/// A request to any URL, as a value that you can read and change.
///
/// ```swift
/// var request = try HTTPRequest(method: .post, "https://api.example.com/users")
/// request[query: "verbose"] = "true"
/// request.headers["Accept"] = "application/json"
/// request.body = JSONBody(user)
/// let response = try await client.send(request)
/// ```
///
/// Write one for a URL that has no template, or change the one that a link receives. For API endpoints, declare a
/// ``RequestTemplate`` instead.
///
/// By default, a request is a GET over https without host, path, query, headers or body. The client environment fills
/// in what you don't set, so a request with only a path is enough:
///
/// ```swift
/// let request = HTTPRequest { $0.path = "users" }
/// ```
///
/// Rules:
/// - Setting a property checks nothing. The transport calls ``validate()`` before it sends the request, and malformed
///   parts fail there.
/// - Copies keep their ``id``, even after changes, so that a chain can recognize a request.
/// - Descriptions redact secrets. See ``redaction``.
public struct HTTPRequest: RequestSettings, Identifiable {
    /// Identifies a request and its copies within this process.
    public struct ID: Hashable, Sendable {
        private let number: UInt64
        private static let last = Atomic<UInt64>(0)

        init() { number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue }
    }

    /// A chain copies requests often, so copies share their parts until one changes.
    private struct Parts: Sendable {
        let id = ID()
        var method: HTTPMethod?
        var scheme: String?
        var host: String?
        var port: Int?
        var userInfo: String?
        var path = RequestPath(escaped: "")
        var query = QueryParameters()
        var fragment: String?
        var headers = HTTPHeaders()
        var body: any HTTPBody = EmptyBody()
        var options = HTTPRequestOptions()
        var context = LoadContext()

        mutating func move(to origin: HTTPOrigin?) {
            (scheme, host) = (origin?.scheme, origin?.host)
            port = origin.flatMap { $0.port == ($0.scheme == "http" ? 80 : 443) ? nil : $0.port }
        }
    }

    @CopyOnWrite private var parts: Parts

    /// Creates a GET request over https and sets nothing else.
    public init() { parts = Parts() }

    /// Creates a request to an http or https URL. The path, the query and their escapes are sent unchanged. An
    /// environment fills in missing parts.
    public init(method: HTTPMethod = .get, url: URL) {
        var parts = Parts()
        parts.method = method
        url.absoluteString.withBytes { bytes in
            // The ranges are in the bytes, and each part is copied.
            let ranges = unsafe URLRanges(bytes)
            parts.scheme = ranges.scheme.map { unsafe bytes.text($0) }
            if let authority = ranges.authority.map({ unsafe AuthorityRanges(bytes, in: $0) }) {
                (parts.host, parts.port) = unsafe (bytes.text(authority.host), authority.port)
                parts.userInfo = authority.userInfo.map { unsafe bytes.text($0) }
            }
            parts.path = unsafe RequestPath(escaped: bytes.text(ranges.path))
            if let range = ranges.query { parts.query = unsafe QueryParameters(ofURL: bytes.text(range)) }
            parts.fragment = ranges.fragment.map { unsafe bytes.text($0) }
        }
        self.parts = parts
    }

    /// Creates a request to the absolute http or https URL in a string.
    ///
    /// ```swift
    /// let request = try HTTPRequest("https://api.example.com/users?page=2")
    /// ```
    ///
    /// The path, the query and their escapes are sent unchanged. Escape characters that a URL cannot contain, such as a
    /// space or `é`.
    ///
    /// - Throws: `.invalidRequest` for any other string. The error names the rule that the string breaks, but doesn't
    ///   contain the string.
    public init(method: HTTPMethod = .get, _ url: String) throws(HTTPError) {
        var rule = "the string is not a URL: escape spaces and other characters that a URL cannot contain"
        if let parsed = URL(string: url, encodingInvalidCharacters: false) {
            self.init(method: method, url: parsed)
            if parts.scheme != nil, hasHTTPScheme, host?.isEmpty == false { return }
            rule =
                "the string is not an absolute URL with a host: begin with https://, or with http:// for a server without TLS"
        }
        self.init()
        self.method = method
        throw HTTPError(.invalidRequest, request: self, message: rule)
    }

    /// Creates a request over https from a host and a path:
    /// `HTTPRequest(host: "api.example.com", path: "users/\(login)")`.
    public init(method: HTTPMethod = .get, host: String, path: RequestPath = "") {
        parts = Parts(method: method, host: host, path: path)
    }

    /// Creates a request and lets a closure set its parts. An error that the closure throws is thrown unchanged.
    ///
    /// ```swift
    /// let request = HTTPRequest {
    ///     $0.method = .post
    ///     $0.path = "users"
    ///     $0.body = JSONBody(user)
    /// }
    /// ```
    public init<Failure>(_ configure: (inout HTTPRequest) throws(Failure) -> Void) throws(Failure) {
        self.init()
        try configure(&self)
    }

    init(
        method: HTTPMethod, path: RequestPath, query: QueryParameters, headers: HTTPHeaders, options: HTTPRequestOptions
    ) {
        parts = Parts(method: method, path: path, query: query, headers: headers, options: options)
    }

    /// Identifies the request and its copies, even after changes.
    public var id: ID { parts.id }

    /// The method. Default: GET, unless the environment sets a different one.
    public var method: HTTPMethod {
        get { parts.method ?? .get }
        set { parts.method = newValue }
    }

    /// The scheme, `https` or `http`. Default: https, unless the environment sets a different one.
    public var scheme: String {
        get { parts.scheme ?? "https" }
        set { parts.scheme = newValue }
    }

    /// The host: a name, an IPv4 address, or an IPv6 address in brackets. It is nil until you or an environment sets
    /// it.
    public var host: String? {
        get { parts.host }
        _modify { yield &parts.host }
    }

    /// The port, or nil for the default port: 443 for https, and 80 for http.
    public var port: Int? {
        get { parts.port }
        _modify { yield &parts.port }
    }

    /// The user and password in the URL that you created the request from. Transports reject a request that has them:
    /// pass an `HTTPAuthentication` to the client instead.
    public var userInfo: String? {
        get { parts.userInfo }
        _modify { yield &parts.userInfo }
    }

    /// The path. A relative path is appended to ``ServerEnvironment/pathPrefix``.
    public var path: RequestPath {
        get { parts.path }
        _modify {
            if !parts.path.secrets.isEmpty { earlierSecrets.formUnion(parts.path.secrets) }
            yield &parts.path
        }
    }

    /// The query items in order. Several items may have the same name. Default: none.
    public var query: QueryParameters {
        get { parts.query }
        _modify { yield &parts.query }
    }

    /// The fragment of the URL that you created the request from. It is never sent.
    public var fragment: String? {
        get { parts.fragment }
        _modify { yield &parts.fragment }
    }

    /// The header fields. The body, the environment and links add a field only if it is missing here.
    public var headers: HTTPHeaders {
        get { parts.headers }
        _modify { yield &parts.headers }
    }

    /// The body. Default: ``EmptyBody``.
    ///
    /// A body in memory is encoded once, when its bytes are first read. Request copies share these bytes, also in later
    /// loads, so the hash of `request.body.encode()` is the hash of what every attempt and redirect sends. Set the body
    /// again to encode it anew.
    ///
    /// A client encoder applies until the bytes are read. Reading them for a description doesn't count.
    ///
    /// Don't cast the body to its type: to keep the bytes, the request wraps a body that encodes a value. If a link
    /// must know something about the body, pass it as an option.
    public var body: any HTTPBody {
        get { parts.body }
        set { parts.body = EncodedOnce.holding(newValue) }
    }

    /// Settings for links and transports. They are never sent.
    public var options: HTTPRequestOptions {
        get { parts.options }
        _modify { yield &parts.options }
    }

    /// It is read in place, because copying the context copies each part.
    var context: LoadContext {
        @inline(__always) _read { yield parts.context }
        _modify { yield &parts.context }
    }

    /// The first query value with a name. Set a value to replace all items with the name, or nil to remove them.
    public subscript(query name: String) -> String? {
        get { query[name] }
        set { query[name] = newValue }
    }

    /// The value of an option, or its default if the request doesn't set it.
    public subscript<Option: HTTPRequestOption>(option option: Option.Type) -> Option.Value {
        get { options[option: option] }
        set { options[option: option] = newValue }
    }

    /// The scheme, host and port, or nil without a host.
    ///
    /// Set it in a link that sends the request to a different server. A port that is the default for the scheme becomes
    /// nil. Headers such as `Authorization` stay in the request, so set it only to a server that may receive them.
    public var origin: HTTPOrigin? {
        get { host.map { HTTPOrigin(scheme: scheme, host: $0, port: port) } }
        set { parts.move(to: newValue) }
    }

    /// The host and port as in a URL (RFC 3986, 3.2): `example.com:8443`, or the host alone if no port is set. It
    /// contains no user or password, and is nil without a host.
    public var authority: String? {
        host.map { host in port.map { "\(host):\($0)" } ?? host }
    }

    package var hasMethod: Bool { parts.method != nil }

    package var hasScheme: Bool { parts.scheme != nil }

    /// Fills a request without a host from a base URL. A request with a host stays unchanged.
    ///
    /// It sets the host, adds the path prefix to a relative path, and uses the scheme, user information, port and query
    /// items that the request doesn't set.
    mutating func fill(from url: URL) {
        guard host == nil else { return }
        url.absoluteString.withBytes { bytes in
            // The parts are copied before the bytes end.
            let base = unsafe BaseURLBytes(bytes)
            unsafe fill(from: base, path: path.following(base.pathBytes))
        }
    }

    mutating func fill(from base: BaseURL) {
        guard host == nil else { return }
        fill(from: base, path: path.following(base.path))
    }

    private mutating func fill(from base: some BaseURLParts, path: RequestPath) {
        self.path = path
        if base.hasQuery { query.fill(from: base.query) }
        if parts.scheme == nil { parts.scheme = base.scheme }
        if userInfo == nil { userInfo = base.userInfo }
        host = base.host
        if port == nil { port = base.port }
    }
}

extension HTTPRequest: CustomStringConvertible, CustomReflectable {
    /// The method, the URL, the headers, and the media type and the length of the body. Secrets are redacted.
    public var description: String {
        var lines = [redaction.requestLine(of: self)]
        if !headers.isEmpty { lines.append(redaction.text(of: headers)) }
        if !body.isEmpty { lines += ["", Redaction.outline(of: describedBody, headers: framedHeaders())] }
        return lines.joined(separator: "\n")
    }

    public var customMirror: Mirror { Mirror(describing: self) }
}

extension HTTPRequest {
    /// The method and the URL without query values, for messages.
    var outline: String {
        let shown = withEnvironment
        return "\(shown.method.printable) \(redaction.outline(of: shown))"
    }

    /// The names and values that descriptions redact: the setting ``RequestSettings/redaction``, and the secrets in the
    /// path.
    public var redaction: Redaction {
        get { pathSecrets.isEmpty ? options.redaction : options.redaction.adding(values: pathSecrets) }
        set { options.redaction = newValue }
    }

    /// The secrets in the path, and in the paths that it has replaced.
    var pathSecrets: Set<Secret> {
        path.secrets.isEmpty ? earlierSecrets : earlierSecrets.union(path.secrets)
    }

    /// The header fields that are specific to one user. See ``isSecret(_:)-(HTTPHeaders.Field)``.
    var secretHeaders: [HTTPHeaders.Field] { headers.filter { isSecret($0) } }

    /// The query items that are specific to one user. See ``isSecret(_:)-(QueryParameters.Item)``.
    var secretQuery: [QueryParameters.Item] { query.filter { isSecret($0) } }

    /// Returns whether a query item is specific to one user, by the rules of ``isSecret(_:)-(HTTPHeaders.Field)``.
    public func isSecret(_ item: QueryParameters.Item) -> Bool {
        item.isSecret || redaction.isSecret(parameter: item.name) || Redaction.standard.isSecret(parameter: item.name)
    }

    /// Returns whether a request or response header is specific to one user.
    ///
    /// This is the case if the field is marked as secret, or if its name is secret in ``RequestSettings/redaction`` or
    /// in ``Redaction/standard``. A redaction without the standard names doesn't make a field less secret.
    public func isSecret(_ field: HTTPHeaders.Field) -> Bool {
        field.isSecret || redaction.isSecret(header: field.name) || Redaction.standard.isSecret(header: field.name)
    }
}

extension HTTPRequest {
    /// The path and the query for the request line (RFC 9112, 3.2.1): `/users/a%2Fb?page=2`.
    public var target: String { ByteText.text(atMost: urlCapacity) { writeTarget(to: &$0) } }

    /// Returns the URL as a string, including the fragment, with its percent-encoding unchanged.
    ///
    /// - Throws: `.invalidRequest` if the request has no host.
    public func urlString() throws(HTTPError) -> String {
        guard host?.isEmpty == false else { throw missingHost }
        return ByteText.text(atMost: urlCapacity) { text in
            writeOrigin(to: &text)
            writeRest(to: &text)
        }
    }

    var urlCapacity: Int {
        let optional = (host?.utf8.count ?? 0) + (userInfo?.utf8.count ?? 0) + (fragment?.utf8.count ?? 0)
        // The constant covers the delimiters and a port.
        return scheme.utf8.count + path.string.utf8.count + query.escapedCapacity + optional + 32
    }

    func writeOrigin(to text: inout ByteText) {
        text.append(scheme)
        text.append("://")
        if let userInfo {
            text.append(userInfo)
            text.append("@" as Unicode.Scalar)
        }
        writeAuthority(to: &text)
    }

    private func writeAuthority(to text: inout ByteText) {
        if let host { text.append(host) }
        guard let port else { return }
        text.append(":" as Unicode.Scalar)
        text.append(port)
    }

    /// Writes the value of `Host` if the request doesn't set it. It doesn't name the default port.
    func writeHost(to text: inout ByteText) {
        let isDefault = port == (ASCII.equalIgnoringCase(scheme, "https") ? 443 : 80)
        if isDefault, let host { text.append(host) } else { writeAuthority(to: &text) }
    }

    func writeTarget(to text: inout ByteText) {
        if !path.isAbsolute { text.append("/" as Unicode.Scalar) }
        writePathAndQuery(to: &text)
    }

    private func writePathAndQuery(to text: inout ByteText) {
        text.append(path.string)
        guard !query.isEmpty else { return }
        text.append("?" as Unicode.Scalar)
        query.write(to: &text)
    }

    func writeRest(to text: inout ByteText) {
        if !path.string.isEmpty, !path.isAbsolute { text.append("/" as Unicode.Scalar) }
        writePathAndQuery(to: &text)
        if let fragment {
            text.append("#" as Unicode.Scalar)
            text.append(fragment)
        }
    }

    /// Returns the URL, with its percent-encoding unchanged.
    ///
    /// - Throws: `.invalidRequest` if the request has no host, or contains characters that a URL cannot contain.
    public func url() throws(HTTPError) -> URL {
        guard let url = URL(string: try urlString(), encodingInvalidCharacters: false) else {
            throw HTTPError(.invalidRequest, request: self, message: "the URL is malformed")
        }
        return url
    }

    var missingHost: HTTPError {
        HTTPError(
            .invalidRequest, request: self,
            message: "the request has no host: set baseURL in the template, an environment in the client, or a URL "
                + "with a scheme in the request (without a scheme, example.com/path is a path)")
    }
}
