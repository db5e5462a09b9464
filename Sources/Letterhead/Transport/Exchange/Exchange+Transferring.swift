// SPDX-License-Identifier: MIT
#if os(Linux)
    import LetterheadFoundation

    // MARK: The request body

    extension Exchange {
        /// Copies the next bytes of the request body. An empty or copied body has none.
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

        /// Moves the request body back to an offset. Returns false if that isn't possible.
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

        /// Returns whether a part of the request body remains when `sent` bytes were sent.
        func isSending(after sent: Int) -> Bool {
            switch plan.content {
            case .none: false
            case .copied(let count): sent < count
            case .held(let data): sent < data.count
            case .pulled(let source): source.length.map { sent < $0 } ?? !source.isSpent(by: sent)
            }
        }

        /// Returns whether the request may be sent a second time, on a different connection. If not, records the
        /// failure. This is possible if a reused connection ended before the response began, or if the server refused
        /// an HTTP/2 stream.
        ///
        /// - Parameters:
        ///   - wasRefused: whether the server refused the stream.
        ///   - isRefused: whether it also did not ask for HTTP/1.1. If so, it certainly did not process the request
        ///     (RFC 9113, 8.7).
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
            guard progress.failure == nil else { return false }
            do throws(TransportFailure) {
                let line = unsafe line.bindMemory(to: UInt8.self)
                switch try unsafe progress.rules.read(line, isMultiplexed: progress.isMultiplexed) {
                case nil where progress.hasHead: unsafe trailers.append(contentsOf: line)
                case nil: unsafe reply.head.append(contentsOf: line)
                case .interim: noteInterim()
                case .trailers: break
                case .head:
                    noteHead(progress.rules)
                    return !isAnsweredEarly()
                }
                return true
            } catch {
                progress.failure = error
                return false
            }
        }

        /// Notes that the head has arrived.
        func noteHead(_ rules: ResponseRules) {
            (progress.rules, progress.hasHead) = (rules, true)
            // The reader determines the pace of a streamed body, so the timeout of the attempt doesn't apply to it.
            if request.isOpenEnded(after: HTTPStatus(rules.status)) { progress.attemptDeadline = .max }
            if request.observation != nil {
                carrier?.noteHead(of: self)
                connection?.carrier?.noteTLS(of: self)
                // The caller of a streamed response continues before the transfer has ended.
                if pipe != nil { connection?.noteFacts() }
            }
            if pipe != nil { complete(.success) }
        }

        func noteInterim() {
            defer { reply.head.removeAll(keepingCapacity: true) }
            guard reply.interim.count < ReceivedResponse.mostInterim else { return }
            reply.interim.append(reply.head)
            guard request.observation != nil else { return }
            facts.note { [lines = reply.head] details in details.interim.append(lines) }
        }

        enum Arrival {
            case taken
            /// No bytes were taken, because the buffer is full or the loop must first look at the clock.
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
            } else if max(reply.body.count + bytes.count, progress.rules.framing.bodyLength ?? 0) > wireLimit {
                progress.failure = .tooLarge(limit)
            } else if unsafe !reply.body.append(bytes) {
                progress.failure = .noMemory
            }
            guard progress.failure == nil else { return .refused }
            progress.receivedBytes += bytes.count
            return isAnsweredEarly() ? .refused : .taken
        }

        /// The maximum number of received bytes. A compressed body may exceed the limit by 1 KiB, because compression can
        /// enlarge a small body. Its decoded size is checked as well.
        private var wireLimit: Int { progress.rules.isCoded && limit < .max - 1024 ? limit + 1024 : limit }

        /// Returns whether the HTTP/2 response is complete although a part of the request body has not been sent. The
        /// server won't read that part, and libcurl would wait for it forever. The transfer therefore ends: its stream
        /// is closed, and its connection stays open.
        private func isAnsweredEarly() -> Bool {
            guard progress.isMultiplexed, carrier?.isSending == true else { return false }
            progress.isAnsweredEarly =
                progress.rules.framing.bodyLength.map { progress.receivedBytes >= $0 } == true
                || (try? ResponseHead(reply.head))?.bodyLength(of: plan.method) == 0
            return progress.isAnsweredEarly
        }
    }
#endif
