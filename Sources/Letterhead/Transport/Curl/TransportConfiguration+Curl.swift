#if os(Linux)
    import Foundation

    // The settings that some versions of libcurl do not support.

    extension TransportConfiguration {
        /// The reason that no request can use the configuration; nil if requests can.
        var brokenCurlRule: String? {
            if dnsOverHTTPS != nil, !CurlQuirks.endsLookups {
                return "dnsOverHTTPS requires libcurl 8.10 or later, and the system's libcurl is older"
            }
            return brokenRule
        }

        /// The reason that a request cannot use ``httpVersions``; nil if it can.
        func brokenHTTPVersionRule(for request: HTTPRequest) -> String? {
            switch httpVersions {
            case .http1, .http2: nil
            case .http3:
                CurlQuirks.offersHTTP3
                    ? nil
                    : "httpVersions is .http3, and the system's libcurl was built without it or is older than 7.88"
            case .http2PriorKnowledge where !CurlQuirks.supportsHTTP2:
                "httpVersions is .http2PriorKnowledge, and the system's libcurl was built without HTTP/2 or is older "
                    + "than 7.80"
            case .http2PriorKnowledge:
                ASCII.equalIgnoringCase(request.scheme, "https") || TransportProxy.PlainTarget(proxy) == .path
                    ? nil
                    : "httpVersions is .http2PriorKnowledge, which an HTTP proxy does not support; set proxy to .direct"
            }
        }
    }
#endif
