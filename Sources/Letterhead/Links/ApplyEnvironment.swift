// SPDX-License-Identifier: MIT
/// Completes requests with an environment: method, scheme, host, port, path prefix, headers and query.
///
/// ```swift
/// ApplyEnvironment(.production)
/// ApplyEnvironment(.provided { _ in await settings.environment })   // called for each attempt and redirect
/// ```
///
/// A request's ``RequestSettings/serverEnvironment`` replaces this environment entirely. A request that sets it to nil
/// gets no environment. See ``ServerEnvironment`` for the parts that are completed.
///
/// The link also passes the client environment's origin to an ``Authenticate`` link below. The client's credentials
/// without `allowedOrigins` are sent only to that origin, even if a request has another environment.
public struct ApplyEnvironment: LoaderLink {
    /// Default: nil (only the requests' environments are applied).
    @CopyOnWrite private(set) var environment: ServerEnvironment?

    /// Creates a link. With nil, only the requests' own environments are applied.
    public init(_ environment: ServerEnvironment? = nil) { self.environment = environment }

    @inline(__always)
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let hasOwn = request.options.contains(ServerEnvironment.self)
        var filled = request
        if let applied = try await (hasOwn ? request.serverEnvironment : environment)?.resolved(for: request) {
            try applied.complete(&filled)
            let isOpen = applied.allowsCredentialsOverHTTP
            if isOpen || filled.openOrigin != nil { filled.openOrigin = isOpen ? applied.origin : nil }
            // If a request has its own environment, the closure isn't called, so its origin is unknown.
            if let environment { filled.homeOrigin = hasOwn ? environment.origin : applied.origin }
        } else if hasOwn {
            filled.homeOrigin = nil
        }
        filled.meetRequiredOrigin()
        return try await next.load(filled)
    }
}
