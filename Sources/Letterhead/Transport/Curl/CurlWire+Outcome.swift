// SPDX-License-Identifier: MIT
#if os(Linux)
    import CLibcurl
    import LetterheadFoundation

    extension CurlWire {
        func outcome(of result: CurlResult) -> CurlTransfer.Outcome {
            if let failure = progress.failure { return outcome(failing: failure) }
            guard result == .ok || progress.isAnsweredEarly else {
                if result == .couldNotConnect, hasNoDescriptor, !wasSent { return outcome(failing: .exhausted) }
                // If an HTTP/2 connection ends before the response has begun, libcurl reports a truncated response.
                let isWithoutResponse = result == .truncated && !progress.hasAnswer
                let result = isWithoutResponse ? CurlResult.noResponse : result
                let reason = unsafe result == .pinMismatch ? pinMismatch : String(cString: handle.reasonBuffer)
                var failure = result.failure(
                    reason: reason, alert: progress.connection.alert, wasSent: wasSent,
                    isSecure: transfer?.plan.isSecure == true, roots: loop.configuration.security.roots,
                    tunnelStatus: number(.tunnelStatus) > 0 ? HTTPStatus(number(.tunnelStatus)) : nil)
                // libcurl writes this only without an error text, after five connections in a row have refused.
                let isExhausted = progress.connection.isExplained && reason.holds("Connection died, tried ")
                if progress.isUnprocessed, !progress.hasAnswer, isExhausted || progress.connection.isLeftOut {
                    failure.mayHaveBeenSent = false
                }
                return outcome(failing: failure)
            }
            // If the connection is closed before the head is complete, libcurl reports a response without a body.
            guard progress.hasHead else {
                let text = "the connection was closed before the head of the response was complete"
                return outcome(failing: TransportFailure(.invalidResponse, text))
            }
            if endsWithConnection, !progress.connection.hasCloseNotify {
                guard !handle.observesAlerts else {
                    return outcome(
                        failing: TransportFailure(
                            .invalidResponse,
                            "the connection ended without TLS close_notify: the body may be truncated"))
                }
                progress.hasUnauthenticatedEnd = !CurlQuirks.reportsMissingCloseNotify
            }
            if let transfer, !lines.isEmpty {
                // A buffered response's caller parses the whole reply, including the trailers. A streamed response's
                // caller has already continued, so its trailers are parsed here.
                if transfer.pipe == nil {
                    transfer.reply.trailers = lines
                } else {
                    do { transfer.facts.trailers = try ResponseHead.trailers(lines) } catch {
                        return outcome(failing: error)
                    }
                }
            }
            return .success
        }

        /// Returns a failure with what has arrived from the response.
        func outcome(failing failure: TransportFailure) -> CurlTransfer.Outcome {
            var failure = failure
            if progress.hasHead, let transfer {
                failure.head = transfer.reply.head
                if transfer.pipe == nil { failure.body = transfer.reply.body.take() }
            }
            return .failure(failure)
        }

        /// When the transfer times out without further activity.
        var deadline: UInt64 {
            min(progress.loadDeadline, progress.attemptDeadline, idleDeadline, firstByteDeadline, queueDeadline)
        }

        var lateness: TransportFailure {
            let deadline = deadline
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
            if wasSent { return progress.hasHead ? "receiving the body" : "waiting for the response" }
            return progress.isConnecting ? "connecting" : "waiting for a free connection"
        }

        private var idleDeadline: UInt64 {
            guard wasSent, !progress.isReceivePaused, let plan = transfer?.plan else { return .max }
            return progress.lastActivity.addingUnlessOver(plan.idleTimeout)
        }

        private var firstByteDeadline: UInt64 {
            guard wasSent, !progress.hasAnswer, let plan = transfer?.plan else { return .max }
            return progress.lastActivity.addingUnlessOver(plan.firstByteTimeout)
        }

        /// When a wait for a connection ends, if no connection becomes free before.
        var queueDeadline: UInt64 {
            guard isWaiting, let lane else { return .max }
            let lastBegun = loop.queue.hasRoom(lane) ? loop.lastBegun : lane.lastBegun
            return max(progress.lastActivity, lastBegun).addingUnlessOver(loop.queueTimeout)
        }

        private var wasSent: Bool { progress.timesSent > 0 }
    }

    extension CurlWire {
        func noteFacts() {
            guard let facts = transfer?.facts else { return }
            var metrics = HTTPResponse.Metrics()
            let isNew = number(.connectionsMade) > 0
            let isObserved = transfer?.request.observation != nil
            // A failed attempt to connect has times, too.
            if isNew || isObserved && !progress.hasAnswer {
                metrics.nameLookup = time(.nameLookupTime)
                metrics.connect = time(.connectTime)
                metrics.secureConnect = time(.tlsTime)
            }
            metrics.firstByte = progress.hasAnswer ? time(.startTransferTime) : .zero
            metrics.total = time(.totalTime)
            metrics.bytesSent = number(.requestSize) + (progress.hasNoBody ? 0 : offset(.uploaded) ?? 0)
            metrics.bytesReceived = number(.headerSize) + (offset(.downloaded) ?? 0)
            metrics.httpVersion = Self.versions[number(.httpVersion)]
            metrics.remoteAddress = address
            metrics.hasUnauthenticatedEnd = progress.hasUnauthenticatedEnd
            metrics.isReusedConnection = !isNew && metrics.remoteAddress != nil
            // libcurl is certain to report a connection's end only if the connection has been used.
            if isNew, progress.hasHead, let socket { loop.poller.keep(socket) }
            facts.metrics = metrics
            guard isObserved else { return }
            facts.note { details in
                (details.queued, details.sent) = (.nanoseconds(progress.waitingTime), time(.sentTime))
            }
        }

        /// Whether the load is observed, and a connection was opened or reused for it.
        var hasObservedConnection: Bool {
            transfer?.request.observation != nil
                && (progress.timesSent > 0 || progress.hasAnswer || time(.connectTime) > .zero)
        }

        func noteClosed() {
            let endsBody = progress.framing.endsWithConnection && progress.receivedBytes > 0
            transfer?.facts.note { details in (details.isClosed, details.endsBody) = (true, endsBody) }
        }

        /// Records the TLS version and cipher while the connection still belongs to the transfer.
        func noteHead() {
            guard let transfer, transfer.request.observation != nil else { return }
            // The texts are constants in the TLS library.
            var (version, cipher): (UnsafePointer<CChar>?, UnsafePointer<CChar>?) = (nil, nil)
            unsafe lh_curl_get_tls_names(easy, &version, &cipher)
            transfer.facts.note { details in
                details.tlsVersion = unsafe version.map(String.init(cString:))
                details.tlsCipher = unsafe cipher.map(String.init(cString:))
            }
            // A streamed response's caller continues before the transfer has ended.
            if transfer.pipe != nil { noteFacts() }
        }

        func noteInterim() {
            guard let transfer, transfer.reply.interim.count < ReceivedResponse.mostInterim else { return }
            transfer.reply.interim.append(lines)
            guard transfer.request.observation != nil else { return }
            transfer.facts.note { [lines] details in details.interim.append(lines) }
        }

        private var address: String? {
            guard let host = unsafe CurlHandle.text(.primaryAddress, of: easy), !host.isEmpty else { return nil }
            let port = number(.primaryPort)
            return host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        }

        /// The connection's socket, as long as it is open.
        var socket: CInt? {
            var socket: CInt = -1
            return unsafe lh_curl_get_socket(easy, &socket) == 0 && socket >= 0 ? socket : nil
        }

        /// Prevents libcurl from using the connection again, unless another transfer uses it. The next request finds
        /// its end.
        ///
        /// After a frame that is invalid for the whole connection, libcurl may keep the connection, as 8.14.1 does.
        /// Each further request on it would fail, until the server closes it.
        func retireConnection() {
            // A transfer in progress has no socket, but its connection's TLS session.
            let session = progress.connection.tlsSession
            let isUsed = loop.active.contains { other in
                other !== self && !other.isWaiting && session.map { other.uses($0) } ?? (other.socket == socket)
            }
            guard let socket, !isUsed else { return }
            shutdown(socket, Int32(SHUT_RDWR))
        }

        /// Returns a time since the request's start, including the wait for a connection, or zero if libcurl has none.
        private func time(_ info: CurlInfo) -> Duration {
            let time = offset(info) ?? 0
            return time == 0 ? .zero : .microseconds(time) + .nanoseconds(progress.waitingTime)
        }

        func offset(_ info: CurlInfo) -> Int? {
            var value: Int64 = 0
            return unsafe lh_curl_get_offset(easy, info, &value) == 0 ? Int(value) : nil
        }

        func number(_ info: CurlInfo) -> Int {
            var value = 0
            return unsafe lh_curl_get_long(easy, info, &value) == 0 ? value : 0
        }

        private static let versions = [1: "HTTP/1.0", 2: "HTTP/1.1", 3: "HTTP/2", 30: "HTTP/3"]
    }
#endif
