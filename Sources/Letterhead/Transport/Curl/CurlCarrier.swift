// SPDX-License-Identifier: MIT
#if os(Linux)
    import CLibcurl
    import LetterheadFoundation

    /// Carries transfers with an easy handle of libcurl, one after the other. libcurl speaks all versions of HTTP.
    ///
    /// The callbacks of libcurl store its address. Only the thread of its ``CurlLoop`` uses it, while ``handle`` owns
    /// the easy handle.
    @safe final class CurlCarrier {
        let easy: OpaquePointer
        let handle: CurlHandle
        /// The loop that owns this object and outlives it.
        @safe unowned(unsafe) let loop: CurlLoop
        /// The current transfer. Exclusivity is unchecked here and below, because libcurl calls no callback while these
        /// properties change.
        @safe @exclusivity(unchecked) private(set) var exchange: Exchange?
        /// Whether a socket could not be opened because this process, or the system, has too many files open.
        var hasNoDescriptor = false
        /// Whether an address was allowed since the request was last sent. Nil if none was judged.
        var hasAllowedAddress: Bool?
        var connectionsMade = 0
        /// The sockets that were opened for a direct connection, and a duplicate of the connected one.
        @safe @exclusivity(unchecked) var opened: [CInt] = []
        var connected = CurlLoop.noSocket
        @safe @exclusivity(unchecked) var connection = Connection()
        /// Whether the server has refused the request each time that libcurl has sent it again.
        var isUnprocessed = true
        /// The options that were set for the last transfer and remain set.
        @safe @exclusivity(unchecked) var settings = Settings()

        /// Options that have the same value for most transfers.
        struct Settings {
            var isGet = false
            var httpVersion: CurlHTTPVersion?
            /// Whether a transfer waits until it is known whether a connection that is being opened can be shared.
            var waits = false
            /// Whether a transfer uses none of the open connections.
            var isFresh = false
            var pinnedKeys: [Data] = []
            var isStreamed = false
            /// Whether the handle only opens a connection.
            var isOpening = false
            /// The origin that is set instead of a whole URL. It is retained, because it owns the parsed URL, which
            /// libcurl may read later.
            var origin: CurlOrigin?
        }

        /// The connection of the current transfer. Sending the request again replaces the value, so that no fact about
        /// an earlier connection remains.
        struct Connection {
            /// Whether it was opened for the transfer, and whether a different transfer has used it since then.
            var (isNew, isShared) = (false, false)
            /// The HTTP/2 stream of the transfer, and whether a GOAWAY frame has left it out, if libcurl reports both.
            var (stream, isLeftOut): (UInt32, Bool) = (0, false)
            /// Its TLS session, when the request has been sent.
            var tlsSession: TLSSession?
            /// The last alert that its TLS session has received (RFC 8446, 6).
            var alert: CInt?
            var hasCloseNotify: Bool { alert == 0 }
        }

        /// Creates the carrier with a handle. Returns nil if the installed libcurl rejects an option that depends on
        /// the loop.
        init?(loop: CurlLoop, handle: CurlHandle) {
            unsafe (self.loop, self.handle, easy) = (loop, handle, handle.easy)
            var options = unsafe CurlOptions(easy)
            setCallbacks(&options)
            unsafe options.set(.share, UnsafeRawPointer(loop.share))
            if let list = unsafe loop.connectTo?.lines { unsafe options.set(.connectTo, UnsafeRawPointer(list)) }
            guard options.areAccepted else { return nil }
        }

        /// Detaches the handle from the thread, because a different thread may release it later.
        deinit {
            _ = unsafe lh_curl_set_pointer(easy, .share, nil)
            if CurlQuirks.logsStreams { _ = unsafe lh_curl_observe_streams(easy, nil, nil) }
        }

        func begin(_ exchange: Exchange) {
            self.exchange = exchange
            exchange.carrier = self
        }

        /// Releases the transfer, and resets all state that belongs to it.
        func end() {
            unconfigure()
            leaveConnection()
            (exchange, connection) = (nil, Connection())
            (hasNoDescriptor, hasAllowedAddress, connectionsMade, isUnprocessed) = (false, nil, 0, true)
            let unused = takeSocket()
            if unused >= 0 { Glibc.close(unused) }
            unsafe handle.reasonBuffer.pointee = 0
        }

        /// Resumes both directions of a transfer. libcurl pauses a direction again if it cannot continue.
        func resume() -> CInt { unsafe curl_easy_pause(easy, 0) }
    }

    extension CurlCarrier {
        /// Sets the options for one transfer. Returns false if the installed libcurl rejects one.
        ///
        /// libcurl keeps the addresses of the header lines and of a small body in the plan. The plan lives as long as
        /// the transfer, and ``unconfigure()`` removes them.
        func configure(for plan: CurlPlan) -> Bool {
            var options = unsafe CurlOptions(easy)
            if settings.isOpening != plan.isDirect {
                settings.isOpening = plan.isDirect
                options.set(.connectOnly, plan.isDirect ? 1 : 0)
            }
            options.set(.connectTimeoutMilliseconds, plan.connectTimeout)
            configureConnection(for: plan, &options)
            guard configurePins(for: plan) else { return false }
            guard !plan.isDirect else { return unsafe options.areAccepted && setAddress(plan.origin, nil) }
            unsafe options.set(.httpHeader, UnsafeRawPointer(plan.headerLines))
            configureMethod(for: plan, &options)
            configureBuffer(&options)
            return options.areAccepted && configureAddress(for: plan)
        }

        private func configureAddress(for plan: CurlPlan) -> Bool {
            let target = unsafe target(of: plan)
            guard unsafe lh_curl_set_string(easy, .requestTarget, target) == 0 else { return false }
            // If the request target is set, libcurl needs only the origin of the URL.
            guard unsafe target != nil else { return unsafe setAddress(plan.url, nil) }
            if let origin = settings.origin, origin.text == plan.origin { return true }
            let last = loop.lastOrigin.flatMap { $0.text == plan.origin ? $0 : nil }
            guard let origin = last ?? CurlOrigin(plan.origin) else { return unsafe setAddress(plan.url, nil) }
            loop.lastOrigin = origin
            return unsafe setAddress(origin.text, origin)
        }

        private func setAddress(_ url: UnsafePointer<CChar>, _ origin: CurlOrigin?) -> Bool {
            settings.origin = origin
            let parsed = unsafe origin.map { unsafe UnsafeRawPointer($0.parsed) }
            return unsafe lh_curl_set_pointer(easy, .parsedAddress, parsed) == 0
                && lh_curl_set_string(easy, .address, url) == 0
        }

        private func configureConnection(for plan: CurlPlan, _ options: inout CurlOptions) {
            let isSeparate = plan.httpVersion == .http2 && !CurlQuirks.reusesHTTP2WithoutTLS
            if settings.httpVersion != plan.httpVersion {
                settings.httpVersion = plan.httpVersion
                // The value for HTTP/1.1 allows no other version. With a value that also allows HTTP/2, libcurl would
                // multiplex requests if a status line claims HTTP/2.
                options.set(.httpVersion, plan.httpVersion.rawValue)
                options.set(.forbidReuse, isSeparate ? 1 : 0)
                if CurlQuirks.logsStreams, plan.httpVersion == .http2OverTLS { options.note(observeStreams()) }
            }
            let isKnownExclusive = exchange?.lane?.isKnownExclusive == true
            let isHidden = plan.httpVersion == .http2 && CurlQuirks.hidesPriorKnowledge
            let waits = plan.mayShareConnections && !isKnownExclusive && !isHidden
            if settings.waits != waits {
                settings.waits = waits
                options.set(.pipeWait, waits ? 1 : 0)
            }
            let isFresh = isSeparate || exchange?.progress.needsNewConnection == true
            if settings.isFresh != isFresh {
                settings.isFresh = isFresh
                options.set(.freshConnect, isFresh ? 1 : 0)
            }
        }

        /// Sets the size of the receive buffer: large for a streamed body, to read it in larger pieces, and small for a
        /// buffered response, to save memory.
        private func configureBuffer(_ options: inout CurlOptions) {
            let isStreamed = exchange?.pipe != nil
            guard settings.isStreamed != isStreamed else { return }
            settings.isStreamed = isStreamed
            options.set(.bufferSize, isStreamed ? Self.largeBuffer : Self.standardBuffer)
        }

        private func configureMethod(for plan: CurlPlan, _ options: inout CurlOptions) {
            let isGet = if case .none = plan.content { plan.method == .get } else { false }
            if isGet, settings.isGet { return }
            settings.isGet = isGet
            options.set(.httpGet, 1)
            // libcurl asks for pieces of this size, the same as for files.
            let isPulled = if case .pulled = plan.content { true } else { false }
            options.set(.uploadBufferSize, isPulled ? Self.largeBuffer : Self.uploadBuffer)
            switch plan.content {
            case .none: if plan.method == .head { options.set(.noBody, 1) }
            case .copied(let count):
                options.set(.post, 1)
                unsafe options.set(.postFields, plan.copiedBody)
                options.set(.postFieldSize, length: count)
            case .held(let data):
                options.set(.upload, 1)
                options.set(.uploadSize, length: data.count)
            case .pulled(let source):
                options.set(.upload, 1)
                options.set(.uploadSize, length: source.length ?? -1)
            }
            options.note(unsafe lh_curl_set_string(easy, .customRequest, plan.methodName))
        }

        private func target(of plan: CurlPlan) -> UnsafePointer<CChar>? {
            switch plan.isSecure ? .path : loop.plainTarget {
            case .path: unsafe plan.target
            case .url: unsafe plan.absoluteTarget
            case .libcurls: nil
            }
        }

        /// Removes the pointers to memory of the transfer from the handle.
        func unconfigure() {
            _ = unsafe lh_curl_set_pointer(easy, .httpHeader, nil)
            if !settings.isGet { _ = unsafe lh_curl_set_pointer(easy, .postFields, nil) }
        }

        /// The buffer sizes in bytes. The first two are the defaults of libcurl for receiving and for sending.
        private static let (standardBuffer, uploadBuffer, largeBuffer) = (16 << 10, 64 << 10, 256 << 10)
    }

    /// The TLS session of a connection. Its address identifies it until the connection is closed, and only the thread
    /// that uses the connection reads it.
    @safe struct TLSSession: Hashable {
        let address: UnsafeRawPointer

        static func == (left: Self, right: Self) -> Bool { unsafe left.address == right.address }

        func hash(into hasher: inout Hasher) { unsafe hasher.combine(address) }
    }

    /// The URL of a request up to its path. libcurl parses it once, because most requests of a handle have the same
    /// origin as the previous request.
    ///
    /// This object owns the parsed URL.
    @safe final class CurlOrigin {
        let parsed: OpaquePointer
        let text: String

        /// Parses an origin. Returns nil if libcurl cannot parse it.
        init?(_ text: String) {
            guard let parsed = unsafe curl_url() else { return nil }
            unsafe self.parsed = parsed
            self.text = text
            guard unsafe curl_url_set(parsed, Self.wholeURL, text, Self.noUsername) == 0 else { return nil }
        }

        deinit { unsafe curl_url_cleanup(parsed) }

        private static let wholeURL: CInt = 0
        private static let noUsername: CUnsignedInt = 1 << 5
    }
#endif
