// SPDX-License-Identifier: MIT
#if os(Linux)
    import CLibcurl
    import LetterheadFoundation

    extension CurlCarrier {
        /// Returns whether a connection to an address may be opened, and records the result for the error message.
        func mayConnect(to address: IPAddress?) -> Bool {
            let isAllowed = allows(address)
            hasAllowedAddress = isAllowed || hasAllowedAddress == true
            return isAllowed
        }

        /// Returns whether the request may be sent on a connection. The address was judged when the connection was
        /// opened, unless it's one to the resolver of `dnsOverHTTPS`. libcurl keeps these together with the others.
        func maySend(to address: UnsafePointer<CChar>?) -> Bool {
            guard loop.configuration.security.addresses.isRestricted else { return true }
            let isAllowed = allows(unsafe address.flatMap { unsafe IPAddress(String(cString: $0)) })
            hasAllowedAddress = isAllowed ? nil : false
            return isAllowed
        }

        /// Returns whether an address is allowed. A trusted proxy judges the addresses itself.
        private func allows(_ address: IPAddress?) -> Bool {
            let proxy = loop.configuration.proxy
            if let exchange, proxy.isInUse(isSecure: exchange.plan.isSecure) { return true }
            return loop.configuration.security.addresses.allows(address)
        }

        /// Sets the pinned keys of the host. libcurl compares them when it opens a connection. Returns false if it
        /// rejects them.
        func configurePins(for plan: CurlPlan) -> Bool {
            guard settings.pinnedKeys != plan.pinnedKeys else { return true }
            settings.pinnedKeys = plan.pinnedKeys
            // The certificate is needed only for an error message. Not every TLS library supports this option, so its
            // result is ignored.
            _ = unsafe lh_curl_set_long(easy, .certificateInfo, plan.pinnedKeys.isEmpty ? 0 : 1)
            let pins = plan.pinnedKeys.map(PublicKeyPin.text(of:)).joined(separator: ";")
            return unsafe lh_curl_set_string(easy, .pinnedPublicKey, pins.isEmpty ? nil : pins) == 0
        }

        /// The host, the setting and the key of the server, for the message if the key isn't pinned.
        var pinMismatch: String {
            let host = exchange?.request.host ?? ""
            let rule = loop.configuration.security.pinningRule(of: host)
            let certificate = unsafe lh_curl_get_certificate(easy).map(String.init(cString:))
            let pin = certificate.flatMap(PublicKeyPin.pin(ofPEM:))
            return "\(rule) for \(host), and the server's key is \(pin ?? "not known")"
        }

        /// Calls the checks in the configuration, unless the connection has passed them before. Returns false if the
        /// request must not be sent on it.
        ///
        /// The TLS session stores that its connection has passed, so that the mark cannot outlive the connection.
        func passesChecks(of exchange: Exchange) -> Bool {
            let security = loop.configuration.security
            guard !security.checks.isEmpty, exchange.plan.isSecure else { return true }
            let session = connection.tlsSession
            if let session, unsafe lh_tls_is_accepted(session.address) != 0 { return true }
            do throws(TransportFailure) {
                try security.check(session.map(Self.chain) ?? [], of: exchange.request.host ?? "")
                if let session { unsafe lh_tls_accept(session.address) }
                return true
            } catch {
                var failure = error
                failure.mayHaveBeenSent = exchange.progress.timesSent > (settings.isOpening ? 0 : 1)
                exchange.progress.failure = failure
                // libcurl would keep an HTTP/2 connection open. The option is set again for the next transfer.
                _ = unsafe lh_curl_set_long(easy, .forbidReuse, 1)
                settings.httpVersion = nil
                return false
            }
        }

        /// Returns the verified certificates of a TLS session in DER, or none if one can't be read.
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

        /// Whether only the end of the TLS connection marks the end of the body. Without close_notify, anyone on the
        /// network path may have truncated such a body, and libcurl treats it as complete.
        func endsWithConnection(_ exchange: Exchange) -> Bool {
            guard exchange.plan.isSecure, !exchange.progress.isMultiplexed,
                let length = offset(.contentLength), length < 0, let head = try? ResponseHead(exchange.reply.head)
            else { return false }
            return head.bodyLength(of: exchange.plan.method) == nil && !head.headers.contains(.transferEncoding)
        }
    }
#endif
