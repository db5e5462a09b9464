#if os(Linux)
    import CLibcurl

    extension CurlWire {
        /// Reads the timings off the handle, before the next transfer has it.
        func noteFacts() {
            guard let facts = transfer?.facts else { return }
            var metrics = TransportMetrics()
            metrics.nameLookup = time(.nameLookupTime)
            metrics.connect = time(.connectTime)
            metrics.secureConnect = time(.tlsTime)
            metrics.firstByte = progress.hasAnswer ? time(.startTransferTime) : .zero
            metrics.total = time(.totalTime)
            metrics.bytesSent = number(.requestSize) + offset(.uploaded)
            metrics.bytesReceived = number(.headerSize) + offset(.downloaded)
            metrics.httpVersion = Self.versions[number(.httpVersion)]
            metrics.remoteAddress = address
            metrics.isReusedConnection = number(.connectionsMade) == 0 && metrics.remoteAddress != nil
            facts.metrics = metrics
        }

        private var address: String? {
            var text: UnsafePointer<CChar>?
            guard lh_curl_get_string(easy, .primaryAddress, &text) == 0, let text, text.pointee != 0 else { return nil }
            let host = String(cString: text)
            let port = number(.primaryPort)
            return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }

        private func time(_ info: CurlInfo) -> Duration { .microseconds(offset(info)) }

        private func offset(_ info: CurlInfo) -> Int {
            var value: Int64 = 0
            return lh_curl_get_offset(easy, info, &value) == 0 ? Int(value) : 0
        }

        private func number(_ info: CurlInfo) -> Int {
            var value = 0
            return lh_curl_get_long(easy, info, &value) == 0 ? value : 0
        }

        private static let versions = [1: "HTTP/1.0", 2: "HTTP/1.1", 3: "HTTP/2", 30: "HTTP/3"]
    }
#endif
