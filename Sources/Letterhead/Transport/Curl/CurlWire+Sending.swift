#if os(Linux)
    import CLibcurl
    import Foundation

    extension CurlWire {
        /// The request is about to be sent; false stops it.
        func willSend() -> Bool {
            progress.lastActivity = loop.now
            progress.timesSent += 1
            loop.note(deadline)
            guard progress.timesSent > 1, let plan = transfer?.plan else { return true }
            // libcurl lost a connection that it had reused before any answer, and would send everything again.
            guard plan.mayBeSentTwice else {
                progress.failure = TransportFailure(
                    .connectionLost,
                    "the server closed a kept connection as the request was sent; \(plan.method) is not sent again")
                return false
            }
            // What it had read of the body and not sent is gone; it asks to rewind only for what it had sent.
            guard rewind(to: 0) else {
                progress.failure = TransportFailure(
                    .connectionLost,
                    "the server closed a kept connection as the request was sent; its body can be sent only once")
                return false
            }
            return true
        }

        /// Gives the next bytes of the request's body: how many, none at its end, or that there are none yet.
        func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
            progress.lastActivity = loop.now
            switch transfer?.plan.content {
            case .held(let data):
                let count = min(buffer.count, data.count - progress.sentBytes)
                guard count > 0 else { return 0 }
                let start = data.startIndex + progress.sentBytes
                data.copyBytes(to: buffer, from: start..<(start + count))
                progress.sentBytes += count
                return count
            case .pulled(let source):
                switch source.read(into: buffer) {
                case .bytes(let count): return count
                case .end: return 0
                case .wait:
                    progress.isSendPaused = true
                    return Int(CURL_READ_PAUSE)
                case .failed(let error):
                    progress.failure = .ofBody(error)
                    return Int(CURL_READ_ABORT)
                }
            case .none?, .copied?, nil: return Int(CURL_READ_ABORT)
            }
        }

        /// Starts the request's body again; false when that cannot be.
        func rewind(to offset: Int) -> Bool {
            switch transfer?.plan.content {
            case .held(let data):
                guard (0...data.count).contains(offset) else { return false }
                progress.sentBytes = offset
                return true
            case .pulled(let source): return offset == 0 && source.rewind(onMore: onMore)
            case .none?, .copied?: return offset == 0
            case nil: return false
            }
        }

        /// Tells the thread that there is more of the body. It does not keep the transfer alive, so that a body that
        /// never ends does not either.
        var onMore: @Sendable () -> Void {
            { [weak transfer] in transfer?.resume() }
        }

        /// Why the body could not be made, if it could not.
        var bodyFailure: TransportFailure? {
            guard case .pulled(let source) = transfer?.plan.content, let error = source.failure else { return nil }
            return .ofBody(error)
        }
    }
#endif
