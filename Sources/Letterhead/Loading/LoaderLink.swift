/// A link of a chain: it does something to a request or a response, and has the next loader do the rest.
///
/// Use: join links with `-->`, and end the chain with a loader. Choose: the links of this library are named for what they
/// do. Write one in a few lines, and keep its manners: fill in only what is missing, undo only what you did.
///
/// ```swift
/// struct ApplyTenant: LoaderLink {
///     func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
///         var request = request
///         request.headers["X-Tenant"] = request.tenant
///         return try await next.load(request)
///     }
/// }
/// ```
///
/// Laws: those of ``HTTPLoader``; and the id of a request stays the same on its way down. A link gets its next loader as
/// an argument and holds none, so that one link can serve several chains, and a chain without an end or in a circle
/// cannot be written.
public protocol LoaderLink: Sendable {
    /// Answers a request, usually with the help of the next loader.
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse

    /// Resets itself and what is below it, once. Default: resets what is below it.
    ///
    /// A link with state ends what it has in flight, forgets what it keeps, and awaits `next.reset()`.
    func reset(next: any HTTPLoader) async
}

extension LoaderLink {
    /// Resets what is below; the link itself has nothing to reset.
    public func reset(next: any HTTPLoader) async { await next.reset() }
}
