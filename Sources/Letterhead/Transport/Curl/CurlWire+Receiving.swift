#if os(Linux)
    import CLibcurl
    import Foundation

    extension CurlWire {
        /// Processes a line of the head or of the trailers. Returns false to end the transfer.
        func received(line: UnsafeRawBufferPointer) -> Bool {
            progress.lastActivity = loop.now
            progress.hasAnswer = true
            progress.headBytes += line.count
            guard progress.failure == nil, isWithinHeadLimit() else { return false }
            guard line.isBlankLine else {
                if !progress.hasHead {
                    guard lines.isEmpty ? begins(with: line) : noteField(line) else { return false }
                }
                if lines.isEmpty { lines.reserveCapacity(CurlTransfer.usualHeadSize) }
                lines.append(contentsOf: line)
                return true
            }
            if progress.hasHead { return true }
            defer { lines.removeAll(keepingCapacity: true) }
            if progress.isInterim {
                noteInterim()
                return true
            }
            guard let transfer, accept(unless: progress.framing.fault) else { return false }
            progress.hasHead = true
            // A streamed body is read at the reader's pace, so the timeout of the attempt does not apply to it.
            if transfer.request.isOpenEnded(after: HTTPStatus(progress.status)) {
                progress.attemptDeadline = .max
            }
            transfer.reply.head.append(contentsOf: lines)
            noteHead()
            if transfer.pipe != nil { transfer.complete(.success) }
            return !isAnsweredEarly()
        }

        /// Processes a status line. Returns false if it is malformed, or if it claims a protocol other than that of the
        /// connection.
        ///
        /// libcurl would believe the claim, and send other requests on an HTTP/1.1 connection before this response has
        /// ended. Callers would then receive each other's responses.
        private func begins(with line: UnsafeRawBufferPointer) -> Bool {
            // Before 7.80, libcurl does not call back before it sends, so the session is recorded here.
            if !asksBeforeSending, let session = tlsSession.session, session != progress.connection.tlsSession {
                progress.connection = Connection()
                progress.connection.tlsSession = session
            }
            progress.status = line.statusCode ?? 0
            // Another head follows a 1xx response, except 101 (RFC 9110, 15.2).
            progress.isInterim = (100...199).contains(progress.status) && progress.status != 101
            (progress.isCoded, progress.framing, progress.hasField) = (false, ResponseFraming(), false)
            let fault: String? =
                if line.claimsHTTP2 != progress.connection.isMultiplexed {
                    progress.connection.isMultiplexed
                        ? "the status line does not belong to HTTP/2 or HTTP/3, which the connection uses"
                        : "the status line claims HTTP/2 on an HTTP/1.1 connection"
                } else {
                    progress.status == 0 ? "the status line is malformed" : nil
                }
            return accept(unless: fault)
        }

        /// Returns whether there is no fault. If there is one, it becomes the failure of the transfer, and libcurl
        /// closes the connection.
        private func accept(unless fault: String?) -> Bool {
            if let fault { progress.failure = TransportFailure(.invalidResponse, fault) }
            return fault == nil
        }

        /// Processes a line after the status line. Returns false if the first such line is folded, because there is no
        /// field that it could continue.
        private func noteField(_ line: UnsafeRawBufferPointer) -> Bool {
            // The names of most other fields begin with a different letter.
            switch ASCII.lowercased(line[0]) {
            case UInt8(ascii: "c"):
                if line.value(of: "content-encoding:") != nil { progress.isCoded = true }
                if let length = line.value(of: "content-length:") { progress.framing.noteLength(length) }
            case UInt8(ascii: "t"):
                if line.value(of: "transfer-encoding:") != nil { progress.framing.noteTransferCoding() }
            case 0x20 where !progress.hasField, 0x09 where !progress.hasField:
                return accept(unless: "the first header line is folded")
            default: break
            }
            progress.hasField = true
            return true
        }

        /// Processes bytes of the body. Returns the number of bytes that were taken, CURL_WRITE_PAUSE if there is no
        /// room yet or the loop must first look at the clock, or 0 to end the transfer.
        func received(body bytes: UnsafeRawBufferPointer) -> Int {
            progress.lastActivity = loop.now
            guard let transfer, progress.failure == nil else { return 0 }
            guard loop.mayReceive() else {
                progress.isReceivePaused = true
                transfer.resume()
                return Int(CURL_WRITE_PAUSE)
            }
            if let pipe = transfer.pipe {
                loop.noteUnread(pipe)
                switch pipe.write(bytes) {
                case .taken: break
                case .refused:
                    progress.isReceivePaused = true
                    return Int(CURL_WRITE_PAUSE)
                case .noMemory: progress.failure = .noMemory
                case .cancelled: progress.failure = .cancelled
                }
            } else if transfer.reply.body.count + bytes.count > transfer.wireLimit(isCoded: progress.isCoded) {
                progress.failure = TransportFailure(
                    .responseTooLarge, "the body is larger than the \(transfer.limit) bytes allowed; see responseLimit")
            } else if !transfer.reply.body.append(bytes) {
                progress.failure = .noMemory
            }
            guard progress.failure == nil else { return 0 }
            progress.receivedBytes += bytes.count
            return isAnsweredEarly() ? 0 : bytes.count
        }

        /// Returns whether the server has sent its complete HTTP/2 response and will not read the rest of the request's
        /// body. libcurl would wait forever until the body is sent. The transfer therefore ends: its stream is closed,
        /// and its connection stays open.
        private func isAnsweredEarly() -> Bool {
            guard isSending, progress.connection.isMultiplexed, let transfer else { return false }
            var length: Int64 = -1
            let isKnown = lh_curl_get_offset(easy, .contentLength, &length) == 0 && length >= 0
            progress.isAnsweredEarly = isKnown && progress.receivedBytes >= length || hasNoBody(transfer.plan.method)
            return progress.isAnsweredEarly
        }

        /// Whether there is more of the request's body to send.
        var isSending: Bool {
            guard !progress.hasNoBody else { return false }
            var sent: Int64 = 0
            switch transfer?.plan.content {
            case .none?, nil: return false
            case .copied(let count): return lh_curl_get_offset(easy, .uploaded, &sent) == 0 && sent < count
            case .held(let data): return lh_curl_get_offset(easy, .uploaded, &sent) == 0 && sent < data.count
            case .pulled(let source):
                guard lh_curl_get_offset(easy, .uploaded, &sent) == 0 else { return false }
                return source.length.map { sent < $0 } ?? !source.isSpent(by: Int(sent))
            }
        }

        private func hasNoBody(_ method: HTTPMethod) -> Bool {
            transfer.flatMap { try? ResponseHead($0.reply.head) }?.bodyLength(of: method) == 0
        }

        private func isWithinHeadLimit() -> Bool {
            let limit = loop.configuration.maximumHeadSize
            if progress.headBytes <= limit { return true }
            progress.failure = TransportFailure(
                .responseTooLarge, "the response's head is larger than the \(limit) bytes allowed; see maximumHeadSize")
            return false
        }
    }
#endif
