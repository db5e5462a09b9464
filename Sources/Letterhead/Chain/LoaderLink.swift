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

/// A link that consists of other links.
///
/// ``Choose`` and the results of ``LoaderLink/when(otherwise:_:)``, ``LoaderLink/around(_:)`` and
/// ``LoaderLink/named(_:)`` are composite links. Write one so that its parts are printed and reset correctly: return
/// its links in ``parts``, and inherit ``LoaderLink/reset(next:)``.
///
/// Laws:
/// - ``parts`` contains all parts, in the order of printing.
/// - A reset reaches each part, and the next loader once, regardless of the parts that a request would use.
public protocol CompositeLink: LoaderLink {
    /// The link's parts, with names for a description. A part without a name has nil.
    var parts: [(name: String?, link: any LoaderLink)] { get }
}

extension CompositeLink {
    public func reset(next: any HTTPLoader) async {
        for part in parts { await part.link.reset(next: ResetEnd()) }
        await next.reset()
    }
}

/// Replaces the rest of the chain while a link is reset, so that the rest is reset once instead of once for each link.
struct ResetEnd: HTTPLoader {
    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        throw HTTPError(
            .resetInProgress, request: request, message: "a link must not send requests during its reset",
            mayHaveBeenSent: false)
    }
}

extension LoaderLink {
    /// Returns the same link with a name for a chain's description.
    ///
    /// ```swift
    /// let limits = (Throttle(limit: 2, per: .host) --> Throttle(limit: 4)).named("limits")
    /// let chain = limits --> HTTPClient.defaultTransport
    /// ```
    public func named(_ name: String) -> some CompositeLink { LinkGroup(name, self) }
}

/// Several links as one, with a name for the printed chain.
struct LinkGroup: CompositeLink, CustomStringConvertible {
    private let name: String
    private let link: any LoaderLink

    init(_ name: String, _ link: any LoaderLink) { (self.name, self.link) = (name, link) }

    var parts: [(name: String?, link: any LoaderLink)] { [(nil, link)] }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await link.load(request, next: next)
    }

    func reset(next: any HTTPLoader) async { await (link --> next).reset() }

    /// The name with the links, such as `limits(Throttle(2) --> Throttle(4))`.
    var description: String { "\(name)(\(chainName(of: link)))" }
}
