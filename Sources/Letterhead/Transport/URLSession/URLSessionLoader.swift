#if canImport(FoundationNetworking)
    import Foundation
    package import FoundationNetworking
#else
    package import Foundation
#endif

/// The transport over Foundation's `URLSession`: the default on Apple platforms.
///
/// Choose it there; on Linux choose `CurlLoader`. Redirects, cookies, caches and credentials are none of its business: a
/// 3xx or a 401 is a response like any other. It sends what ``HTTPRequest/validate()`` lets pass, and a body that is not
/// in memory from a private temporary file, so that its length is exact and it is never held in memory.
///
/// What `URLSession` cannot do is said here. Everywhere: repeated fields of one name travel joined by `, `, and so do
/// those of a response; `User-Agent`, `Accept`, `Accept-Language` and `Accept-Encoding` are added to a request that says
/// nothing of them; a GET with a body is `.invalidRequest`; the content codings that Foundation knows are undone by it,
/// and the limits of a response count the decoded bytes; ``HTTPResponse/trailers`` are empty; and
/// ``TransportConfiguration`` settings that it has no means for are `.invalidRequest`, naming the setting.
///
/// On Linux besides: names of headers are re-capitalised and their order is lost; IPv6 literals, trailers, and a
/// connection that is closed inside the head cannot be handled by it, the latter two end the process; a body that is
/// not in memory has no back-pressure, so one that runs more than ``HTTPRequest/responseLimit`` ahead of its reader is
/// `.responseTooLarge`; ``HTTPResponse/metrics`` have only the times of the first byte and of the end; the certificate
/// store is the system's, and a TLS failure has no code of its own; a reset leaves idle connections to the session.
package final class URLSessionLoader: HTTPLoader {
    // A class, because the session's connections are its identity, and its end must close them.

    /// The loader that all clients share by default.
    package static let shared = URLSessionLoader()

    private let configuration: TransportConfiguration
    private let exchanges = URLSessionExchanges()
    private let session: URLSession
    private let makeSession: @Sendable (URLSessionRelay) -> URLSession
    private let cachePolicy: URLRequest.CachePolicy

    /// Makes a loader with a session of its own.
    ///
    /// - Parameter configuration: limits of connections and time. Default: the documented defaults.
    package init(_ configuration: TransportConfiguration = TransportConfiguration()) {
        self.configuration = configuration
        makeSession = { configuration.makeURLSession(delegate: $0) }
        session = makeSession(URLSessionRelay(exchanges))
        cachePolicy = .reloadIgnoringLocalCacheData
    }

    /// Makes a loader with a session of a configuration of Foundation's: for its proxies, its protocol classes, its TLS
    /// settings, its service type, or to use the cache, the cookies and the credentials of a session that a program has
    /// already: `URLSessionLoader(sessionConfiguration: session.configuration)`.
    ///
    /// Everything in the configuration holds, and the session is the loader's own. `timeoutIntervalForRequest` is the idle
    /// limit, unless a request sets ``HTTPRequest/idleTimeout``. Redirects are responses, as with every transport. A cache,
    /// cookies and credentials of the session work below the library, which does not see them: a response may come from the
    /// cache, and ``HTTPClient/reset()`` does not wipe them.
    ///
    /// - Parameter configuration: the configuration; later changes to it have no effect.
    package init(sessionConfiguration configuration: URLSessionConfiguration) {
        var limits = TransportConfiguration()
        let idle = configuration.timeoutIntervalForRequest
        limits.idleTimeout = idle > 0 && idle < 86_400 ? .seconds(idle) : nil
        self.configuration = limits
        cachePolicy = configuration.requestCachePolicy
        let kept = FoundationConfiguration(configuration)
        makeSession = { kept.makeURLSession(delegate: $0) }
        session = makeSession(URLSessionRelay(exchanges))
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Sends a request and gives the response, whatever its status.
    ///
    /// - Throws: `.invalidRequest` before anything is sent; `.cancelled`; `.timedOut`; `.responseTooLarge`;
    ///   `.connectionLost`; `.invalidResponse`; `.cannotSaveResponse`; and what else Foundation reports, by the table of
    ///   `HTTPError(_:request:)`.
    @concurrent
    package func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try request.validate()
        if let rule = configuration.brokenURLSessionRule ?? request.brokenURLSessionRule {
            throw HTTPError(.invalidRequest, request: request, message: rule)
        }
        if Task.isCancelled { throw HTTPError(.cancelled, request: request, mayHaveBeenSent: false) }
        if let left = request.timeLeft, left <= .zero {
            throw request.deadlinePassed(while: "connecting", mayHaveBeenSent: false)
        }
        let upload = try await URLSessionUpload(
            request, idleSeconds: configuration.idleSeconds(for: request), cachePolicy: cachePolicy)
        let exchange = URLSessionExchange(request: request, configuration: configuration, upload: upload)
        let own = isolatedSession(for: request)
        defer { own?.finishTasksAndInvalidate() }
        let response = try await exchange.run(over: own ?? session, in: exchanges)
        return request.responseDelivery == .buffered ? response : try await response.delivered(to: request)
    }

    /// Cancels what is in flight, and returns when it has ended. On Apple platforms later requests get new connections.
    package func reset() async {
        await exchanges.cancelAll()
        #if !canImport(FoundationNetworking)
            await session.reset()
        #endif
    }

    /// On Linux a request that must not be sent twice gets a connection of its own: over a kept one that the server is
    /// just closing it might be repeated below us.
    private func isolatedSession(for request: HTTPRequest) -> URLSession? {
        #if canImport(FoundationNetworking)
            request.method.isIdempotent ? nil : makeSession(URLSessionRelay(exchanges))
        #else
            nil
        #endif
    }
}

extension HTTPRequest {
    /// What `URLSession` cannot do with a request that is otherwise well formed.
    fileprivate var brokenURLSessionRule: String? {
        if let brokenTransportRule { return brokenTransportRule }
        if connectTimeout != nil { return "URLSession has no means for connectTimeout" }
        return method == .get && !body.isEmpty ? "URLSession sends no body with a GET" : nil
    }
}
