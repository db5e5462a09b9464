// SPDX-License-Identifier: MIT
#if !canImport(FoundationNetworking)
    import Foundation

    extension HTTPResponse.Metrics {
        /// Creates metrics from Foundation's measurements. Foundation on Linux provides none.
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
                // With TLS, Foundation's `connectEndDate` is the end of the TLS handshake.
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
