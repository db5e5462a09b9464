// SPDX-License-Identifier: MIT
/// Completes requests with an environment: method, scheme, host, port, path prefix, headers and query.
///
/// ```swift
/// ApplyEnvironment(.production)
/// ApplyEnvironment(.provided { _ in await settings.environment })   // called for each attempt and redirect
/// ```
///
/// The ``RequestSettings/serverEnvironment`` of a request replaces this environment entirely. If a request
/// explicitly sets it to nil, no environment is applied. See ``ServerEnvironment`` for the parts that are completed.
///
/// The link also passes the origin of the client's environment to an ``Authenticate`` link below. The client's
/// credentials without `allowedOrigins` are sent only to that origin, even if a request has another environment.
public struct ApplyEnvironment: LoaderLink {
    /// Default: nil (only the environments of the requests are applied).
    let environment: ServerEnvironment?

    public init(_ environment: ServerEnvironment? = nil) { self.environment = environment }

    @inline(__always)
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let hasOwn = request.options.contains(ServerEnvironment.self)
        var filled = request
        if let applied = try await (hasOwn ? request.serverEnvironment : environment)?.resolved(for: request) {
            try applied.complete(&filled)
            // A closure is not called for a request that has its own environment, so its origin is not known.
            if let environment { filled.homeOrigin = hasOwn ? environment.origin : applied.origin }
        } else if hasOwn {
            filled.homeOrigin = nil
        }
        filled.fillAccept()
        filled.meetRequiredOrigin()
        return try await next.load(filled)
    }
}
