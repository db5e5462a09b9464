public import Foundation

/// Whom a transport trusts over TLS, and as whom it introduces itself. Certificates and names are always verified.
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
        /// Those of the system.
        case system
        /// Those of a file in PEM form, and no others.
        case file(URL)
        /// Those of data in PEM form, and no others.
        case pem(Data)
    }

    /// A certificate of one's own, with its private key.
    public struct Identity: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        let certificate: Data
        let key: Data
        let password: String?

        /// Makes an identity.
        ///
        /// - Parameters:
        ///   - certificate: in PEM form, with the certificates between it and its root.
        ///   - key: the private key in PEM form.
        ///   - password: of the key. Default: nil, it has none.
        public init(certificate: Data, key: Data, password: String? = nil) {
            self.certificate = certificate
            self.key = key
            self.password = password
        }

        /// Nothing of the key.
        public var description: String { "Identity" }

        /// Nothing of the key.
        public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
    }

    /// Who is trusted. Default: the system's store.
    public var roots = Roots.system

    /// The oldest version of TLS that is spoken. Default: 1.2.
    public var minimumVersion = Version.tls12

    /// The SHA-256 digests of the public keys (DER, SubjectPublicKeyInfo) of which the server must have one, 32 bytes
    /// each, beside being trusted. Default: none, any key will do.
    public var pinnedKeys: [Data] = []

    /// As whom to introduce oneself when the server asks. Default: nil, as nobody.
    public var identity: Identity?

    /// The defaults.
    public init() {}

    var brokenRule: String? {
        pinnedKeys.contains { $0.count != 32 } ? "a digest in pinnedKeys has not 32 bytes" : nil
    }
}
