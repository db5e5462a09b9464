/// Fills what a request leaves open from an environment: scheme, host, port, path prefix, headers, query.
///
/// ```swift
/// ApplyEnvironment(.production)
/// ApplyEnvironment { _ in await settings.environment }   // asked at every load
/// ```
///
/// A request's own ``HTTPRequest/serverEnvironment`` replaces this one whole; one that is explicitly nil gets none. What
/// is filled and what not, see ``ServerEnvironment``.
///
/// The link also tells an ``Authenticate`` below it which origin the client's environment has: credentials that name no
/// `allowedOrigins` go to that origin only, whatever environment a request brings.
public struct ApplyEnvironment: LoaderLink {
    private enum Source: Sendable {
        case own
        case one(ServerEnvironment, home: HomeOrigin?)
        case asked(@Sendable (HTTPRequest) async throws -> ServerEnvironment)
    }

    private let source: Source

    /// The same environment for every request.
    public init(_ environment: ServerEnvironment) {
        source = .one(environment, home: environment.origin.map { HomeOrigin($0) })
    }

    /// No environment but the requests' own.
    public init() { source = .own }

    /// The environment that a closure gives at every load, so that a change counts from the next one on.
    ///
    /// An error that it throws fails the load; nothing is sent. Credentials that name no `allowedOrigins` stay with the
    /// first origin that they are used for: see ``HTTPAuthentication``.
    public init(_ provide: @escaping @Sendable (HTTPRequest) async throws -> ServerEnvironment) {
        source = .asked(provide)
    }

    /// Fills the request, and has it answered.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let hasOwn = request.options.contains(ServerEnvironmentOption.self)
        if case .own = source, !hasOwn { return try await next.load(request) }
        var filled = request
        if !hasOwn {
            try await fill(&filled)
        } else {
            applyOwn(to: &filled)
        }
        return try await next.load(filled)
    }

    /// Applies the request's own environment. The home stays that of this link: a closure is not asked for it, and a
    /// request that refuses every environment has none.
    private func applyOwn(to request: inout HTTPRequest) {
        guard let own = request.serverEnvironment else { return request.homeOrigin = nil }
        own.apply(to: &request)
        switch source {
        case .own: break
        case .one(_, let home): request.homeOrigin = home
        case .asked: request.homeOrigin = nil
        }
    }

    private func fill(_ request: inout HTTPRequest) async throws(HTTPError) {
        switch source {
        case .own: break
        case .one(let environment, let home):
            environment.apply(to: &request)
            request.homeOrigin = home
        case .asked(let provide):
            do {
                let environment = try await provide(request)
                environment.apply(to: &request)
                request.homeOrigin = environment.origin.map { HomeOrigin($0) }
            } catch {
                throw HTTPError(error, request: request)
            }
        }
    }
}
