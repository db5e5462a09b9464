#if os(Linux)
    import Foundation

    /// The transport on Linux: one thread over the system's libcurl, which Foundation's networking links anyway.
    ///
    /// Use: `HTTPClient` has it by default, one for all clients, so that they share connections. Make one for a
    /// configuration of its own, and keep it: connections are kept as long as it lives.
    ///
    /// ```swift
    /// var configuration = TransportConfiguration()
    /// configuration.connectTimeout = .seconds(3)
    /// let client = HTTPClient(environment: environment, transport: HTTPClient.makeTransport(configuration))
    /// ```
    ///
    /// It sends what the request says and adds nothing of its own but the lines that frame the message (RFC 9112, 6),
    /// `Host`, and the `Accept-Encoding` that it undoes. It follows no redirect, keeps no cookie, and never sends a request
    /// twice that is not idempotent. Any status is a response; whatever is not a whole response is an ``HTTPError``.
    package final class CurlLoader: HTTPLoader {
        private let engine: CurlEngine
        private let configuration: TransportConfiguration
        private let brokenRule: String?

        /// The one that clients share.
        package static let shared = CurlLoader()

        /// Makes a transport; its thread starts with its first request.
        ///
        /// - Parameter configuration: how to connect. Default: see ``TransportConfiguration``. A setting out of its range
        ///   is `.invalidRequest` at each load.
        package init(_ configuration: TransportConfiguration = TransportConfiguration()) {
            self.configuration = configuration
            brokenRule = configuration.brokenRule
            engine = CurlEngine(configuration)
        }

        /// Sends a request and answers when the response is there.
        ///
        /// - Throws: `.invalidRequest` before anything is sent; `.cannotConnect`, `.insecureConnection`,
        ///   `.connectionLost`, `.timedOut`, `.invalidResponse`, `.responseTooLarge` as things go; `.cancelled` when the
        ///   task is cancelled, within milliseconds.
        @concurrent
        package func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            let transfer = try transfer(for: request)
            switch await transfer.run() {
            case .success:
                let response = try transfer.response()
                return transfer.pipe == nil ? response : try await response.delivered(to: transfer.request.value)
            case .failure(let failure): throw failure.error(for: transfer.request.value)
            }
        }

        /// Cancels what is under way, and closes all connections, so that the next request begins as the first one did.
        package func reset() async { await engine.reset() }

        private func transfer(for request: HTTPRequest) throws(HTTPError) -> CurlTransfer {
            let sent = SharedRequest(request.framed)
            let plan = try plan(for: sent.value)
            if Task.isCancelled { throw TransportFailure.cancelled.unsent.error(for: sent.value) }
            if plan.timeLeft == 0 {
                throw sent.value.deadlinePassed(while: "connecting", mayHaveBeenSent: false)
            }
            guard engine.start() else { throw TransportFailure.exhausted.error(for: sent.value) }
            return CurlTransfer(plan, for: sent, engine: engine)
        }

        private func plan(for request: HTTPRequest) throws(HTTPError) -> CurlPlan {
            try request.validate()
            if let rule = brokenRule ?? request.brokenTransportRule {
                throw HTTPError(.invalidRequest, request: request, message: rule)
            }
            var body: BodyChunks? = request.method.expectsBody ? BodyChunks(Data()) : nil
            if !request.body.isEmpty { body = try request.framedBody() }
            if request.onProgress != nil { body = body?.inPieces }
            return CurlPlan(request, body: body, configuration)
        }
    }

    extension HTTPRequest {
        /// The request with the headers that its body brings.
        fileprivate var framed: HTTPRequest {
            var framed = self
            framed.headers = framedHeaders()
            return framed
        }
    }

    extension HTTPMethod {
        /// Whether a server expects a length even when there is no body (RFC 9110, 8.6).
        fileprivate var expectsBody: Bool { self == .post || self == .put || self == .patch }
    }
#endif
