// SPDX-License-Identifier: MIT
public import LetterheadFoundation

extension TransportConfiguration {
    /// The security settings of a transport: TLS with its trusted authorities, and the allowed addresses.
    ///
    /// ```swift
    /// configuration.security.roots = .file(companyAuthorities)
    /// ```
    ///
    /// The certificate and the host name of a server are always verified.
    public struct Security: Sendable, Hashable {
        /// The TLS versions, in ascending order.
        public enum Version: Sendable, Hashable, Comparable {
            /// TLS 1.2 (RFC 5246).
            case tls12
            /// TLS 1.3 (RFC 8446).
            case tls13
        }

        /// The authorities to trust.
        public enum Roots: Sendable, Hashable {
            /// The authorities that the system trusts.
            ///
            /// On Linux, the environment variables `SSL_CERT_FILE` (a file in PEM format) and `SSL_CERT_DIR` (a folder
            /// with hashed names) specify them. If neither is set, the authorities are at the location that libcurl was
            /// built with. If that doesn't exist, they are at the first existing location that a Linux distribution
            /// uses. They are looked up once in a process.
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

            /// Creates an identity from a certificate and its private key, both in PEM format.
            ///
            /// - Parameters:
            ///   - certificate: the certificate, with the intermediate certificates up to its root.
            ///   - key: the private key.
            ///   - password: decrypts the key. Default: nil (the key isn't encrypted).
            public init(certificate: Data, key: Data, password: String? = nil) {
                self.certificate = certificate
                self.key = key
                self.password = password
            }

            public var description: String { "Identity" }

            /// Has no children, so that `dump` prints neither the key nor the password.
            public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
        }

        /// The trusted authorities. Default: ``Roots/system``.
        public var roots = Roots.system

        /// The oldest allowed TLS version. Default: 1.2.
        public var minimumVersion = Version.tls12

        /// The SHA-256 digests of public keys (DER, SubjectPublicKeyInfo) that servers may have. Default: empty (any
        /// key is allowed).
        ///
        /// Each digest has 32 bytes. If you set any, a server must have one of these keys, in addition to a trusted
        /// certificate.
        public var pinnedKeys: [Data] = []

        /// Digests for single hosts. They replace ``pinnedKeys`` for these hosts. Default: empty.
        ///
        /// ```swift
        /// configuration.security.pinnedKeysByHost = ["api.example.com": [currentKey, nextKey]]
        /// ```
        ///
        /// Write the hosts in lower case, without a port and without a dot at the end. If a server has none of the
        /// keys, the request fails with `.insecureConnection`, and the message contains the digest of the key that the
        /// server has, in base 64.
        public var pinnedKeysByHost: [String: [Data]] = [:]

        /// The custom checks of server certificates. All must pass.
        private(set) var checks: [CertificateCheck] = []

        /// The client certificate, sent if the server requests one. Default: nil (no certificate).
        public var identity: Identity?

        /// The IP addresses that connections may be opened to. Default: ``Addresses/any``.
        public var addresses = Addresses.any

        /// Creates settings with the defaults: the authorities of the system, TLS 1.2 or later, any key, and any
        /// address.
        public init() {}

        /// Adds a custom check for server certificates, such as a list of revoked keys or a Certificate Transparency
        /// policy.
        ///
        /// ```swift
        /// configuration.security.verify { chain, host in
        ///     guard host != "api.example.com" || policy.accepts(chain) else { throw PolicyError.refused }
        /// }
        /// ```
        ///
        /// The check can only refuse. It is called once for each new TLS connection, after the certificate and host
        /// name are verified and before the first request is sent. If it throws, nothing is sent, and the request fails
        /// with `.insecureConnection` and with the thrown error as ``HTTPError/underlying``. If you add several checks,
        /// all must pass.
        ///
        /// - The check runs on the thread of the transport and must not wait.
        /// - It isn't called for a proxy or for a ``TransportConfiguration/dnsOverHTTPS`` resolver.
        /// - On Linux, it requires libcurl with OpenSSL, and ``TransportConfiguration/httpVersions`` other than
        ///   `.http3`. Otherwise, each request fails with `.invalidRequest`.
        /// - On Apple platforms, `URLSession` decides when it asks. It may not ask for a connection that resumes a TLS
        ///   session, or for a connection that it shares between the hosts of one certificate. The code for these
        ///   platforms hasn't been run.
        ///
        /// - Parameter check: receives the verified certificates in DER, beginning with the server certificate and
        ///   ending with the trusted authority, and the host in lower case, without a dot at the end and with brackets
        ///   around an IPv6 address.
        public mutating func verify(_ check: @escaping @Sendable (_ chain: [Data], _ host: String) throws -> Void) {
            checks.append(CertificateCheck(check))
        }

        var brokenRule: String? {
            if pinnedKeys.contains(where: { $0.count != 32 }) { return "a digest in pinnedKeys does not have 32 bytes" }
            for (host, keys) in pinnedKeysByHost {
                guard HTTPRequest.isHost(host), !host.isEmpty, host == Self.pinnedName(of: host) else {
                    return "a key of pinnedKeysByHost is not a host name in lower case"
                }
                if keys.isEmpty || keys.contains(where: { $0.count != 32 }) {
                    return "pinnedKeysByHost has no digest for \(host), or one that does not have 32 bytes"
                }
            }
            return nil
        }

        /// Returns the pinned keys of a host. The server must have one of them, unless the list is empty.
        func pinnedKeys(of host: String) -> [Data] {
            if pinnedKeysByHost.isEmpty { return pinnedKeys }
            return pinnedKeysByHost[Self.pinnedName(of: host)] ?? pinnedKeys
        }

        /// Returns the setting that applies to a host, for the message if the server has none of the keys.
        func pinningRule(of host: String) -> String {
            pinnedKeysByHost[Self.pinnedName(of: host)] == nil ? "pinnedKeys" : "pinnedKeysByHost"
        }

        private static func pinnedName(of host: String) -> String {
            let name = ASCII.lowercased(host)
            return name.ends(with: ".") ? String(name.dropLast()) : name
        }

        /// Calls the checks with the verified certificates of a server. Throws the failure of the request if a check
        /// refuses them, or if they aren't known.
        func check(_ chain: [Data], of host: String) throws(TransportFailure) {
            do {
                if !checks.isEmpty, chain.isEmpty { throw CertificateCheck.NoChain() }
                for check in checks { try check.run(chain, Self.pinnedName(of: host)) }
            } catch {
                throw TransportFailure(
                    .insecureConnection,
                    "security.verify refused the certificate of \(host): \(HTTPError.summary(of: error))",
                    mayHaveBeenSent: false, underlying: error)
            }
        }
    }
}

/// A check of certificates. It's a class, so that two settings are equal only if they have the same check.
final class CertificateCheck: Sendable, Hashable {
    let run: @Sendable (_ chain: [Data], _ host: String) throws -> Void

    init(_ run: @escaping @Sendable (_ chain: [Data], _ host: String) throws -> Void) { self.run = run }

    static func == (left: CertificateCheck, right: CertificateCheck) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    struct NoChain: SafelyDescribed {
        let description = "the TLS library does not provide the certificates that the server sent"
    }
}

/// The digest of the public key in a certificate, as it is pinned: the SHA-256 of its SubjectPublicKeyInfo (RFC 7469,
/// 2.4).
enum PublicKeyPin {
    static func text(of digest: Data) -> String { "sha256//" + digest.base64EncodedString() }

    /// Returns the pin for the first certificate in a PEM text, or nil if the certificate is malformed.
    static func pin(ofPEM text: String) -> String? {
        let lines = text.split(at: "\n").flatMap { $0.split(at: "\r") }.drop { !$0.begins(with: "-----BEGIN ") }
            .dropFirst()
        let base64 = lines.prefix { !$0.begins(with: "-----END ") }.joined()
        return Data(base64Encoded: base64).flatMap(digest).map(Self.text)
    }

    /// Returns the digest of the public key in a DER certificate, or nil if the certificate is malformed.
    static func digest(of certificate: Data) -> Data? {
        publicKey(of: [UInt8](certificate)).map { Data(SHA256Hash.hash([UInt8]($0))) }
    }

    /// Returns the SubjectPublicKeyInfo of a certificate (RFC 5280, 4.1).
    private static func publicKey(of certificate: [UInt8]) -> ArraySlice<UInt8>? {
        var outer = DERElements(certificate[...])
        var signed = DERElements(outer.next(sequence)?.content ?? [])
        var fields = DERElements(signed.next(sequence)?.content ?? [])
        _ = fields.next(version)
        for tag in [integer, sequence, sequence, sequence, sequence] where fields.next(tag) == nil { return nil }
        return fields.next(sequence)?.whole
    }

    private static let (integer, sequence, version) = (UInt8(0x02), UInt8(0x30), UInt8(0xA0))
}

/// The elements of a DER value (X.690, 8.1).
private struct DERElements {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Returns the next element if it has this tag: all its bytes, and its content.
    mutating func next(_ tag: UInt8) -> (whole: ArraySlice<UInt8>, content: ArraySlice<UInt8>)? {
        guard rest.first == tag, let first = rest.dropFirst().first else { return nil }
        var (header, length) = (2, Int(first))
        if first >= 0x80 {
            // The length has as many bytes as the lower bits specify. More than three would be 16 MiB or more.
            let count = Int(first & 0x7F)
            guard (1...3).contains(count), rest.count >= 2 + count else { return nil }
            header += count
            length = rest.dropFirst(2).prefix(count).reduce(0) { $0 << 8 | Int($1) }
        }
        guard rest.count >= header + length else { return nil }
        defer { rest = rest.dropFirst(header + length) }
        let whole = rest.prefix(header + length)
        return (whole, whole.dropFirst(header))
    }
}
