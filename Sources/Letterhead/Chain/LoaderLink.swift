// SPDX-License-Identifier: MIT
/// Receives each of a client's requests with the next loader, and may change the request, the response, or both.
///
/// Use a link to change every request of a client. Use a decorator to change one endpoint, a validator to accept,
/// reject or retry an attempt's response, a transformer (``ModifyResponse``) to change it, an observer only to watch,
/// and an ``HTTPLoader`` to respond without a network. For a short change, ``ModifyRequest`` and ``ModifyResponse``
/// take a closure.
///
/// Join links with `-->`, and end the chain with a loader. To write one, implement ``load(_:next:)``. Set only what is
/// missing, and remove only what the link itself has added.
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
/// Laws:
/// - The laws of ``HTTPLoader`` apply, and the request keeps its id on the way to the next loader.
/// - A link may call the next loader several times for a request: one after the other, as for a retry, or at once, as
///   for a hedge. It returns one of the responses, and a call that loses ends with the load. Before a further call, it
///   drops the response that it replaces with ``HTTPResponseBody/discard()``, which frees a slot below.
/// - A link that sends a request to another host restores the scheme, the host and the port in
///   ``HTTPResponse/request``, because redirects, cookies and caches go by them.
/// - A link receives its next loader as an argument and doesn't store it. One link can therefore be part of several
///   chains, and a chain always ends in a loader and can't contain a loop.
public protocol LoaderLink: Sendable {
    /// Returns the response to a request, usually by calling the next loader.
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse

    /// Resets the link and the next loader. Default: resets the next loader.
    ///
    /// A link that lets requests wait ends these waits with `.cancelled`, a link with state discards it, and both await
    /// `next.reset()`. A chain may contain a link twice, so a second reset does no harm. A reset must not reset the
    /// chain that contains the link.
    func reset(next: any HTTPLoader) async
}

extension LoaderLink {
    public func reset(next: any HTTPLoader) async { await next.reset() }
}
