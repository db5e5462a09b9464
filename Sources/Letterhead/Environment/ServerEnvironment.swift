public import Foundation

/// The base URL of an API, and the defaults for all requests to it: development, staging, production.
///
/// ```swift
/// extension ServerEnvironment {
///     static let production = ServerEnvironment(baseURL: URL(string: "https://api.example.com/v2")!)
/// }
/// ```
///
/// An environment completes a request and replaces nothing. It sets scheme, host and port, a prefix for relative paths,
/// the method, and the headers and query items whose names the request does not have. It applies only to its own
/// origin: a request to another scheme, host or port receives nothing, a redirected request no query, and a request
/// that was redirected through another origin nothing. The environment of a request replaces the client's entirely.
public struct ServerEnvironment: Sendable, Hashable {
    /// The scheme, host, port and the prefix of relative paths. Its query items are added after those of each request.
    public let baseURL: URL
    /// The method of requests without one; nil means GET.
    public var method: HTTPMethod?
    /// The headers that are added to requests without them.
    public var headers: HTTPHeaders
    /// The query items that are added to requests without them.
    public var query: QueryParameters
    private let base: BaseURL
    /// The scheme, host and port of the base URL; nil without a host.
    let origin: HTTPOrigin?

    /// Creates an environment.
    ///
    /// - Parameters:
    ///   - baseURL: an absolute http or https URL. Without a host, each request that needs it fails with
    ///     `.invalidRequest`.
    ///   - method: the method of requests without one. Default: nil.
    ///   - headers: the headers that are added to requests without them. Default: none.
    ///   - query: the query items that are added to requests without them. Default: none.
    public init(
        baseURL: URL, method: HTTPMethod? = nil, headers: HTTPHeaders = [:], query: QueryParameters = [:]
    ) {
        self.baseURL = baseURL
        self.method = method
        self.headers = headers
        self.query = query
        base = BaseURL(baseURL)
        origin = HTTPOrigin(base)
    }

    /// Completes a request.
    public func apply(to request: inout HTTPRequest) {
        request.fill(from: base)
        if !request.hasMethod, let method { request.method = method }
        guard request.origin == origin, request.withheldHeaders.isEmpty else { return }
        // The headers of the body are added after the chain, and take precedence over these.
        let own = request.body.isEmpty || headers.isEmpty ? [:] : request.body.additionalHeaders
        request.headers.fill(from: own.isEmpty ? headers : HTTPHeaders(headers.filter { !own.contains($0.name) }))
        if !request.isRedirected { request.query.fill(from: query) }
    }
}

extension ServerEnvironment: CustomStringConvertible, CustomReflectable {
    /// The base URL without username, password and query.
    public var description: String { "\(origin?.description ?? "no host")\(base.path)" }
    /// The description only, so that no dump prints a secret.
    public var customMirror: Mirror { Mirror(describing: self) }
}
