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
        var progress = Progress()
        /// The lines of the head that arrives, or of the trailers. Unchecked: no callback comes while it changes.
        @exclusivity(unchecked) var lines: [UInt8] = []
        /// What a request over http without TLS says that it wants.
        let plainTarget: PlainTarget
        /// What was set for the last transfer, and stays set.
        var settings = Settings()

        /// Options that most transfers have alike.
        struct Settings {
            var isGet = false
            var isSecure: Bool?
            var isStreamed = false
            /// Where it went, unless libcurl has the whole URL. It is kept: libcurl may read what it parsed later.
            var origin: CurlOrigin?
        }

        /// How far the transfer has come.
        struct Progress {
            /// Whether the request has no body.
            var hasNoBody = false
            /// Why it must end, when it is our reason and not libcurl's.
            var failure: TransportFailure?
            /// How large the head is, with the trailers and the heads that came before: a server could send them for ever.
            var headBytes = 0
            var receivedBytes = 0
            var hasHead = false
            /// Whether the answer was whole while the body was still being sent.
            var isAnsweredEarly = false
            var isInterim = false
            /// The status code of the head that arrives; 0 when it is malformed.
            var status = 0
            /// Whether the connection is one of HTTP/2: as TLS negotiated it, whatever the status line claims.
            var isHTTP2 = false
            /// The TLS session of the connection on which the request was sent. Only its address is used.
            var tlsSession: UnsafeRawPointer?
            var isCoded = false
            var framing = ResponseFraming()
            /// Whether a line has come after the status line.
            var hasField = false
            /// Whether the TLS session has received close_notify.
            var hasCloseNotify = false
            /// How often the request was sent: more than once is libcurl's second try on another connection.
            var timesSent = 0
            /// Whether libcurl has begun to look up a name or to open a socket for it.
            var isConnecting = false
            /// How many connections were made for it, and whether the last one was.
            var connectionsMade = 0
            var isConnectionNew = false
            /// Whether another transfer has used the connection since.
            var isConnectionShared = false
            var sentBytes = 0
            var hasAnswer = false
            /// Whether libcurl waits until it is told that there is room, or more to send.
            var isReceivePaused = false
            var isSendPaused = false
            var lastActivity: UInt64 = 0
            /// When the time is over for the whole load, and for this attempt at it.
            var loadDeadline = UInt64.max
            var attemptDeadline = UInt64.max
        }

        init?(loop: CurlLoop) {
            guard let easy = curl_easy_init() else { return nil }
            self.easy = easy
            self.loop = loop
            plainTarget = PlainTarget(loop.configuration.proxy)
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

        func begin(_ transfer: CurlTransfer, at now: UInt64) {
            self.transfer = transfer
            transfer.wire = self
            progress.lastActivity = now
            progress.loadDeadline = now.addingUnlessOver(transfer.plan.timeLeft)
            progress.attemptDeadline = now.addingUnlessOver(transfer.plan.timeout)
            if case .none = transfer.plan.content { progress.hasNoBody = true }
        }

        /// Forgets the transfer, and everything that was kept for it.
        func end() {
            unconfigure()
            transfer?.wire = nil
            transfer = nil
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

    extension UInt64 {
        /// The sum, or the largest number when it does not fit.
        func addingUnlessOver(_ other: UInt64) -> UInt64 {
            let (sum, isOver) = addingReportingOverflow(other)
            return isOver ? .max : sum
        }
    }
#endif
