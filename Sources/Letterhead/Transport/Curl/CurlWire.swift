#if os(Linux)
    import CLibcurl
    import Foundation

    /// One of libcurl's handles and what arrives on it: used for one transfer after the other.
    ///
    /// A class, since libcurl's callbacks hold its address. It lives on the thread of its ``CurlLoop`` alone.
    final class CurlWire {
        let easy: OpaquePointer
        /// It owns this, and outlives it.
        unowned(unsafe) let loop: CurlLoop
        /// Where libcurl writes its account of what went wrong.
        let reasonBuffer: UnsafeMutablePointer<CChar>
        /// Whether a socket could not be opened because this process, or the system, has too many files open.
        var hasNoDescriptor = false
        /// Whether libcurl asks before it sends, and so before it sends again.
        private(set) var asksBeforeSending = false
        /// Whether the TLS library reports close_notify. Without it, libcurl takes the end of a connection over OpenSSL for the
        /// end of the body.
        private(set) var observesCloseNotify = false

        /// The transfer that it carries, and its place among those under way.
        private(set) var transfer: CurlTransfer?
        var place = 0
        /// The origin of the transfer, and its ticket there while it waits for a connection.
        private(set) var lane: ConnectionQueue<CurlWire>.Lane?
        var ticket: ConnectionQueue<CurlWire>.Ticket?
        var isWaiting: Bool { ticket != nil }
        var progress = Progress()
        /// The lines of the head that arrives, or of the trailers. Unchecked: no callback comes while it changes.
        @exclusivity(unchecked) var lines: [UInt8] = []
        /// What a request over http without TLS says that it wants.
        let plainTarget: TransportProxy.PlainTarget
        /// What was set for the last transfer, and stays set.
        var settings = Settings()

        /// Options that most transfers have alike.
        struct Settings {
            var isGet = false
            var isSecure: Bool?
            var isStreamed = false
            /// The origin that is set instead of a whole URL. It is kept, because libcurl may read what it parsed later.
            var origin: CurlOrigin?
        }

        /// How far the transfer has come.
        struct Progress {
            /// Why the transfer must end, if it is our reason and not libcurl's.
            var failure: TransportFailure?
            var lastActivity: UInt64 = 0
            /// How long it waited for a connection.
            var waitingTime: UInt64 = 0
            // When the time is over for the whole load, and for this attempt.
            var (loadDeadline, attemptDeadline) = (UInt64.max, UInt64.max)

            // The request: whether it has a body, how much of the body was sent, and how often the request was sent. More than
            // once is libcurl's second try on another connection.
            var (hasNoBody, sentBytes, timesSent) = (false, 0, 0)
            /// Whether libcurl has begun to look up a name or to open a socket for it.
            var isConnecting = false
            // How many connections were made for it, whether the last one was, and whether another transfer has used it since.
            var (connectionsMade, isConnectionNew, isConnectionShared) = (0, false, false)
            /// Whether the connection is one of HTTP/2: as TLS negotiated it, whatever the status line claims.
            var isHTTP2 = false
            /// The TLS session of the connection on which the request was sent. Only its address is used.
            var tlsSession: UnsafeRawPointer?
            /// Whether the TLS session has received close_notify.
            var hasCloseNotify = false
            /// Whether the TLS library cannot report whether close_notify came, and only close_notify would prove the end.
            var hasUnauthenticatedEnd = false

            // The response: its first byte, its whole head, and the sizes of its heads (trailers included) and of its body.
            var (hasAnswer, hasHead, headBytes, receivedBytes) = (false, false, 0, 0)
            /// Whether the response was complete while the body of the request was still being sent.
            var isAnsweredEarly = false
            // The head that arrives: its status code (0 when malformed), whether another head follows, whether a field has
            // come, whether the body is encoded, and how it is framed.
            var (status, isInterim, hasField, isCoded, framing) = (0, false, false, false, ResponseFraming())

            // Whether libcurl waits until it is told that there is room, or more to send.
            var (isReceivePaused, isSendPaused) = (false, false)
        }

        init?(loop: CurlLoop) {
            guard let easy = curl_easy_init() else { return nil }
            self.easy = easy
            self.loop = loop
            plainTarget = TransportProxy.PlainTarget(loop.configuration.proxy)
            reasonBuffer = .allocate(capacity: Self.reasonSize)
            reasonBuffer.initialize(repeating: 0, count: Self.reasonSize)
            asksBeforeSending = setPrerequestCallback()
            observesCloseNotify = lh_curl_observe_close_notify(easy) != 0
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

        /// A connection is free for it.
        func endWaiting(at now: UInt64) {
            ticket = nil
            progress.waitingTime = now - progress.lastActivity
            progress.lastActivity = now
        }

        /// Forgets the transfer, and everything that was kept for it.
        func end() {
            unconfigure()
            transfer?.wire = nil
            (transfer, lane, ticket) = (nil, nil, nil)
            progress = Progress()
            lines.removeAll(keepingCapacity: lines.capacity <= Self.mostKept)
            hasNoDescriptor = false
            reasonBuffer.pointee = 0
        }

        /// Lets libcurl go on in both directions; it pauses again by itself where it must.
        func resume() -> CInt {
            guard progress.isReceivePaused || progress.isSendPaused else { return 0 }
            (progress.isReceivePaused, progress.isSendPaused) = (false, false)
            progress.lastActivity = loop.now
            loop.note(deadline)
            return curl_easy_pause(easy, 0)
        }

        private static let reasonSize = 256
        /// How much memory of its lines it keeps, in bytes.
        private static let mostKept = 8192
    }
#endif
