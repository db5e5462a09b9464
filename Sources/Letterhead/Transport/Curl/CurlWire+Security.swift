#if os(Linux)
    import CLibcurl
    import Foundation

    extension CurlWire {
        /// Sets whom to trust, as whom to introduce oneself, and through whom to go.
        func prepareConnection() -> [CInt] {
            let configuration = loop.configuration
            let security = configuration.security
            let version = security.minimumVersion == .tls13 ? Self.tls13 : Self.tls12
            var results = [lh_curl_set_long(easy, .sslVersion, version)]
            results += setRoots(security.roots, file: .caInfo, directory: .caPath, data: .caData)
            if configuration.proxy.mayBeSecure {
                results.append(lh_curl_set_long(easy, .proxySSLVersion, version))
                results += setRoots(security.roots, file: .proxyCAInfo, directory: .proxyCAPath, data: .proxyCAData)
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
            return results + prepareProxy(configuration.proxy)
        }

        private func setRoots(
            _ roots: TransportSecurity.Roots, file: CurlOption, directory: CurlOption, data: CurlOption
        ) -> [CInt] {
            switch roots {
            case .system: []
            case .file(let url): [lh_curl_set_string(easy, file, url.path), lh_curl_set_string(easy, directory, nil)]
            case .pem(let bytes): [set(data, bytes), lh_curl_set_string(easy, directory, nil)]
            }
        }

        private func prepareProxy(_ proxy: TransportProxy) -> [CInt] {
            guard let url = proxy.url else { return [] }
            var results = [lh_curl_set_string(easy, .proxy, url)]
            results.append(lh_curl_set_string(easy, .noProxy, proxy.exceptions.joined(separator: ",")))
            if let credentials = proxy.credentials {
                results += [
                    lh_curl_set_string(easy, .proxyUsername, Self.proxyText(credentials.user)),
                    lh_curl_set_string(easy, .proxyPassword, Self.proxyText(credentials.password)),
                ]
            }
            return results
        }

        /// The text that libcurl sends as `text`.
        private static func proxyText(_ text: String) -> String {
            CurlQuirks.decodesProxyCredentials ? text.replacing("%", with: "%25") : text
        }

        private func set(_ option: CurlOption, _ data: Data) -> CInt {
            data.withUnsafeBytes { bytes in
                bytes.baseAddress.map { lh_curl_set_data(easy, option, $0, bytes.count) } ?? Self.badArgument
            }
        }

        /// Whether the end of a TLS connection is all that ended the body. Without close_notify, anyone on the way may have
        /// truncated it, and libcurl takes it for complete.
        var endsWithConnection: Bool {
            var length = Int64(0)
            guard let plan = transfer?.plan, plan.isSecure, !progress.isHTTP2,
                lh_curl_get_offset(easy, .contentLength, &length) == 0, length < 0,
                let head = transfer.flatMap({ try? ResponseHead($0.reply.head) })
            else { return false }
            return head.bodyLength(of: plan.method) == nil && !head.headers.contains(.transferEncoding)
        }

        private static let badArgument: CInt = 43
        private static let tls12 = 6
        private static let tls13 = 7
    }
#endif
