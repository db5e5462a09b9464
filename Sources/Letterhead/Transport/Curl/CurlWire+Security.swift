// SPDX-License-Identifier: MIT
#if os(Linux)
    import CLibcurl
    import LetterheadFoundation

    extension CurlWire {
        /// Sets the host's pinned keys. libcurl compares them when it opens a connection.
        func configurePins(for plan: CurlPlan) -> Bool {
            guard settings.pinnedKeys != plan.pinnedKeys else { return true }
            settings.pinnedKeys = plan.pinnedKeys
            // The certificate is needed only for an error's message. Not every TLS library supports this option, so its
            // result is ignored.
            _ = lh_curl_set_long(easy, .certificateInfo, plan.pinnedKeys.isEmpty ? 0 : 1)
            let pins = plan.pinnedKeys.map(PublicKeyPin.text(of:)).joined(separator: ";")
            return lh_curl_set_string(easy, .pinnedPublicKey, pins.isEmpty ? nil : pins) == 0
        }

        /// The host, the setting and the server's key, for the message if the key isn't pinned.
        var pinMismatch: String {
            let host = transfer?.request.host ?? ""
            let rule = loop.configuration.security.pinningRule(of: host)
            let pin = lh_curl_get_certificate(easy).flatMap { PublicKeyPin.pin(ofPEM: String(cString: $0)) }
            return "\(rule) for \(host), and the server's key is \(pin ?? "not known")"
        }

        /// Calls the configuration's checks, unless the connection has passed them before. Returns false if the request
        /// must not be sent on it.
        ///
        /// The TLS session stores that its connection has passed, so that the mark cannot outlive the connection.
        func passesChecks() -> Bool {
            let security = loop.configuration.security
            guard !security.checks.isEmpty else { return true }
            guard let transfer else { return false }
            guard transfer.plan.isSecure else { return true }
            let session = progress.connection.tlsSession
            if let session, lh_tls_is_accepted(session) != 0 { return true }
            do throws(TransportFailure) {
                try security.check(session.map(Self.chain) ?? [], of: transfer.request.host ?? "")
                if let session { lh_tls_accept(session) }
                return true
            } catch {
                var failure = error
                failure.mayHaveBeenSent = progress.timesSent > 1
                progress.failure = failure
                // libcurl would keep an HTTP/2 connection open. The option is set again for the next transfer.
                _ = lh_curl_set_long(easy, .forbidReuse, 1)
                settings.httpVersion = nil
                return false
            }
        }

        /// Returns a TLS session's verified certificates in DER, or none if one can't be read.
        private static func chain(of session: UnsafeRawPointer) -> [Data] {
            var chain: [Data] = []
            while true {
                let index = CInt(chain.count)
                let count = lh_tls_certificate(session, index, nil)
                guard count > 0 else { return count == 0 ? chain : [] }
                var bytes = [UInt8](repeating: 0, count: Int(count))
                guard lh_tls_certificate(session, index, &bytes) == count else { return [] }
                chain.append(Data(bytes))
            }
        }

        /// Whether only the TLS connection's end marks the body's end. Without close_notify, anyone on the network path
        /// may have truncated such a body, and libcurl treats it as complete.
        var endsWithConnection: Bool {
            var length = Int64(0)
            guard let plan = transfer?.plan, plan.isSecure, !progress.connection.isMultiplexed,
                lh_curl_get_offset(easy, .contentLength, &length) == 0, length < 0,
                let head = transfer.flatMap({ try? ResponseHead($0.reply.head) })
            else { return false }
            return head.bodyLength(of: plan.method) == nil && !head.headers.contains(.transferEncoding)
        }
    }

    extension CurlWire {
        func setCallbacks(_ options: inout CurlOptions) {
            let context = Unmanaged.passUnretained(self).toOpaque()
            options.set(.private, UnsafeRawPointer(context))
            options.note(lh_curl_set_write(easy, onBody, context))
            options.note(lh_curl_set_header(easy, onLine, context))
            options.note(lh_curl_set_read(easy, onRead, context))
            options.note(lh_curl_set_seek(easy, onSeek, context))
            options.note(lh_curl_set_open_socket(easy, onOpenSocket, context))
            options.note(lh_curl_set_resolver_start(easy, onResolverStart, context))
            options.note(lh_curl_set_prerequest(easy, onPrerequest, context))
            options.note(
                lh_curl_set_close_socket(easy, CurlLoop.onCloseSocket, Unmanaged.passUnretained(loop).toOpaque()))
        }

        func observeStreams() -> CInt {
            lh_curl_observe_streams(easy, onStream, Unmanaged.passUnretained(self).toOpaque())
        }

        static func carried(by easy: OpaquePointer) -> CurlWire? {
            var context: UnsafePointer<CChar>?
            guard lh_curl_get_string(easy, .private, &context) == 0, let context else { return nil }
            return Unmanaged<CurlWire>.fromOpaque(context).takeUnretainedValue()
        }

        /// Calls a closure with a callback's object. The loop retains the object during the call.
        static func with<Result>(_ context: UnsafeMutableRawPointer?, _ work: (CurlWire) -> Result) -> Result? {
            context.map { Unmanaged<CurlWire>.fromOpaque($0)._withUnsafeGuaranteedRef(work) }
        }
    }

    private let onBody: LHCurlWrite = { bytes, size, count, context in
        let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return CurlWire.with(context) { $0.received(body: bytes) } ?? 0
    }

    private let onLine: LHCurlWrite = { bytes, size, count, context in
        let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
        // A result other than the number of bytes ends the transfer. Every line has at least one byte, so 0 always ends
        // it.
        return CurlWire.with(context) { $0.received(line: line) } == true ? line.count : 0
    }

    private let onRead: LHCurlRead = { bytes, size, count, context in
        let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
        return CurlWire.with(context) { $0.fill(buffer) } ?? Int(CURL_READ_ABORT)
    }

    private let onSeek: LHCurlSeek = { context, offset, origin in
        let isFromStart = origin == 0
        return isFromStart && CurlWire.with(context) { $0.rewind(to: Int(offset)) } == true ? 0 : 1
    }

    private let onResolverStart: LHCurlResolverStart = { _, _, context in
        CurlWire.with(context) { $0.progress.isConnecting = true }
        return 0
    }

    private let onOpenSocket: LHCurlOpenSocket = { context, _, address in
        CurlWire.with(context) { $0.progress.isConnecting = true }
        // Programs that this process starts don't inherit the socket.
        let closing = CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.pointee.family, address.pointee.kind | closing, address.pointee.protocol)
        if descriptor < 0, errno == EMFILE || errno == ENFILE { CurlWire.with(context) { $0.hasNoDescriptor = true } }
        return descriptor
    }

    private let onStream: LHCurlStream = { context, stream, isGoAway in
        CurlWire.with(context) { $0.note(stream: stream, isGoAway: isGoAway != 0) }
    }

    private let onPrerequest: LHCurlPrerequest = { context, _, _, _, _ in
        CurlWire.with(context) { $0.willSend() } == true ? 0 : 1
    }
#endif
