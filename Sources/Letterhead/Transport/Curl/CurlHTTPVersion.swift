#if os(Linux)
    /// The version of HTTP that libcurl offers, or uses, for a request. The raw values are those of
    /// CURLOPT_HTTP_VERSION.
    enum CurlHTTPVersion: Int {
        case http1 = 2
        case http2OverTLS = 4
        /// HTTP/2 without negotiation.
        case http2 = 5
        case http3 = 30

        init(_ versions: TransportConfiguration.HTTPVersions, isSecure: Bool) {
            self =
                switch versions {
                case .http2PriorKnowledge where !isSecure: .http2
                case .http3 where isSecure: .http3
                case .http2, .http2PriorKnowledge: isSecure && CurlQuirks.offersHTTP2 ? .http2OverTLS : .http1
                case .http1, .http3: .http1
                }
        }

        /// Whether a connection carries several requests at the same time although libcurl returns no TLS session for
        /// it. HTTP/2 without TLS has no TLS session. HTTP/3 has one, but libcurl does not return it.
        var isMultiplexedWithoutSession: Bool { self == .http2 || self == .http3 }
    }
#endif
