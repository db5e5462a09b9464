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
            _ = unsafe lh_curl_set_long(easy, .certificateInfo, plan.pinnedKeys.isEmpty ? 0 : 1)
            let pins = plan.pinnedKeys.map(PublicKeyPin.text(of:)).joined(separator: ";")
            return unsafe lh_curl_set_string(easy, .pinnedPublicKey, pins.isEmpty ? nil : pins) == 0
        }

        /// The host, the setting and the server's key, for the message if the key isn't pinned.
        var pinMismatch: String {
            let host = transfer?.request.host ?? ""
            let rule = loop.configuration.security.pinningRule(of: host)
            let certificate = unsafe lh_curl_get_certificate(easy).map(String.init(cString:))
            let pin = certificate.flatMap(PublicKeyPin.pin(ofPEM:))
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
            if let session, unsafe lh_tls_is_accepted(session.address) != 0 { return true }
            do throws(TransportFailure) {
                try security.check(session.map(Self.chain) ?? [], of: transfer.request.host ?? "")
                if let session { unsafe lh_tls_accept(session.address) }
                return true
            } catch {
                var failure = error
                failure.mayHaveBeenSent = progress.timesSent > 1
                progress.failure = failure
                // libcurl would keep an HTTP/2 connection open. The option is set again for the next transfer.
                _ = unsafe lh_curl_set_long(easy, .forbidReuse, 1)
                settings.httpVersion = nil
                return false
            }
        }

        /// Returns a TLS session's verified certificates in DER, or none if one can't be read.
        private static func chain(of session: TLSSession) -> [Data] {
            var chain: [Data] = []
            while true {
                let index = CInt(chain.count)
                let count = unsafe lh_tls_certificate(session.address, index, nil)
                guard count > 0 else { return count == 0 ? chain : [] }
                var bytes = [UInt8](repeating: 0, count: Int(count))
                guard unsafe lh_tls_certificate(session.address, index, &bytes) == count else { return [] }
                chain.append(Data(bytes))
            }
        }

        /// Whether only the TLS connection's end marks the body's end. Without close_notify, anyone on the network path
        /// may have truncated such a body, and libcurl treats it as complete.
        var endsWithConnection: Bool {
            guard let plan = transfer?.plan, plan.isSecure, !progress.connection.isMultiplexed,
                let length = offset(.contentLength), length < 0,
                let head = transfer.flatMap({ try? ResponseHead($0.reply.head) })
            else { return false }
            return head.bodyLength(of: plan.method) == nil && !head.headers.contains(.transferEncoding)
        }
    }

    extension CurlWire {
        func setCallbacks(_ options: inout CurlOptions) {
            let context = unsafe Unmanaged.passUnretained(self).toOpaque()
            unsafe options.set(.private, UnsafeRawPointer(context))
            options.note(unsafe lh_curl_set_write(easy, onBody, context))
            options.note(unsafe lh_curl_set_header(easy, onLine, context))
            options.note(unsafe lh_curl_set_read(easy, onRead, context))
            options.note(unsafe lh_curl_set_seek(easy, onSeek, context))
            options.note(unsafe lh_curl_set_open_socket(easy, onOpenSocket, context))
            options.note(unsafe lh_curl_set_resolver_start(easy, onResolverStart, context))
            options.note(unsafe lh_curl_set_prerequest(easy, onPrerequest, context))
            options.note(
                unsafe lh_curl_set_close_socket(easy, CurlLoop.onCloseSocket, Unmanaged.passUnretained(loop).toOpaque())
            )
        }

        func observeStreams() -> CInt {
            unsafe lh_curl_observe_streams(easy, onStream, Unmanaged.passUnretained(self).toOpaque())
        }

        static func carried(by easy: OpaquePointer) -> CurlWire? {
            var context: UnsafePointer<CChar>?
            guard unsafe lh_curl_get_string(easy, .private, &context) == 0 else { return nil }
            return unsafe context.map { unsafe Unmanaged<CurlWire>.fromOpaque($0).takeUnretainedValue() }
        }

        /// Calls a closure with a callback's object. The loop retains the object during the call.
        static func with<Result>(_ context: UnsafeMutableRawPointer?, _ work: (CurlWire) -> Result) -> Result? {
            unsafe context.map { unsafe Unmanaged<CurlWire>.fromOpaque($0)._withUnsafeGuaranteedRef(work) }
        }
    }

    // libcurl's memory and addresses live until a callback returns.

    private let onBody: LHCurlWrite = { bytes, size, count, context in
        let bytes = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
        return unsafe CurlWire.with(context) { unsafe $0.received(body: bytes) } ?? 0
    }

    private let onLine: LHCurlWrite = { bytes, size, count, context in
        let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
        // A result other than the number of bytes ends the transfer. Every line has at least one byte, so 0 always ends
        // it.
        return unsafe CurlWire.with(context) { unsafe $0.received(line: line) } == true ? line.count : 0
    }

    private let onRead: LHCurlRead = { bytes, size, count, context in
        let buffer = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
        return unsafe CurlWire.with(context) { unsafe $0.fill(buffer) } ?? Int(CURL_READ_ABORT)
    }

    private let onSeek: LHCurlSeek = { context, offset, origin in
        let isFromStart = origin == 0
        return unsafe isFromStart && CurlWire.with(context) { $0.rewind(to: Int(offset)) } == true ? 0 : 1
    }

    private let onResolverStart: LHCurlResolverStart = { _, _, context in
        unsafe CurlWire.with(context) { $0.progress.isConnecting = true }
        return 0
    }

    private let onOpenSocket: LHCurlOpenSocket = { context, _, address in
        unsafe CurlWire.with(context) { $0.progress.isConnecting = true }
        // Programs that this process starts don't inherit the socket.
        let closing = CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = unsafe socket(address.pointee.family, address.pointee.kind | closing, address.pointee.protocol)
        let isExhausted = descriptor < 0 && (errno == EMFILE || errno == ENFILE)
        if isExhausted { unsafe CurlWire.with(context) { $0.hasNoDescriptor = true } }
        return descriptor
    }

    private let onStream: LHCurlStream = { context, stream, isGoAway in
        unsafe CurlWire.with(context) { $0.note(stream: stream, isGoAway: isGoAway != 0) }
    }

    private let onPrerequest: LHCurlPrerequest = { context, _, _, _, _ in
        unsafe CurlWire.with(context) { $0.willSend() } == true ? 0 : 1
    }
#endif
