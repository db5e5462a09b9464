#if os(Linux)
    import CLibcurl

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
            guard !isTruncated else {
                return outcome(
                    failing: TransportFailure(
                        .invalidResponse, "the connection ended without TLS close_notify: the body may be truncated"))
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
            if progress.hasHead, let reply = transfer?.reply { (failure.head, failure.body) = (reply.head, reply.body) }
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
            wasSent && !progress.hasAnswer ? progress.lastActivity.addingUnlessOver(loop.limits.firstByte) : .max
        }

        private var wasSent: Bool { progress.timesSent > 0 || !asksBeforeSending }
    }
#endif
