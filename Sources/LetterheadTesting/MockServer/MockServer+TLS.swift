extension MockServer {
    /// The TLS settings of a server: its certificate, its key, the protocol versions, and whether clients need a
    /// certificate.
    ///
    /// ```swift
    /// var configuration = MockServer.Configuration()
    /// configuration.tls = MockServer.TLS(certificate: pem, key: keyPEM)
    /// let server = try await MockServer.start(configuration) { _ in .text("private") }
    /// server.url    // https://127.0.0.1:PORT
    /// ```
    ///
    /// A server with TLS loads the system's OpenSSL when it starts: `libssl.so.3`, or else `libssl.so.1.1`. On Apple
    /// platforms it loads an installed `libssl.3.dylib`. If none is found, ``MockServer/start(_:closure:)`` throws an
    /// error that lists the names that it tried. A failed handshake is recorded in ``Record/failures``.
    public struct TLS: Sendable {
        /// A version of the protocol.
        public enum Version: Int, Sendable, Comparable {
            /// TLS 1.0, which clients should refuse.
            case v1_0 = 0x0301
            /// TLS 1.1, which clients should refuse.
            case v1_1 = 0x0302
            /// TLS 1.2.
            case v1_2 = 0x0303
            /// TLS 1.3.
            case v1_3 = 0x0304

            /// Returns whether a version is older than another.
            public static func < (left: Version, right: Version) -> Bool { left.rawValue < right.rawValue }
        }

        /// The server's certificate in PEM format, optionally followed by the certificates of its chain, which are sent
        /// as well.
        public var certificate: String
        /// The private key of the certificate in PEM format, without a passphrase.
        public var key: String
        /// The authority in PEM format that must have signed the client's certificate. Default: nil (no client
        /// certificate is requested).
        public var clientAuthority: String?
        /// The versions that the server accepts. Default: 1.2 and 1.3.
        public var versions: ClosedRange<Version> = .v1_2 ... .v1_3

        /// Creates settings from a certificate and its key, both in PEM format.
        public init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// The encryption of a connection.
    public struct Security: Sendable, Hashable {
        /// The version in OpenSSL's notation: `TLSv1.3`.
        public let version: String
        /// The name that the client requested (SNI, RFC 6066, 3); nil if it sent none, as for an IP address.
        public let serverName: String?
    }
}
