/// A link of a chain. It receives a request and the next loader, and may change the request, the response, or both.
///
/// To use links, join them with `-->`, and end the chain with a loader. Each link of this library is named after its
/// function. To write one, implement ``load(_:next:)``. Set only what is missing, and remove only what the link itself
/// has added.
///
/// ```swift
/// struct ApplyTenant: LoaderLink {
///     func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
///         var request = request
///         if request.headers["X-Tenant"] == nil { request.headers["X-Tenant"] = request.tenant }
///         return try await next.load(request)
///     }
/// }
/// ```
///
/// Laws: the laws of ``HTTPLoader`` apply, and the request keeps its id on the way to the next loader. A link receives
/// its next loader as an argument and does not store it. One link can therefore be part of several chains, and a chain
/// always ends in a loader and cannot contain a loop.
public protocol LoaderLink: Sendable {
    /// Returns the response to a request, usually by calling the next loader.
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse

    /// Resets the link and the next loader. Default: resets the next loader.
    ///
    /// A link that lets requests wait ends these waits with `.cancelled`, a link with state discards it, and both await
    /// `next.reset()`. A second reset of a link does no harm, because a chain may contain a link twice. A reset must not
    /// reset the chain in which the link stands.
    func reset(next: any HTTPLoader) async
}

extension LoaderLink {
    /// Resets the next loader. The link has no state to reset.
    public func reset(next: any HTTPLoader) async { await next.reset() }
}
