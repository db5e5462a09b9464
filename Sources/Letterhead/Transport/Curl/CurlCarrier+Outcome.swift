// SPDX-License-Identifier: MIT
#if os(Linux)
    import CLibcurl
    import LetterheadFoundation

    extension CurlCarrier {
        func outcome(of exchange: Exchange, with result: CurlResult) -> Exchange.Outcome {
            if let failure = exchange.progress.failure { return exchange.outcome(failing: failure) }
            guard result == .ok || exchange.progress.isAnsweredEarly else {
                if hasAllowedAddress == false { return exchange.outcome(failing: .refusedAddress(for: exchange)) }
                // A direct connection is perhaps opened to send the request again.
                let wasSent = exchange.wasSent && !settings.isOpening
                if result == .couldNotConnect, hasNoDescriptor, !wasSent {
                    var failure = TransportFailure.exhausted
                    failure.mayHaveBeenSent = exchange.wasSent
                    return exchange.outcome(failing: failure)
                }
                // If an HTTP/2 connection ends before the response has begun, libcurl reports a truncated response.
                let isWithoutResponse = result == .truncated && !exchange.progress.hasAnswer
                let result = isWithoutResponse ? CurlResult.noResponse : result
                let reason = unsafe result == .pinMismatch ? pinMismatch : String(cString: handle.reasonBuffer)
                var failure = result.failure(
                    reason: reason, alert: connection.alert, wasSent: wasSent,
                    isSecure: exchange.plan.isSecure, roots: loop.configuration.security.roots,
                    tunnelStatus: number(.tunnelStatus) > 0 ? HTTPStatus(number(.tunnelStatus)) : nil)
                if settings.isOpening { failure.mayHaveBeenSent = exchange.wasSent }
                // libcurl writes this only without an error text, after five connections in a row have refused.
                let isExhausted = isExplained && reason.holds("Connection died, tried ")
                if isUnprocessed, !exchange.progress.hasAnswer, isExhausted || connection.isLeftOut {
                    failure.mayHaveBeenSent = false
                }
                return exchange.outcome(failing: failure)
            }
            // If the connection is closed before the head is complete, libcurl reports a response without a body.
            guard exchange.progress.hasHead else { return exchange.outcome(failing: .incompleteHead) }
            if endsWithConnection(exchange), !connection.hasCloseNotify {
                guard !handle.observesAlerts else { return exchange.outcome(failing: .missingCloseNotify) }
                exchange.progress.hasUnauthenticatedEnd = !CurlQuirks.reportsMissingCloseNotify
            }
            return exchange.outcomeOfWhole()
        }
    }

    extension CurlLoop {
        /// Sends a request on a new connection if libcurl has chosen one that can't be shared, or once more if the server
        /// had closed each connection that libcurl used for it, and no line of a response has arrived (RFC 9112, 9.3.1).
        /// Returns false if the request may not be sent again.
        ///
        /// libcurl gives up after five of these connections, and takes a close_notify that it hasn't read for a sign of
        /// life. If a body breaks off earlier, the server may have responded, and libcurl hasn't read the response.
        func sendsAgain(_ exchange: Exchange, after result: CurlResult) -> Bool {
            guard let carrier = exchange.carrier, !exchange.progress.needsNewConnection else { return false }
            if exchange.progress.isMisplaced {
                (exchange.progress.isMisplaced, exchange.progress.failure) = (false, nil)
                exchange.progress.timesSent = 0
            } else {
                let isBroken = result == .sendFailed || result == .receiveFailed || result == .noResponse
                let progress = exchange.progress
                guard isBroken, exchange.wasSent, !progress.hasAnswer, progress.failure == nil,
                    !progress.isMultiplexed, progress.hasNoBody || progress.timesSent > 5,
                    carrier.number(.connectionsMade) == 0,
                    exchange.maySendAgain(wasRefused: false, isRefused: false)
                else { return false }
            }
            exchange.progress.needsNewConnection = true
            (exchange.progress.isReceivePaused, exchange.progress.isSendPaused) = (false, false)
            exchange.progress.lastActivity = now
            note(exchange.deadline(on: self))
            rejoin(exchange, on: carrier)
            return true
        }
    }

    extension CurlCarrier {
        func noteFacts(of exchange: Exchange) {
            let progress = exchange.progress
            var metrics = HTTPResponse.Metrics()
            let isNew = number(.connectionsMade) > 0
            let isObserved = exchange.request.observation != nil
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
            // libcurl is certain to report the end of a connection only if the connection has been used.
            if isNew, progress.hasHead, let socket { loop.poller.keep(socket) }
            exchange.facts.metrics = metrics
            guard isObserved else { return }
            exchange.facts.note { details in
                (details.queued, details.sent) = (.nanoseconds(progress.waitingTime), time(.sentTime))
            }
        }

        /// Returns whether the load is observed, and a connection was opened or reused for it.
        func hasObservedConnection(of exchange: Exchange) -> Bool {
            exchange.request.observation != nil
                && (exchange.wasSent || exchange.progress.hasAnswer || time(.connectTime) > .zero)
        }

        /// Records the facts that the connection has while it still belongs to the transfer.
        func noteHead(of exchange: Exchange) {
            noteTLS(of: exchange)
            // The caller of a streamed response continues before the transfer has ended.
            if exchange.pipe != nil { noteFacts(of: exchange) }
        }

        /// Records the TLS version and cipher.
        func noteTLS(of exchange: Exchange) {
            // The texts are constants in the TLS library.
            var (version, cipher): (UnsafePointer<CChar>?, UnsafePointer<CChar>?) = (nil, nil)
            unsafe lh_curl_get_tls_names(easy, &version, &cipher)
            exchange.facts.note { details in
                details.tlsVersion = unsafe version.map(String.init(cString:))
                details.tlsCipher = unsafe cipher.map(String.init(cString:))
            }
        }

        /// The facts about the direct connection that the handle has opened.
        var opening: DirectConnection.Opening {
            DirectConnection.Opening(
                nameLookup: time(.nameLookupTime), connect: time(.connectTime), secureConnect: time(.tlsTime),
                address: address, tlsSession: connection.tlsSession)
        }

        private var address: String? {
            guard let host = unsafe CurlHandle.text(.primaryAddress, of: easy), !host.isEmpty else { return nil }
            let port = number(.primaryPort)
            return host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        }

        /// The socket of the connection, as long as it is open.
        var socket: CInt? {
            var socket: CInt = -1
            return unsafe lh_curl_get_socket(easy, &socket) == 0 && socket >= 0 ? socket : nil
        }

        /// Prevents libcurl from using the connection again, unless a different transfer uses it. The next request
        /// finds its end.
        ///
        /// After a frame that is invalid for the whole connection, libcurl may keep the connection, as 8.14.1 does.
        /// Each further request on it would fail, until the server closes it.
        func retireConnection() {
            // libcurl reports no socket for a transfer in progress, but it reports the TLS session of the connection.
            let session = connection.tlsSession
            let isUsed = loop.active.contains { other in
                guard let other = other.carrier, other !== self else { return false }
                return session.map { other.uses($0) } ?? (other.socket == socket)
            }
            guard let socket, !isUsed else { return }
            shutdown(socket, Int32(SHUT_RDWR))
        }

        /// Returns a time since the start of the request, or zero if libcurl has none. libcurl counts from the moment at
        /// which the transfer was added to it.
        private func time(_ info: CurlInfo) -> Duration {
            guard let exchange, let time = offset(info), time > 0 else { return .zero }
            return .microseconds(time) + .nanoseconds(exchange.progress.joinedAt - exchange.progress.begunAt)
        }

        /// Whether a part of the request body has not been sent.
        var isSending: Bool {
            guard let exchange, !exchange.progress.hasNoBody, let sent = offset(.uploaded) else { return false }
            return exchange.isSending(after: sent)
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
