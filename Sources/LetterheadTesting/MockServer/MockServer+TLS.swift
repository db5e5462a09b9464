extension MockServer {
    /// What a server needs to speak TLS: a certificate, its key, and what it asks of clients.
    ///
    /// ```swift
    /// var configuration = MockServer.Configuration()
    /// configuration.tls = MockServer.TLS(certificate: pem, key: keyPEM)
    /// let server = try await MockServer.start(configuration) { _ in .text("private") }
    /// server.url    // https://127.0.0.1:PORT
    /// ```
    ///
    /// The system's OpenSSL is opened when such a server starts: `libssl.so.3`, else `libssl.so.1.1`; on Apple
    /// platforms a `libssl.3.dylib` that was installed beside the system. Where there is none,
    /// ``MockServer/start(_:closure:)`` throws an error that names what it looked for. A handshake that fails is one of
    /// the ``Record/failures``.
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

            /// Orders by age.
            public static func < (left: Version, right: Version) -> Bool { left.rawValue < right.rawValue }
        }

        /// The server's certificate in PEM; any that follow it are sent along, as the chain to its authority.
        public var certificate: String
        /// The certificate's private key in PEM, without a passphrase.
        public var key: String
        /// The authority in PEM that must have signed the client's certificate; nil, the default, asks for none.
        public var clientAuthority: String?
        /// The versions that the server speaks. Default: 1.2 and 1.3.
        public var versions: ClosedRange<Version> = .v1_2 ... .v1_3

        /// Takes a certificate and its key, both in PEM.
        public init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// How a connection is encrypted.
    public struct Security: Sendable, Hashable {
        /// The version as OpenSSL names it: `TLSv1.3`.
        public let version: String
        /// The name that the client asked for (SNI, RFC 6066, 3); nil when it gave none, as for an address.
        public let serverName: String?
    }
}
