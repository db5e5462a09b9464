public import Foundation

/// The TLS settings of a transport: the trusted authorities, and the certificate of the client. The certificate and
/// the host name of a server are always verified.
public struct TransportSecurity: Sendable, Hashable {
    /// The versions of TLS.
    public enum Version: Sendable, Hashable, Comparable {
        /// TLS 1.2.
        case tls12
        /// TLS 1.3.
        case tls13
    }

    /// The certificate authorities that are trusted.
    public enum Roots: Sendable, Hashable {
        /// The authorities of the system.
        case system
        /// Only the authorities in a file in PEM format.
        case file(URL)
        /// Only the authorities in data in PEM format.
        case pem(Data)
    }

    /// A client certificate with its private key.
    public struct Identity: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        let certificate: Data
        let key: Data
        let password: String?

        /// Creates an identity.
        ///
        /// - Parameters:
        ///   - certificate: the certificate in PEM format, with the intermediate certificates up to its root.
        ///   - key: the private key in PEM format.
        ///   - password: the password of the key. Default: nil (no password).
        public init(certificate: Data, key: Data, password: String? = nil) {
            self.certificate = certificate
            self.key = key
            self.password = password
        }

        /// The name of the type, without the key.
        public var description: String { "Identity" }

        /// A mirror without children, so that `dump` does not print the key.
        public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
    }

    /// The trusted authorities. Default: those of the system.
    public var roots = Roots.system

    /// The oldest allowed version of TLS. Default: 1.2.
    public var minimumVersion = Version.tls12

    /// The SHA-256 digests of public keys (DER, SubjectPublicKeyInfo), 32 bytes each. The server must have one of these
    /// keys, in addition to a trusted certificate. Default: empty (any key is allowed).
    public var pinnedKeys: [Data] = []

    /// The client certificate, which is sent if the server requests one. Default: nil (no certificate).
    public var identity: Identity?

    /// Creates the default settings.
    public init() {}

    var brokenRule: String? {
        pinnedKeys.contains { $0.count != 32 } ? "a digest in pinnedKeys does not have 32 bytes" : nil
    }
}
