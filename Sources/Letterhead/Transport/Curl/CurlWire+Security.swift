#if os(Linux)
    import CLibcurl
    import Foundation

    extension CurlWire {
        /// Sets whom to trust, as whom to introduce oneself, and through whom to go.
        func prepareConnection() -> [CInt] {
            let configuration = loop.configuration
            let security = configuration.security
            var results = [
                lh_curl_set_long(easy, .sslVersion, security.minimumVersion == .tls13 ? Self.tls13 : Self.tls12)
            ]
            switch security.roots {
            case .system: break
            case .file(let url):
                results += [
                    lh_curl_set_string(easy, .caInfo, url.path), lh_curl_set_string(easy, .caPath, nil),
                ]
            case .pem(let data): results += [set(.caData, data), lh_curl_set_string(easy, .caPath, nil)]
            }
            if !security.pinnedKeys.isEmpty {
                let pins = security.pinnedKeys.map { "sha256//" + $0.base64EncodedString() }.joined(separator: ";")
                results.append(lh_curl_set_string(easy, .pinnedPublicKey, pins))
            }
            if let identity = security.identity {
                results += [set(.sslCertificateData, identity.certificate), set(.sslKeyData, identity.key)]
                if let password = identity.password {
                    results.append(lh_curl_set_string(easy, .keyPassword, password))
                }
            }
            if let path = configuration.unixSocketPath {
                results.append(lh_curl_set_string(easy, .unixSocketPath, path))
            }
            return results + prepareProxy(configuration.proxy) + prepareGoodbyes()
        }

        private func prepareProxy(_ proxy: TransportProxy) -> [CInt] {
            guard let url = proxy.url else { return [] }
            var results = [lh_curl_set_string(easy, .proxy, url)]
            results.append(lh_curl_set_string(easy, .noProxy, proxy.exceptions.joined(separator: ",")))
            if let credentials = proxy.credentials {
                results += [
                    lh_curl_set_string(easy, .proxyUsername, credentials.user),
                    lh_curl_set_string(easy, .proxyPassword, credentials.password),
                ]
            }
            return results
        }

        /// OpenSSL tells of the goodbye that ends a connection through libcurl's debugging alone.
        private func prepareGoodbyes() -> [CInt] {
            hearsGoodbyes ? [setDebugCallback()] : []
        }

        private func set(_ option: CurlOption, _ data: Data) -> CInt {
            data.withUnsafeBytes { bytes in
                bytes.baseAddress.map { lh_curl_set_data(easy, option, $0, bytes.count) } ?? Self.badArgument
            }
        }

        /// Whether the body ended with the connection, and the connection without a goodbye: then somebody may have cut
        /// it short. libcurl takes it for whole.
        var isCutShort: Bool {
            guard hearsGoodbyes, let plan = transfer?.plan, plan.isSecure, !progress.hasGoodbye else { return false }
            var length = Int64(0)
            guard lh_curl_get_offset(easy, .contentLength, &length) == 0, length < 0, !isHTTP2,
                let head = transfer.flatMap({ try? ResponseHead($0.reply.head) })
            else { return false }
            return head.bodyLength(of: plan.method) == nil && !head.headers.contains(.transferEncoding)
        }

        /// Whether the connection is one of HTTP/2, where every response says where it ends.
        var isHTTP2: Bool {
            var version = 0
            return lh_curl_get_long(easy, .httpVersion, &version) == 0 && version >= Self.http2
        }

        private static let badArgument: CInt = 43
        private static let tls12 = 6
        private static let tls13 = 7
        private static let http2 = 3
    }
#endif
