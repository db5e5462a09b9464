// SPDX-License-Identifier: MIT
public import LetterheadFoundation
import Synchronization

/// The base URL of an API, and the defaults for all requests to it. Declare one for each of development, staging and
/// production, and pass it to a client; templates then need only a path.
///
/// ```swift
/// extension ServerEnvironment {
///     static let production = ServerEnvironment("https://api.example.com/v2")
///     static let staging = ServerEnvironment(host: "staging.example.com", pathPrefix: "/v2", headers: ["X-Trace": "1"])
/// }
/// ```
///
/// An environment completes a request and replaces nothing. A request without a host receives the scheme, the host and
/// the port, and a relative path receives the path of the base URL as its prefix. A request without a method receives
/// the method. Headers and query items are added if the request has none of the same name, and only to requests to the
/// origin of the environment. A redirected request receives no query items, and a request that was redirected through
/// another origin receives no headers either. The environment of a request replaces the client's entirely.
///
/// It is also the option of a request: `request[option: ServerEnvironment.self]` is ``RequestSettings/serverEnvironment``.
public struct ServerEnvironment: HTTPRequestOption, Sendable, Hashable {
    /// Not set: the environment of the client applies.
    public static let defaultOptionValue: ServerEnvironment? = nil

    /// The method of requests without one; nil means GET.
    public var method: HTTPMethod?
    /// The headers of requests to the origin of the environment. A redirect to another origin removes them.
    public var headers: HTTPHeaders { didSet { headers.bind(to: origin) } }
    public var query: QueryParameters
    private let base: BaseURL
    let origin: HTTPOrigin?
    private let defect: String?
    /// The closure of an environment that has no parts of its own; nil for any other.
    private let provider: Provider?

    /// A class, so that copies of an environment are equal.
    private final class Provider: Sendable, Hashable {
        let provide: @Sendable (HTTPRequest) async throws -> ServerEnvironment

        init(_ provide: @escaping @Sendable (HTTPRequest) async throws -> ServerEnvironment) { self.provide = provide }

        static func == (left: Provider, right: Provider) -> Bool { left === right }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    /// An environment that a closure provides when a request is sent: in a client, for each attempt and each redirect, so
    /// that a change applies to the next one.
    ///
    /// ```swift
    /// let client = HTTPClient(environment: .provided { _ in await settings.environment })
    /// ```
    ///
    /// If the closure throws, the request fails without being sent. Credentials without `allowedOrigins` are bound to the
    /// first origin for which they are used. If the environment changes, call ``HTTPClient/reset()`` to remove stored
    /// credentials, or list the origins in `allowedOrigins`. All properties of this environment are empty, and
    /// ``apply(to:)`` changes nothing. The closure is not called for a request that has another environment.
    public static func provided(
        by provide: @escaping @Sendable (HTTPRequest) async throws -> ServerEnvironment
    ) -> ServerEnvironment {
        ServerEnvironment(provider: Provider(provide))
    }

    private init(provider: Provider) {
        (method, headers, query, base) = (nil, [:], [:], BaseURL(""))
        (origin, defect, self.provider) = (nil, nil, provider)
    }

    /// Whether a closure provides the environment.
    var isProvided: Bool { provider != nil }

    /// Creates an environment from the text of an absolute http or https URL, such as `https://api.example.com/v2`, which
    /// must be percent-encoded. Query items of the URL are added after those of the request, except those whose names
    /// the request already has.
    ///
    /// If the text is not such a URL, each request fails with `.invalidRequest`, and nothing is sent.
    public init(
        _ baseURL: String, method: HTTPMethod? = nil, headers: HTTPHeaders = [:], query: QueryParameters = [:]
    ) {
        (self.method, self.headers, self.query, provider) = (method, headers, query, nil)
        base = BaseURL(baseURL)
        origin = HTTPOrigin(base)
        defect = base.defect(in: baseURL)
        self.headers.bind(to: origin)
    }

    /// Creates an environment from the parts of a base URL. `host` has no scheme and no port, and an IPv6 address is in
    /// brackets. `pathPrefix`, the prefix of relative paths, must be percent-encoded. `scheme` is `https` or `http`, and
    /// a port of nil is the default port of the scheme.
    public init(
        host: String, pathPrefix: String = "", scheme: String = "https", port: Int? = nil, method: HTTPMethod? = nil,
        headers: HTTPHeaders = [:], query: QueryParameters = [:]
    ) {
        (self.method, self.headers, self.query, provider) = (method, headers, query, nil)
        let prefix = pathPrefix.isEmpty || pathPrefix.utf8.first == UInt8(ascii: "/") ? pathPrefix : "/\(pathPrefix)"
        let text = "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")\(prefix)"
        let base = BaseURL(text)
        self.base = base
        origin = HTTPOrigin(base)
        let isRead = base.host?.utf8.elementsEqual(host.utf8) == true && base.port == port && base.path == prefix
        defect = base.defect(in: text) ?? (isRead ? nil : "a part of the base URL contains a delimiter of another part")
        self.headers.bind(to: origin)
    }

    /// Creates an environment from a `URL`; see ``init(_:method:headers:query:)``.
    public init(
        baseURL: URL, method: HTTPMethod? = nil, headers: HTTPHeaders = [:], query: QueryParameters = [:]
    ) {
        (self.method, self.headers, self.query, provider) = (method, headers, query, nil)
        base = BaseURL(baseURL.absoluteString)
        origin = HTTPOrigin(base)
        defect = nil
        self.headers.bind(to: origin)
    }

    public var scheme: String? { base.scheme }
    public var host: String? { base.host }
    public var port: Int? { base.port }

    /// The prefix of relative paths: the percent-encoded path of the base URL.
    public var pathPrefix: String { base.path }

    /// Completes a request. An environment whose base URL is refused changes nothing.
    public func apply(to request: inout HTTPRequest) {
        guard defect == nil, provider == nil else { return }
        request.fill(from: base)
        if !request.hasMethod, let method { request.method = method }
        guard request.origin == origin, request.removedHeaders.isEmpty else { return }
        request.fill(headers: headers)
        if !request.isRedirected { request.query.fill(from: query) }
    }

    /// Returns the environment for a request: this one, or what its closure provides.
    @inline(__always)
    func resolved(for request: HTTPRequest) async throws(HTTPError) -> ServerEnvironment {
        guard let provider else { return self }
        let environment = try await request.withHTTPErrors { try await provider.provide(request) }
        request.context.environment?.resolve(environment)
        return environment
    }

    /// Completes a request that will be sent or converted.
    ///
    /// - Throws: `.invalidRequest` if the base URL is refused, or if a closure has yet to provide the environment.
    func complete(_ request: inout HTTPRequest) throws(HTTPError) {
        if provider != nil {
            throw HTTPError(
                .invalidRequest, request: request,
                message: "a closure provides the environment when a request is sent; it must not return another closure"
            )
        }
        if let defect {
            throw HTTPError(.invalidRequest, request: request, message: "the environment is refused: \(defect)")
        }
        apply(to: &request)
    }
}

extension HTTPRequest {
    /// Adds headers that neither the request nor its body has. The headers of the body are added after the chain, and
    /// take precedence over those of an environment or a client.
    mutating func fill(headers: HTTPHeaders) {
        let own = body.isEmpty || headers.isEmpty ? [:] : body.additionalHeaders.httpHeaders
        self.headers.fill(from: own.isEmpty ? headers : HTTPHeaders(headers.filter { !own.contains($0.name) }))
    }
}

extension HTTPRequest {
    /// Why the request was sent without headers of its environment; nil if it has them all.
    var withheldReason: String? {
        let environment =
            options.contains(ServerEnvironment.self) ? serverEnvironment : context.environment?.environment
        guard let environment, let owner = environment.origin, origin != owner || !removedHeaders.isEmpty else {
            return nil
        }
        let names = Set(environment.headers.map(\.name)).filter { !headers.contains($0) }
            .map { Redaction.visible($0.rawValue) }.sorted()
        return names.isEmpty
            ? nil
            : "the environment's \(names.joined(separator: ", ")) belong to \(owner); to send them with this request, "
                + "set them on it"
    }
}

extension ServerEnvironment: CustomStringConvertible, CustomReflectable {
    /// The base URL without username, password and query.
    public var description: String {
        isProvided ? "provided by a closure" : "\(origin?.description ?? "no host")\(base.path)"
    }
    public var customMirror: Mirror { Mirror(describing: self) }
}

extension HTTPRequest {
    /// The origin of the client's own environment, even if the request has another environment.
    ///
    /// If the client's authentication has no `allowedOrigins`, ``Authenticate`` sends its credentials only to this
    /// origin, and sends none if this property is nil. The property is nil if the request sets its environment to nil.
    /// It is also nil if the request has its own environment and a closure provides the client's environment, because
    /// the closure is then not called.
    ///
    /// ``ApplyEnvironment`` sets this property. If you replace that link with your own, set the property to the origin
    /// of the environment that your link applies.
    public var homeOrigin: HTTPOrigin? {
        get { context.homeOrigin }
        set { context.homeOrigin = newValue }
    }
}

extension RequestSettings {
    /// The environment of the request, which replaces the client's entirely. Default: not set (the environment of the
    /// client applies). Set nil to apply no environment.
    public var serverEnvironment: ServerEnvironment? {
        get { self[option: ServerEnvironment.self] }
        set { self[option: ServerEnvironment.self] = newValue }
    }
}

/// The environment that a client will apply to a request. Descriptions of the request use it until it is applied. The
/// link that resolves the environment shares it with the links above.
final class ClientEnvironment: Sendable {
    private let state: Mutex<ServerEnvironment?>

    /// - Parameter environment: the environment; nil if it is not known.
    init(_ environment: ServerEnvironment?) { state = Mutex(environment?.isProvided == true ? nil : environment) }

    var environment: ServerEnvironment? { state.withLock { $0 } }

    var isUnknown: Bool { environment == nil }

    func resolve(_ environment: ServerEnvironment) { state.withLock { $0 = environment } }
}

extension HTTPRequest {
    var lacksEnvironment: Bool {
        guard host == nil else { return false }
        if options.contains(ServerEnvironment.self) { return serverEnvironment?.isProvided ?? false }
        return context.environment?.isUnknown ?? false
    }

    /// The request with the method and the URL that it will have in its environment, to describe or to recognize it. Its
    /// host is nil if a closure of the client provides the environment.
    ///
    /// The links above ``ApplyEnvironment`` receive requests without a host.
    public var withEnvironment: HTTPRequest {
        guard let environment = missingEnvironment else { return self }
        var shown = self
        shown.body = EmptyBody()
        environment.apply(to: &shown)
        return shown
    }

    /// The request with its body, and with the method, the URL and the headers of its environment.
    package var completed: HTTPRequest {
        guard let environment = missingEnvironment else { return self }
        var completed = self
        environment.apply(to: &completed)
        return completed
    }

    private var missingEnvironment: ServerEnvironment? {
        guard host == nil else { return nil }
        let isSet = options.contains(ServerEnvironment.self)
        return isSet ? serverEnvironment : context.environment?.environment
    }
}
