#if os(Linux)
    import CLibcurl
    import Glibc

    extension CurlWire {
        /// Sets the options that are the same for all transfers. Returns false if the system's libcurl rejects one of
        /// them.
        func prepare() -> Bool {
            var results = setCallbacks()
            results += [
                lh_curl_set_pointer(easy, .errorBuffer, reasonBuffer),
                lh_curl_set_pointer(easy, .share, UnsafeRawPointer(loop.share)),
                set(.noSignal, 1), set(.followLocation, 0), set(.netrc, 0), set(.pathAsIs, 1),
                set(.contentDecoding, 0), set(.http09Allowed, 0), set(.suppressConnectHeaders, 1),
                set(.disallowUsername, 1), set(.protocols, Self.httpAndHTTPS), set(.tcpKeepAlive, 1),
                set(.headerOptions, Self.separate), set(.httpVersion, CurlHTTPVersion.http1.rawValue),
            ]
            results += prepareConnection()
            // Available since 7.87. Without it, ending a transfer waits until the lookup of its host name has finished.
            _ = set(.quickExit, 1)
            return results.allSatisfy { $0 == 0 }
        }

        /// Sets the options of one transfer. Returns false if the system's libcurl rejects one of them.
        func configure(for plan: CurlPlan) -> Bool {
            configureAddress(for: plan)
                && lh_curl_set_pointer(easy, .httpHeader, plan.headerLines) == 0
                && set(.connectTimeoutMilliseconds, plan.connectTimeout) == 0
                && configureConnection(for: plan) && configurePins(for: plan) && configureMethod(for: plan)
                && configureBuffer()
        }

        private func configureAddress(for plan: CurlPlan) -> Bool {
            let target = target(of: plan)
            guard lh_curl_set_string(easy, .requestTarget, target) == 0 else { return false }
            // If the request target is set, libcurl needs only the origin of the URL.
            guard target != nil else { return setAddress(plan.url, nil) }
            let text = plan.origin
            if let origin = settings.origin, origin.isEqual(to: text) { return true }
            let last = loop.lastOrigin.flatMap { $0.isEqual(to: text) ? $0 : nil }
            guard let origin = last ?? CurlOrigin(text) else { return setAddress(plan.url, nil) }
            loop.lastOrigin = origin
            return setAddress(origin.text, origin)
        }

        private func setAddress(_ url: UnsafePointer<CChar>, _ origin: CurlOrigin?) -> Bool {
            settings.origin = origin
            return lh_curl_set_pointer(easy, .parsedAddress, origin.map { UnsafeRawPointer($0.parsed) }) == 0
                && lh_curl_set_string(easy, .address, url) == 0
        }

        private func configureConnection(for plan: CurlPlan) -> Bool {
            if settings.httpVersion != plan.httpVersion {
                settings.httpVersion = plan.httpVersion
                let results = [
                    // The value for HTTP/1.1 allows no other version. With a value that also allows HTTP/2, libcurl
                    // would multiplex requests if a status line claims HTTP/2.
                    set(.httpVersion, plan.httpVersion.rawValue),
                    set(.pipeWait, plan.mayShareConnections ? 1 : 0),
                    set(.forbidReuse, plan.httpVersion == .http2 && !CurlQuirks.reusesHTTP2WithoutTLS ? 1 : 0),
                ]
                guard results == [0, 0, 0] else { return false }
            }
            if plan.httpVersion == .http2, !CurlQuirks.reusesHTTP2WithoutTLS { return set(.freshConnect, 1) == 0 }
            // Since 7.80, libcurl calls back before it sends a request. An older version may send a request twice,
            // unless the connection is new.
            return asksBeforeSending || set(.freshConnect, plan.method.isIdempotent ? 0 : 1) == 0
        }

        /// Sets the size of the receive buffer: large for a streamed body, which is then read in larger pieces, and
        /// small for a buffered response, to save memory.
        private func configureBuffer() -> Bool {
            let isStreamed = transfer?.pipe != nil
            guard settings.isStreamed != isStreamed else { return true }
            settings.isStreamed = isStreamed
            return set(.bufferSize, isStreamed ? Self.largeBuffer : Self.standardBuffer) == 0
        }

        private func configureMethod(for plan: CurlPlan) -> Bool {
            let isGet = if case .none = plan.content { plan.method == .get } else { false }
            if isGet, settings.isGet { return true }
            settings.isGet = isGet
            var results = [set(.httpGet, 1)]
            switch plan.content {
            case .none: if plan.method == .head { results.append(set(.noBody, 1)) }
            case .copied(let count):
                results += [
                    set(.post, 1), lh_curl_set_pointer(easy, .postFields, plan.copiedBody),
                    lh_curl_set_offset(easy, .postFieldSize, Int64(count)),
                ]
            case .held(let data):
                results += [set(.upload, 1), lh_curl_set_offset(easy, .uploadSize, Int64(data.count))]
            case .pulled(let source):
                results += [set(.upload, 1), lh_curl_set_offset(easy, .uploadSize, Int64(source.length ?? -1))]
            }
            results.append(lh_curl_set_string(easy, .customRequest, plan.methodName))
            return results.allSatisfy { $0 == 0 }
        }

        private func target(of plan: CurlPlan) -> UnsafePointer<CChar>? {
            switch plan.isSecure ? .path : plainTarget {
            case .path: plan.target
            case .url: plan.absoluteTarget
            case .libcurls: nil
            }
        }

        /// Removes the pointers to the transfer's memory from the handle.
        func unconfigure() {
            _ = lh_curl_set_pointer(easy, .httpHeader, nil)
            if !settings.isGet { _ = lh_curl_set_pointer(easy, .postFields, nil) }
        }

        private func set(_ option: CurlOption, _ value: Int) -> CInt { lh_curl_set_long(easy, option, value) }

        /// CURLHEADER_SEPARATE: the header lines of the request are not part of the CONNECT request to a proxy.
        private static let separate = 1
        private static let httpAndHTTPS = 3
        /// In bytes; the smaller one is libcurl's default.
        private static let (standardBuffer, largeBuffer) = (16 << 10, 256 << 10)
    }

    /// The URL of a request up to its path. libcurl parses it once, because most requests of a handle have the same
    /// origin as the previous one.
    ///
    /// It is a class, because it owns the parsed URL.
    final class CurlOrigin {
        let parsed: OpaquePointer
        /// The text of the origin, with a zero byte at its end.
        let text: [CChar]

        /// Parses an origin. Returns nil if libcurl cannot parse it, or does not accept a parsed URL together with a
        /// request target.
        init?(_ text: UnsafeBufferPointer<CChar>) {
            guard CurlQuirks.takesParsedURLs, let parsed = curl_url() else { return nil }
            self.parsed = parsed
            self.text = text + [0]
            guard curl_url_set(parsed, Self.wholeURL, self.text, Self.noUsername) == 0 else { return nil }
        }

        deinit { curl_url_cleanup(parsed) }

        /// Returns whether the text is this origin.
        func isEqual(to other: UnsafeBufferPointer<CChar>) -> Bool {
            guard other.count == text.count - 1, let address = other.baseAddress else { return false }
            return memcmp(text, address, other.count) == 0
        }

        private static let wholeURL: CInt = 0
        private static let noUsername: CUnsignedInt = 1 << 5
    }
#endif
