public import Foundation
import Synchronization

/// A request as a value: what a builder makes of a template, and what travels along a chain of loaders.
///
/// ```swift
/// var request = try HTTPRequest(method: .post, "https://api.example.com/users")
/// request[query: "verbose"] = "true"
/// request.headers["Accept"] = "application/json"
/// request.body = JSONBody(user)
/// ```
///
/// A fresh one is a GET over https without host, path, query, headers or body; what it leaves open, an environment
/// fills. Nothing is checked while it is put together: ``validate()`` is called before it is sent, and refuses what is
/// malformed. Copies have the same ``id``, whatever is changed in them, so that a chain knows a request again.
public struct HTTPRequest: Sendable, Identifiable {
    /// Which request it is; copies share it.
    public struct ID: Hashable, Sendable {
        private let number: UInt64
        private static let last = Atomic<UInt64>(0)

        init() { number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue }
    }

    /// Which request it is; copies share it, and two fresh requests differ.
    public let id: ID
    private var ownMethod: HTTPMethod?
    private var ownScheme: String?
    /// The host: a name, an IPv4 address, or an IPv6 address in brackets; nil until an environment fills it.
    public var host: String?
    /// The port; nil is the scheme's default.
    public var port: Int?
    /// User and password of the URL it was made of. A transport refuses them: credentials belong in an authentication.
    public var userInfo: String?
    /// The path; a relative one is put behind the environment's prefix.
    public var path: RequestPath
    /// The query.
    public var query: QueryParameters
    /// The fragment of the URL it was made of; it is never sent.
    public var fragment: String?
    /// The headers.
    public var headers: HTTPHeaders
    /// The body; ``EmptyBody`` when there is none.
    public var body: any HTTPBody
    /// The settings for the loaders.
    public var options: HTTPRequestOptions

    /// A GET over https that leaves everything else open.
    public init() {
        id = ID()
        path = RequestPath(escaped: "")
        query = QueryParameters()
        headers = HTTPHeaders()
        body = EmptyBody()
        options = HTTPRequestOptions()
    }

    /// A request to a URL, whose bytes are kept: path, query and escapes go out as they are.
    ///
    /// - Parameters:
    ///   - method: the method. Default: GET.
    ///   - url: an absolute http or https URL; what it lacks, an environment fills.
    public init(method: HTTPMethod = .get, url: URL) {
        self.init()
        ownMethod = method
        url.absoluteString.withBytes { bytes in
            let ranges = URLRanges(bytes)
            ownScheme = ranges.scheme.map { bytes.text($0) }
            if let authority = ranges.authority.map({ AuthorityRanges(bytes, in: $0) }) {
                (host, port) = (bytes.text(authority.host), authority.port)
                userInfo = authority.userInfo.map { bytes.text($0) }
            }
            path = RequestPath(escaped: bytes.text(ranges.path))
            if let range = ranges.query { query = QueryParameters(escaped: bytes.text(range)) }
            fragment = ranges.fragment.map { bytes.text($0) }
        }
    }

    /// A request to the URL in a text, whose bytes are kept: `try HTTPRequest("https://api.example.com/users?page=2")`.
    ///
    /// - Parameters:
    ///   - method: the method. Default: GET.
    ///   - url: an absolute http or https URL. What no URL may hold, such as a space or `é`, must be escaped in it.
    /// - Throws: `.invalidRequest` for any other text, naming the rule and not the text.
    public init(method: HTTPMethod = .get, _ url: String) throws(HTTPError) {
        guard let parsed = URL(string: url, encodingInvalidCharacters: false) else {
            var request = HTTPRequest()
            request.ownMethod = method
            throw HTTPError(
                .invalidRequest, request: request,
                message: "the text is not a URL: escape what a URL cannot hold, such as spaces and letters beyond ASCII"
            )
        }
        self.init(method: method, url: parsed)
        guard ownScheme != nil, hasHTTPScheme, host?.isEmpty == false else {
            throw HTTPError(
                .invalidRequest, request: self,
                message: "the text is not an absolute http or https URL, such as https://example.com/path")
        }
    }

    init(
        method: HTTPMethod, path: RequestPath, query: QueryParameters, headers: HTTPHeaders, options: HTTPRequestOptions
    ) {
        id = ID()
        ownMethod = method
        self.path = path
        self.query = query
        self.headers = headers
        body = EmptyBody()
        self.options = options
    }

    /// The method. Default: GET, unless an environment names another.
    public var method: HTTPMethod {
        get { ownMethod ?? .get }
        set { ownMethod = newValue }
    }

    /// `https` or `http`. Default: https, unless an environment names another.
    public var scheme: String {
        get { ownScheme ?? "https" }
        set { ownScheme = newValue }
    }

    /// The first value of a query name; setting replaces all values of the name, nil removes them.
    public subscript(query name: String) -> String? {
        get { query[name] }
        set { query[name] = newValue }
    }

    /// The value of an option, its default when it is not set.
    public subscript<Option: HTTPRequestOption>(option option: Option.Type) -> Option.Value {
        get { options[option] }
        set { options[option] = newValue }
    }

    /// Scheme, host and port; nil without a host.
    public var origin: HTTPOrigin? {
        host.map { HTTPOrigin(scheme: scheme, host: $0, port: port) }
    }

    var hasMethod: Bool { ownMethod != nil }

    /// Takes scheme, host, port, path prefix and query of a base URL where the request has none.
    mutating func fill(from url: URL) {
        guard host == nil else { return }
        url.absoluteString.withBytes { bytes in
            let base = BaseURLBytes(bytes)
            fill(from: base, path: path.behind(base.pathBytes))
        }
    }

    /// The same, of a URL that was taken apart before.
    mutating func fill(from base: BaseURL) {
        guard host == nil else { return }
        fill(from: base, path: path.behind(base.path))
    }

    private mutating func fill(from base: some BaseURLParts, path: RequestPath) {
        self.path = path
        if base.hasQuery { query.fill(from: base.query) }
        if ownScheme == nil { ownScheme = base.scheme }
        if userInfo == nil { userInfo = base.userInfo }
        host = base.host
        if port == nil { port = base.port }
    }
}
