// SPDX-License-Identifier: MIT
import AsyncHTTPClient
import Letterhead
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension HTTPError {
    /// Creates the error for what ended an exchange. The cause is the underlying error.
    init(endOf exchange: Exchange, _ cause: any Error) {
        let hasHead = exchange.state.withLock { $0.head != nil }
        let meaning = Self.meaning(of: cause, hasHead: hasHead)
        self.init(
            meaning.code, request: exchange.request, underlying: cause is CancellationError ? nil : cause,
            message: meaning.message, mayHaveBeenSent: meaning.mayHaveBeenSent)
    }

    private struct Meaning {
        let code: Code
        let message: String
        var mayHaveBeenSent = true

        init(_ code: Code, _ message: String, unsent: Bool = false) {
            (self.code, self.message, mayHaveBeenSent) = (code, message, !unsent)
        }

        static let lost = Meaning(.connectionLost, "the connection was lost")
        static let truncated = Meaning(.invalidResponse, "the response is truncated")
        static let closed = Meaning(.connectionLost, "the server closed the connection without a response")
        static let unreachable = Meaning(.cannotConnect, "the server could not be reached", unsent: true)
        static let handshake = Meaning(.insecureConnection, "the TLS handshake failed", unsent: true)
    }

    private static func meaning(of cause: any Error, hasHead: Bool) -> Meaning {
        switch cause {
        case is CancellationError: Meaning(.cancelled, "the request was cancelled")
        case let error as HTTPClientError: meaning(of: error, hasHead: hasHead)
        case HTTPParserError.headerOverflow:
            Meaning(.responseTooLarge, "the head of the response is larger than SwiftNIO accepts")
        case HTTPParserError.invalidEOFState: hasHead ? .truncated : .closed
        case is HTTPParserError: Meaning(.invalidResponse, "the response violates HTTP")
        case is NIOConnectionError, is SocketAddressError: .unreachable
        case ChannelError.connectTimeout: Meaning(.timedOut, "the connect timeout passed", unsent: true)
        case is ChannelError: hasHead ? .truncated : .lost
        case NIOSSLError.uncleanShutdown: hasHead ? .truncated : .lost
        case is NIOSSLError, is NIOSSLExtraError: hasHead ? .lost : .handshake
        // An established connection can throw this error as well.
        case is BoringSSLError: hasHead ? .lost : Meaning(.insecureConnection, "TLS failed")
        case let error as IOError: !hasHead && isUnsent(error) ? .unreachable : .lost
        case is any NIOHTTP2Error: .lost
        default: Meaning(.unknown, "AsyncHTTPClient failed")
        }
    }

    private static func meaning(of error: HTTPClientError, hasHead: Bool) -> Meaning {
        switch error {
        case .cancelled: Meaning(.cancelled, "the request was cancelled")
        case .remoteConnectionClosed: hasHead ? .truncated : .closed
        case .uncleanShutdown: hasHead ? .truncated : .lost
        case .connectTimeout, .tlsHandshakeTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout:
            Meaning(.timedOut, "the connect timeout passed", unsent: true)
        case .getConnectionFromPoolTimeout: Meaning(.timedOut, "no connection became free in time", unsent: true)
        case .readTimeout, .writeTimeout, .deadlineExceeded: Meaning(.timedOut, "a time limit passed")
        case .proxyAuthenticationRequired:
            Meaning(.proxyRefused, "the proxy requires other credentials (set them in the configuration)", unsent: true)
        case .invalidProxyResponse:
            Meaning(.cannotConnect, "the proxy refused the connection, or the handshake with it failed", unsent: true)
        case .invalidURL, .emptyHost, .emptyScheme, .bodyLengthMismatch, .writeAfterRequestSent:
            Meaning(.invalidRequest, "AsyncHTTPClient refused the request")
        case .alreadyShutdown: Meaning(.cannotConnect, "the transport was shut down", unsent: true)
        default: Meaning(.unknown, "AsyncHTTPClient failed")
        }
    }

    /// Whether a connection could not be made. If an established connection loses its route, the error can have some of
    /// the same codes, so these count only if connecting has failed.
    private static func isUnsent(_ error: IOError) -> Bool {
        if [ECONNREFUSED, EMFILE, ENFILE].contains(error.errnoCode) { return true }
        let codes = [EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL, ENETDOWN, EHOSTDOWN, EACCES]
        return codes.contains(error.errnoCode)
            && ["connect(", "finishing a non-blocking connect", "socket("].contains {
                error.description.hasPrefix($0)
            }
    }
}
