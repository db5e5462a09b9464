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
    private let provide: @Sendable (HTTPRequest) async throws -> ServerEnvironment?

    /// The same environment for every request.
    public init(_ environment: ServerEnvironment) { provide = { _ in environment } }

    /// No environment but the requests' own.
    public init() { provide = { _ in nil } }

    /// The environment that a closure gives at every load, so that a change counts from the next one on.
    ///
    /// An error that it throws fails the load; nothing is sent.
    public init(_ provide: @escaping @Sendable (HTTPRequest) async throws -> ServerEnvironment) {
        self.provide = provide
    }

    /// Fills the request, and has it answered.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var request = request
        if request.options.contains(ServerEnvironmentOption.self) {
            if let own = request.serverEnvironment {
                own.apply(to: &request)
            } else {
                request.isOutsideEnvironment = true
            }
        } else {
            do { try await provide(request)?.apply(to: &request) } catch { throw HTTPError(error, request: request) }
        }
        return try await next.load(request)
    }
}
