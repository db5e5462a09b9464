// SPDX-License-Identifier: MIT
#if os(Linux)
    import CLibcurl
    import LetterheadFoundation

    /// An easy handle of libcurl, with the options that all transfers of a transport share.
    ///
    /// Any thread may create it, because libcurl assigns a handle to a thread only while the handle is in use. From
    /// ``CurlCarrier/init(loop:handle:)`` until that carrier ends, only the thread of the loop uses it. It owns the
    /// easy handle and the memory for the error text, which always ends with a zero byte.
    @safe final class CurlHandle {
        let easy: OpaquePointer
        let reasonBuffer: UnsafeMutablePointer<CChar>
        /// Whether TLS alerts can be observed. libcurl with OpenSSL doesn't require close_notify: it treats the end of
        /// the connection as the end of the body.
        let observesAlerts: Bool

        /// Creates a handle. Returns nil if the installed libcurl rejects an option.
        init?(_ configuration: TransportConfiguration) {
            guard let easy = unsafe curl_easy_init() else { return nil }
            unsafe self.easy = easy
            unsafe reasonBuffer = .allocate(capacity: Self.reasonSize)
            unsafe reasonBuffer.initialize(repeating: 0, count: Self.reasonSize)
            observesAlerts = unsafe lh_curl_observe_alerts(easy) != 0
            var options = unsafe CurlOptions(easy)
            unsafe options.set(.errorBuffer, UnsafeRawPointer(reasonBuffer))
            options.setAll(of: configuration)
            // Available since 7.87. Without it, the end of a transfer waits until its host name has been looked up.
            _ = unsafe lh_curl_set_long(easy, .quickExit, 1)
            guard options.areAccepted else { return nil }
        }

        deinit {
            unsafe curl_easy_cleanup(easy)
            unsafe reasonBuffer.deallocate()
        }

        private static let reasonSize = 256

        /// Returns a copy of the text that the handle has for an item.
        static func text(_ info: CurlInfo, of easy: OpaquePointer) -> String? {
            var text: UnsafePointer<CChar>?
            return unsafe lh_curl_get_string(easy, info, &text) == 0 ? text.map(String.init(cString:)) : nil
        }
    }

    /// Sets options of an easy handle, and records whether libcurl has rejected one. libcurl copies strings and data.
    /// The value exists only within a call of the owner of the handle.
    @safe struct CurlOptions {
        private let easy: OpaquePointer
        private(set) var areAccepted = true

        init(_ easy: OpaquePointer) { unsafe self.easy = easy }

        mutating func note(_ result: CInt) { if result != 0 { areAccepted = false } }

        mutating func set(_ option: CurlOption, _ value: Int) { note(unsafe lh_curl_set_long(easy, option, value)) }

        mutating func set(_ option: CurlOption, _ text: String?) { note(unsafe lh_curl_set_string(easy, option, text)) }

        mutating func set(_ option: CurlOption, _ pointer: UnsafeRawPointer?) {
            note(unsafe lh_curl_set_pointer(easy, option, pointer))
        }

        mutating func set(_ option: CurlOption, length: Int) {
            note(unsafe lh_curl_set_offset(easy, option, Int64(length)))
        }

        mutating func set(_ option: CurlOption, _ data: Data) {
            unsafe data.withUnsafeBytes { bytes in
                let result = unsafe bytes.baseAddress.map { unsafe lh_curl_set_data(easy, option, $0, bytes.count) }
                note(result ?? CurlResult.badArgument.rawValue)
            }
        }
    }

    extension CurlOptions {
        fileprivate mutating func setAll(of configuration: TransportConfiguration) {
            set(.noSignal, 1)
            set(.followLocation, 0)
            set(.netrc, 0)
            set(.pathAsIs, 1)
            set(.contentDecoding, 0)
            set(.http09Allowed, 0)
            set(.suppressConnectHeaders, 1)
            set(.disallowUsername, 1)
            set(.protocols, Self.httpAndHTTPS)
            set(.headerOptions, Self.separate)
            set(.httpVersion, CurlHTTPVersion.http1.rawValue)
            setSecurity(configuration)
            setAddresses(configuration)
            setProxy(configuration.proxy)
            // The addresses of exceptions in the environment wouldn't be judged.
            if configuration.security.addresses.isRestricted { set(.noProxy, "") }
            setKeepAlive(configuration.tcpKeepAlive)
            setLifetime(configuration)
        }

        private mutating func setSecurity(_ configuration: TransportConfiguration) {
            let security = configuration.security
            let version = security.minimumVersion == .tls13 ? Self.tls13 : Self.tls12
            set(.sslVersion, version)
            // A resumed session has no chain that was verified.
            if !security.checks.isEmpty { set(.sslSessionCache, 0) }
            setRoots(security.roots, file: .caInfo, directory: .caPath, data: .caData)
            if configuration.proxy.mayBeSecure {
                set(.proxySSLVersion, version)
                setRoots(security.roots, file: .proxyCAInfo, directory: .proxyCAPath, data: .proxyCAData)
            }
            guard let identity = security.identity else { return }
            set(.sslCertificateData, identity.certificate)
            set(.sslKeyData, identity.key)
            if let password = identity.password { set(.keyPassword, password) }
        }

        private mutating func setRoots(
            _ roots: TransportConfiguration.Security.Roots, file: CurlOption, directory: CurlOption, data: CurlOption
        ) {
            switch roots {
            case .system:
                guard let place = CurlRoots.system.place else { return }
                set(file, place.file)
                set(directory, place.folder)
                return
            case .file(let url): set(file, url.path)
            case .pem(let bytes): set(data, bytes)
            }
            set(directory, nil as String?)
        }

        private mutating func setAddresses(_ configuration: TransportConfiguration) {
            switch configuration.addressFamily {
            case .any: break
            case .ipv4: set(.addressFamily, 1)
            case .ipv6: set(.addressFamily, 2)
            }
            if let path = configuration.unixSocketPath { set(.unixSocketPath, path) }
            if let name = configuration.networkInterface {
                // Without the prefix, libcurl could mistake the name of an interface for a host name, or the reverse.
                let isAddress =
                    name.utf8.contains(UInt8(ascii: ":"))
                    || ASCII.allBytes(of: name) { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
                set(.interface, "\(isAddress ? "host" : "if")!\(name)")
            }
            if let url = configuration.dnsOverHTTPS { set(.resolver, url.absoluteString) }
        }

        private mutating func setProxy(_ proxy: TransportConfiguration.Proxy) {
            guard let url = proxy.url else { return }
            set(.proxy, url)
            set(.noProxy, proxy.exceptions.joined(separator: ","))
            guard let credentials = proxy.credentials else { return }
            set(.proxyUsername, Self.proxyText(credentials.user))
            set(.proxyPassword, Self.proxyText(credentials.password))
        }

        /// Returns the text that must be passed to libcurl so that it sends `text`.
        private static func proxyText(_ text: String) -> String {
            CurlQuirks.decodesProxyCredentials ? text.replacingBytes(of: "%", with: "%25") : text
        }

        private mutating func setKeepAlive(_ interval: Duration?) {
            guard let interval else { return set(.tcpKeepAlive, 0) }
            let seconds = min(Self.seconds(interval), Self.longestKeepAlive)
            set(.tcpKeepAlive, 1)
            set(.tcpKeepIdle, seconds)
            set(.tcpKeepInterval, seconds)
        }

        private mutating func setLifetime(_ configuration: TransportConfiguration) {
            // libcurl compares seconds, rounded down, and still uses a connection at the limit itself. 0 is no limit.
            let limit = { (time: Duration) in max(1, Self.seconds(time) - 1) }
            set(.maximumIdleTime, configuration.idleConnectionTimeout.map(limit) ?? Int(CInt.max))
            set(.maximumAge, configuration.maximumConnectionAge.map(limit) ?? 0)
        }

        /// Returns whole seconds, rounded up.
        private static func seconds(_ time: Duration) -> Int { (time.wholeMilliseconds - 1) / 1000 + 1 }

        /// CURLHEADER_SEPARATE: the header lines of the request aren't part of the CONNECT request to a proxy.
        private static let separate = 1
        private static let httpAndHTTPS = 3
        private static let (tls12, tls13) = (6, 7)
        /// The longest time that Linux accepts, in seconds.
        private static let longestKeepAlive = 32_767
    }
#endif
