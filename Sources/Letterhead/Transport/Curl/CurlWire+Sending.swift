#if os(Linux)
    import CLibcurl
    import Foundation

    extension CurlWire {
        /// The request is about to be sent; false stops it.
        func willSend() -> Bool {
            progress.lastActivity = loop.now
            progress.timesSent += 1
            loop.note(deadline)
            // On a connection that was opened for this request alone, libcurl sends again only if the server refused the stream.
            let wasRefused = progress.isConnectionNew && progress.isHTTP2 && !progress.isConnectionShared
            let connectionsMade = number(.connectionsMade)
            progress.isConnectionNew = connectionsMade > progress.connectionsMade
            (progress.connectionsMade, progress.isConnectionShared) = (connectionsMade, false)
            guard mayUseConnection() else { return false }
            return progress.timesSent == 1 || maySendAgain(isRefused: wasRefused && progress.isHTTP2)
        }

        /// Whether the request may be sent a second time, on another connection. libcurl asks for that when a reused connection
        /// ended before the response began, or when the server refused a stream of HTTP/2.
        ///
        /// - Parameter isRefused: whether the server has refused the stream, and so has not processed the request (RFC 9113,
        ///   8.7). On a reused or shared connection that cannot be told from a connection that ended.
        private func maySendAgain(isRefused: Bool) -> Bool {
            guard let plan = transfer?.plan else { return false }
            guard plan.method.isIdempotent || isRefused else {
                progress.failure = TransportFailure(
                    .connectionLost,
                    "the server closed a reused connection while the request was sent; "
                        + "\(plan.method) is not idempotent and is not sent again")
                return false
            }
            // What libcurl has read of the body and not sent is lost; it asks to rewind only what it had sent.
            guard rewind(to: 0) else {
                progress.failure = TransportFailure(
                    .connectionLost,
                    "the server closed a reused connection while the request was sent; its body can be sent only once",
                    mayHaveBeenSent: !isRefused)
                return false
            }
            return true
        }

        /// Reads what TLS negotiated. False when another transfer is under way on a connection that cannot carry two: then
        /// each could receive the other's response.
        private func mayUseConnection() -> Bool {
            guard transfer?.plan.isSecure == true else { return true }
            let session: UnsafeRawPointer?
            (session, progress.isHTTP2) = tlsSession
            progress.tlsSession = session
            if let lane, session != nil { loop.queue.note(isExclusive: !progress.isHTTP2, in: lane) }
            guard let session, loop.noteSharing(of: session, by: self), !progress.isHTTP2 else { return true }
            progress.failure = TransportFailure(
                .connectionLost,
                "the server claimed HTTP/2 on a connection of HTTP/1.1; the request was not sent on it",
                mayHaveBeenSent: progress.timesSent > 1)
            return false
        }

        /// Whether the transfer is under way on the connection of a TLS session. One that has ended is detached from it.
        func uses(_ session: UnsafeRawPointer) -> Bool {
            progress.tlsSession == session && tlsSession.session == session
        }

        var tlsSession: (session: UnsafeRawPointer?, isHTTP2: Bool) {
            var session: UnsafeRawPointer?
            let isHTTP2 = lh_curl_is_http2(easy, &session) != 0
            return (session, isHTTP2)
        }

        /// Gives the next bytes of the request's body: how many, none at its end, or that there are none yet.
        func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
            progress.lastActivity = loop.now
            switch transfer?.plan.content {
            case .held(let data):
                let count = min(buffer.count, data.count - progress.sentBytes)
                guard count > 0 else { return 0 }
                let start = data.startIndex + progress.sentBytes
                data.copyBytes(to: buffer, from: start..<(start + count))
                progress.sentBytes += count
                return count
            case .pulled(let source):
                switch source.read(into: buffer) {
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

        /// Starts the request's body again; false when that cannot be.
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

        /// Tells the thread that there is more of the body. It does not keep the transfer alive, so that a body that
        /// never ends does not either.
        var onMore: @Sendable () -> Void {
            { [weak transfer] in transfer?.resume() }
        }

        /// Why the body could not be made, if it could not.
        var bodyFailure: TransportFailure? {
            guard case .pulled(let source) = transfer?.plan.content, let error = source.failure else { return nil }
            return .ofBody(error)
        }
    }
#endif
