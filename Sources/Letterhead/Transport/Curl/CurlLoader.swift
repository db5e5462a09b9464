// SPDX-License-Identifier: MIT
#if os(Linux)
    import LetterheadFoundation

    /// The transport on Linux. It uses the libcurl of the system, which the networking of Foundation also links, on one
    /// thread.
    ///
    /// By default, all clients share one transport and its connections. For a different configuration, create a
    /// transport with ``HTTPClient/makeTransport(_:)`` and keep it: releasing it closes its connections.
    ///
    /// The transport adds only these header fields to a request: the framing of the message (RFC 9112, 6), `Host`, and
    /// an `Accept-Encoding` for the encodings that it decompresses. It doesn't follow redirects or store cookies. It
    /// sends a request that isn't idempotent a second time only if the server refused it without processing it (RFC
    /// 9113, 6.8 and 8.7, and for 417, RFC 9110, 10.1.1). It returns a response of any status, and throws an
    /// ``HTTPError`` if no complete response arrives.
    ///
    /// A request passes through these types:
    ///
    /// - `CurlPlan` has the request in the form that its carrier needs.
    /// - `Exchange` is the transfer that its caller waits for. `CurlEngine` posts it to the thread.
    /// - `CurlLoop` runs on the thread, with its `ConnectionQueue` and `SocketPoller`.
    /// - A carrier sends and receives the bytes: a `CurlCarrier`, which is a reusable easy handle, or a
    ///   `DirectConnection`, which a `CurlCarrier` has opened.
    /// - The reply returns in the exchange: as a whole, or through a `ReceivePipe`.
    final class CurlLoader: HTTPLoader, CustomStringConvertible {
        private let engine: CurlEngine
        private let configuration: TransportConfiguration
        private let brokenRule: String?
        private let isShared: Bool
        private let lease: ResourceLease?

        static let shared = CurlLoader(isShared: true)

        /// Creates a transport. Its thread starts with its first request.
        ///
        /// - Parameter isShared: whether unrelated clients share the transport. If so, a reset doesn't cancel the
        ///   transfers without a client. Default: false.
        init(_ configuration: TransportConfiguration = TransportConfiguration(), isShared: Bool = false) {
            self.configuration = configuration
            self.isShared = isShared
            lease = isShared ? nil : ResourceLedger.lease("a transport of HTTPClient.makeTransport")
            brokenRule = configuration.brokenCurlRule
            engine = CurlEngine(configuration)
        }

        /// Contains the allowed addresses if they are restricted.
        var description: String {
            let addresses = configuration.security.addresses
            return "CurlLoader" + (addresses == .any ? "" : "(security.addresses: \(addresses))")
        }

        /// Sends a request, and returns when the whole response, or the head of a streamed response, has arrived.
        ///
        /// - Throws: `.invalidRequest` before anything is sent, `.cannotConnect`, `.insecureConnection`,
        ///   `.connectionLost`, `.timedOut`, `.invalidResponse` or `.responseTooLarge` if the transfer fails, and
        ///   `.cancelled` within milliseconds after the task is cancelled.
        @concurrent
        func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            var next = request
            do throws(HTTPError) {
                let response = try await send(request)
                guard response.status == 417, request.mayOmitExpectation else { return response }
                next.headers[.expect] = nil
            } catch {
                // The server has certainly not processed the request, and libcurl doesn't send it again: five
                // connections refused it, or with 7.88, a GOAWAY left out the only request on a connection.
                guard error.code == .connectionLost, !error.mayHaveBeenSent, request.body.isReplayable else {
                    throw error
                }
            }
            return try await send(next)
        }

        private func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            let transfer = try transfer(for: request)
            let outcome = await transfer.run()
            let isConnected = request.record(transfer.facts)
            do throws(HTTPError) {
                return try await response(of: transfer, outcome)
            } catch {
                if isConnected { request.recordClosing(transfer.facts, after: error) }
                throw error
            }
        }

        private func response(
            of transfer: Exchange, _ outcome: Exchange.Outcome
        ) async throws(HTTPError) -> HTTPResponse {
            switch outcome {
            case .success:
                let response = try transfer.response()
                return transfer.pipe == nil ? response : try await response.delivered(to: transfer.request)
            case .failure(let failure): return try failure.error(for: transfer.request).judgedByStatus()
            }
        }

        var endsItsRequests: Bool { true }

        /// Cancels the transfers of clients that have been reset, and returns when they have ended. Other clients'
        /// transfers and connections remain. If no other client uses the transport, later requests don't reuse
        /// connections or TLS sessions from before the reset.
        ///
        /// Transfers without a client are cancelled, except on the transport that clients share by default.
        func reset() async { await engine.sweep(transfersWithoutClient: !isShared) }

        private func transfer(for request: HTTPRequest) throws(HTTPError) -> Exchange {
            let sent = request.framed
            let plan = try plan(for: sent)
            if let cancellation = sent.cancellation(mayHaveBeenSent: false) { throw cancellation }
            if plan.timeLeft == 0 {
                throw sent.deadlinePassed(while: "connecting", mayHaveBeenSent: false)
            }
            guard CurlQuirks.initialization == 0 else { throw TransportFailure.unsupported.error(for: sent) }
            guard engine.start() else { throw TransportFailure.exhausted.error(for: sent) }
            let handle = plan.isDirect || CurlQuirks.reusesHandles ? nil : CurlHandle(configuration)
            return Exchange(plan, for: sent, engine: engine, handle: handle)
        }

        private func plan(for request: HTTPRequest) throws(HTTPError) -> CurlPlan {
            try request.validate()
            let broken = brokenRule ?? request.brokenConnectTimeout
            if let rule = broken ?? configuration.brokenHTTPVersionRule(for: request) {
                throw HTTPError(.invalidRequest, request: request, message: rule)
            }
            var body: BodyChunks? = request.method.expectsBody ? BodyChunks(Data()) : nil
            if !request.body.isEmpty { body = try request.framedBody() }
            if request.onProgress != nil { body = body?.inPieces }
            let plan = CurlPlan(request, body: body, configuration)
            if let rule = plan.brokenRule { throw HTTPError(.invalidRequest, request: request, message: rule) }
            return plan
        }
    }

    extension HTTPRequest {
        /// Whether the transport sends the request again without `Expect` if the server refuses it (RFC 9110, 10.1.1).
        var mayOmitExpectation: Bool { headers.contains(.expect) && body.isReplayable && !isSignedOnce }
    }

    // The settings that some libcurl versions don't support.

    extension TransportConfiguration {
        /// Why no request can use the configuration, or nil if requests can.
        var brokenCurlRule: String? {
            if let rule = CurlQuirks.brokenRule() { return rule }
            if dnsOverHTTPS != nil, !CurlQuirks.endsLookups {
                return "dnsOverHTTPS requires libcurl 8.10 or later, and the system's libcurl is older"
            }
            if !security.checks.isEmpty {
                if httpVersions == .http3 { return "security.verify does not support httpVersions .http3" }
                guard CurlQuirks.readsChains else { return "security.verify requires libcurl built with OpenSSL" }
            }
            return brokenRule
        }

        /// Returns whether the transport itself writes a request and reads its response, on a connection that libcurl
        /// opens. libcurl carries all other requests.
        ///
        /// - The connection uses HTTP/1.1 for certain: it has no TLS, or TLS offers no other version.
        /// - The end of a connection over TLS can be judged, and finding it among the connections costs little.
        /// - libcurl closes a connection that it has only opened.
        /// - There is no HTTP proxy, which requires a different request target and may require credentials. The
        ///   environment may have one for requests over TLS, for which libcurl opens a tunnel.
        /// - The host needs no decoding, so that its text is also the value of `Host`.
        func isCarriedDirectly(_ request: HTTPRequest) -> Bool {
            let isSecure = ASCII.equalIgnoringCase(request.scheme, "https")
            return (isSecure || ASCII.equalIgnoringCase(request.scheme, "http"))
                && (isSecure ? isTLSCarriedDirectly : sendsHTTP1Directly && httpVersions != .http2PriorKnowledge)
                && CurlQuirks.closesOpenedConnections && Proxy.PlainTarget(proxy) == .path
                && request.host.map { ASCII.allBytes(of: $0) { $0 < 0x80 && $0 != UInt8(ascii: "%") } } == true
        }

        private var isTLSCarriedDirectly: Bool {
            sendsHTTP1Directly && CurlHTTPVersion(httpVersions, isSecure: true) == .http1
                && CurlQuirks.observesCloseNotify && maximumConnections <= Self.mostSearched
        }

        /// The limit for each host that libcurl applies, or 0 for none. libcurl counts the hosts that `connectTo` sends
        /// to one server together, and can't close an idle direct connection to make room for a different host. The
        /// queue applies the limit, too.
        var maximumSharedConnectionsPerHost: Int { isTLSCarriedDirectly ? 0 : maximumConnectionsPerHost }

        /// The largest number of connections among which libcurl may search one over TLS for each piece of a message.
        private static let mostSearched = 512

        func brokenHTTPVersionRule(for request: HTTPRequest) -> String? {
            switch httpVersions {
            case .http1, .http2: nil
            case .http3:
                CurlQuirks.offersHTTP3
                    ? nil
                    : "httpVersions is .http3, and the system's libcurl was built without it or is older than 7.88"
            case .http2PriorKnowledge where !CurlQuirks.supportsHTTP2:
                "httpVersions is .http2PriorKnowledge, and the system's libcurl was built without HTTP/2"
            case .http2PriorKnowledge:
                ASCII.equalIgnoringCase(request.scheme, "https")
                    || TransportConfiguration.Proxy.PlainTarget(proxy) == .path
                    ? nil
                    : "httpVersions is .http2PriorKnowledge, which HTTP proxies do not support (set proxy to .direct)"
            }
        }
    }
#endif
