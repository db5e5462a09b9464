// SPDX-License-Identifier: MIT
#if os(Linux)
    import CLibcurl
    import LetterheadFoundation

    extension CurlCarrier {
        /// Called before libcurl sends the request, for the first time or again. Returns false to prevent that.
        ///
        /// libcurl sends nothing again without this call, so its retries have an end:
        /// - It replaces a connection that has ended before the response up to five times (CONN_MAX_RETRIES).
        /// - It follows a response only if that is 417, without end if the caller has set `Expect`, and never from
        ///   here. Redirects, authentication at a server and `Alt-Svc` are off. At a proxy, it tries Basic, once.
        /// - It tries each address of a host once, within `connectTimeout`, and HTTP/1.1 once after HTTP_1_1_REQUIRED,
        ///   also if that ends a response.
        /// - Interim responses count toward `maximumHeadSize`.
        ///
        /// - Parameter localPort: the port of the connection, or 0 or less without one.
        func willSend(from localPort: CInt) -> Bool {
            guard let exchange else { return false }
            if settings.isOpening {
                guard exchange.plan.isSecure else {
                    keepSocket(localPort)
                    return true
                }
                connection.tlsSession = tlsSession.session
                return passesChecks(of: exchange)
            }
            guard !exchange.progress.hasHead else {
                guard exchange.progress.rules.status == 417 else {
                    exchange.progress.failure = CurlResult.streamEnded.failure(reason: "", wasSent: true)
                    return false
                }
                // libcurl discards the body of such a response. The loader sends the request again, or this is the
                // error.
                exchange.progress.isAnsweredEarly = exchange.request.mayOmitExpectation
                if !exchange.progress.isAnsweredEarly { exchange.progress.failure = .refusedExpectation }
                return false
            }
            let isAgain = exchange.wasSent
            exchange.progress.lastActivity = loop.now
            exchange.progress.timesSent += 1
            exchange.lane?.lastBegun = loop.now
            loop.note(exchange.deadline(on: loop))
            // If the previous connection was opened for this request and not shared, libcurl sends again only because
            // the server refused the stream.
            let last = connection
            let isExplained = unsafe self.isExplained && handle.reasonBuffer.pointee == 0
            let wasRefused =
                exchange.progress.isMultiplexed && (last.isNew && !last.isShared || last.isLeftOut || isExplained)
            if isAgain, !wasRefused { isUnprocessed = false }
            let connectionsMade = number(.connectionsMade)
            leaveConnection()
            connection = Connection()
            connection.isNew = connectionsMade > self.connectionsMade
            self.connectionsMade = connectionsMade
            guard mayUseConnection(for: exchange), passesChecks(of: exchange) else { return false }
            exchange.progress.isConnecting = false
            return !isAgain
                || exchange.maySendAgain(
                    wasRefused: wasRefused, isRefused: wasRefused && exchange.progress.isMultiplexed)
        }

        /// Duplicates the connected socket. libcurl may close its own as soon as this handle has finished: to open a
        /// different connection to the same host, or because the server has closed it.
        private func keepSocket(_ localPort: CInt) {
            // A different address was perhaps tried before. A Unix socket has no port.
            let socket = opened.last { localPort <= 0 || Self.localPort(of: $0) == localPort }
            let earlier = takeSocket()
            if earlier >= 0 { Glibc.close(earlier) }
            connected = socket.map { fcntl($0, F_DUPFD_CLOEXEC, 0) } ?? CurlLoop.noSocket
        }

        /// Returns the local port of a socket, or nil if it has no address.
        private static func localPort(of socket: CInt) -> CInt? {
            var address = sockaddr_storage()
            return unsafe withUnsafeMutableBytes(of: &address) { bytes in
                var size = socklen_t(bytes.count)
                let place = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
                guard unsafe getsockname(socket, place, &size) == 0 else { return nil }
                // IPv4 and IPv6 have the port at the same place, in network byte order.
                return unsafe CInt(bytes[2]) << 8 | CInt(bytes[3])
            }
        }

        /// Returns the connected socket of a direct connection, which the caller then owns, or a negative number.
        func takeSocket() -> CInt {
            let socket = connected
            (opened, connected) = ([], CurlLoop.noSocket)
            return socket
        }

        /// Whether libcurl sends the request on the connection again without an error text only if the server has
        /// refused it.
        var isExplained: Bool {
            CurlQuirks.explainsRepetitions && exchange?.progress.isMultiplexed == true && connection.tlsSession != nil
        }

        /// Reads the protocol that TLS negotiated. Returns false if the connection isn't HTTP/2 and a different
        /// transfer uses it. Otherwise, each of them could receive the response to the other.
        ///
        /// libcurl chooses such a connection if a status line claims HTTP/2 on it. Version 7.88 does so, too, if the
        /// last connection to the origin has negotiated HTTP/2, as when the servers behind an address differ.
        ///
        /// It is enough to know the last user of each connection. A connection that isn't HTTP/2 has at most one user.
        /// On an HTTP/2 connection, the transfer that opened it is the last user when the second transfer joins.
        private func mayUseConnection(for exchange: Exchange) -> Bool {
            let plan = exchange.plan
            let (session, isMultiplexed) = plan.isSecure ? tlsSession : (nil, false)
            connection.tlsSession = session
            exchange.progress.isMultiplexed =
                session == nil ? plan.httpVersion.isMultiplexedWithoutSession : isMultiplexed
            // Without a session, it isn't known which transfers use the connection.
            connection.isShared = session == nil
            if session != nil || exchange.progress.isMultiplexed && plan.mayShareConnections, let lane = exchange.lane {
                loop.note(isExclusive: !exchange.progress.isMultiplexed, in: lane)
            }
            guard let session else { return true }
            if let other = loop.lastUsers[session], other.uses(session) {
                (connection.isShared, other.connection.isShared) = (true, true)
                guard isMultiplexed else {
                    exchange.progress.isMisplaced = exchange.progress.timesSent == 1
                    exchange.progress.failure = TransportFailure(
                        .connectionLost,
                        "libcurl chose an HTTP/1.1 connection that is in use, so the request was not sent on it",
                        mayHaveBeenSent: exchange.progress.timesSent > 1)
                    return false
                }
            }
            loop.lastUsers[session] = self
            return true
        }

        /// Records the stream of the transfer, or which transfers a GOAWAY on its connection has left out (RFC 9113,
        /// 6.8).
        func note(stream: UInt32, isGoAway: Bool) {
            guard isGoAway else { return connection.stream = stream }
            guard let session = tlsSession.session else { return }
            for case let other? in loop.active.map(\.carrier)
            where other.connection.stream > stream && other.uses(session) {
                other.connection.isLeftOut = true
            }
        }

        func leaveConnection() {
            if let session = connection.tlsSession, loop.lastUsers[session] === self {
                loop.lastUsers[session] = nil
            }
        }

        /// Returns whether the transfer uses the connection with a TLS session. A transfer that has ended is detached
        /// from it.
        func uses(_ session: TLSSession) -> Bool {
            connection.tlsSession == session && tlsSession.session == session
        }

        /// Records an alert on a TLS session, if the transfer has used the session last or is connecting with it. An
        /// alert during a handshake may come from a proxy over TLS instead of the server, and is then not recorded.
        func note(alert: CInt, of session: TLSSession) {
            let isConnecting = exchange?.wasSent == false && !loop.configuration.proxy.mayBeSecure
            guard connection.tlsSession == session || isConnecting && tlsSession.session == session else {
                return
            }
            connection.alert = alert
        }

        /// Whether the transfer waits in libcurl for a connection that a different transfer opens.
        var isFollowing: Bool {
            guard let exchange, !exchange.progress.isConnecting else { return false }
            return !exchange.wasSent || connection.tlsSession != nil && tlsSession.session == nil
        }

        var tlsSession: (session: TLSSession?, isMultiplexed: Bool) {
            var session: UnsafeRawPointer?
            let isMultiplexed = unsafe lh_curl_is_multiplexed(easy, &session) != 0
            return unsafe (session.map(TLSSession.init), isMultiplexed)
        }
    }

    extension CurlCarrier {
        func setCallbacks(_ options: inout CurlOptions) {
            let context = unsafe Unmanaged.passUnretained(self).toOpaque()
            unsafe options.set(.private, UnsafeRawPointer(context))
            options.note(unsafe lh_curl_set_write(easy, onBody, context))
            options.note(unsafe lh_curl_set_header(easy, onLine, context))
            options.note(unsafe lh_curl_set_read(easy, onRead, context))
            options.note(unsafe lh_curl_set_seek(easy, onSeek, context))
            options.note(unsafe lh_curl_set_open_socket(easy, onOpenSocket, context))
            options.note(unsafe lh_curl_set_resolver_start(easy, onResolverStart, context))
            options.note(unsafe lh_curl_set_prerequest(easy, onPrerequest, context))
            options.note(
                unsafe lh_curl_set_close_socket(easy, CurlLoop.onCloseSocket, Unmanaged.passUnretained(loop).toOpaque())
            )
        }

        func observeStreams() -> CInt {
            unsafe lh_curl_observe_streams(easy, onStream, Unmanaged.passUnretained(self).toOpaque())
        }

        static func carrier(of easy: OpaquePointer) -> CurlCarrier? {
            var context: UnsafePointer<CChar>?
            guard unsafe lh_curl_get_string(easy, .private, &context) == 0 else { return nil }
            return unsafe context.map { unsafe Unmanaged<CurlCarrier>.fromOpaque($0).takeUnretainedValue() }
        }

        /// Calls a closure with the carrier that libcurl passes to a callback. The loop retains the carrier during the
        /// call.
        static func with<Result>(_ context: UnsafeMutableRawPointer?, _ work: (CurlCarrier) -> Result?) -> Result? {
            unsafe context.flatMap { unsafe Unmanaged<CurlCarrier>.fromOpaque($0)._withUnsafeGuaranteedRef(work) }
        }
    }

    // The memory and addresses that libcurl passes are valid until a callback returns.

    private let onBody: LHCurlWrite = { bytes, size, count, context in
        let bytes = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
        let arrival = unsafe CurlCarrier.with(context) { carrier in
            unsafe carrier.exchange?.received(body: bytes, on: carrier.loop)
        }
        return switch arrival ?? .refused {
        case .taken: bytes.count
        case .paused: Int(CURL_WRITE_PAUSE)
        case .refused: 0
        }
    }

    private let onLine: LHCurlWrite = { bytes, size, count, context in
        let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
        let isAccepted = unsafe CurlCarrier.with(context) { carrier in
            unsafe carrier.exchange?.received(line: line, on: carrier.loop)
        }
        // A result other than the number of bytes ends the transfer. Every line has at least one byte, so 0 always ends
        // it.
        return isAccepted == true ? line.count : 0
    }

    private let onRead: LHCurlRead = { bytes, size, count, context in
        let buffer = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
        let step = unsafe CurlCarrier.with(context) { carrier in
            unsafe carrier.exchange?.fill(buffer, at: carrier.loop.now)
        }
        return switch step {
        case .bytes(let count): count
        case .end: 0
        case .wait: Int(CURL_READ_PAUSE)
        case .failed, nil: Int(CURL_READ_ABORT)
        }
    }

    private let onSeek: LHCurlSeek = { context, offset, origin in
        let isFromStart = origin == 0
        let isDone = unsafe CurlCarrier.with(context) { $0.exchange?.rewind(to: Int(offset)) }
        return isFromStart && isDone == true ? 0 : 1
    }

    private let onResolverStart: LHCurlResolverStart = { _, _, context in
        unsafe CurlCarrier.with(context) { $0.exchange?.noteConnecting(on: $0.loop) }
        return 0
    }

    private let onOpenSocket: LHCurlOpenSocket = { context, _, address in
        let mayConnect = unsafe CurlCarrier.with(context) { carrier in
            carrier.exchange?.noteConnecting(on: carrier.loop)
            return unsafe carrier.mayConnect(to: IPAddress(address))
        }
        guard mayConnect == true else { return CurlLoop.noSocket }
        // Programs that this process starts don't inherit the socket.
        let closing = CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = unsafe socket(address.pointee.family, address.pointee.kind | closing, address.pointee.protocol)
        if descriptor >= 0 {
            unsafe CurlCarrier.with(context) { if $0.settings.isOpening { $0.opened.append(descriptor) } }
        }
        let isExhausted = descriptor < 0 && (errno == EMFILE || errno == ENFILE)
        if isExhausted { unsafe CurlCarrier.with(context) { $0.hasNoDescriptor = true } }
        return descriptor
    }

    private let onStream: LHCurlStream = { context, stream, isGoAway in
        unsafe CurlCarrier.with(context) { $0.note(stream: stream, isGoAway: isGoAway != 0) }
    }

    private let onPrerequest: LHCurlPrerequest = { context, address, _, _, localPort in
        let maySend = unsafe CurlCarrier.with(context) { carrier in
            unsafe carrier.maySend(to: address) && carrier.willSend(from: localPort)
        }
        return maySend == true ? 0 : 1
    }

    extension IPAddress {
        /// Creates the address that libcurl is about to connect to. Returns nil if it isn't an IP address.
        fileprivate init?(_ address: UnsafePointer<LHCurlAddress>) {
            var count = 0
            let bytes = unsafe lh_curl_get_ip_address(address, &count)
            unsafe self.init(bytes: UnsafeBufferPointer(start: bytes, count: count))
        }
    }
#endif
