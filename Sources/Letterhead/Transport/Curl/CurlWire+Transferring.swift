// SPDX-License-Identifier: MIT
#if os(Linux)
    import CLibcurl
    import LetterheadFoundation

    extension CurlWire {
        /// Called before libcurl sends the request, for the first time or again. Returns false to prevent that.
        ///
        /// libcurl sends nothing again without this call, so its retries have an end:
        /// - It replaces a connection that has ended before the response up to five times (CONN_MAX_RETRIES).
        /// - It follows a response only if that is 417, without end if the caller has set `Expect`, and never from
        ///   here. Redirects, authentication at a server and `Alt-Svc` are off. At a proxy, it tries Basic, once.
        /// - It tries each of a host's addresses once, within `connectTimeout`, and HTTP/1.1 once after
        ///   HTTP_1_1_REQUIRED.
        /// - Interim responses count toward `maximumHeadSize`.
        func willSend() -> Bool {
            guard !progress.hasHead else {
                // libcurl discards the body of such a response. The loader sends the request again, or this is the
                // error.
                progress.isAnsweredEarly = transfer?.request.mayOmitExpectation == true
                if !progress.isAnsweredEarly {
                    progress.failure = TransportFailure(
                        .invalidResponse, "the server refuses Expect, and the request can be sent only once")
                }
                return false
            }
            progress.lastActivity = loop.now
            progress.timesSent += 1
            loop.note(deadline)
            // If the previous connection was opened for this request and not shared, libcurl sends again only because
            // the server refused the stream.
            let last = progress.connection
            let isExplained = unsafe last.isExplained && handle.reasonBuffer.pointee == 0
            let wasRefused = last.isMultiplexed && (last.isNew && !last.isShared || last.isLeftOut || isExplained)
            if progress.timesSent > 1, !wasRefused { progress.isUnprocessed = false }
            let connectionsMade = number(.connectionsMade)
            leaveConnection()
            progress.connection = Connection()
            progress.connection.isNew = connectionsMade > progress.connectionsMade
            progress.connectionsMade = connectionsMade
            guard mayUseConnection(), passesChecks() else { return false }
            progress.isConnecting = false
            return progress.timesSent == 1 || maySendAgain(wasRefused: wasRefused)
        }

        /// Returns whether the request may be sent a second time, on another connection. libcurl tries this if a reused
        /// connection ended before the response began, or if the server refused an HTTP/2 stream.
        ///
        /// - Parameter wasRefused: whether the server refused the stream. If it did not ask for HTTP/1.1, it certainly
        ///   did not process the request (RFC 9113, 8.7).
        private func maySendAgain(wasRefused: Bool) -> Bool {
            guard let plan = transfer?.plan else { return false }
            let isRefused = wasRefused && progress.connection.isMultiplexed
            let event = "the server closed a reused connection while the request was being sent"
            if !plan.method.isIdempotent, !isRefused {
                progress.failure = TransportFailure(
                    .connectionLost,
                    "\(event), and the transport sends \(plan.method) only once (use idempotent() and retry(…) if "
                        + "it may be sent twice)")
            } else if !rewind(to: 0) {
                // Body bytes that libcurl has read but not sent are lost, and libcurl requests a rewind only for bytes
                // that it had sent. The body is therefore always rewound here.
                progress.failure = TransportFailure(
                    .connectionLost, "\(event), and the body can be sent only once", mayHaveBeenSent: !isRefused)
            } else if !wasRefused, transfer?.request.isSignedOnce == true {
                progress.failure = TransportFailure(
                    .signatureSpent, "\(event), and the request's signature can be used only once")
            }
            return progress.failure == nil
        }

        /// Reads the protocol that TLS negotiated. Returns false if the connection isn't HTTP/2 and another transfer
        /// uses it. Otherwise, each could receive the other's response.
        ///
        /// It is enough to know each connection's last user. A connection that isn't HTTP/2 has at most one. On an
        /// HTTP/2 connection, the transfer that opened it is the last user when the second transfer joins.
        private func mayUseConnection() -> Bool {
            guard let plan = transfer?.plan else { return true }
            let (session, isMultiplexed) = plan.isSecure ? tlsSession : (nil, false)
            progress.connection.tlsSession = session
            progress.connection.isMultiplexed =
                session == nil ? plan.httpVersion.isMultiplexedWithoutSession : isMultiplexed
            // Without a session, it isn't known which transfers use the connection.
            progress.connection.isShared = session == nil
            guard let session else { return true }
            if let lane { loop.queue.note(isExclusive: !isMultiplexed, in: lane) }
            if let other = loop.lastUsers[session], other.uses(session) {
                (progress.connection.isShared, other.progress.connection.isShared) = (true, true)
                guard isMultiplexed else {
                    progress.failure = TransportFailure(
                        .connectionLost,
                        "the server claimed HTTP/2 on an HTTP/1.1 connection, so the request was not sent on it",
                        mayHaveBeenSent: progress.timesSent > 1)
                    return false
                }
            }
            loop.lastUsers[session] = self
            return true
        }

        /// Records the transfer's stream, or which transfers a GOAWAY on its connection has left out (RFC 9113, 6.8).
        func note(stream: UInt32, isGoAway: Bool) {
            guard isGoAway else { return progress.connection.stream = stream }
            guard let session = tlsSession.session else { return }
            for wire in loop.active where wire.progress.connection.stream > stream && wire.uses(session) {
                wire.progress.connection.isLeftOut = true
            }
        }

        func leaveConnection() {
            if let session = progress.connection.tlsSession, loop.lastUsers[session] === self {
                loop.lastUsers[session] = nil
            }
        }

        /// Returns whether the transfer uses a TLS session's connection. A transfer that has ended is detached from it.
        func uses(_ session: TLSSession) -> Bool {
            progress.connection.tlsSession == session && tlsSession.session == session
        }

        /// Records a TLS session's alert, if the transfer has used the session last or is connecting with it. An alert
        /// during a handshake may come from a proxy over TLS instead of the server, and is then not recorded.
        func note(alert: CInt, of session: TLSSession) {
            let isConnecting = progress.timesSent == 0 && !loop.configuration.proxy.mayBeSecure
            guard progress.connection.tlsSession == session || isConnecting && tlsSession.session == session else {
                return
            }
            progress.connection.alert = alert
        }

        /// Whether the transfer waits in libcurl for a connection that another transfer opens.
        var isFollowing: Bool {
            guard !isWaiting, !progress.isConnecting else { return false }
            return progress.timesSent == 0 || progress.connection.tlsSession != nil && tlsSession.session == nil
        }

        var tlsSession: (session: TLSSession?, isMultiplexed: Bool) {
            var session: UnsafeRawPointer?
            let isMultiplexed = unsafe lh_curl_is_multiplexed(easy, &session) != 0
            return unsafe (session.map(TLSSession.init), isMultiplexed)
        }

        /// Copies the next bytes of the request's body. Returns their number, 0 at the body's end, CURL_READ_PAUSE if
        /// no bytes are available yet, or CURL_READ_ABORT without a body or after it has failed.
        func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
            progress.lastActivity = loop.now
            switch transfer?.plan.content {
            case .held(let data):
                let count = min(buffer.count, data.count - progress.sentBytes)
                guard count > 0 else { return 0 }
                let start = data.startIndex + progress.sentBytes
                unsafe data.copyBytes(to: buffer, from: start..<(start + count))
                progress.sentBytes += count
                return count
            case .pulled(let source):
                switch unsafe source.read(into: buffer) {
                case .bytes(let count): return count
                case .end: return 0
                case .wait:
                    progress.isSendPaused = true
                    return Int(CURL_READ_PAUSE)
                case .failed(let error):
                    progress.failure = .ofBody(error)
                    return Int(CURL_READ_ABORT)
                }
            case .none?, .copied?, nil: return Int(CURL_READ_ABORT)
            }
        }

        /// Moves the request's body back to an offset. Returns false if that isn't possible.
        func rewind(to offset: Int) -> Bool {
            switch transfer?.plan.content {
            case .held(let data):
                guard (0...data.count).contains(offset) else { return false }
                progress.sentBytes = offset
                return true
            case .pulled(let source): return offset == 0 && source.rewind(onMore: onMore)
            case .none?, .copied?: return offset == 0
            case nil: return false
            }
        }

        /// A closure that resumes the transfer when more bytes are available. It refers to the transfer weakly, so that
        /// a body that never ends doesn't keep the transfer alive.
        var onMore: @Sendable () -> Void {
            { [weak transfer] in transfer?.resume() }
        }

        var bodyFailure: TransportFailure? {
            guard case .pulled(let source) = transfer?.plan.content, let error = source.failure else { return nil }
            return .ofBody(error)
        }
    }

    extension CurlWire {
        /// Processes a line in the head or in the trailers. Returns false to end the transfer.
        func received(line: UnsafeRawBufferPointer) -> Bool {
            progress.lastActivity = loop.now
            progress.hasAnswer = true
            progress.headBytes += line.count
            guard progress.failure == nil else { return false }
            let limit = loop.configuration.maximumHeadSize
            guard progress.headBytes <= limit else {
                progress.failure = TransportFailure(
                    .responseTooLarge,
                    "the response's head is larger than the \(limit) bytes allowed (see maximumHeadSize)")
                return false
            }
            guard unsafe line.isBlankLine else {
                if !progress.hasHead {
                    guard unsafe lines.isEmpty ? begins(with: line) : noteField(line) else { return false }
                }
                if lines.isEmpty { lines.reserveCapacity(CurlTransfer.usualHeadSize) }
                unsafe lines.append(contentsOf: line)
                return true
            }
            if progress.hasHead { return true }
            defer { lines.removeAll(keepingCapacity: true) }
            if progress.isInterim {
                noteInterim()
                return true
            }
            guard let transfer, accept(unless: progress.framing.fault) else { return false }
            progress.hasHead = true
            // A streamed body is read at the reader's pace, so the attempt's timeout doesn't apply to it.
            if transfer.request.isOpenEnded(after: HTTPStatus(progress.status)) {
                progress.attemptDeadline = .max
            }
            transfer.reply.head.append(contentsOf: lines)
            noteHead()
            if transfer.pipe != nil { transfer.complete(.success) }
            return !isAnsweredEarly()
        }

        /// Processes a status line. Returns false if it is malformed, or if it claims another protocol than the
        /// connection's.
        ///
        /// libcurl would believe the claim, and send other requests on an HTTP/1.1 connection before this response has
        /// ended. Callers would then receive each other's responses.
        private func begins(with line: UnsafeRawBufferPointer) -> Bool {
            progress.status = unsafe ResponseHead.statusCode(of: line) ?? 0
            // Another head follows a 1xx response, except 101 (RFC 9110, 15.2).
            progress.isInterim = (100...199).contains(progress.status) && progress.status != 101
            (progress.isCoded, progress.framing, progress.hasField) = (false, ResponseFraming(), false)
            let fault: String? =
                if unsafe line.claimsHTTP2 != progress.connection.isMultiplexed {
                    progress.connection.isMultiplexed
                        ? "the status line does not belong to HTTP/2 or HTTP/3, which the connection uses"
                        : "the status line claims HTTP/2 on an HTTP/1.1 connection"
                } else {
                    progress.status == 0 ? "the status line is malformed" : nil
                }
            return accept(unless: fault)
        }

        /// Returns whether `fault` is nil. Otherwise, the fault becomes the transfer's failure, and libcurl closes the
        /// connection.
        private func accept(unless fault: String?) -> Bool {
            if let fault { progress.failure = TransportFailure(.invalidResponse, fault) }
            return fault == nil
        }

        /// Processes a line after the status line. Returns false if the first such line is folded, because it has no
        /// field to continue.
        private func noteField(_ line: UnsafeRawBufferPointer) -> Bool {
            // The names of most other fields begin with a different letter.
            switch unsafe ASCII.lowercased(line[0]) {
            case UInt8(ascii: "c"):
                if unsafe line.value(of: "content-encoding:") != nil { progress.isCoded = true }
                if let length = unsafe line.value(of: "content-length:") { unsafe progress.framing.noteLength(length) }
            case UInt8(ascii: "t"):
                if unsafe line.value(of: "transfer-encoding:") != nil { progress.framing.noteTransferCoding() }
            case 0x20 where !progress.hasField, 0x09 where !progress.hasField:
                return accept(unless: "the first header line is folded")
            default: break
            }
            progress.hasField = true
            return true
        }

        /// Processes bytes of the body. Returns the number of accepted bytes, CURL_WRITE_PAUSE if the buffer is full or
        /// the loop must first look at the clock, or 0 to end the transfer.
        func received(body bytes: UnsafeRawBufferPointer) -> Int {
            progress.lastActivity = loop.now
            guard let transfer, progress.failure == nil else { return 0 }
            guard loop.mayReceive() else {
                progress.isReceivePaused = true
                transfer.resume()
                return Int(CURL_WRITE_PAUSE)
            }
            if let pipe = transfer.pipe {
                loop.noteUnread(pipe)
                switch unsafe pipe.write(bytes) {
                case .taken: break
                case .refused:
                    progress.isReceivePaused = true
                    return Int(CURL_WRITE_PAUSE)
                case .noMemory: progress.failure = .noMemory
                case .cancelled: progress.failure = .cancelled
                }
            } else if transfer.reply.body.count + bytes.count > transfer.wireLimit(isCoded: progress.isCoded) {
                progress.failure = TransportFailure(
                    .responseTooLarge,
                    "the body is larger than the \(transfer.limit) bytes allowed (see responseLimit)")
            } else if unsafe !transfer.reply.body.append(bytes) {
                progress.failure = .noMemory
            }
            guard progress.failure == nil else { return 0 }
            progress.receivedBytes += bytes.count
            return isAnsweredEarly() ? 0 : bytes.count
        }

        /// Returns whether the server has sent its complete HTTP/2 response and won't read the remaining request body.
        /// libcurl would wait forever until the body is sent. The transfer therefore ends: its stream is closed, and
        /// its connection stays open.
        private func isAnsweredEarly() -> Bool {
            guard isSending, progress.connection.isMultiplexed, let transfer else { return false }
            let length = offset(.contentLength) ?? -1
            progress.isAnsweredEarly =
                length >= 0 && progress.receivedBytes >= length
                || (try? ResponseHead(transfer.reply.head))?.bodyLength(of: transfer.plan.method) == 0
            return progress.isAnsweredEarly
        }

        var isSending: Bool {
            guard !progress.hasNoBody, let sent = offset(.uploaded) else { return false }
            return switch transfer?.plan.content {
            case .none?, nil: false
            case .copied(let count): sent < count
            case .held(let data): sent < data.count
            case .pulled(let source): source.length.map { sent < $0 } ?? !source.isSpent(by: sent)
            }
        }
    }

    extension CurlWire {
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

        static func carried(by easy: OpaquePointer) -> CurlWire? {
            var context: UnsafePointer<CChar>?
            guard unsafe lh_curl_get_string(easy, .private, &context) == 0 else { return nil }
            return unsafe context.map { unsafe Unmanaged<CurlWire>.fromOpaque($0).takeUnretainedValue() }
        }

        /// Calls a closure with a callback's object. The loop retains the object during the call.
        static func with<Result>(_ context: UnsafeMutableRawPointer?, _ work: (CurlWire) -> Result) -> Result? {
            unsafe context.map { unsafe Unmanaged<CurlWire>.fromOpaque($0)._withUnsafeGuaranteedRef(work) }
        }
    }

    // libcurl's memory and addresses live until a callback returns.

    private let onBody: LHCurlWrite = { bytes, size, count, context in
        let bytes = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
        return unsafe CurlWire.with(context) { unsafe $0.received(body: bytes) } ?? 0
    }

    private let onLine: LHCurlWrite = { bytes, size, count, context in
        let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
        // A result other than the number of bytes ends the transfer. Every line has at least one byte, so 0 always ends
        // it.
        return unsafe CurlWire.with(context) { unsafe $0.received(line: line) } == true ? line.count : 0
    }

    private let onRead: LHCurlRead = { bytes, size, count, context in
        let buffer = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
        return unsafe CurlWire.with(context) { unsafe $0.fill(buffer) } ?? Int(CURL_READ_ABORT)
    }

    private let onSeek: LHCurlSeek = { context, offset, origin in
        let isFromStart = origin == 0
        return unsafe isFromStart && CurlWire.with(context) { $0.rewind(to: Int(offset)) } == true ? 0 : 1
    }

    private let onResolverStart: LHCurlResolverStart = { _, _, context in
        unsafe CurlWire.with(context) { $0.progress.isConnecting = true }
        return 0
    }

    private let onOpenSocket: LHCurlOpenSocket = { context, _, address in
        unsafe CurlWire.with(context) { $0.progress.isConnecting = true }
        // Programs that this process starts don't inherit the socket.
        let closing = CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = unsafe socket(address.pointee.family, address.pointee.kind | closing, address.pointee.protocol)
        let isExhausted = descriptor < 0 && (errno == EMFILE || errno == ENFILE)
        if isExhausted { unsafe CurlWire.with(context) { $0.hasNoDescriptor = true } }
        return descriptor
    }

    private let onStream: LHCurlStream = { context, stream, isGoAway in
        unsafe CurlWire.with(context) { $0.note(stream: stream, isGoAway: isGoAway != 0) }
    }

    private let onPrerequest: LHCurlPrerequest = { context, _, _, _, _ in
        unsafe CurlWire.with(context) { $0.willSend() } == true ? 0 : 1
    }
#endif
