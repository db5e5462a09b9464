// SPDX-License-Identifier: MIT
#if os(Linux)
    import LetterheadFoundation

    // MARK: The request's body

    extension Exchange {
        /// Copies the next bytes of the request's body. An empty or copied body has none.
        func fill(_ buffer: UnsafeMutableRawBufferPointer, at now: UInt64) -> SendPipe.Step {
            progress.lastActivity = now
            switch plan.content {
            case .none, .copied: return .end
            case .held(let data):
                let count = min(buffer.count, data.count - progress.sentBytes)
                guard count > 0 else { return .end }
                let start = data.startIndex + progress.sentBytes
                unsafe data.copyBytes(to: buffer, from: start..<(start + count))
                progress.sentBytes += count
                return .bytes(count)
            case .pulled(let source):
                let step = unsafe source.read(into: buffer)
                switch step {
                case .bytes, .end: break
                case .wait: progress.isSendPaused = true
                case .failed(let error): progress.failure = .ofBody(error)
                }
                return step
            }
        }

        /// Moves the request's body back to an offset. Returns false if that isn't possible.
        func rewind(to offset: Int) -> Bool {
            switch plan.content {
            case .held(let data):
                guard (0...data.count).contains(offset) else { return false }
                progress.sentBytes = offset
                return true
            case .pulled(let source): return offset == 0 && source.rewind(onMore: onMore)
            case .none, .copied: return offset == 0
            }
        }

        /// A closure that resumes the transfer when more bytes are available. It refers to the transfer weakly, so that
        /// a body that never ends doesn't keep the transfer alive.
        var onMore: @Sendable () -> Void {
            { [weak self] in self?.resume() }
        }

        var bodyFailure: TransportFailure? {
            guard case .pulled(let source) = plan.content, let error = source.failure else { return nil }
            return .ofBody(error)
        }

        /// Returns whether a part of the request's body remains when `sent` bytes were sent.
        func isSending(after sent: Int) -> Bool {
            switch plan.content {
            case .none: false
            case .copied(let count): sent < count
            case .held(let data): sent < data.count
            case .pulled(let source): source.length.map { sent < $0 } ?? !source.isSpent(by: sent)
            }
        }

        /// Returns whether the request may be sent a second time, on another connection. This is possible if a reused
        /// connection ended before the response began, or if the server refused an HTTP/2 stream.
        ///
        /// - Parameters:
        ///   - wasRefused: whether the server refused the stream.
        ///   - isRefused: whether it also did not ask for HTTP/1.1. If so, it certainly did not process the request (RFC
        ///     9113, 8.7).
        func maySendAgain(wasRefused: Bool, isRefused: Bool) -> Bool {
            let event = "the server closed a reused connection while the request was being sent"
            if !plan.method.isIdempotent, !isRefused {
                progress.failure = TransportFailure(
                    .connectionLost,
                    "\(event), and the transport sends \(plan.method) only once (use idempotent() and retry(…) if it "
                        + "may be sent twice)")
            } else if !rewind(to: 0) {
                // Body bytes that were read but not sent are lost, and libcurl requests a rewind only for bytes that it
                // had sent. The body is therefore always rewound here.
                progress.failure = TransportFailure(
                    .connectionLost, "\(event), and the body can be sent only once", mayHaveBeenSent: !isRefused)
            } else if !wasRefused, request.isSignedOnce {
                progress.failure = TransportFailure(
                    .signatureSpent, "\(event), and the request's signature can be used only once")
            }
            return progress.failure == nil
        }
    }

    // MARK: The response

    extension Exchange {
        /// Processes a line in the head or in the trailers. Returns false to end the transfer.
        func received(line: UnsafeRawBufferPointer, on loop: CurlLoop) -> Bool {
            progress.lastActivity = loop.now
            progress.hasAnswer = true
            progress.headBytes += line.count
            guard progress.failure == nil else { return false }
            let limit = loop.configuration.maximumHeadSize
            guard progress.headBytes <= limit else {
                progress.failure = TransportFailure(
                    .responseTooLarge,
                    "the head of the response is larger than the \(limit) bytes allowed (to allow more, raise "
                        + "maximumHeadSize)")
                return false
            }
            guard unsafe line.isBlankLine else {
                guard !progress.hasHead else {
                    unsafe trailers.append(contentsOf: line)
                    return true
                }
                guard unsafe reply.head.isEmpty ? begins(with: line) : noteField(line) else { return false }
                unsafe reply.head.append(contentsOf: line)
                return true
            }
            if progress.hasHead { return true }
            if progress.isInterim {
                noteInterim()
                return true
            }
            guard accept(unless: progress.framing.fault) else { return false }
            progress.hasHead = true
            // A streamed body is read at the reader's pace, so the attempt's timeout doesn't apply to it.
            if request.isOpenEnded(after: HTTPStatus(progress.status)) { progress.attemptDeadline = .max }
            if request.observation != nil { carrier?.noteHead(of: self) }
            if pipe != nil { complete(.success) }
            return !isAnsweredEarly()
        }

        private func noteInterim() {
            defer { reply.head.removeAll(keepingCapacity: true) }
            guard reply.interim.count < ReceivedResponse.mostInterim else { return }
            reply.interim.append(reply.head)
            guard request.observation != nil else { return }
            facts.note { [lines = reply.head] details in details.interim.append(lines) }
        }

        /// Processes a status line. Returns false if it is malformed, or if it claims another protocol than the
        /// connection's.
        ///
        /// libcurl would believe the claim, and send other requests on an HTTP/1.1 connection before this response has
        /// ended. Callers would then receive each other's responses.
        private func begins(with line: UnsafeRawBufferPointer) -> Bool {
            progress.status = unsafe ResponseHead.statusCode(of: line) ?? 0
            // Another head follows a 1xx response, except 101 (RFC 9110, 15.2).
            progress.isInterim = (100...199).contains(progress.status) && progress.status != 101
            (progress.isCoded, progress.framing, progress.hasField) = (false, ResponseFraming(), false)
            let fault: String? =
                if unsafe line.claimsHTTP2 != progress.isMultiplexed {
                    progress.isMultiplexed
                        ? "the status line does not belong to HTTP/2 or HTTP/3, which the connection uses"
                        : "the status line claims HTTP/2 on an HTTP/1.1 connection"
                } else {
                    progress.status == 0 ? "the status line is malformed" : nil
                }
            return accept(unless: fault)
        }

        /// Returns whether `fault` is nil. Otherwise, the fault becomes the transfer's failure, and libcurl closes the
        /// connection.
        private func accept(unless fault: String?) -> Bool {
            if let fault { progress.failure = TransportFailure(.invalidResponse, fault) }
            return fault == nil
        }

        /// Processes a line after the status line. Returns false if the first such line is folded, because it has no
        /// field to continue.
        private func noteField(_ line: UnsafeRawBufferPointer) -> Bool {
            // The names of most other fields begin with a different letter.
            switch unsafe ASCII.lowercased(line[0]) {
            case UInt8(ascii: "c"):
                if unsafe line.value(of: "content-encoding:") != nil { progress.isCoded = true }
                if let length = unsafe line.value(of: "content-length:") { unsafe progress.framing.noteLength(length) }
            case UInt8(ascii: "t"):
                if unsafe line.value(of: "transfer-encoding:") != nil { progress.framing.noteTransferCoding() }
            case 0x20 where !progress.hasField, 0x09 where !progress.hasField:
                return accept(unless: "the first header line begins with a space or a tab")
            default: break
            }
            progress.hasField = true
            return true
        }

        enum Arrival {
            case taken
            /// Nothing was taken: the buffer is full, or the loop must first look at the clock.
            case paused
            /// The transfer must end.
            case refused
        }

        /// Processes bytes of the body.
        func received(body bytes: UnsafeRawBufferPointer, on loop: CurlLoop) -> Arrival {
            progress.lastActivity = loop.now
            guard progress.failure == nil else { return .refused }
            guard loop.mayReceive() else {
                progress.isReceivePaused = true
                resume()
                return .paused
            }
            if let pipe {
                loop.noteUnread(pipe)
                switch unsafe pipe.write(bytes) {
                case .taken: break
                case .refused:
                    progress.isReceivePaused = true
                    return .paused
                case .noMemory: progress.failure = .noMemory
                case .cancelled: progress.failure = .cancelled
                }
            } else if reply.body.count + bytes.count > wireLimit {
                progress.failure = TransportFailure(
                    .responseTooLarge,
                    "the body is larger than the \(limit) bytes allowed (to allow more, raise responseLimit)")
            } else if unsafe !reply.body.append(bytes) {
                progress.failure = .noMemory
            }
            guard progress.failure == nil else { return .refused }
            progress.receivedBytes += bytes.count
            return isAnsweredEarly() ? .refused : .taken
        }

        /// The maximum number of received bytes. A small body may be slightly larger when it is compressed.
        private var wireLimit: Int { progress.isCoded && limit < .max - 1024 ? limit + 1024 : limit }

        /// Returns whether the server has sent its complete HTTP/2 response and won't read the remaining request body.
        /// libcurl would wait forever until the body is sent. The transfer therefore ends: its stream is closed, and
        /// its connection stays open.
        private func isAnsweredEarly() -> Bool {
            guard progress.isMultiplexed, carrier?.isSending == true else { return false }
            progress.isAnsweredEarly =
                progress.framing.bodyLength.map { progress.receivedBytes >= $0 } == true
                || (try? ResponseHead(reply.head))?.bodyLength(of: plan.method) == 0
            return progress.isAnsweredEarly
        }
    }
#endif
