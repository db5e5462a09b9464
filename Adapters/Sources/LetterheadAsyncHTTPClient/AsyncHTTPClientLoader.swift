// SPDX-License-Identifier: MIT
public import AsyncHTTPClient
public import Letterhead
public import NIOCore
import NIOHTTP1
import Synchronization

/// A transport over AsyncHTTPClient and SwiftNIO.
///
/// Use it in a program that already runs SwiftNIO, to share its event loops, or where the libcurl of the system can't
/// be used.
///
/// ```swift
/// let transport = AsyncHTTPClientLoader()
/// let client = HTTPClient(environment: .production, transport: transport)
/// ```
///
/// Keep the loader, because releasing it closes its connections. Bodies are streamed in both directions: the loader
/// asks for a piece of a request body when the connection can take it, and receives a response as its reader asks for
/// it.
///
/// AsyncHTTPClient sends each request once. It doesn't follow redirects, decompress bodies, create spans or retry a
/// connection: the loader turns these settings off, because links do this. `README.md` lists the features of the
/// built-in transports that this one lacks.
public final class AsyncHTTPClientLoader: HTTPLoader {
    private let client: OwnedClient
    private let idleTimeout: Duration?
    private let exchanges = Mutex<[ObjectIdentifier: Exchange]>([:])

    /// Creates a transport with a separate connection pool.
    ///
    /// - Parameters:
    ///   - configuration: TLS, the proxy, the pool, the HTTP version and the connect timeout. Its settings for
    ///     redirects, decompression, tracing and `retryConnectionEstablishment` have no effect.
    ///   - idleTimeout: the longest time without a byte sent or received, unless the request sets an idle timeout. Nil
    ///     means no limit. Default: 60 seconds.
    ///   - eventLoopGroup: the event loops. Default: those that all clients in the process share.
    public init(
        _ configuration: AsyncHTTPClient.HTTPClient.Configuration = AsyncHTTPClient.HTTPClient.Configuration(),
        idleTimeout: Duration? = .seconds(60),
        eventLoopGroup: any EventLoopGroup = AsyncHTTPClient.HTTPClient.defaultEventLoopGroup
    ) {
        var configuration = configuration
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .disabled
        configuration.tracing.tracer = nil
        configuration.connectionPool.retryConnectionEstablishment = false
        client = OwnedClient(
            AsyncHTTPClient.HTTPClient(eventLoopGroupProvider: .shared(eventLoopGroup), configuration: configuration))
        self.idleTimeout = idleTimeout
    }

    /// Sends a request, and returns when the whole response has arrived, or the head of a streamed response.
    ///
    /// - Throws: `.invalidRequest` before anything is sent, such as for a `connectTimeout`, which only the
    ///   configuration can set. `.cannotConnect`, `.insecureConnection`, `.proxyRefused`, `.connectionLost`,
    ///   `.timedOut`, `.invalidResponse` or `.responseTooLarge` if the exchange fails. `.cancelled` as soon as the task
    ///   is cancelled.
    @concurrent
    public func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try request.validate()
        guard request.connectTimeout == nil else {
            throw HTTPError(
                .invalidRequest, request: request,
                message: "AsyncHTTPClient does not support connectTimeout (set it in the loader's configuration)")
        }
        let body = request.body.isEmpty ? nil : try request.framedBody()
        if let left = request.timeLeft, left <= .zero {
            throw request.deadlinePassed(while: "connecting", mayHaveBeenSent: false)
        }
        let exchange = Exchange(request, idleTimeout: request.idleTimeout ?? idleTimeout)
        let sent = try HTTPClientRequest(request, body: body, of: exchange)
        exchanges.withLock { $0[ObjectIdentifier(exchange)] = exchange }
        if Task.isCancelled || request.generation?.hasEnded == true { exchange.cancel(mayHaveBeenSent: false) }
        exchange.start(sent, over: client) { [weak self] in
            _ = self?.exchanges.withLock { $0.removeValue(forKey: ObjectIdentifier(exchange)) }
        }
        let head = try await exchange.head()
        return try await exchange.response(head).delivered(to: request)
    }

    public var endsItsRequests: Bool { true }

    /// Cancels the requests of clients that have been reset, and the requests without a client. It returns when they
    /// have ended. The connections stay open.
    public func reset() async {
        let ended = exchanges.withLock { exchanges in
            exchanges.values.filter { $0.request.generation?.hasEnded ?? true }
        }
        for exchange in ended { exchange.cancel() }
        for exchange in ended { await exchange.end() }
    }
}

extension AsyncHTTPClientLoader: CustomStringConvertible {
    public var description: String { "AsyncHTTPClientLoader" }
}

/// Shuts a client down when the loader and all of its exchanges have released it.
final class OwnedClient: Sendable {
    let client: AsyncHTTPClient.HTTPClient

    init(_ client: AsyncHTTPClient.HTTPClient) { self.client = client }

    // The shutdown continues after this, because the client retains itself until it has shut down.
    deinit { client.shutdown { _ in } }
}

extension HTTPClientRequest {
    /// - Parameter body: the bytes to send, or nil for a request without a body.
    init(_ request: HTTPRequest, body: BodyChunks?, of exchange: Exchange) throws(HTTPError) {
        var plain = request
        plain.fragment = nil
        // AsyncHTTPClient would escape characters that a URL can't contain, and the server would receive a different
        // target.
        _ = try plain.url()
        self.init(url: try plain.urlString())
        method = NIOHTTP1.HTTPMethod(rawValue: request.method.rawValue)
        headers = NIOHTTP1.HTTPHeaders(request.framedHeaders().map { ($0.name.rawValue, $0.value) })
        guard let body else { return }
        self.body = .stream(
            UploadBytes(body, of: exchange), length: body.length.map { .known(Int64($0)) } ?? .unknown)
    }
}
