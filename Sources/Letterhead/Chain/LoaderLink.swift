// SPDX-License-Identifier: MIT
/// Receives each request of a client with the next loader, and may change the request, the response, or both.
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
/// Use a link to change every request of a client. Often, a more specific type is enough:
///
/// - To change one endpoint: a decorator.
/// - To make a short change to requests or responses: ``ModifyRequest`` or ``ModifyResponse``, which take a closure.
/// - To accept, reject or retry the response of an attempt: an ``HTTPValidator``.
/// - Only to watch: an ``HTTPObserver``.
/// - To respond without a network: an ``HTTPLoader``.
///
/// To write a link, implement ``load(_:next:)``. Set only what is missing, and remove only what the link itself has
/// added. Join links with `-->`, and end the chain with a loader.
///
/// Laws:
/// - The laws of ``HTTPLoader`` apply, and the request keeps its id on the way to the next loader.
/// - A link may call the next loader several times for a request: one after the other, as for a retry, or at once, as
///   for a hedge. It returns one of the responses. Calls that are still in progress then are cancelled. Before a
///   further call, the link ends the previous response with ``HTTPResponseBody/discard()``, so that this response no
///   longer holds a connection, or a slot in a ``Throttle`` below.
/// - A link that sends a request to a different host restores the scheme, the host and the port in
///   ``HTTPResponse/request``, because redirects, cookies and caches depend on them.
/// - A link receives its next loader as an argument and doesn't store it. One link can therefore be part of several
///   chains, and a chain always ends in a loader and can't contain a loop.
public protocol LoaderLink: Sendable {
    /// Returns the response to a request, usually by calling the next loader.
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse

    /// Resets the link and the next loader. Default: resets the next loader.
    ///
    /// - If requests wait in the link, end their waits with `.cancelled`.
    /// - If the link has state, discard it.
    /// - In any case, await `next.reset()`, but don't reset the chain that contains the link.
    /// - A chain may contain a link twice, so a second reset must do no harm.
    func reset(next: any HTTPLoader) async
}

extension LoaderLink {
    public func reset(next: any HTTPLoader) async { await next.reset() }
}
