// SPDX-License-Identifier: MIT
#if os(Linux)
    import LetterheadFoundation

    extension Exchange {
        struct Progress {
            /// The reason to end the transfer, if this transport, and not libcurl, has detected it.
            var failure: TransportFailure?
            /// When the transfer began, when it was last added to libcurl, and when its connection last did something.
            var (begunAt, joinedAt, lastActivity): (UInt64, UInt64, UInt64) = (0, 0, 0)
            /// How long the transfer waited for a connection, in nanoseconds.
            var waitingTime: UInt64 = 0
            var (loadDeadline, attemptDeadline) = (UInt64.max, UInt64.max)

            // The request: whether it has no body, how many bytes were read from a body in memory, and how many times
            // the request was sent. It may be sent a second time on a different connection.
            var (hasNoBody, sentBytes, timesSent) = (false, 0, 0)
            /// Whether a host name is looked up or a connection is opened for the transfer, and whether that is because
            /// libcurl has closed a direct connection before its first use.
            var (isConnecting, isReopening) = (false, false)
            /// When that began.
            var connectingAt: UInt64 = 0
            /// Whether libcurl has chosen a connection that a different transfer uses and that can't be shared.
            var isMisplaced = false
            /// Whether the server had closed all connections that libcurl used for the transfer, or it was misplaced.
            var needsNewConnection = false
            /// Whether the connection uses HTTP/2 or HTTP/3, regardless of what the status line claims.
            var isMultiplexed = false
            /// Whether only close_notify would prove the end of the body, and the TLS library cannot report
            /// close_notify.
            var hasUnauthenticatedEnd = false

            // The response: whether its first line and its whole head have arrived, and the byte count of its body.
            var (hasAnswer, hasHead, receivedBytes) = (false, false, 0)
            var rules = ResponseRules(limit: 0)
            /// Whether the response was complete while the request body was still being sent.
            var isAnsweredEarly = false

            /// Whether a part of the request was still to be sent when the time limit for the first byte was last checked.
            var isSending = false
            // Whether receiving has paused because the buffer is full, or sending because no bytes are available.
            var (isReceivePaused, isSendPaused) = (false, false)
        }

        func begin(in lane: ConnectionQueue<Exchange>.Lane, at now: UInt64) {
            self.lane = lane
            (progress.begunAt, progress.lastActivity) = (now, now)
            progress.loadDeadline = now.addingUnlessOver(plan.timeLeft)
            progress.attemptDeadline = now.addingUnlessOver(plan.timeout)
            if case .none = plan.content { progress.hasNoBody = true }
        }

        /// Ends the wait for a connection: the transfer may use or open one now.
        func endWaiting(at now: UInt64) {
            ticket = nil
            progress.waitingTime = now - progress.begunAt
            progress.lastActivity = now
        }

        /// Releases what only a transfer in progress needs, because a streamed response may be held for long.
        func endProgress() {
            (carrier, connection, lane, ticket) = (nil, nil, nil, nil)
            // A handle keeps its buffers.
            if pipe != nil { handle = nil }
        }

        var isWaiting: Bool { ticket != nil }

        /// Returns the duration since the transfer began, including its wait for a connection.
        func time(at time: UInt64) -> Duration { .nanoseconds(time - progress.begunAt) }

        var wasSent: Bool { progress.timesSent > 0 }

        /// Returns a failure that contains the received part of the response.
        func outcome(failing failure: TransportFailure) -> Outcome {
            var failure = failure
            if progress.hasHead {
                failure.head = reply.head
                if pipe == nil { failure.body = reply.body.take() }
            }
            return .failure(failure)
        }

        func noteClosed() {
            let endsBody = progress.rules.framing.endsWithConnection && progress.receivedBytes > 0
            facts.note { details in (details.isClosed, details.endsBody) = (true, endsBody) }
        }

        /// Returns success, unless the trailers are malformed.
        func outcomeOfWhole() -> Outcome {
            guard !trailers.isEmpty else { return .success }
            // The caller of a buffered response parses the whole reply, including the trailers. The caller of a
            // streamed response has already continued, so its trailers are parsed here.
            if pipe == nil {
                reply.trailers = trailers
            } else {
                do { facts.trailers = try ResponseHead.trailers(trailers) } catch { return outcome(failing: error) }
            }
            return .success
        }
    }

    extension TransportFailure {
        static let missingCloseNotify = TransportFailure(
            .invalidResponse, "the connection ended without TLS close_notify: the body may be truncated")
        static let refusedExpectation = TransportFailure(
            .invalidResponse, "the server refuses Expect, and the request can be sent only once")
    }

    // MARK: Deadlines

    extension Exchange {
        /// When the transfer times out without further activity.
        func deadline(on loop: CurlLoop) -> UInt64 {
            min(
                progress.loadDeadline, progress.attemptDeadline, idleDeadline, firstByteDeadline(on: loop),
                queueDeadline(on: loop), connectDeadline)
        }

        /// Records that a host name is looked up or a connection is opened.
        func noteConnecting(on loop: CurlLoop) {
            guard !progress.isConnecting else { return }
            (progress.isConnecting, progress.connectingAt) = (true, loop.now)
            loop.note(connectDeadline)
        }

        /// When the transfer ends if libcurl hasn't applied the connect timeout: a second after it. libcurl, 7.88.1 among
        /// others, removes timers that are due within a millisecond together with one that is due.
        var connectDeadline: UInt64 {
            guard progress.isConnecting, !isOnConnection, plan.connectTimeout < Int(CInt.max) else { return .max }
            return progress.connectingAt.addingUnlessOver((UInt64(plan.connectTimeout) + 1_000) * 1_000_000)
        }

        func lateness(on loop: CurlLoop) -> TransportFailure {
            let deadline = deadline(on: loop)
            if deadline == connectDeadline {
                return TransportFailure(.timedOut, "the connect timeout passed", mayHaveBeenSent: wasSent)
            }
            let limit =
                switch deadline {
                case progress.loadDeadline: "deadline"
                case progress.attemptDeadline: "attempt timeout"
                case idleDeadline: "idle timeout"
                default: "first byte timeout"
                }
            return TransportFailure(.timedOut, "the \(limit) passed while \(phase)", mayHaveBeenSent: wasSent)
        }

        private var phase: String {
            if isOnConnection { return progress.hasHead ? "receiving the body" : "waiting for the response" }
            return progress.isConnecting ? "connecting" : "waiting for a free connection"
        }

        /// Whether a connection has a part of the request, and no new one is being opened to send it again.
        private var isOnConnection: Bool { wasSent && (connection != nil || !plan.isDirect) }

        private var idleDeadline: UInt64 {
            guard isOnConnection, !progress.isReceivePaused else { return .max }
            return progress.lastActivity.addingUnlessOver(plan.idleTimeout)
        }

        private func firstByteDeadline(on loop: CurlLoop) -> UInt64 {
            guard isOnConnection, !progress.hasAnswer, plan.firstByteTimeout < .max else { return .max }
            // Until the request is sent, this is only when to look again.
            let isSending = connection?.isSending ?? carrier?.isSending ?? false
            // libcurl doesn't tell when it sends the last byte.
            if carrier != nil, progress.isSending, !isSending { progress.lastActivity = loop.now }
            progress.isSending = isSending
            guard isSending else { return progress.lastActivity.addingUnlessOver(plan.firstByteTimeout) }
            return loop.now.addingUnlessOver(plan.firstByteTimeout / 8 + 1_000_000)
        }

        /// Whether libcurl holds the transfer back, because its connections carry no further one.
        var isHeld: Bool { carrier != nil && !isOnConnection && !progress.isConnecting }

        /// When the wait for a connection fails, if no connection becomes free before then.
        func queueDeadline(on loop: CurlLoop) -> UInt64 {
            guard let lane, isWaiting || isHeld else { return .max }
            let lastBegun = isWaiting && loop.queue.hasRoom(lane) ? loop.lastBegun : lane.lastBegun
            return max(progress.lastActivity, lastBegun).addingUnlessOver(queueLimit(on: loop))
        }

        /// The longest wait for a connection, in nanoseconds.
        func queueLimit(on loop: CurlLoop) -> UInt64 {
            // libcurl may hold the transfer back until a connection is open, which has a limit of its own.
            let isLimited = !isWaiting && plan.connectTimeout < Int(CInt.max)
            return max(loop.queueTimeout, isLimited ? UInt64(plan.connectTimeout) * 1_000_000 : 0)
        }
    }
#endif
