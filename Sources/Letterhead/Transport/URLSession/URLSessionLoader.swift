// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    import Foundation
    import Synchronization

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// The transport over `URLSession` in Foundation: the default on Apple platforms. On Linux, only tests use it.
    ///
    /// It doesn't handle redirects, cookies, caches or credentials: a 3xx or a 401 is a response like any other. It
    /// sends every request that passes ``HTTPRequest/validate()``, unless `URLSession` doesn't support the request (see
    /// below). A body that isn't in memory is first written to a private temporary file, so that its length is exact
    /// and it is never held in memory.
    ///
    /// `URLSession` has these limitations on all platforms:
    /// - It joins several fields with one name by `, `, in requests and in responses.
    /// - It adds `User-Agent`, `Accept`, `Accept-Language` and `Accept-Encoding` to a request that doesn't set them.
    /// - A GET with a body fails with `.invalidRequest`.
    /// - Foundation decompresses the content codings that it supports. The limits for a response count the decompressed
    ///   bytes.
    /// - ``HTTPResponse/trailers`` are empty.
    /// - If a ``TransportConfiguration`` has unsupported settings, requests fail with `.invalidRequest`. The error
    ///   names the settings.
    ///
    /// On Linux it has these limitations as well:
    /// - The capitalization of header names changes, and their order is lost.
    /// - IPv6 literals, trailers, and a connection that is closed before the head is complete aren't supported. The
    ///   latter two crash the process.
    /// - A response body that is streamed or saved to a file has no back-pressure. If more than 64 MiB, or more than a
    ///   smaller ``RequestSettings/responseLimit``, are buffered for its reader, the request fails with
    ///   `.responseTooLarge`.
    /// - ``HTTPResponse/metrics`` contain only the times of the first byte and of the end.
    /// - The system provides the certificate store, and TLS failures have no separate code.
    /// - A reset doesn't close the idle connections of the session.
    final class URLSessionLoader: HTTPLoader {
        /// The default loader for all clients on Apple platforms.
        static let shared = URLSessionLoader(isShared: true)

        private let configuration: TransportConfiguration
        private let isShared: Bool
        private let exchanges = URLSessionExchanges()
        private let session: URLSession
        private let makeSession: @Sendable (URLSessionRelay) -> URLSession
        private let cachePolicy: URLRequest.CachePolicy
        private let lease: ResourceLease?

        /// Creates a loader with a new session.
        ///
        /// - Parameter isShared: whether unrelated clients share the transport. If so, a reset doesn't cancel the
        ///   requests without a client. Default: false.
        init(_ configuration: TransportConfiguration = TransportConfiguration(), isShared: Bool = false) {
            self.configuration = configuration
            self.isShared = isShared
            lease = isShared ? nil : ResourceLedger.lease("a transport of HTTPClient.makeTransport")
            makeSession = { configuration.makeURLSession(delegate: $0) }
            session = makeSession(URLSessionRelay(exchanges))
            cachePolicy = .reloadIgnoringLocalCacheData
        }

        /// Creates a loader with a copy of a Foundation configuration. See
        /// `HTTPClient.makeTransport(sessionConfiguration:)`.
        init(sessionConfiguration configuration: URLSessionConfiguration) {
            var limits = TransportConfiguration()
            let idle = configuration.timeoutIntervalForRequest
            limits.idleTimeout = idle > 0 && idle < 86_400 ? .seconds(idle) : nil
            self.configuration = limits
            isShared = false
            lease = ResourceLedger.lease("a transport of HTTPClient.makeTransport")
            cachePolicy = configuration.requestCachePolicy
            let kept = FoundationConfiguration(configuration)
            makeSession = { kept.makeURLSession(delegate: $0) }
            session = makeSession(URLSessionRelay(exchanges))
        }

        deinit { session.finishTasksAndInvalidate() }

        /// Sends a request and returns the response, with any status.
        ///
        /// - Throws: `.invalidRequest` before anything is sent, `.cancelled`, `.timedOut`, `.responseTooLarge`,
        ///   `.connectionLost`, `.invalidResponse`, `.cannotSaveResponse`, and the other Foundation errors, mapped by
        ///   `HTTPError(_:request:)`.
        @concurrent
        func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
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
            let response: HTTPResponse
            do throws(HTTPError) { response = try await exchange.run(over: own ?? session, in: exchanges) } catch {
                response = try error.judgedByStatus()
            }
            request.record(exchange.facts)
            return request.responseDelivery == .buffered ? response : try await response.delivered(to: request)
        }

        var endsItsRequests: Bool { true }

        /// Cancels the requests of clients that have been reset, and returns when they have ended. On Apple platforms,
        /// later requests use new connections.
        ///
        /// Requests without a client are cancelled, except on the transport that clients share by default.
        func reset() async {
            await exchanges.cancel { [isShared] in $0.endsAtReset(withoutClient: !isShared) }
            #if !canImport(FoundationNetworking)
                await session.flush()
            #endif
        }

        /// Returns a separate session for a request that must not be sent twice, on Linux: Foundation might send it
        /// twice over a keep-alive connection that the server is closing.
        private func isolatedSession(for request: HTTPRequest) -> URLSession? {
            #if canImport(FoundationNetworking)
                request.method.isIdempotent ? nil : makeSession(URLSessionRelay(exchanges))
            #else
                nil
            #endif
        }
    }

    extension HTTPRequest {
        /// The rule of `URLSession` that a well-formed request violates, or nil if it can be sent.
        fileprivate var brokenURLSessionRule: String? {
            if connectTimeout != nil { return "URLSession does not support connectTimeout (use timeout)" }
            return method == .get && !body.isEmpty ? "URLSession does not support a GET request with a body" : nil
        }
    }

    /// The exchanges in progress of one loader, shared with the delegates of its sessions.
    final class URLSessionExchanges: Sendable {
        private let running = Mutex<[ObjectIdentifier: URLSessionExchange]>([:])

        func add(_ exchange: URLSessionExchange) { running.withLock { $0[ObjectIdentifier(exchange)] = exchange } }

        func remove(_ exchange: URLSessionExchange) {
            running.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(exchange)) }
            exchange.ended.set(())
        }

        /// Cancels exchanges, and returns when they have ended.
        func cancel(where isReset: (HTTPRequest) -> Bool) async {
            let exchanges = running.withLock { $0.values.filter { isReset($0.request) } }
            for exchange in exchanges { exchange.cancel() }
            for exchange in exchanges { await exchange.ended.value }
        }
    }
#endif
