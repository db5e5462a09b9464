#if os(Linux)
    import CLibcurl
    import Foundation

    extension CurlWire {
        /// A line of the head or of the trailers, as it came; false ends the transfer.
        func received(line: UnsafeRawBufferPointer) -> Bool {
            progress.lastActivity = loop.now
            progress.hasAnswer = true
            progress.headBytes += line.count
            guard progress.failure == nil, isWithinHeadLimit() else { return false }
            guard line.isBlankLine else {
                if !progress.hasHead {
                    guard lines.isEmpty ? begins(with: line) : noteField(line) else { return false }
                }
                lines.append(contentsOf: line)
                return true
            }
            if progress.hasHead { return true }
            defer { lines.removeAll(keepingCapacity: true) }
            if progress.isInterim { return true }
            guard let transfer, accept(unless: progress.framing.fault) else { return false }
            progress.hasHead = true
            // A streamed body is read at the reader's pace, and only the idle time limit holds for it.
            if transfer.request.value.isOpenEnded(after: HTTPStatus(progress.status)) {
                progress.attemptDeadline = .max
            }
            transfer.reply.head.append(contentsOf: lines)
            if transfer.pipe != nil { transfer.complete(.success) }
            return !isAnsweredEarly()
        }

        /// Takes a status line; false when it claims another protocol than the connection's.
        ///
        /// libcurl would believe the claim, and send other requests on a connection of HTTP/1.1 before this one's response
        /// has ended: callers would receive each other's responses.
        private func begins(with line: UnsafeRawBufferPointer) -> Bool {
            // Before 7.80 libcurl does not call before it sends.
            if !asksBeforeSending { progress.tlsSession = tlsSession.session }
            progress.status = line.statusCode ?? 0
            // Another head follows a response of 1xx, except 101 (RFC 9110, 15.2).
            progress.isInterim = (100...199).contains(progress.status) && progress.status != 101
            (progress.isCoded, progress.framing, progress.hasField) = (false, ResponseFraming(), false)
            let fault: String? =
                if line.claimsHTTP2 != progress.isHTTP2 {
                    progress.isHTTP2
                        ? "the status line does not belong to HTTP/2, which the connection negotiated"
                        : "the status line claims HTTP/2 on a connection of HTTP/1.1"
                } else {
                    progress.status == 0 ? "the status line is malformed" : nil
                }
            return accept(unless: fault)
        }

        /// False when something is wrong with the response: libcurl then closes its connection.
        private func accept(unless fault: String?) -> Bool {
            if let fault { progress.failure = TransportFailure(.invalidResponse, fault) }
            return fault == nil
        }

        /// Takes a line after the status line; false when it continues a field although there is none.
        private func noteField(_ line: UnsafeRawBufferPointer) -> Bool {
            // Most fields begin with another letter.
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

        /// Bytes of the body: how many were taken, or that there is no room yet.
        func received(body bytes: UnsafeRawBufferPointer) -> Int {
            progress.lastActivity = loop.now
            guard let transfer, progress.failure == nil, let address = bytes.baseAddress else { return 0 }
            if let pipe = transfer.pipe {
                loop.noteUnread(pipe)
                guard pipe.write(bytes) else {
                    progress.isReceivePaused = true
                    return Int(CURL_WRITE_PAUSE)
                }
                progress.receivedBytes += bytes.count
                return isAnsweredEarly() ? 0 : bytes.count
            }
            guard transfer.reply.body.count + bytes.count <= transfer.wireLimit(isCoded: progress.isCoded) else {
                progress.failure = TransportFailure(
                    .responseTooLarge, "the body is larger than the \(transfer.limit) bytes allowed; see responseLimit")
                return 0
            }
            transfer.reply.body.append(address.assumingMemoryBound(to: UInt8.self), count: bytes.count)
            progress.receivedBytes += bytes.count
            return isAnsweredEarly() ? 0 : bytes.count
        }

        /// Whether the server has answered all over HTTP/2 and will not take the rest of the request's body: libcurl would
        /// wait for it to do so for ever. The stream ends then, and its connection stays.
        private func isAnsweredEarly() -> Bool {
            guard isSending, progress.isHTTP2, let transfer else { return false }
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
            let limit = loop.limits.headSize
            if progress.headBytes <= limit { return true }
            progress.failure = TransportFailure(
                .responseTooLarge, "the response's head is larger than the \(limit) bytes allowed; see maximumHeadSize")
            return false
        }
    }

    extension UnsafeRawBufferPointer {
        /// The end of a head: CRLF, or a bare LF.
        fileprivate var isBlankLine: Bool {
            count == 1 && self[0] == 0x0A || count == 2 && self[0] == 0x0D && self[1] == 0x0A
        }

        /// The value of a header line whose name, with its colon, is `name` in lower case.
        fileprivate func value(of name: StaticString) -> Slice<UnsafeRawBufferPointer>? {
            let size = name.utf8CodeUnitCount
            guard count > size,
                name.withUTF8Buffer({ name in name.indices.allSatisfy { ASCII.lowercased(self[$0]) == name[$0] } })
            else { return nil }
            var end = count
            while end > size, self[end - 1] == 0x0A || self[end - 1] == 0x0D { end -= 1 }
            return self[size..<end]
        }

        /// The status code of a status line, which has three digits.
        fileprivate var statusCode: Int? {
            guard let blank = firstIndex(of: 0x20) else { return nil }
            let digits = self[(blank + 1)...].drop { $0 == 0x20 }.prefix { (48...57).contains($0) }
            return digits.count == 3 ? digits.reduce(0) { $0 * 10 + Int($1 - 48) } : nil
        }

        /// Whether a status line names HTTP/2 or a later version.
        fileprivate var claimsHTTP2: Bool {
            guard let slash = firstIndex(of: UInt8(ascii: "/")), slash + 1 < count else { return false }
            return (UInt8(ascii: "2")...UInt8(ascii: "9")).contains(self[slash + 1])
        }
    }
#endif
