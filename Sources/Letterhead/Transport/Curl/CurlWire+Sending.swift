#if os(Linux)
    import CLibcurl
    import Foundation

    extension CurlWire {
        /// Called before libcurl sends the request, for the first time or again. Returns false to prevent that.
        func willSend() -> Bool {
            progress.lastActivity = loop.now
            progress.timesSent += 1
            loop.note(deadline)
            // If the previous connection was opened for this request and not shared, libcurl sends again only because
            // the server refused the stream.
            let last = progress.connection
            let wasRefused = last.isNew && last.isMultiplexed && !last.isShared
            let connectionsMade = number(.connectionsMade)
            progress.connection = Connection()
            progress.connection.isNew = connectionsMade > progress.connectionsMade
            progress.connectionsMade = connectionsMade
            guard mayUseConnection() else { return false }
            return progress.timesSent == 1 || maySendAgain(isRefused: wasRefused && progress.connection.isMultiplexed)
        }

        /// Returns whether the request may be sent a second time, on another connection. libcurl tries this if a reused
        /// connection ended before the response began, or if the server refused an HTTP/2 stream.
        ///
        /// - Parameter isRefused: whether the server certainly refused the stream, and so did not process the request
        ///   (RFC 9113, 8.7). On a reused or shared connection, a refused stream cannot be distinguished from a
        ///   connection that ended.
        private func maySendAgain(isRefused: Bool) -> Bool {
            guard let plan = transfer?.plan else { return false }
            guard plan.method.isIdempotent || isRefused else {
                progress.failure = TransportFailure(
                    .connectionLost,
                    "the server closed a reused connection while the request was being sent; "
                        + "\(plan.method) is not idempotent and is not sent again")
                return false
            }
            // Bytes of the body that libcurl has read but not sent are lost, and libcurl requests a rewind only for
            // bytes that it had sent. The body is therefore always rewound here.
            guard rewind(to: 0) else {
                progress.failure = TransportFailure(
                    .connectionLost,
                    "the server closed a reused connection while the request was being sent; "
                        + "the request's body can be sent only once",
                    mayHaveBeenSent: !isRefused)
                return false
            }
            return true
        }

        /// Reads the protocol that TLS negotiated. Returns false if the connection is not HTTP/2 and another transfer
        /// uses it. Each of the two could otherwise receive the other's response.
        private func mayUseConnection() -> Bool {
            guard let plan = transfer?.plan else { return true }
            let (session, isMultiplexed) = plan.isSecure ? tlsSession : (nil, false)
            progress.connection.tlsSession = session
            progress.connection.isMultiplexed =
                session == nil ? plan.httpVersion.isMultiplexedWithoutSession : isMultiplexed
            // Without a session, it is not known which transfers use the connection.
            progress.connection.isShared = session == nil
            if let lane, session != nil { loop.queue.note(isExclusive: !isMultiplexed, in: lane) }
            guard let session, loop.noteSharing(of: session, by: self), !isMultiplexed else { return true }
            progress.failure = TransportFailure(
                .connectionLost,
                "the server claimed HTTP/2 on an HTTP/1.1 connection, so the request was not sent on it",
                mayHaveBeenSent: progress.timesSent > 1)
            return false
        }

        /// Returns whether the transfer uses the connection of a TLS session. A transfer that has ended is detached
        /// from it.
        func uses(_ session: UnsafeRawPointer) -> Bool {
            progress.connection.tlsSession == session && tlsSession.session == session
        }

        /// Records an alert of a TLS session, if the transfer has used the session last or is connecting with it. An
        /// alert during a handshake may come from a proxy over TLS instead of the server, and is then not recorded.
        func note(alert: CInt, of session: UnsafeRawPointer) {
            let isConnecting = progress.timesSent == 0 && !loop.configuration.proxy.mayBeSecure
            guard progress.connection.tlsSession == session || isConnecting && tlsSession.session == session else {
                return
            }
            progress.connection.alert = alert
        }

        var tlsSession: (session: UnsafeRawPointer?, isMultiplexed: Bool) {
            var session: UnsafeRawPointer?
            let isMultiplexed = lh_curl_is_multiplexed(easy, &session) != 0
            return (session, isMultiplexed)
        }

        /// Copies the next bytes of the request's body. Returns their number, 0 at the end of the body, CURL_READ_PAUSE
        /// if no bytes are available yet, or CURL_READ_ABORT if there is no body to read or it has failed.
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

        /// Moves the request's body back to an offset. Returns false if that is not possible.
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

        /// A closure that resumes the transfer when more of the body is available. It refers to the transfer weakly, so
        /// that a body that never ends does not keep the transfer alive.
        var onMore: @Sendable () -> Void {
            { [weak transfer] in transfer?.resume() }
        }

        /// The failure of the request's body; nil if it has not failed.
        var bodyFailure: TransportFailure? {
            guard case .pulled(let source) = transfer?.plan.content, let error = source.failure else { return nil }
            return .ofBody(error)
        }
    }
#endif
