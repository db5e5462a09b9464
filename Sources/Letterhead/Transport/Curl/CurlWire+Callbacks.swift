#if os(Linux)
    import CLibcurl
    import Glibc

    extension CurlWire {
        /// Lets libcurl call this handle's methods.
        func setCallbacks() -> [CInt] {
            let context = Unmanaged.passUnretained(self).toOpaque()
            return [
                lh_curl_set_pointer(easy, .private, context),
                lh_curl_set_write(easy, onBody, context),
                lh_curl_set_header(easy, onLine, context),
                lh_curl_set_read(easy, onRead, context),
                lh_curl_set_seek(easy, onSeek, context),
                lh_curl_set_open_socket(easy, onOpenSocket, context),
                lh_curl_set_resolver_start(easy, onResolverStart, context),
                lh_curl_set_close_socket(easy, CurlLoop.onCloseSocket, Unmanaged.passUnretained(loop).toOpaque()),
            ]
        }

        /// Lets libcurl ask before it sends, which it can since 7.80; false on an older one.
        func setPrerequestCallback() -> Bool {
            lh_curl_set_prerequest(easy, onPrerequest, Unmanaged.passUnretained(self).toOpaque()) == 0
        }

        /// The one that carries a transfer of libcurl's.
        static func carried(by easy: OpaquePointer) -> CurlWire? {
            var context: UnsafePointer<CChar>?
            guard lh_curl_get_string(easy, .private, &context) == 0, let context else { return nil }
            return Unmanaged<CurlWire>.fromOpaque(context).takeUnretainedValue()
        }

        /// Works with the one to which a callback belongs, which its loop holds meanwhile.
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
        // Any other number than that of the bytes ends the transfer; an empty line has at least one byte.
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
        // No program inherits it that this process starts.
        let closing = CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.pointee.family, address.pointee.kind | closing, address.pointee.protocol)
        if descriptor < 0, errno == EMFILE || errno == ENFILE { CurlWire.with(context) { $0.hasNoDescriptor = true } }
        return descriptor
    }

    private let onPrerequest: LHCurlPrerequest = { context, _, _, _, _ in
        CurlWire.with(context) { $0.willSend() } == true ? 0 : 1
    }
#endif
