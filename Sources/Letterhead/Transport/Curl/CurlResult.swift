// SPDX-License-Identifier: MIT
#if os(Linux)
    import CLibcurl
    import LetterheadFoundation

    extension TransportFailure {
        static let unsupported = TransportFailure(
            .unknown, "the system's libcurl rejects an option of the request", mayHaveBeenSent: false)
        static let exhausted = TransportFailure(
            .cannotConnect, "the process has reached its limit of memory, threads or files", mayHaveBeenSent: false)

        static func refusedAddress(for exchange: Exchange) -> TransportFailure {
            let host = Redaction.visible(exchange.request.host ?? "")
            let message = "security.addresses refused each address of \(host) (only public addresses are allowed)"
            return TransportFailure(.invalidRequest, message, mayHaveBeenSent: exchange.wasSent)
        }
    }

    /// The result code of a transfer in libcurl, and its meaning for a caller.
    struct CurlResult: RawRepresentable, Equatable {
        let rawValue: CInt

        static let ok = Self(rawValue: 0)
        static let couldNotConnect = Self(rawValue: 7)
        static let http2Failed = Self(rawValue: 16)
        static let truncated = Self(rawValue: 18)
        static let timedOut = Self(rawValue: 28)
        static let badArgument = Self(rawValue: 43)
        static let cannotUpload = Self(rawValue: 25)
        static let noResponse = Self(rawValue: 52)
        static let sendFailed = Self(rawValue: 55)
        static let receiveFailed = Self(rawValue: 56)
        static let again = Self(rawValue: 81)
        static let pinMismatch = Self(rawValue: 90)
        static let streamEnded = Self(rawValue: 92)

        /// Returns the failure that the code describes.
        ///
        /// - Parameters:
        ///   - reason: the text of libcurl, which may contain text from the TLS library.
        ///   - alert: the last TLS alert that the connection has received.
        ///   - roots: the trusted authorities in the configuration.
        ///   - tunnelStatus: the status that the proxy responded to CONNECT with, or nil without a response.
        ///   - isSecure: whether the request uses TLS.
        func failure(
            reason: String, alert: CInt? = nil, wasSent: Bool, isSecure: Bool = true,
            roots: TransportConfiguration.Security.Roots = .system, tunnelStatus: HTTPStatus? = nil
        ) -> TransportFailure {
            if let tunnelStatus, !wasSent, !tunnelStatus.isSuccess { return .refused(byProxy: tunnelStatus) }
            let words =
                reason.isEmpty ? nil : Words(description: Redaction.visible(reason), result: rawValue, alert: alert)
            // With TLS 1.3, the server reads the certificate after the request was sent (RFC 8446, 4.4.2.4).
            if let alert, let name = Self.refusals[alert] {
                return TransportFailure(
                    .insecureConnection,
                    "the server refused the client's certificate with the alert \(name) (set security.identity)",
                    mayHaveBeenSent: wasSent, underlying: words)
            }
            // libcurl uses the same code for a broken connection and for malformed chunks.
            if rawValue == 56, reason.holds("chunk") { return .brokenChunks }
            if rawValue == 1, wasSent { return .notHTTP(isSecure: isSecure) }
            let (code, known) = handshakeEnd(reason) ?? (wasSent ? meaningOnceSent : meaningUnsent) ?? meaning
            let text = known + advice(reason, roots: roots)
            // The text of libcurl is included only if it names hosts, certificates or options. A text about a response
            // may contain bytes of the response.
            let isTold = code == .cannotConnect || code == .insecureConnection || code == .invalidRequest
            // Code 25: libcurl refuses the upload, and nothing was sent. On a new connection, libcurl offers HTTP/1.1
            // again.
            return TransportFailure(
                code, isTold && !reason.isEmpty ? "\(text) (\(reason))" : text,
                mayHaveBeenSent: wasSent && rawValue != 25, underlying: isTold ? words : nil)
        }

        /// Returns the likely cause, if the caller can remove it. It is recognized by the texts of OpenSSL and GnuTLS.
        private func advice(_ reason: String, roots: TransportConfiguration.Security.Roots) -> String {
            switch rawValue {
            case 35 where ["wrong version number", "unexpected TLS packet"].contains { reason.holds($0) }:
                " (the port probably expects http)"
            case 60
            where ["self-signed", "self signed", "local issuer", "signer not found"].contains { reason.holds($0) }:
                " (\(roots.advice))"
            case 77: " (\(roots.advice))"
            default: ""
            }
        }

        /// The text of libcurl and its TLS library, as the underlying error.
        private struct Words: SafelyDescribed, CodedByFoundation {
            let description: String
            let result: CInt
            let alert: CInt?

            var urlErrorCode: Int? {
                switch result {
                case _ where alert == 116: -1206  // clientCertificateRequired
                case _ where alert.map { CurlResult.refusals[$0] } != nil: -1205  // clientCertificateRejected
                case 5, 6: -1003  // cannotFindHost
                case 58, 98: -1205
                case 60 where description.holds("expired"): -1201  // serverCertificateHasBadDate
                case 60 where description.holds("not yet valid"): -1204  // serverCertificateNotYetValid
                case 60, 90, 91: -1202  // serverCertificateUntrusted
                default: nil
                }
            }
        }

        /// The alerts for a refused or missing client certificate (RFC 8446, 6.2).
        fileprivate static let refusals: [CInt: String] = [
            42: "bad certificate", 43: "unsupported certificate", 44: "certificate revoked", 45: "certificate expired",
            46: "certificate unknown", 48: "unknown CA", 49: "access denied", 116: "certificate required",
        ]

        /// libcurl uses the same code if TLS refuses the connection and if the connection ends during the handshake. In
        /// the second case, the text is from the socket, or the TLS library has no text or reports the end.
        private func handshakeEnd(_ reason: String) -> (HTTPError.Code, String)? {
            let ends = [
                "SSL_connect: ", "Recv failure: ", "Send failure: ", "unexpected eof", "non-properly terminated",
            ]
            guard rawValue == 35, ends.contains(where: { reason.holds($0) }) else { return nil }
            return (.cannotConnect, "the connection ended during the TLS handshake")
        }

        private var meaningOnceSent: (HTTPError.Code, String)? {
            switch rawValue {
            // After the request was sent, a response header field causes these codes (bad argument, option or URL).
            case 3, 4, 43, 45, 48, 49: (.invalidResponse, "the response has a malformed header field")
            // If a header line exceeds its limit, libcurl reports exhausted memory.
            case 27:
                (.responseTooLarge, "a header line of the response exceeds the 102,400 bytes that libcurl accepts")
            default: nil
            }
        }

        private var meaningUnsent: (HTTPError.Code, String)? {
            [52, 55, 56].contains(rawValue) ? (.cannotConnect, "the server could not be reached") : nil
        }

        private var meaning: (HTTPError.Code, String) {
            switch rawValue {
            case 45: (.cannotConnect, "networkInterface cannot be used for the connection (check its name or address)")
            case 1, 3, 4, 43, 48, 49:
                (.invalidRequest, "the system's libcurl does not support a feature that the request needs")
            case 5: (.cannotConnect, "the host name of the proxy cannot be resolved")
            case 6: (.cannotConnect, "the host name cannot be resolved")
            case 7, 96: (.cannotConnect, "the server could not be reached")
            case 89: (.cannotConnect, "no connection was available")
            case 97: (.cannotConnect, "the proxy refused the connection, or the handshake with it failed")
            case 58, 98:
                (
                    .insecureConnection,
                    "the client's certificate or key was not accepted, or is missing (check security.identity)"
                )
            case 60: (.insecureConnection, "the server's certificate is not trusted")
            case 77, 82: (.insecureConnection, "the trusted certificates could not be read (check security.roots)")
            case 90: (.insecureConnection, "the public key of the server does not match the pinned keys")
            case 91: (.insecureConnection, "the certificate's status is invalid")
            case 35, 53, 54, 59, 64, 66, 80, 83, 101: (.insecureConnection, "the TLS handshake failed")
            case 8: (.invalidResponse, "the response violates HTTP")
            case 18: TransportFailure.truncated.meaning
            case 16, 92, 95: (.connectionLost, "the server ended the stream or its connection")
            case 25:
                (
                    .connectionLost,
                    "the server uses HTTP/1.0, which does not allow a request body of unknown length"
                )
            case 52: TransportFailure.noResponse.meaning
            case 55: (.connectionLost, "the connection broke while the request was being sent")
            case 56: (.connectionLost, "the connection broke while the response was arriving")
            case 65: (.connectionLost, "the connection broke, and the body cannot be sent again from its start")
            case 28: (.timedOut, "the connect timeout passed")
            // The transport decompresses content codings itself. This code is therefore about a transfer coding.
            case 61: TransportFailure.unknownCoding.meaning
            case 63, 100: (.responseTooLarge, "the head of the response is larger than libcurl accepts")
            // The text of libcurl for a code is a constant.
            default: (.unknown, unsafe String(cString: curl_easy_strerror(rawValue)))
            }
        }
    }

    /// The behavior of libcurl that depends on its version. The guide "Running over libcurl" lists the reasons.
    enum CurlQuirks {
        private static let version = lh_curl_version()
        private static let tlsLibrary = lh_curl_tls_library()

        /// Returns the reason that a libcurl version cannot be used, or nil if it can. 7.80.0 is the first version that
        /// calls back before it sends a request.
        ///
        /// - Parameter version: the version as libcurl encodes it, such as 0x075001 for 7.80.1.
        static func brokenRule(of version: UInt32 = CurlQuirks.version) -> String? {
            guard version < 0x075000 else { return nil }
            let found = "\(version >> 16).\(version >> 8 & 0xFF).\(version & 0xFF)"
            return "the system's libcurl is \(found), and the oldest supported version is 7.80.0"
        }

        /// Whether an easy handle may be used for a second transfer.
        ///
        /// Before 8.1.0, a reused handle keeps a pointer to the last header field of its previous response. If the next
        /// response begins with a folded line, libcurl writes to that field after it was freed (issue 11101 of
        /// libcurl). A reused handle may also read the body of a POST from the callback of the previous PUT
        /// (CVE-2023-28322).
        static let reusesHandles = version >= 0x080100

        /// Whether libcurl percent-decodes the proxy user and password, as it does before 8.8.0.
        static let decodesProxyCredentials = version < 0x080800

        private static let features = lh_curl_features()

        static let supportsHTTP2 = features & CInt(LH_CURL_HTTP2) != 0

        /// Whether an HTTP/2 connection without TLS can be reused. In 7.88.0 and 7.88.1, the second request on such a
        /// connection fails (issue 10634 of libcurl, fixed in 8.0.0).
        static let reusesHTTP2WithoutTLS = !(0x075800..<0x080000).contains(version)

        /// Whether the connect timeout runs for a transfer that libcurl holds back (since 8.11), and libcurl may begin it
        /// without setting its timer (since 8.10).
        static let timesHeldTransfers = version >= 0x080A00

        /// Whether libcurl sends a body of unknown length without its framing if the head wasn't sent at once, as it does
        /// before 8.7. The socket takes at least 32 KiB at once.
        static let losesFraming = version < 0x080700

        /// Whether libcurl doesn't know until the first response that an HTTP/2 connection without TLS can be shared, as
        /// from 8.13 to 8.15.
        static let hidesPriorKnowledge = (0x080D00..<0x081000).contains(version)

        /// Whether libcurl sends an HTTP/2 request again without an error text only if the server has refused its
        /// stream: by REFUSED_STREAM, or by a GOAWAY with a lower last stream. After such a GOAWAY, nghttp2 closes the
        /// stream with the same code. With OpenSSL, any other reason to send it again has set a text by then, except
        /// from 8.0 to 8.6 for a connection that ended.
        static let explainsRepetitions = tlsLibrary == LH_TLS_OPENSSL && version >= 0x080700

        /// Whether libcurl logs HTTP/2 streams and the last stream of a GOAWAY, as 7.88 does.
        ///
        /// In that version, a repetition without an error text may also follow a stream that was reset after it was
        /// processed. Only the numbers prove that a stream wasn't.
        static let logsStreams = offersHTTP2 && (0x075800..<0x080000).contains(version)

        /// Whether HTTP/3 may be offered. Before 7.88, libcurl doesn't try a different version if the server has no
        /// HTTP/3.
        static let offersHTTP3 = offersHTTP2 && version >= 0x075800 && features & CInt(LH_CURL_HTTP3) != 0

        /// Whether the DNS lookups over HTTPS for a request end with that request.
        ///
        /// Before 8.10.0, libcurl keeps the connection of a cancelled lookup, and may deliver the answer to a later
        /// lookup of a different name.
        static let endsLookups = version >= 0x080A00

        /// Whether HTTP/2 may be offered over TLS.
        ///
        /// libcurl treats a connection as HTTP/2 if a status line claims HTTP/2. The transport therefore compares the
        /// claim with the protocol that TLS negotiated, which it must read from the TLS library. If the connection did
        /// not negotiate HTTP/2, the transport also stops a second request before it is sent on that connection.
        static let offersHTTP2 = supportsHTTP2 && tlsLibrary != LH_TLS_OTHER

        /// Whether libcurl reports an error if a connection ends without close_notify, as it does with GnuTLS. With
        /// OpenSSL and its derivatives, the transport observes close_notify instead.
        static let observesCloseNotify = tlsLibrary == LH_TLS_OPENSSL
        static let reportsMissingCloseNotify = tlsLibrary == LH_TLS_GNUTLS

        /// Whether libcurl closes a connection that a handle has only opened when the handle leaves, as from 7.85.0.
        static let closesOpenedConnections = version >= 0x075500

        /// Whether the certificates of a server can be read on a new connection, before a request is sent there.
        static let readsChains = lh_curl_reads_chains() != 0

        /// The result of `curl_global_init`. It is called once in the process, under the lock of this static
        /// initializer. Before 7.84, no other libcurl function may be called at the same time. `curl_global_cleanup` is
        /// never called, because Foundation uses libcurl too.
        static let initialization: Int32 = {
            // libcurl would write the keys of all TLS connections to the file that the variable names.
            if ProcessInfo.isElevated { _ = unsafe unsetenv("SSLKEYLOGFILE") }
            return curl_global_init(everything)
        }()
        private static let everything = 3
    }

    extension DirectConnection {
        /// The result of an attempt to send or to receive.
        enum Result {
            case bytes(Int)
            /// Nothing can be sent, or has been received, at present.
            case wait
            case end
            case failed(CInt)

            init(_ count: Int) {
                self =
                    switch count {
                    case 1...: .bytes(count)
                    case 0: .end
                    default: errno == EAGAIN || errno == EINTR ? .wait : .failed(errno)
                    }
            }

            /// What libcurl returns for an attempt over TLS.
            init(_ code: CInt, _ count: Int) {
                self =
                    switch CurlResult(rawValue: code) {
                    case .ok: count > 0 ? .bytes(count) : .end
                    case .again: .wait
                    default: .failed(ECONNRESET)
                    }
            }
        }
    }
#endif
