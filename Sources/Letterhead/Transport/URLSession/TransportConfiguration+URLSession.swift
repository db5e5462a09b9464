// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    import Foundation

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #else
        import Security
    #endif

    extension TransportConfiguration {
        /// Creates a session that stores nothing: no cache, no cookies, no credentials.
        func makeURLSession(delegate: URLSessionRelay) -> URLSession {
            let settings = URLSessionConfiguration.ephemeral
            settings.urlCache = nil
            settings.httpCookieStorage = nil
            settings.urlCredentialStorage = nil
            settings.httpShouldSetCookies = false
            settings.httpCookieAcceptPolicy = .never
            settings.httpMaximumConnectionsPerHost = maximumConnectionsPerHost
            settings.timeoutIntervalForRequest = idleSeconds()
            #if !canImport(FoundationNetworking)
                settings.tlsMinimumSupportedProtocolVersion = security.minimumVersion == .tls13 ? .TLSv13 : .TLSv12
            #endif
            return URLSession(configuration: settings, delegate: delegate, delegateQueue: .serial)
        }

        /// The idle limit in whole seconds, at least one. Foundation on Linux truncates fractions, and treats zero as
        /// no limit.
        func idleSeconds(for request: HTTPRequest? = nil) -> TimeInterval {
            guard let limit = request?.idleTimeout ?? idleTimeout else { return 86_400 }
            return min(86_400, max(1, (limit / .seconds(1)).rounded(.up)))
        }

        /// The setting that is out of range or not supported by `URLSession`, or nil if all settings can be applied.
        var brokenURLSessionRule: String? {
            let standard = TransportConfiguration()
            var supported = standard
            supported.maximumConnectionsPerHost = maximumConnectionsPerHost
            supported.sendsHTTP1Directly = sendsHTTP1Directly
            supported.firstByteTimeout = firstByteTimeout
            supported.idleTimeout = idleTimeout
            #if canImport(FoundationNetworking)
                let names = "maximumConnectionsPerHost, firstByteTimeout and idleTimeout"
            #else
                supported.security = security
                supported.security.roots = standard.security.roots
                supported.security.identity = nil
                supported.security.addresses = .any
                let names = """
                    maximumConnectionsPerHost, firstByteTimeout, idleTimeout, and of security all but roots, identity and \
                    addresses
                    """
            #endif
            guard self != supported else { return brokenRule }
            let changed = unsupportedNames(supported).joined(separator: ", ")
            return "URLSession does not support \(changed) (it supports only \(names))"
        }

        /// Returns the names of the changed settings that `URLSession` doesn't support.
        private func unsupportedNames(_ supported: TransportConfiguration) -> [String] {
            var unrestricted = security
            unrestricted.addresses = .any
            let settings: [(name: String, isChanged: Bool)] = [
                ("queueTimeout", queueTimeout != supported.queueTimeout),
                ("connectTimeout", connectTimeout != supported.connectTimeout),
                ("maximumConnections", maximumConnections != supported.maximumConnections),
                ("maximumHeadSize", maximumHeadSize != supported.maximumHeadSize), ("proxy", proxy != supported.proxy),
                ("security", unrestricted != supported.security), ("unixSocketPath", unixSocketPath != nil),
                ("security.addresses", security.addresses.isRestricted),
                ("httpVersions", httpVersions != .http2), ("addressFamily", addressFamily != .any),
                ("networkInterface", networkInterface != nil), ("tcpKeepAlive", tcpKeepAlive != supported.tcpKeepAlive),
                ("idleConnectionTimeout", idleConnectionTimeout != supported.idleConnectionTimeout),
                ("maximumConnectionAge", maximumConnectionAge != supported.maximumConnectionAge),
                ("connectTo", !connectTo.isEmpty), ("dnsOverHTTPS", dnsOverHTTPS != nil),
                ("decodesContent", !decodesContent),
                ("maximumDecodingRatio", maximumDecodingRatio != supported.maximumDecodingRatio),
            ]
            let names = settings.filter(\.isChanged).map(\.name)
            return names.isEmpty ? ["another setting"] : names
        }
    }

    /// A private copy of a Foundation configuration.
    ///
    /// `@unchecked Sendable`: only sessions read the copy, and each session copies it again.
    struct FoundationConfiguration: @unchecked Sendable {
        private let copy: URLSessionConfiguration

        init(_ configuration: URLSessionConfiguration) {
            copy = configuration.copy() as? URLSessionConfiguration ?? configuration
        }

        func makeURLSession(delegate: URLSessionRelay) -> URLSession {
            URLSession(configuration: copy, delegate: delegate, delegateQueue: .serial)
        }
    }

    extension OperationQueue {
        /// Creates a queue that runs one operation at a time, as required for a delegate.
        fileprivate static var serial: OperationQueue {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            return queue
        }
    }

    extension HTTPError {
        /// Creates an error from the Foundation error at the end of a task, and from the received part of the response.
        /// The Foundation code for a lost connection doesn't tell whether the connection was ever established.
        init(endOf request: HTTPRequest, _ error: any Error, head: HTTPURLResponse?, receivedBytes: Int) {
            let code = (error as? URLError)?.code
            guard code == .networkConnectionLost || code == .unknown && head != nil else {
                self.init(error, request: request)
                return
            }
            let response = head.map { HTTPResponse($0, to: request) }
            if let length = head?.knownLength(of: request.method), receivedBytes < length {
                self.init(
                    .invalidResponse, request: request, response: response, underlying: error,
                    message: "the body ended after \(receivedBytes) of \(length) bytes")
            } else if code == .networkConnectionLost {
                self.init(
                    .connectionLost, request: request, response: response, underlying: error,
                    message: "the connection was lost")
            } else {
                self.init(error, request: request, response: response)
            }
        }
    }

    extension HTTPURLResponse {
        /// Returns the length of the body, or nil if it is unknown or if Foundation decompresses the body.
        func knownLength(of method: HTTPMethod) -> Int? {
            if method == .head || statusCode == 204 || statusCode == 304 { return 0 }
            guard expectedContentLength >= 0, value(forHTTPHeaderField: "Content-Encoding") == nil else { return nil }
            return Int(exactly: expectedContentLength)
        }
    }

    #if !canImport(FoundationNetworking)
        extension HTTPResponse.Metrics {
            /// Creates metrics from the measurements of Foundation. Foundation on Linux provides none.
            init(_ transaction: URLSessionTaskTransactionMetrics) {
                self.init()
                let start = transaction.fetchStartDate
                func elapsed(until date: Date?) -> Duration {
                    guard let start, let date else { return .zero }
                    return .seconds(max(0, date.timeIntervalSince(start)))
                }
                isReusedConnection = transaction.isReusedConnection
                if !isReusedConnection {
                    nameLookup = elapsed(until: transaction.domainLookupEndDate)
                    // With TLS, `connectEndDate` in Foundation is the end of the TLS handshake.
                    connect = elapsed(until: transaction.secureConnectionStartDate ?? transaction.connectEndDate)
                    secureConnect = elapsed(until: transaction.secureConnectionEndDate)
                }
                firstByte = elapsed(until: transaction.responseStartDate)
                total = elapsed(until: transaction.responseEndDate)
                bytesSent = Int(
                    clamping: transaction.countOfRequestHeaderBytesSent + transaction.countOfRequestBodyBytesSent)
                bytesReceived = Int(
                    clamping: transaction.countOfResponseHeaderBytesReceived
                        + transaction.countOfResponseBodyBytesReceived)
                httpVersion = transaction.networkProtocolName.map { Self.version($0) }
                if let address = transaction.remoteAddress {
                    let host = address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]" : address
                    remoteAddress = transaction.remotePort.map { "\(host):\($0)" } ?? host
                }
            }

            /// Returns the version for a protocol name of ALPN (RFC 7301).
            private static func version(_ name: String) -> String {
                switch ASCII.lowercased(name) {
                case "h2": "HTTP/2"
                case "h3": "HTTP/3"
                case let other: ASCII.uppercased(other)
                }
            }
        }
    #endif
#endif
