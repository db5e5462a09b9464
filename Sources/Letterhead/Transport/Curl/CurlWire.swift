#if os(Linux)
    import CLibcurl
    import Foundation

    /// One of libcurl's easy handles and the state of its transfer. It is used for one transfer after another.
    ///
    /// It is a class, because libcurl's callbacks store its address. Only the thread of its ``CurlLoop`` uses it.
    final class CurlWire {
        let easy: OpaquePointer
        /// The loop that owns this object and outlives it.
        unowned(unsafe) let loop: CurlLoop
        /// The memory into which libcurl writes its error text.
        let reasonBuffer: UnsafeMutablePointer<CChar>
        /// Whether a socket could not be opened because this process, or the system, has too many files open.
        var hasNoDescriptor = false
        /// Whether libcurl calls back before it sends a request, and therefore also before it sends a request again.
        private(set) var asksBeforeSending = false
        /// Whether TLS alerts can be observed. libcurl with OpenSSL does not require close_notify: it treats the end of
        /// the connection as the end of the body.
        private(set) var observesAlerts = false

        /// The current transfer, and its index in the loop's list of active transfers.
        private(set) var transfer: CurlTransfer?
        var place = 0
        /// The queue of the transfer's origin, and the transfer's ticket while it waits there for a connection.
        private(set) var lane: ConnectionQueue<CurlWire>.Lane?
        var ticket: ConnectionQueue<CurlWire>.Ticket?
        var isWaiting: Bool { ticket != nil }
        var progress = Progress()
        /// The received lines of the head, or of the trailers. Exclusivity is unchecked, because libcurl calls no
        /// callback while they change.
        @exclusivity(unchecked) var lines: [UInt8] = []
        /// The form of the request target for requests without TLS.
        let plainTarget: TransportProxy.PlainTarget
        /// The options that were set for the last transfer and remain set.
        var settings = Settings()

        /// Options that have the same value for most transfers.
        struct Settings {
            var isGet = false
            var httpVersion: CurlHTTPVersion?
            var pinnedKeys: [Data] = []
            var isStreamed = false
            /// The origin that is set instead of a whole URL. It is retained, because it owns the parsed URL, which
            /// libcurl may read later.
            var origin: CurlOrigin?
        }

        /// The state of the current transfer.
        struct Progress {
            /// The reason to end the transfer, if this transport, and not libcurl, has detected it.
            var failure: TransportFailure?
            var lastActivity: UInt64 = 0
            /// The time for which the transfer waited for a connection, in nanoseconds.
            var waitingTime: UInt64 = 0
            // The deadlines of the whole load and of this attempt.
            var (loadDeadline, attemptDeadline) = (UInt64.max, UInt64.max)

            // The request: whether it has no body, how many bytes of a body in memory were read, and how many times the
            // request was sent. libcurl may send a request a second time on another connection.
            var (hasNoBody, sentBytes, timesSent) = (false, 0, 0)
            /// Whether libcurl has begun to look up a host name or to open a socket for the transfer.
            var isConnecting = false
            /// How many connections were opened for the transfer.
            var connectionsMade = 0
            var connection = Connection()
            /// Whether only close_notify would prove the end of the body, and the TLS library cannot report
            /// close_notify.
            var hasUnauthenticatedEnd = false

            // The response: whether its first line and its whole head have arrived, and the number of bytes of its
            // heads (including trailers) and of its body.
            var (hasAnswer, hasHead, headBytes, receivedBytes) = (false, false, 0, 0)
            /// Whether the response was complete while the body of the request was still being sent.
            var isAnsweredEarly = false
            // The current head: its status code (0 if malformed), whether another head follows, whether a field has
            // arrived, whether the body is compressed, and how the body is framed.
            var (status, isInterim, hasField, isCoded, framing) = (0, false, false, false, ResponseFraming())

            // Whether libcurl has paused receiving because there is no room, or sending because no bytes are available.
            var (isReceivePaused, isSendPaused) = (false, false)
        }

        /// The connection of the current transfer. The value is replaced each time the request is sent, so that no fact
        /// about an earlier connection remains.
        struct Connection {
            /// Whether it was opened for the transfer, and whether another transfer has used it since then.
            var (isNew, isShared) = (false, false)
            /// Whether it uses HTTP/2 or HTTP/3, regardless of what the status line claims.
            var isMultiplexed = false
            /// Its TLS session, when the request has been sent. Only the address is used.
            var tlsSession: UnsafeRawPointer?
            /// The last alert that its TLS session has received (RFC 8446, 6).
            var alert: CInt?
            var hasCloseNotify: Bool { alert == 0 }
        }

        init?(loop: CurlLoop) {
            guard let easy = curl_easy_init() else { return nil }
            self.easy = easy
            self.loop = loop
            plainTarget = TransportProxy.PlainTarget(loop.configuration.proxy)
            reasonBuffer = .allocate(capacity: Self.reasonSize)
            reasonBuffer.initialize(repeating: 0, count: Self.reasonSize)
            asksBeforeSending = setPrerequestCallback()
            observesAlerts = lh_curl_observe_alerts(easy) != 0
            guard prepare() else { return nil }
        }

        deinit {
            curl_easy_cleanup(easy)
            reasonBuffer.deallocate()
        }

        func begin(_ transfer: CurlTransfer, in lane: ConnectionQueue<CurlWire>.Lane, at now: UInt64) {
            (self.transfer, self.lane) = (transfer, lane)
            transfer.wire = self
            progress.lastActivity = now
            progress.loadDeadline = now.addingUnlessOver(transfer.plan.timeLeft)
            progress.attemptDeadline = now.addingUnlessOver(transfer.plan.timeout)
            if case .none = transfer.plan.content { progress.hasNoBody = true }
        }

        /// Ends the wait for a connection: the transfer may use or open one now.
        func endWaiting(at now: UInt64) {
            ticket = nil
            progress.waitingTime = now - progress.lastActivity
            progress.lastActivity = now
        }

        /// Releases the transfer, and resets all state that belongs to it.
        func end() {
            unconfigure()
            transfer?.wire = nil
            (transfer, lane, ticket) = (nil, nil, nil)
            progress = Progress()
            lines.removeAll(keepingCapacity: lines.capacity <= Self.mostKept)
            hasNoDescriptor = false
            reasonBuffer.pointee = 0
        }

        /// Resumes both directions of the transfer. libcurl pauses a direction again if it cannot continue.
        func resume() -> CInt {
            guard progress.isReceivePaused || progress.isSendPaused else { return 0 }
            (progress.isReceivePaused, progress.isSendPaused) = (false, false)
            progress.lastActivity = loop.now
            loop.note(deadline)
            return curl_easy_pause(easy, 0)
        }

        private static let reasonSize = 256
        /// The maximum capacity of `lines` that is kept for the next transfer, in bytes.
        private static let mostKept = 8192
    }
#endif
