public import Foundation

/// The base URL of an API, and the defaults for all requests to it: development, staging, production.
///
/// ```swift
/// extension ServerEnvironment {
///     static let production = ServerEnvironment(baseURL: URL(string: "https://api.example.com/v2")!)
/// }
/// ```
///
/// An environment completes a request and replaces nothing. A request without a host receives the scheme, the host and
/// the port, and a relative path receives the path of the base URL as its prefix. A request without a method receives
/// the method. Headers and query items are added if the request has none of the same name, and only to requests to the
/// origin of the environment. A redirected request receives no query items, and a request that was redirected through
/// another origin receives no headers either. The environment of a request replaces the client's entirely.
public struct ServerEnvironment: Sendable, Hashable {
    /// The scheme, host, port and the prefix of relative paths, for requests without a host. The query items of the URL
    /// are added after those of the request, except those whose names the request already has.
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
    ///   - baseURL: an absolute http or https URL. If it has no host, each request that needs the host of the
    ///     environment fails with `.invalidRequest`.
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
        request.fill(headers: headers)
        if !request.isRedirected { request.query.fill(from: query) }
    }
}

extension HTTPRequest {
    /// Adds headers that neither the request nor its body has. The headers of the body are added after the chain, and
    /// take precedence over those of an environment or a client.
    mutating func fill(headers: HTTPHeaders) {
        let own = body.isEmpty || headers.isEmpty ? [:] : body.additionalHeaders
        self.headers.fill(from: own.isEmpty ? headers : HTTPHeaders(headers.filter { !own.contains($0.name) }))
    }
}

extension ServerEnvironment: CustomStringConvertible, CustomReflectable {
    /// The base URL without username, password and query.
    public var description: String { "\(origin?.description ?? "no host")\(base.path)" }
    /// A mirror that contains only the description, so that `dump` prints no secrets.
    public var customMirror: Mirror { Mirror(describing: self) }
}
