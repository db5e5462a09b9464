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
        static let couldNotConnect = Self(rawValue: 7)
        static let truncated = Self(rawValue: 18)
        static let badArgument = Self(rawValue: 43)
        static let noResponse = Self(rawValue: 52)

        /// Returns what went wrong. `reason` is libcurl's own text, which names hosts and certificates but no header.
        func failure(reason: String, wasSent: Bool) -> TransportFailure {
            // libcurl has one number for a connection that breaks and for malformed chunks.
            if rawValue == 56, reason.contains("chunk") {
                return TransportFailure(.invalidResponse, "the response's chunks are malformed")
            }
            let (code, text) = (wasSent ? meaningOnceSent : meaningUnsent) ?? meaning
            // Only failures to reach a server are told in libcurl's words; its words on a response may repeat bytes of it.
            let isTold = code == .cannotConnect || code == .insecureConnection || code == .invalidRequest
            // libcurl refuses an upload before it sends it. On a new connection it offers HTTP/1.1 again.
            return TransportFailure(
                code, isTold && !reason.isEmpty ? "\(text) (\(reason))" : text,
                mayHaveBeenSent: wasSent && rawValue != 25)
        }

        private var meaningOnceSent: (HTTPError.Code, String)? {
            switch rawValue {
            case 1: (.invalidResponse, "the response is not HTTP, or a version of it that is not supported")
            // What libcurl calls a bad argument, a bad option or a bad URL is then in the response.
            case 3, 4, 43, 45, 48, 49: (.invalidResponse, "the response has a malformed header field")
            // libcurl reports a header line that is longer than it reads as exhausted memory.
            case 27:
                (.responseTooLarge, "a header line of the response is longer than the 102,400 bytes that libcurl reads")
            default: nil
            }
        }

        private var meaningUnsent: (HTTPError.Code, String)? {
            [52, 55, 56].contains(rawValue) ? (.cannotConnect, "the server could not be reached") : nil
        }

        private var meaning: (HTTPError.Code, String) {
            switch rawValue {
            case 1, 3, 4, 43, 45, 48, 49: (.invalidRequest, "the system's libcurl cannot do what was asked")
            case 5: (.cannotConnect, "the proxy's name was not found")
            case 6: (.cannotConnect, "the host's name was not found")
            case 7, 96: (.cannotConnect, "the server could not be reached")
            case 89: (.cannotConnect, "no connection was to be had")
            case 97: (.cannotConnect, "the proxy refused or failed")
            case 58, 98: (.insecureConnection, "the client's certificate or key was not accepted")
            case 60: (.insecureConnection, "the server's certificate is not trusted")
            case 77, 82: (.insecureConnection, "a certificate file could not be read")
            case 90: (.insecureConnection, "the server's public key is none of those pinned")
            case 91: (.insecureConnection, "the certificate's status is invalid")
            case 35, 53, 54, 59, 64, 66, 80, 83, 101: (.insecureConnection, "TLS could not be agreed on")
            case 8: (.invalidResponse, "the answer breaks HTTP")
            case 18: (.invalidResponse, "the response was cut short")
            case 16, 92, 95: (.connectionLost, "the server ended the stream or its connection")
            case 25:
                (
                    .connectionLost,
                    "the server responded with HTTP/1.0 on this connection, which allows no body of unknown length"
                )
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
    }
#endif
