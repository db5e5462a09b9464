// SPDX-License-Identifier: MIT
public import Letterhead
import LetterheadFoundation

/// A key for ``MessageSigner``, ``MessageVerifier`` and ``DPoP``: a shared secret, a private key, or a public key.
///
/// ```swift
/// let key = try SignatureKey(pem: Secret(String(contentsOf: file, encoding: .utf8)))
/// ```
///
/// Private and public keys use CryptoKit on Apple platforms, and the system libcrypto (OpenSSL 1.1.1 or later)
/// elsewhere. Descriptions contain no key.
public struct SignatureKey: Sendable {
    /// A signature algorithm. Later versions may add algorithms.
    public struct Algorithm: Sendable, Hashable {
        /// The name that RFC 9421, 6.2.2 registers.
        public let name: String

        /// HMAC with SHA-256, for two parties that share a secret.
        public static let hmacSHA256 = Self(name: "hmac-sha256")
        /// Ed25519, with a private and a public key.
        public static let ed25519 = Self(name: "ed25519")
        /// ECDSA over the curve P-256 with SHA-256, with a private and a public key.
        public static let ecdsaP256SHA256 = Self(name: "ecdsa-p256-sha256")
    }

    /// The algorithm that this key signs and verifies with.
    public let algorithm: Algorithm
    /// The public key bytes, or nil for a shared secret.
    let publicBytes: [UInt8]?
    private let signing: (@Sendable ([UInt8]) async throws -> [UInt8])?
    private let verifying: @Sendable (_ signature: [UInt8], _ message: [UInt8]) throws -> Bool
}

extension SignatureKey {
    /// Creates a key for ``Algorithm/hmacSHA256`` from a shared secret.
    ///
    /// - Throws: `HTTPAuthentication.Failure` if the secret is empty.
    public static func hmac(_ secret: some Sequence<UInt8>) throws -> SignatureKey {
        let secret = Array(secret)
        guard !secret.isEmpty else { throw Failure(.misconfigured, "the secret of the HMAC key is empty") }
        return SignatureKey(
            algorithm: .hmacSHA256, publicBytes: nil, signing: { HMAC.sha256($0, key: secret) },
            verifying: { HMAC.isEqual($0, HMAC.sha256($1, key: secret)) })
    }

    /// Reads a key for Ed25519 or P-256 from PEM text: `PRIVATE KEY`, `EC PRIVATE KEY` or `PUBLIC KEY`.
    ///
    /// - Throws: `HTTPAuthentication.Failure` if the text is malformed or encrypted, or if the cryptography library is
    ///   missing.
    public init(pem: Secret) throws { try self.init(KeyFormat(pem: pem.reveal())) }

    /// Reads a key for Ed25519, P-256 or HMAC from a JSON Web Key (RFC 7517).
    ///
    /// - Throws: `HTTPAuthentication.Failure` if the text is malformed, or if the cryptography library is missing.
    public init(jwk: Secret) throws { try self.init(KeyFormat(jwk: jwk.reveal())) }

    /// Creates a new private key, or a new shared secret of 32 bytes for HMAC.
    ///
    /// - Throws: `HTTPAuthentication.Failure` if the cryptography library is missing.
    public static func generated(_ algorithm: Algorithm) throws -> SignatureKey {
        try SignatureKey(KeyFormat(algorithm, isPrivate: true, RandomBytes.system(32)))
    }

    /// Returns this public key with a closure that signs. Use it if the private key is in hardware or in a service.
    ///
    /// The closure receives the message and returns its signature. For P-256, the signature consists of two numbers
    /// with 32 bytes each.
    public func signing(with sign: @escaping @Sendable ([UInt8]) async throws -> [UInt8]) -> SignatureKey {
        SignatureKey(algorithm: algorithm, publicBytes: publicBytes, signing: sign, verifying: verifying)
    }

    private init(_ format: KeyFormat) throws {
        guard format.algorithm != .hmacSHA256 else {
            self = try .hmac(format.bytes)
            return
        }
        let key = try PlatformKey(format)
        let sign: @Sendable ([UInt8]) async throws -> [UInt8] = { try key.sign($0) }
        self.init(
            algorithm: format.algorithm, publicBytes: key.publicBytes,
            signing: format.isPrivate ? sign : nil, verifying: { try key.verifies($0, of: $1) })
    }

    /// The public key as a JSON Web Key, or nil for a shared secret. Its members are in the order that the thumbprint
    /// requires.
    public var publicJWK: String? {
        guard let publicBytes else { return nil }
        func text(_ bytes: some Sequence<UInt8>) -> String { RandomBytes.base64URL(Array(bytes)) }
        return algorithm == .ed25519
            ? #"{"crv":"Ed25519","kty":"OKP","x":"\#(text(publicBytes))"}"#
            : #"{"crv":"P-256","kty":"EC","x":"\#(text(publicBytes[1..<33]))","y":"\#(text(publicBytes[33...]))"}"#
    }

    /// The SHA-256 thumbprint of the public key (RFC 7638), for example for `dpop_jkt`. Nil for a shared secret.
    public var thumbprint: String? { publicJWK.map { RandomBytes.base64URL(SHA256Hash.hash(Array($0.utf8))) } }

    func sign(_ message: [UInt8]) async throws -> [UInt8] {
        guard let signing else { throw Failure(.misconfigured, "a public key can't sign (use the private key)") }
        return try await signing(message)
    }

    func verifies(_ signature: [UInt8], of message: [UInt8]) throws -> Bool { try verifying(signature, message) }
}

extension SignatureKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "SignatureKey(\(algorithm.name))" }
    public var customMirror: Mirror { Mirror(self, children: ["algorithm": algorithm.name]) }
}
