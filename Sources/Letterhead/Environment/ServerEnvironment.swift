public import Foundation

/// Where an API lives, and what every request to it carries: development, staging, production.
///
/// ```swift
/// extension ServerEnvironment {
///     static let production = ServerEnvironment(baseURL: URL(string: "https://api.example.com/v2")!)
/// }
/// ```
///
/// It fills what a request leaves open and replaces nothing: scheme, host and port, a prefix for relative paths, the
/// method, and the headers and query items whose names the request does not have. It belongs to its origin: a request to
/// another scheme, host or port gets nothing of it, a redirected one no query, and one that a redirect has led through
/// another origin nothing at all. A request's own environment replaces the client's whole.
public struct ServerEnvironment: Sendable, Hashable {
    /// Scheme, host, port and the prefix of relative paths; its query items go to each request behind the others.
    public let baseURL: URL
    /// The method of requests that name none; nil leaves it to be GET.
    public var method: HTTPMethod?
    /// The headers that each request gets unless it has them.
    public var headers: HTTPHeaders
    /// The query items that each request gets unless it has them.
    public var query: QueryParameters
    private let base: BaseURL
    /// Scheme, host and port of the base URL; nil without a host.
    let origin: HTTPOrigin?

    /// Makes an environment.
    ///
    /// - Parameters:
    ///   - baseURL: an absolute http or https URL; without a host, each request that needs it fails, saying so.
    ///   - method: the method of requests that name none. Default: nil.
    ///   - headers: for each request that does not have them. Default: none.
    ///   - query: for each request that does not have them. Default: none.
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

    /// Fills what the request leaves open.
    public func apply(to request: inout HTTPRequest) {
        request.fill(from: base)
        if !request.hasMethod, let method { request.method = method }
        guard request.origin == origin, request.withheldHeaders.isEmpty else { return }
        // The body's own headers are added behind the chain, and win over these.
        let own = request.body.isEmpty || headers.isEmpty ? [:] : request.body.additionalHeaders
        request.headers.fill(from: own.isEmpty ? headers : HTTPHeaders(headers.filter { !own.contains($0.name) }))
        if !request.isRedirected { request.query.fill(from: query) }
    }
}

extension ServerEnvironment: CustomStringConvertible, CustomReflectable {
    /// The base URL without user, password and query.
    public var description: String { "\(origin?.description ?? "no host")\(base.path)" }
    /// The description only, so that no dump prints a secret.
    public var customMirror: Mirror { Mirror(describing: self) }
}
