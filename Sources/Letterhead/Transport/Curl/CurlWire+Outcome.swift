#if os(Linux)
    import CLibcurl
    import Glibc

    extension CurlWire {
        /// What became of the transfer, now that libcurl says it is over.
        func outcome(of result: CurlResult) -> CurlTransfer.Outcome {
            if let failure = progress.failure { return outcome(failing: failure) }
            guard result == .ok || progress.isAnsweredEarly else {
                if result == .couldNotConnect, hasNoDescriptor, !wasSent { return outcome(failing: .exhausted) }
                // Over HTTP/2 libcurl calls it a truncated response when the connection ends before the response has begun.
                let isWithoutResponse = result == .truncated && !progress.hasAnswer
                let result = isWithoutResponse ? CurlResult.noResponse : result
                let reason = String(cString: reasonBuffer)
                return outcome(failing: result.failure(reason: reason, wasSent: wasSent))
            }
            // libcurl takes a connection that was closed inside the head as a response without a body.
            guard progress.hasHead else {
                return outcome(failing: TransportFailure(.invalidResponse, "the connection was closed inside the head"))
            }
            if endsWithConnection, !progress.hasCloseNotify {
                guard !observesCloseNotify else {
                    return outcome(
                        failing: TransportFailure(
                            .invalidResponse,
                            "the connection ended without TLS close_notify: the body may be truncated"))
                }
                progress.hasUnauthenticatedEnd = !CurlQuirks.reportsMissingCloseNotify
            }
            if let transfer, !lines.isEmpty {
                // The caller of a streamed response has gone on with its head; of a buffered one, it parses everything.
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

        /// A failure with what had arrived of the response.
        func outcome(failing failure: TransportFailure) -> CurlTransfer.Outcome {
            var failure = failure
            if progress.hasHead, let transfer {
                failure.head = transfer.reply.head
                if transfer.pipe == nil { failure.body = transfer.reply.body.take() }
            }
            return .failure(failure)
        }

        /// When the transfer is past its time, if nothing more happens.
        var deadline: UInt64 { min(progress.loadDeadline, progress.attemptDeadline, idleDeadline, firstByteDeadline) }

        /// What it is when it is past its time.
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

        private var wasSent: Bool { progress.timesSent > 0 || !(asksBeforeSending || isWaiting) }
    }

    extension CurlWire {
        /// Reads the timings off the handle, before the next transfer has it.
        func noteFacts() {
            guard let facts = transfer?.facts else { return }
            var metrics = TransportMetrics()
            let isNew = number(.connectionsMade) > 0
            if isNew {
                metrics.nameLookup = time(.nameLookupTime)
                metrics.connect = time(.connectTime)
                metrics.secureConnect = time(.tlsTime)
            }
            metrics.firstByte = progress.hasAnswer ? time(.startTransferTime) : .zero
            metrics.total = time(.totalTime)
            metrics.bytesSent = number(.requestSize) + (progress.hasNoBody ? 0 : offset(.uploaded))
            metrics.bytesReceived = number(.headerSize) + offset(.downloaded)
            metrics.httpVersion = Self.versions[number(.httpVersion)]
            metrics.remoteAddress = address
            metrics.hasUnauthenticatedEnd = progress.hasUnauthenticatedEnd
            metrics.isReusedConnection = !isNew && metrics.remoteAddress != nil
            // Only of a connection that was used is it sure that its end will be told.
            if isNew, progress.hasHead, let socket { loop.poller.keep(socket) }
            facts.metrics = metrics
        }

        private var address: String? {
            var text: UnsafePointer<CChar>?
            guard lh_curl_get_string(easy, .primaryAddress, &text) == 0, let text, text.pointee != 0 else { return nil }
            let port = number(.primaryPort)
            let host = String(cString: text)
            return host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        }

        /// That of the connection, as long as there is one.
        private var socket: CInt? {
            var socket: CInt = -1
            return lh_curl_get_socket(easy, &socket) == 0 && socket >= 0 ? socket : nil
        }

        /// The time from the start of the request; zero when libcurl has none.
        private func time(_ info: CurlInfo) -> Duration {
            let time = offset(info)
            return time == 0 ? .zero : .microseconds(time) + .nanoseconds(progress.waitingTime)
        }

        private func offset(_ info: CurlInfo) -> Int {
            var value: Int64 = 0
            return lh_curl_get_offset(easy, info, &value) == 0 ? Int(value) : 0
        }

        func number(_ info: CurlInfo) -> Int {
            var value = 0
            return lh_curl_get_long(easy, info, &value) == 0 ? value : 0
        }

        private static let versions = [1: "HTTP/1.0", 2: "HTTP/1.1", 3: "HTTP/2", 30: "HTTP/3"]
    }
#endif
