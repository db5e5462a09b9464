#if os(Linux)
    import CLibcurl

    extension TransportFailure {
        static let unsupported = TransportFailure(
            .unknown, "the system's libcurl is too old or refuses what is asked of it; 7.64 or later is needed",
            mayHaveBeenSent: false)
        static let exhausted = TransportFailure(
            .cannotConnect, "the process has reached its limit of threads or open files", mayHaveBeenSent: false)
    }

    /// The number with which libcurl ends a transfer, and what it means to a caller.
    struct CurlResult: RawRepresentable, Equatable {
        let rawValue: CInt

        static let ok = Self(rawValue: 0)
        static let unsupportedProtocol = Self(rawValue: 1)
        static let couldNotConnect = Self(rawValue: 7)
        static let truncated = Self(rawValue: 18)
        static let noResponse = Self(rawValue: 52)
        static let timedOut = Self(rawValue: 28)
        static let badArgument = Self(rawValue: 43)

        /// What went wrong; `reason` is libcurl's own account of it, which names hosts and certificates but no header.
        func failure(reason: String, wasSent: Bool) -> TransportFailure {
            // libcurl has one number for a connection that breaks and for chunks that are no chunks.
            if rawValue == 56, reason.contains("chunk") {
                return TransportFailure(.invalidResponse, "the response's chunks are malformed")
            }
            // libcurl refuses before it sends. On a new connection it offers HTTP/1.1 again.
            if rawValue == 25 {
                return TransportFailure(
                    .connectionLost,
                    "the server responded with HTTP/1.0 on this connection, which allows no body of unknown length",
                    mayHaveBeenSent: false)
            }
            let (code, text) = meaning(wasSent: wasSent)
            let message = Self.isTold(code) && !reason.isEmpty ? "\(text) (\(reason))" : text
            return TransportFailure(code, message, mayHaveBeenSent: wasSent)
        }

        /// Only reaching a server is told in libcurl's words; what it says of an answer may repeat bytes of it.
        private static func isTold(_ code: HTTPError.Code) -> Bool {
            code == .cannotConnect || code == .insecureConnection || code == .invalidRequest
        }

        private func meaning(wasSent: Bool) -> (HTTPError.Code, String) {
            switch rawValue {
            case 1 where wasSent:
                (.invalidResponse, "the response is not HTTP, or a version of it that is not supported")
            // What libcurl calls a bad argument, a bad option or a bad URL is then in the response.
            case 3 where wasSent, 4 where wasSent, 43 where wasSent, 45 where wasSent, 48 where wasSent,
                49 where wasSent:
                (.invalidResponse, "the response has a malformed header field")
            // A header line longer than the 100 KiB that libcurl reads; it reports that its memory is exhausted.
            case 27 where wasSent:
                (.responseTooLarge, "a header line of the response is longer than the 102,400 bytes that libcurl reads")
            case 1, 3, 4, 43, 45, 48, 49: (.invalidRequest, "the system's libcurl cannot do what was asked")
            case 5...7, 89, 96, 97: (.cannotConnect, connecting)
            case 35, 53, 54, 58...60, 64, 66, 77, 80, 82, 83, 90, 91, 98, 101: (.insecureConnection, securing)
            case 52 where !wasSent, 55 where !wasSent, 56 where !wasSent: (.cannotConnect, connecting)
            case 8: (.invalidResponse, "the answer breaks HTTP")
            case 18: (.invalidResponse, "the response was cut short")
            case 16, 92, 95: (.connectionLost, "the server ended the stream or its connection")
            case 52: (.connectionLost, "the server closed the connection without an answer")
            case 55: (.connectionLost, "the connection broke while the request was being sent")
            case 56: (.connectionLost, "the connection broke while the response was arriving")
            case 65: (.connectionLost, "the connection broke, and the body cannot be sent from its start again")
            case 28: (.timedOut, "the time for connecting is over")
            // libcurl decodes no content coding for us: what it cannot decode is a transfer coding.
            case 61: (.invalidResponse, "the response has a transfer coding that was not asked for")
            case 63, 100: (.responseTooLarge, "the head of the response is larger than libcurl reads")
            default: (.unknown, String(cString: curl_easy_strerror(rawValue)))
            }
        }

        private var connecting: String {
            switch rawValue {
            case 5: "the proxy's name was not found"
            case 6: "the host's name was not found"
            case 89: "no connection was to be had"
            case 97: "the proxy refused or failed"
            default: "the server could not be reached"
            }
        }

        private var securing: String {
            switch rawValue {
            case 60: "the server's certificate is not trusted"
            case 90: "the server's public key is none of those pinned"
            case 58, 98: "the client's certificate or key was not accepted"
            case 77, 82: "a certificate file could not be read"
            case 91: "the certificate's status is invalid"
            default: "TLS could not be agreed on"
            }
        }
    }
#endif
