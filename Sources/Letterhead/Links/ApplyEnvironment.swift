// SPDX-License-Identifier: MIT
/// Completes requests with an environment: method, scheme, host, port, path prefix, headers and query.
///
/// ```swift
/// ApplyEnvironment(.production)
/// ApplyEnvironment(.provided { _ in await settings.environment })   // called for each attempt and redirect
/// ```
///
/// A client contains this link, so use it only in a chain of your own. ``ServerEnvironment`` describes the parts that
/// are completed.
///
/// A request can set its own ``RequestSettings/serverEnvironment``, which replaces this environment entirely. A request
/// that sets it to nil gets no environment.
///
/// The link also passes the origin of its environment to an ``Authenticate`` link below. Credentials of that link
/// without `allowedOrigins` are sent only to this origin, even if a request has a different environment.
public struct ApplyEnvironment: LoaderLink {
    /// Nil if only the environments that requests set are applied.
    @CopyOnWrite private(set) var environment: ServerEnvironment?

    /// Creates a link. With nil, only the environments that requests set are applied. Default: nil.
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
