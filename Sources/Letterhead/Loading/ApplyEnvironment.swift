/// Fills what a request leaves open from an environment: scheme, host, port, path prefix, headers, query.
///
/// ```swift
/// ApplyEnvironment(.production)
/// ApplyEnvironment { _ in await settings.environment }   // asked at every load
/// ```
///
/// A request's own ``HTTPRequest/serverEnvironment`` replaces this one whole; one that is explicitly nil gets none. What
/// is filled and what not, see ``ServerEnvironment``.
public struct ApplyEnvironment: LoaderLink {
    private enum Source: Sendable {
        case own
        case one(ServerEnvironment)
        case asked(@Sendable (HTTPRequest) async throws -> ServerEnvironment)
    }

    private let source: Source

    /// The same environment for every request.
    public init(_ environment: ServerEnvironment) { source = .one(environment) }

    /// No environment but the requests' own.
    public init() { source = .own }

    /// The environment that a closure gives at every load, so that a change counts from the next one on.
    ///
    /// An error that it throws fails the load; nothing is sent.
    public init(_ provide: @escaping @Sendable (HTTPRequest) async throws -> ServerEnvironment) {
        source = .asked(provide)
    }

    /// Fills the request, and has it answered.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        if case .own = source, !request.options.contains(ServerEnvironmentOption.self) {
            return try await next.load(request)
        }
        var filled = request
        if !request.options.contains(ServerEnvironmentOption.self) {
            try await fill(&filled)
        } else if let own = request.serverEnvironment {
            own.apply(to: &filled)
        } else {
            filled.isOutsideEnvironment = true
        }
        return try await next.load(filled)
    }

    private func fill(_ request: inout HTTPRequest) async throws(HTTPError) {
        switch source {
        case .own: break
        case .one(let environment): environment.apply(to: &request)
        case .asked(let provide):
            do {
                try await provide(request).apply(to: &request)
            } catch {
                throw HTTPError(error, request: request)
            }
        }
    }
}
