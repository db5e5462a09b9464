// SPDX-License-Identifier: MIT
/// Completes requests with an environment: method, scheme, host, port, path prefix, headers and query.
///
/// ```swift
/// ApplyEnvironment(.production)
/// ApplyEnvironment { _ in await settings.environment }   // called for each attempt and redirect
/// ```
///
/// The ``RequestSettings/serverEnvironment`` of a request replaces this environment entirely. If a request
/// explicitly sets it to nil, no environment is applied. See ``ServerEnvironment`` for the parts that are completed.
///
/// The link also passes the origin of the client's environment to an ``Authenticate`` link below. The client's
/// credentials without `allowedOrigins` are sent only to that origin, even if a request has another environment.
public struct ApplyEnvironment: LoaderLink {
    private enum Source: Sendable {
        case own
        case one(ServerEnvironment, home: HTTPOrigin?)
        case asked(@Sendable (HTTPRequest) async throws -> ServerEnvironment)
    }

    private let source: Source

    public init(_ environment: ServerEnvironment) {
        source = .one(environment, home: environment.origin)
    }

    /// Applies only the environments of the requests.
    public init() { source = .own }

    /// Calls a closure for each request that reaches the link without its own ``RequestSettings/serverEnvironment``: in
    /// a client, for each attempt and each redirect.
    ///
    /// If the closure throws, the request fails without being sent. The client's credentials without `allowedOrigins`
    /// are bound to the first origin for which they are used; see ``HTTPAuthentication``.
    public init(_ provide: @escaping @Sendable (HTTPRequest) async throws -> ServerEnvironment) {
        source = .asked(provide)
    }

    var isAsked: Bool { if case .asked = source { true } else { false } }

    @inline(__always)
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let hasOwn = request.options.contains(ServerEnvironment.self)
        var filled = request
        if !hasOwn {
            try await fill(&filled)
        } else {
            try applyOwn(to: &filled)
        }
        filled.fillAccept()
        filled.meetRequiredOrigin()
        return try await next.load(filled)
    }

    /// Applies the environment of the request. The home origin is still that of this link's environment. It is nil if
    /// the request sets its environment to nil, or if this link has a closure, because the closure is not called.
    private func applyOwn(to request: inout HTTPRequest) throws(HTTPError) {
        guard let own = request.serverEnvironment else { return request.homeOrigin = nil }
        try own.complete(&request)
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
            try environment.complete(&request)
            request.homeOrigin = home
        case .asked(let provide):
            let environment = try await request.mappingErrors { [request] in try await provide(request) }
            request.context.environment?.resolve(environment)
            try environment.complete(&request)
            request.homeOrigin = environment.origin
        }
    }
}
