// SPDX-License-Identifier: MIT
#if os(Linux)
    import CLibcurl
    import LetterheadFoundation

    /// Carries transfers over one HTTP/1.1 connection, one after the other: the direct carrier.
    ///
    /// libcurl has opened the connection: it has resolved the name, passed a SOCKS proxy, and verified the server. Only
    /// the thread of its ``CurlLoop`` uses this object. Without TLS, it owns the socket until ``close()``.
    @safe final class DirectConnection {
        /// The part of a request that is sent next.
        private enum Sending {
            case head
            /// The body, after the server has responded to `Expect: 100-continue` or a time has passed.
            case bodyAfterConsent
            case body, lastChunk, nothing
        }

        /// What libcurl knows about the connection that it has opened.
        struct Opening {
            let (nameLookup, connect, secureConnect): (Duration, Duration, Duration)
            let address: String?
            let tlsSession: TLSSession?
        }

        let descriptor: CInt
        /// Sends and receives over TLS, where libcurl owns the socket. Nil without TLS.
        let carrier: CurlCarrier?
        /// The queue of the origin, which also keeps the connection while it is idle.
        let lane: ConnectionQueue<Exchange>.Lane
        /// After this time, the connection isn't used again.
        private let lastUse: UInt64
        /// When the connection is closed if it stays idle, and since when it has been idle.
        private(set) var (expiry, idleSince) = (UInt64.max, UInt64(0))
        /// When sending continues: the body without the consent of the server, or if TLS waits for the server.
        private(set) var sendDeadline = UInt64.max
        /// How often in a row the socket took more bytes, but TLS sent none.
        @safe @exclusivity(unchecked) private var fruitlessCount = 0
        private let opening: Opening
        /// The loop that owns this object and outlives it.
        @safe unowned(unsafe) private let loop: CurlLoop

        // Exclusivity is unchecked here, because nothing calls back while these properties change.
        /// The current transfer.
        @safe @exclusivity(unchecked) private(set) var exchange: Exchange?
        @safe @exclusivity(unchecked) private var reader: ResponseReader
        @safe @exclusivity(unchecked) private var sending = Sending.nothing
        /// How many transfers have begun, and the bytes and times of the current one.
        @safe @exclusivity(unchecked) private var (uses, sentCount, receivedCount) = (0, 0, 0)
        @safe @exclusivity(unchecked) private var (sentAt, firstByteAt): (UInt64, UInt64) = (0, 0)
        /// A piece of a pulled body with its framing, and the part of it that has not been sent.
        @safe @exclusivity(unchecked) private var piece: [UInt8] = []
        @safe @exclusivity(unchecked) private var unsent = 0..<0
        /// Received bytes that a paused transfer has not taken.
        @safe @exclusivity(unchecked) private var unread: [UInt8] = []
        /// The events that the poller watches, and whether the socket takes no more bytes.
        @safe @exclusivity(unchecked) private var (watched, isBlocked) = (SocketPoller.Readiness(), false)
        /// Whether a part of the request was not sent, and whether that is because sending has failed.
        @safe @exclusivity(unchecked) private var (isCut, hasSendFailed, isReset) = (false, false, false)
        /// The last alert of TLS.
        @safe @exclusivity(unchecked) private var alert: CInt?
        /// Whether the server has just consented to receive the body.
        @safe @exclusivity(unchecked) private var hasConsent = false
        /// Whether the last transfer has ended in such a way that the connection can carry a further request.
        @safe @exclusivity(unchecked) private(set) var isReusable = false
        /// Whether no byte has arrived after the response.
        @safe @exclusivity(unchecked) private var isExact = true
        private(set) var isOpen = true

        init(
            _ descriptor: CInt, _ carrier: CurlCarrier?, _ lane: ConnectionQueue<Exchange>.Lane, _ opening: Opening,
            on loop: CurlLoop
        ) {
            (self.descriptor, self.carrier, self.lane) = (descriptor, carrier, lane)
            (self.opening, self.loop) = (opening, loop)
            lastUse = loop.lastUseOfNewConnection()
            reader = ResponseReader(limit: loop.configuration.maximumHeadSize, isSecure: carrier != nil)
        }

        /// Begins a transfer, and sends as much of its request as possible.
        func begin(_ exchange: Exchange) {
            let isOfHTTP10 = uses > 0 && reader.rules.isHTTP10
            self.exchange = exchange
            exchange.connection = self
            (sending, uses, sentCount, receivedCount, sentAt, firstByteAt) = (.head, uses + 1, 0, 0, 0, 0)
            (isCut, hasSendFailed, isReset, hasConsent, isReusable) = (false, false, false, false, false)
            exchange.progress.isConnecting = false
            reader.begin(isHead: exchange.plan.method == .head)
            if isOfHTTP10, case .pulled(let source) = exchange.plan.content, source.length == nil {
                endTransfer()
                loop.close(self)
                return loop.join(exchange)
            }
            exchange.progress.timesSent += 1
            exchange.progress.lastActivity = loop.now
            loop.note(exchange.deadline(on: loop))
            watch()
            send()
        }

        /// Whether a part of the request has not been sent.
        var isSending: Bool { sending != .nothing }

        /// Whether a further request may be sent now: the connection isn't too old, and the server has neither sent a
        /// byte nor closed it.
        func isUsable() -> Bool {
            guard loop.now < expiry, case .wait = receiveOnce() else { return false }
            return true
        }

        /// Releases the transfer. The connection is idle until the next one.
        func endTransfer() {
            exchange?.connection = nil
            exchange = nil
            (piece, unsent, unread, sending, sendDeadline) = ([], 0..<0, [], .nothing, .max)
            isBlocked = false
            idleSince = loop.now
            let limit = loop.configuration.idleConnectionTimeout?.wholeNanoseconds ?? .max
            expiry = min(lastUse, loop.now.addingUnlessOver(limit))
            if isReusable { watch() }
        }

        func close() {
            isOpen = false
            loop.poller.forget(descriptor)
            if carrier == nil { Glibc.close(descriptor) }
        }

        func note(alert: CInt, of session: TLSSession) { if session == opening.tlsSession { self.alert = alert } }

        /// Acts on the readiness of the socket.
        func act(_ readiness: SocketPoller.Readiness) {
            if readiness.contains(.writing) {
                isBlocked = false
                let before = sentCount
                send()
                guard isOpen else { return }
                pauseIfFruitless(since: before)
                watch()
            }
            guard readiness != .writing else { return }
            guard exchange?.progress.isReceivePaused == true else { return receive() }
            // The connection has ended, and its end is read only when the transfer resumes.
            (sending, isBlocked, isCut) = (.nothing, false, true)
            watch()
        }

        /// Resumes both directions of the transfer.
        func resume() {
            guard let exchange else { return }
            if sending != .nothing, let failure = exchange.bodyFailure { return fail(failure) }
            let (wasReceiving, wasSending) = (!exchange.progress.isReceivePaused, !exchange.progress.isSendPaused)
            guard !wasReceiving || !wasSending else { return }
            (exchange.progress.isReceivePaused, exchange.progress.isSendPaused) = (false, false)
            exchange.progress.lastActivity = loop.now
            loop.note(exchange.deadline(on: loop))
            if !wasSending { send() }
            guard !wasReceiving, self.exchange === exchange else { return }
            let bytes = unread
            unread = []
            if !bytes.isEmpty { unsafe bytes.withUnsafeBytes { unsafe process($0) } }
            guard isOpen else { return }
            watch()
            if carrier != nil, self.exchange === exchange, !exchange.progress.isReceivePaused { receive() }
        }

        private func watch() {
            var wanted: SocketPoller.Readiness = exchange?.progress.isReceivePaused == true ? [] : .reading
            if isBlocked { wanted.insert(.writing) }
            guard wanted != watched else { return }
            watched = wanted
            if wanted.isEmpty {
                loop.poller.forget(descriptor)
            } else {
                loop.poller.watch(descriptor, for: wanted)
            }
        }

        private func fail(_ failure: TransportFailure) {
            if let exchange { loop.end(exchange, exchange.outcome(failing: failure)) }
        }
    }

    // MARK: The request

    extension DirectConnection {
        /// Sends until the socket takes no more bytes, no bytes are available, or the request is sent.
        private func send() {
            var pieces = Self.mostPieces
            while let exchange, !isBlocked {
                guard pieces > 0 else {
                    // Other transfers have their turn first. The poller then reports at once that the socket takes more
                    // bytes.
                    isBlocked = true
                    return watch()
                }
                pieces -= 1
                let result: Result
                switch (sending, exchange.plan.content) {
                case (.head, _): result = unsafe exchange.plan.head.withUnsafeBytes { unsafe send($0, from: sentCount) }
                case (.body, .held(let data)):
                    result = unsafe data.withUnsafeBytes { unsafe send($0, from: exchange.progress.sentBytes) }
                case (.body, .pulled), (.lastChunk, _):
                    if unsent.isEmpty {
                        guard pull(for: exchange) else { return endIfComplete() }
                        continue
                    }
                    result = unsafe piece.withUnsafeBytes { bytes in
                        unsafe send(
                            UnsafeRawBufferPointer(rebasing: bytes[..<unsent.upperBound]), from: unsent.lowerBound)
                    }
                case (.body, _), (.bodyAfterConsent, _): return
                case (.nothing, _): return endIfComplete()
                }
                switch result {
                case .bytes(let count): noteSent(count, of: exchange)
                case .wait:
                    isBlocked = true
                    watch()
                case .end, .failed:
                    // After its end, a connection breaks with EPIPE.
                    if case .failed(let code) = result { isReset = code != EPIPE }
                    (sending, isCut, hasSendFailed) = (.nothing, true, true)
                    // The server may have responded before it closed the connection. What a paused response has not
                    // taken comes first. Then the poller reports what the socket still has.
                    return unread.isEmpty ? receive() : ()
                }
            }
        }

        private func send(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Result {
            guard let address = bytes.baseAddress else { return .failed(EINVAL) }
            let flags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
            let count = min(bytes.count - start, carrier == nil ? Self.pieceSize : Self.recordSize)
            guard let carrier else { return Result(unsafe Glibc.send(descriptor, address + start, count, flags)) }
            var sent = 0
            return Result(unsafe curl_easy_send(carrier.easy, address + start, count, &sent), sent)
        }

        private func noteSent(_ count: Int, of exchange: Exchange) {
            fruitlessCount = 0
            sentCount += count
            exchange.progress.lastActivity = loop.now
            switch (sending, exchange.plan.content) {
            case (.head, _) where sentCount < exchange.plan.head.count: return
            case (.head, .none), (.head, .copied): sending = .nothing
            case (.head, _) where exchange.plan.awaitsConsent:
                sending = .bodyAfterConsent
                sendDeadline = loop.now.addingUnlessOver(1_000_000_000)
                loop.note(sendDeadline)
            case (.head, _): sending = .body
            case (.body, .held(let data)):
                exchange.progress.sentBytes += count
                if exchange.progress.sentBytes == data.count { sending = .nothing }
            default:
                unsent = (unsent.lowerBound + count)..<unsent.upperBound
                if unsent.isEmpty, sending == .lastChunk { sending = .nothing }
            }
            if sending == .nothing { sentAt = loop.now }
        }

        /// Takes the next piece of a pulled body. Returns false if there is nothing to send now.
        private func pull(for exchange: Exchange) -> Bool {
            guard case .pulled(let source) = exchange.plan.content else { return false }
            let isChunked = source.length == nil
            if piece.isEmpty { piece = [UInt8](repeating: 0, count: Self.pieceSize) }
            let (before, after) = isChunked ? (ChunkCoding.roomBefore, ChunkCoding.roomAfter) : (0, 0)
            let step = unsafe piece.withUnsafeMutableBytes { bytes in
                let room = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[before..<(bytes.count - after)])
                let step = unsafe exchange.fill(room, at: loop.now)
                guard case .bytes(let count) = step else { return step }
                unsent = unsafe isChunked ? ChunkCoding.frame(bytes, count: count) : 0..<count
                return step
            }
            switch step {
            case .bytes: return true
            case .end where isChunked:
                (sending, piece) = (.lastChunk, ChunkCoding.last)
                unsent = piece.indices
                return true
            case .end: (sending, sentAt) = (.nothing, loop.now)
            case .wait: break
            case .failed: fail(exchange.progress.failure ?? .unsupported)
            }
            return false
        }

        /// Continues to send, because ``sendDeadline`` has passed.
        func resumeSending() {
            sendDeadline = .max
            consent()
            send()
            if isOpen { watch() }
        }

        /// Sends nothing for 10 ms if the socket takes more bytes, but TLS sends none. TLS then waits for the server, as
        /// in a renegotiation (RFC 5246, 7.4.1.1), and the poller would report the socket again at once.
        private func pauseIfFruitless(since before: Int) {
            fruitlessCount = carrier != nil && isBlocked && sentCount == before ? fruitlessCount + 1 : 0
            guard fruitlessCount > 16 else { return }
            isBlocked = false
            sendDeadline = loop.now.addingUnlessOver(10_000_000)
            loop.note(sendDeadline)
        }

        private func consent() {
            guard sending == .bodyAfterConsent else { return }
            (sending, sendDeadline) = (.body, .max)
        }

        /// The most bytes that are sent together without TLS, and over TLS (RFC 8446, 5.1). Bytes that TLS could not
        /// send must be passed to it again at the same address, with the same length.
        private static let (pieceSize, recordSize) = (256 << 10, 16 << 10)
    }

    // MARK: The response

    extension DirectConnection {
        /// Receives until no more bytes are available at present, the transfer has ended or it is paused.
        private func receive() {
            for _ in 0..<Self.mostPieces {
                switch receiveOnce() {
                case .bytes(let count):
                    // Without a transfer, the byte belongs to no request.
                    guard let exchange else { return loop.close(self) }
                    if receivedCount == 0 { firstByteAt = loop.now }
                    receivedCount += count
                    unsafe process(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(loop.buffer)[..<count]))
                    guard self.exchange === exchange, !exchange.progress.isReceivePaused else { return }
                    // The poller reports what arrives later, except for what was received with a record of TLS.
                    if unsafe count < loop.buffer.count, carrier == nil, !hasSendFailed { return }
                case .wait: return hasSendFailed ? lose(.sendFailed) : ()
                case .end: return finish()
                case .failed: return lose(hasSendFailed ? .sendFailed : .receiveFailed)
                }
            }
            // Other transfers have their turn first. The poller doesn't report what TLS has already received, so this
            // transfer is resumed by a command.
            guard carrier != nil, let exchange else { return }
            exchange.progress.isReceivePaused = true
            exchange.resume()
            watch()
        }

        private func receiveOnce() -> Result {
            guard let carrier, let address = unsafe loop.buffer.baseAddress else {
                return Result(unsafe recv(descriptor, loop.buffer.baseAddress, loop.buffer.count, CInt(MSG_DONTWAIT)))
            }
            var count = 0
            return Result(unsafe curl_easy_recv(carrier.easy, address, loop.buffer.count, &count), count)
        }

        /// Reads received bytes, and then sends the body if the server has consented to that. Sending may receive
        /// further bytes into the same buffer, so it comes last.
        private func process(_ bytes: UnsafeRawBufferPointer) {
            unsafe read(bytes)
            guard hasConsent else { return }
            hasConsent = false
            send()
        }

        private func read(_ bytes: UnsafeRawBufferPointer) {
            guard let exchange else { return }
            // The response is complete, and the rest of the request is still being sent.
            guard !reader.isComplete else { return isExact = false }
            exchange.progress.lastActivity = loop.now
            var rest = unsafe bytes
            do throws(TransportFailure) {
                while self.exchange === exchange {
                    let step =
                        try unsafe exchange.progress.hasHead
                        ? reader.next(&rest, lines: &exchange.trailers)
                        : reader.next(&rest, lines: &exchange.reply.head)
                    exchange.progress.hasAnswer = true
                    switch step {
                    case .needsMore: return
                    case .interim:
                        let isConsent = reader.rules.status == 100 && sending == .bodyAfterConsent
                        exchange.noteInterim()
                        if isConsent {
                            consent()
                            hasConsent = true
                        }
                    case .head:
                        exchange.noteHead(reader.rules)
                        stopSendingAfterError(of: exchange)
                    case .body(let piece):
                        switch unsafe exchange.received(body: piece, on: loop) {
                        case .taken: break
                        case .paused:
                            reader.unread(piece.count)
                            unread = unsafe [UInt8](
                                UnsafeRawBufferPointer(start: piece.baseAddress, count: piece.count + rest.count))
                            return watch()
                        case .refused: return fail(exchange.progress.failure ?? .noMemory)
                        }
                    case .end:
                        isExact = unsafe rest.isEmpty
                        return endIfComplete()
                    }
                }
            } catch {
                exchange.progress.hasAnswer = reader.hasBegun
                fail(error)
            }
        }

        /// Ends the transfer if its request is sent and its response is complete.
        private func endIfComplete() {
            guard let exchange, reader.isComplete, sending == .nothing else { return }
            isReusable = reader.mayReuse && isExact && !isCut && !exchange.plan.closesConnection
            loop.end(exchange, exchange.outcomeOfWhole())
        }

        /// Stops sending if the server has responded with an error, or instead of consenting to receive the body,
        /// because it reads no more of the body. A request whose `Expect` the server refuses ends here: the loader
        /// sends it again, or it fails.
        private func stopSendingAfterError(of exchange: Exchange) {
            guard sending != .nothing, reader.rules.status >= 300 || sending == .bodyAfterConsent else { return }
            (isCut, sending, isBlocked, sendDeadline) = (!isBodySent(of: exchange), .nothing, false, .max)
            watch()
            guard reader.rules.status == 417, exchange.request.headers.contains(.expect) else { return }
            if exchange.request.mayOmitExpectation { loop.end(exchange, .success) } else { fail(.refusedExpectation) }
        }

        /// Whether all bytes of the body are sent, although its source hasn't confirmed yet that these are all.
        private func isBodySent(of exchange: Exchange) -> Bool {
            guard sending == .body, case .pulled(let source) = exchange.plan.content else { return false }
            return source.length == sentCount - exchange.plan.head.count
        }

        /// Ends the transfer, or closes the idle connection, because the server has closed it.
        private func finish() {
            guard let exchange else { return loop.close(self) }
            // Sending has noticed a reset, which receiving then reports as the end. It isn't the end of the body.
            if reader.endsWithConnection, !reader.isComplete, alert != 0, isReset || carrier != nil {
                return isReset ? lose(.sendFailed) : fail(.missingCloseNotify)
            }
            do throws(TransportFailure) {
                try reader.finish()
                loop.end(exchange, exchange.outcomeOfWhole())
            } catch {
                if reader.hasBegun { fail(error) } else { lose(hasSendFailed ? .sendFailed : .noResponse) }
            }
        }

        /// Ends the transfer, because the connection has broken. If it was used before and no byte of the response has
        /// arrived, the request may be sent again on a new connection.
        private func lose(_ result: CurlResult) {
            guard let exchange else { return loop.close(self) }
            if reader.isComplete {
                (sending, isCut) = (.nothing, true)
                return endIfComplete()
            }
            guard uses > 1, !reader.hasBegun else {
                let reason = carrier.map { unsafe String(cString: $0.handle.reasonBuffer) } ?? ""
                return fail(result.failure(reason: reason, alert: alert, wasSent: true, isSecure: carrier != nil))
            }
            guard exchange.maySendAgain(wasRefused: false, isRefused: false) else {
                return fail(exchange.progress.failure ?? .unsupported)
            }
            exchange.progress.isSendPaused = false
            endTransfer()
            loop.close(self)
            loop.join(exchange)
        }

        private static let mostPieces = 16
    }

    // MARK: Facts

    extension DirectConnection {
        func noteFacts() {
            guard let exchange else { return }
            var metrics = HTTPResponse.Metrics()
            metrics.isReusedConnection = uses > 1
            if uses == 1 {
                (metrics.nameLookup, metrics.connect) = (opening.nameLookup, opening.connect)
                metrics.secureConnect = opening.secureConnect
            }
            metrics.firstByte = exchange.progress.hasAnswer ? exchange.time(at: firstByteAt) : .zero
            metrics.total = exchange.time(at: loop.now)
            (metrics.bytesSent, metrics.bytesReceived) = (sentCount, receivedCount)
            if reader.rules.status > 0 { metrics.httpVersion = reader.rules.isHTTP10 ? "HTTP/1.0" : "HTTP/1.1" }
            metrics.remoteAddress = opening.address
            exchange.facts.metrics = metrics
            guard exchange.request.observation != nil else { return }
            let sent = sentAt == 0 ? .zero : exchange.time(at: sentAt)
            exchange.facts.note { details in
                (details.queued, details.sent) = (.nanoseconds(exchange.progress.waitingTime), sent)
            }
        }
    }
#endif
