#if os(Linux)
    import CLibcurl

    extension CurlWire {
        /// What became of the transfer, now that libcurl says it is over.
        func outcome(of result: CurlResult) -> CurlTransfer.Outcome {
            if let failure = progress.failure { return outcome(failing: failure) }
            guard result == .ok || progress.isAnsweredEarly else {
                if result == .couldNotConnect, hasNoDescriptor, !wasSent { return outcome(failing: .exhausted) }
                let reason = String(cString: reasonBuffer)
                return outcome(failing: result.failure(reason: reason, wasSent: wasSent))
            }
            // libcurl takes a connection that was closed inside the head as a response without a body.
            guard progress.hasHead else {
                return outcome(failing: TransportFailure(.invalidResponse, "the connection was closed inside the head"))
            }
            guard !isCutShort else {
                return outcome(
                    failing: TransportFailure(
                        .invalidResponse, "the connection ended without TLS's goodbye: it may be cut"))
            }
            // The caller of a streamed response has gone on with its head; of a buffered one, it parses everything.
            let reply = transfer?.reply ?? CurlReply()
            if let transfer, transfer.pipe != nil, !reply.trailers.isEmpty {
                do { transfer.facts.trailers = try ResponseHead.trailers(reply.trailers) } catch {
                    return outcome(failing: error)
                }
            }
            return .success(reply)
        }

        /// A failure with what had arrived of the response.
        func outcome(failing failure: TransportFailure) -> CurlTransfer.Outcome {
            var failure = failure
            if progress.hasHead, let reply = transfer?.reply { (failure.head, failure.body) = (reply.head, reply.body) }
            return .failure(failure)
        }

        /// When the transfer is past its time, if nothing more happens.
        var deadline: UInt64 { min(loadDeadline, attemptDeadline, idleDeadline, firstByteDeadline) }

        /// What it is when it is past its time.
        var lateness: TransportFailure {
            let deadline = deadline
            let limit =
                switch deadline {
                case loadDeadline: "deadline"
                case attemptDeadline: "attempt timeout"
                case idleDeadline: "idle timeout"
                default: "first byte timeout"
                }
            let phase =
                !wasSent ? "connecting" : progress.hasHead ? "receiving the body" : "waiting for the answer"
            return TransportFailure(.timedOut, "the \(limit) passed while \(phase)", mayHaveBeenSent: wasSent)
        }

        /// Whether only the body of the response is to come, and may take as long as its reader likes.
        var isReceivingOnly: Bool {
            progress.hasHead && !isSending && loadDeadline == .max && attemptDeadline == .max
        }

        private var loadDeadline: UInt64 {
            transfer.map { progress.startedAt.addingUnlessOver($0.plan.timeLeft) } ?? .max
        }

        /// A streamed body is read at the reader's pace; what counts for it is that the connection is not idle.
        private var attemptDeadline: UInt64 {
            guard let transfer, !transfer.isOpenEnded || !progress.hasHead else { return .max }
            return progress.startedAt.addingUnlessOver(transfer.plan.timeout)
        }

        private var idleDeadline: UInt64 {
            wasSent && !progress.isReceivePaused ? progress.lastActivity.addingUnlessOver(loop.limits.idle) : .max
        }

        private var firstByteDeadline: UInt64 {
            wasSent && !progress.hasAnswer ? progress.lastActivity.addingUnlessOver(loop.limits.firstByte) : .max
        }

        private var wasSent: Bool { progress.timesSent > 0 || !asksBeforeSending }
    }

    extension UInt64 {
        /// The sum, or the largest number when it does not fit.
        fileprivate func addingUnlessOver(_ other: UInt64) -> UInt64 {
            let (sum, isOver) = addingReportingOverflow(other)
            return isOver ? .max : sum
        }
    }
#endif
