// SPDX-License-Identifier: MIT
public import LetterheadFoundation
import Synchronization

/// The base URL of an API, and the defaults for all requests to it.
///
/// ```swift
/// extension ServerEnvironment {
///     static let production = ServerEnvironment("https://api.example.com/v2")
///     static let staging = ServerEnvironment(host: "staging.example.com", pathPrefix: "/v2")
/// }
///
/// let client = HTTPClient(environment: .production)
/// ```
///
/// Declare one each for development, staging and production, and pass it to a client. Templates then need only a path,
/// and the same templates work with every server.
///
/// ## Add headers and query items
///
/// Headers and query items that every request needs belong in the environment:
///
/// ```swift
/// var environment = ServerEnvironment.production
/// environment.headers["X-App-Version"] = "2.1"
/// environment.query["lang"] = "en"
/// ```
///
/// ## What an environment changes
///
/// An environment completes a request and replaces nothing:
/// - A request without a host gets the scheme, the host and the port. A relative path gets the base URL path as its
///   prefix.
/// - A request without a method gets the method.
/// - Headers and query items are added only if the request has none of the same name, and only for the environment
///   origin.
/// - A redirected request gets no query items. It gets no headers either if it was redirected through a different
///   origin.
///
/// An environment in a request replaces the client environment entirely. It is also an option:
/// `request[option: ServerEnvironment.self]` is ``RequestSettings/serverEnvironment``. If the environment can change
/// while the app runs, use ``provided(by:)``.
public struct ServerEnvironment: HTTPRequestOption, Sendable, Hashable {
    /// Nil. A request that doesn't set the option gets the environment of its client.
    public static let defaultOptionValue: ServerEnvironment? = nil

    /// The method of requests without one. Nil means GET.
    public var method: HTTPMethod?
    /// The headers of requests to the environment origin. A redirect to a different origin removes them.
    public var headers: HTTPHeaders { didSet { headers.bind(to: origin) } }
    /// The query items of requests to the environment origin. A redirected request gets none of them.
    public var query: QueryParameters
    /// Whether credentials without `allowedOrigins` may be sent to this origin over http, for a server in a local
    /// network. Any device between the client and the server can read them. Default: false.
    public var allowsCredentialsOverHTTP = false
    private let base: BaseURL
    private let defect: String?
    /// The closure that provides the environment, or nil for an environment that has its own parts.
    private let provider: Provider?

    /// It is a class, so that copies of an environment are equal although closures can't be compared.
    private final class Provider: Sendable, Hashable {
        let provide: @Sendable (HTTPRequest) async throws -> ServerEnvironment

        init(_ provide: @escaping @Sendable (HTTPRequest) async throws -> ServerEnvironment) { self.provide = provide }

        static func == (left: Provider, right: Provider) -> Bool { left === right }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    /// Returns an environment that a closure provides when a request is sent. Use it if the environment can change.
    ///
    /// ```swift
    /// let client = HTTPClient(environment: .provided { _ in await settings.environment })
    /// ```
    ///
    /// A client calls the closure for each attempt and each redirect, so that a change applies to the next one. If the
    /// closure throws, the request fails without being sent. The closure isn't called for a request that sets a
    /// different environment.
    ///
    /// Credentials without `allowedOrigins` are bound to the first origin that they are used for. When the environment
    /// changes, call ``HTTPClient/reset()`` to remove stored credentials, or list the origins in `allowedOrigins`.
    ///
    /// All properties in the returned environment are empty, and ``apply(to:)`` changes nothing.
    public static func provided(
        by provide: @escaping @Sendable (HTTPRequest) async throws -> ServerEnvironment
    ) -> ServerEnvironment {
        ServerEnvironment(provider: Provider(provide))
    }

    private init(provider: Provider) {
        (method, headers, query, base) = (nil, [:], [:], BaseURL(""))
        (defect, self.provider) = (nil, provider)
    }

    var isProvided: Bool { provider != nil }

    /// Creates an environment from an absolute http or https URL in a string, such as `https://api.example.com/v2`.
    ///
    /// The string must be percent-encoded. Its query items are added after the request items, except for names that the
    /// request already has.
    ///
    /// If the string isn't such a URL, each request fails with `.invalidRequest`, and nothing is sent.
    public init(
        _ baseURL: String, method: HTTPMethod? = nil, headers: HTTPHeaders = [:], query: QueryParameters = [:]
    ) {
        (self.method, self.headers, self.query, provider) = (method, headers, query, nil)
        base = BaseURL(baseURL)
        defect = base.defect(in: baseURL)
        self.headers.bind(to: origin)
    }

    /// Creates an environment from the parts of a base URL.
    ///
    /// - Parameters:
    ///   - host: the host without scheme and port. An IPv6 address is in brackets.
    ///   - pathPrefix: the prefix of relative paths, percent-encoded. Default: empty.
    ///   - scheme: `https` or `http`. Default: `https`.
    ///   - port: the port. Default: nil (the default port for the scheme).
    ///   - method: the method of requests without one. Default: nil (GET).
    ///   - headers: the headers for requests to this origin. Default: none.
    ///   - query: the query items for requests to this origin. Default: none.
    public init(
        host: String, pathPrefix: String = "", scheme: String = "https", port: Int? = nil, method: HTTPMethod? = nil,
        headers: HTTPHeaders = [:], query: QueryParameters = [:]
    ) {
        (self.method, self.headers, self.query, provider) = (method, headers, query, nil)
        let prefix = pathPrefix.isEmpty || pathPrefix.utf8.first == UInt8(ascii: "/") ? pathPrefix : "/\(pathPrefix)"
        let text = "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")\(prefix)"
        let base = BaseURL(text)
        self.base = base
        let isRead = base.host?.utf8.elementsEqual(host.utf8) == true && base.port == port && base.path == prefix
        defect =
            base.defect(in: text)
            ?? (isRead ? nil : "the scheme, host or path prefix contains a delimiter of a different part of the URL")
        self.headers.bind(to: origin)
    }

    /// Creates an environment from a `URL`. See ``init(_:method:headers:query:)``.
    public init(
        baseURL: URL, method: HTTPMethod? = nil, headers: HTTPHeaders = [:], query: QueryParameters = [:]
    ) {
        (self.method, self.headers, self.query, provider) = (method, headers, query, nil)
        base = BaseURL(baseURL.absoluteString)
        defect = base.host == nil ? base.defect(in: baseURL.absoluteString) : nil
        self.headers.bind(to: origin)
    }

    /// The scheme, `https` or `http`, or nil if a closure provides the environment.
    public var scheme: String? { base.scheme }
    /// The host, or nil if a closure provides the environment.
    public var host: String? { base.host }
    /// The port, or nil for the default port.
    public var port: Int? { base.port }
    var origin: HTTPOrigin? { base.origin }

    /// The prefix of relative paths: the percent-encoded base URL path.
    public var pathPrefix: String { base.path }

    /// Completes a request as a client does before sending it. An environment with a malformed base URL changes
    /// nothing.
    public func apply(to request: inout HTTPRequest) {
        guard defect == nil, !isProvided else { return }
        request.fill(from: base)
        if !request.hasMethod, let method { request.method = method }
        guard request.origin == origin, request.removedHeaders.isEmpty else { return }
        request.fill(headers: headers)
        if !request.isRedirected { request.query.fill(from: query) }
    }

    @inline(__always)
    func resolved(for request: HTTPRequest) async throws(HTTPError) -> ServerEnvironment {
        guard let provider else { return self }
        let environment = try await request.withHTTPErrors { try await provider.provide(request) }
        request.context.environment?.resolve(environment)
        return environment
    }

    /// Completes a request that will be sent or converted.
    ///
    /// - Throws: `.invalidRequest` if the base URL is malformed, or if a closure has yet to provide the environment.
    func complete(_ request: inout HTTPRequest) throws(HTTPError) {
        if isProvided {
            throw HTTPError(
                .invalidRequest, request: request,
                message: "the closure that provides the environment must not return an environment with a closure")
        }
        if let defect {
            throw HTTPError(.invalidRequest, request: request, message: "the environment is refused: \(defect)")
        }
        apply(to: &request)
    }
}

extension HTTPRequest {
    /// Adds headers that neither the request nor its body has, and that the request doesn't omit. Body headers are
    /// added after the chain, and take precedence over environment and client headers.
    mutating func fill(headers: HTTPHeaders) {
        guard !headers.isEmpty else { return }
        let own = body.isEmpty ? [:] : body.additionalHeaders
        let omitted = omittedHeaders
        let isWhole = own.isEmpty && omitted.isEmpty
        self.headers.fill(
            from: isWhole
                ? headers : HTTPHeaders(headers.filter { !own.contains($0.name) && !omitted.contains($0.name) }))
    }
}

extension HTTPRequest {
    /// Why the request was sent without its environment headers, or nil if it has them all.
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
            : "the environment's \(names.joined(separator: ", ")) belong to \(owner) (to send them with this request, "
                + "set them on it)"
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
    /// The origin of the client environment, even if the request has a different environment.
    ///
    /// Without `allowedOrigins`, ``Authenticate`` sends the client credentials only to this origin. It is nil, and no
    /// credentials are sent, in these cases:
    /// - The client has no environment.
    /// - The request sets its environment to nil.
    /// - The request has its own environment, and a closure provides the client environment. The closure isn't called
    ///   then.
    ///
    /// ``ApplyEnvironment`` sets this property. If you replace that link with your own, set it to your environment
    /// origin.
    public var homeOrigin: HTTPOrigin? {
        get { context.homeOrigin }
        set { context.homeOrigin = newValue }
    }
}

extension RequestSettings {
    /// The environment of the request. It replaces the client environment entirely. Default: not set (the client
    /// environment applies). Set nil to apply no environment.
    public var serverEnvironment: ServerEnvironment? {
        get { self[option: ServerEnvironment.self] }
        set { self[option: ServerEnvironment.self] = newValue }
    }
}

/// The environment that a client will apply to a request. Descriptions use it until it is applied. The link that
/// resolves the environment shares it with the links above.
final class ClientEnvironment: Sendable {
    private let state: Mutex<ServerEnvironment?>

    init(_ environment: ServerEnvironment?) { state = Mutex(environment?.isProvided == true ? nil : environment) }

    var environment: ServerEnvironment? { state.withLock { $0 } }

    var isUnknown: Bool { state.withLock { if case nil = $0 { true } else { false } } }

    func resolve(_ environment: ServerEnvironment) { state.withLock { $0 = environment } }
}

extension HTTPRequest {
    var lacksEnvironment: Bool {
        guard host == nil else { return false }
        if options.contains(ServerEnvironment.self) { return serverEnvironment?.isProvided ?? false }
        return context.environment?.isUnknown ?? false
    }

    /// A copy with the method and the URL that the request will have in its environment, to describe or recognize it.
    ///
    /// Use it in a link above ``ApplyEnvironment``, because the requests that it receives have no host yet. The host is
    /// still nil if a closure provides the environment of the client. Don't send the copy, because it may lack the
    /// body.
    public var withEnvironment: HTTPRequest {
        guard let environment = missingEnvironment else { return self }
        return changed(self) { shown in
            shown.body = EmptyBody()
            environment.apply(to: &shown)
        }
    }

    /// A copy with the body, and with the method, the URL and the headers that the environment sets.
    package var completed: HTTPRequest {
        guard let environment = missingEnvironment else { return self }
        return changed(self) { environment.apply(to: &$0) }
    }

    /// Refuses a base URL that cannot complete the request, for a link that needs the URL first.
    package func validateEnvironment() throws(HTTPError) {
        guard let environment = missingEnvironment, !environment.isProvided else { return }
        var completed = self
        try environment.complete(&completed)
    }

    private var missingEnvironment: ServerEnvironment? {
        guard host == nil else { return nil }
        let isSet = options.contains(ServerEnvironment.self)
        return isSet ? serverEnvironment : context.environment?.environment
    }
}
