#if os(Linux)
    import CLibcurl
    import Glibc

    extension CurlWire {
        /// Reads the timings off the handle, before the next transfer has it.
        func noteFacts() {
            guard let facts = transfer?.facts else { return }
            var metrics = TransportMetrics()
            let isNew = number(.connectionsMade) > 0
            if isNew {
                metrics.nameLookup = time(.nameLookupTime)
                metrics.connect = time(.connectTime)
                metrics.secureConnect = time(.tlsTime)
            }
            metrics.firstByte = progress.hasAnswer ? time(.startTransferTime) : .zero
            metrics.total = time(.totalTime)
            metrics.bytesSent = number(.requestSize) + (progress.hasNoBody ? 0 : offset(.uploaded))
            metrics.bytesReceived = number(.headerSize) + offset(.downloaded)
            metrics.httpVersion = Self.version(number(.httpVersion))
            metrics.remoteAddress = address
            metrics.isReusedConnection = !isNew && metrics.remoteAddress != nil
            // Only of a connection that was used is it sure that its end will be told.
            if isNew, progress.hasHead, let socket { loop.poller.keep(socket) }
            facts.metrics = metrics
        }

        private var address: String? {
            var text: UnsafePointer<CChar>?
            guard lh_curl_get_string(easy, .primaryAddress, &text) == 0, let text, text.pointee != 0 else { return nil }
            let port = number(.primaryPort)
            if let last = loop.lastAddress?.host, loop.lastAddress?.port == port, strcmp(last, text) == 0 {
                return loop.lastAddress?.text
            }
            let host = String(cString: text)
            let address = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            loop.lastAddress = (Array(host.utf8CString), port, address)
            return address
        }

        /// That of the connection, as long as there is one.
        private var socket: CInt? {
            var socket: CInt = -1
            return lh_curl_get_socket(easy, &socket) == 0 && socket >= 0 ? socket : nil
        }

        private func time(_ info: CurlInfo) -> Duration { .microseconds(offset(info)) }

        private func offset(_ info: CurlInfo) -> Int {
            var value: Int64 = 0
            return lh_curl_get_offset(easy, info, &value) == 0 ? Int(value) : 0
        }

        func number(_ info: CurlInfo) -> Int {
            var value = 0
            return lh_curl_get_long(easy, info, &value) == 0 ? value : 0
        }

        private static func version(_ number: Int) -> String? {
            switch number {
            case 1: "HTTP/1.0"
            case 2: "HTTP/1.1"
            case 3: "HTTP/2"
            case 30: "HTTP/3"
            default: nil
            }
        }
    }
#endif
