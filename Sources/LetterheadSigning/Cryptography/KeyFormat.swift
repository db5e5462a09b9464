// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// A key's bytes: the seed or the scalar of a private key, the point of a public key, or a secret.
struct KeyFormat {
    let algorithm: SignatureKey.Algorithm
    let isPrivate: Bool
    let bytes: [UInt8]

    private static let ed25519: [UInt8] = [0x06, 0x03, 0x2B, 0x65, 0x70]
    private static let p256: [UInt8] = [
        0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01,
        0x07,
    ]

    /// PKCS #8 or a SubjectPublicKeyInfo, which every library reads.
    var der: [UInt8] {
        let identifier = [0x30] + Self.counted(algorithm == .ed25519 ? Self.ed25519 : Self.p256)
        guard isPrivate else { return [0x30] + Self.counted(identifier + [0x03] + Self.counted([0] + bytes)) }
        let key = [0x04] + Self.counted(bytes)
        let inner = algorithm == .ed25519 ? key : [0x30] + Self.counted([0x02, 0x01, 0x01] + key)
        return [0x30] + Self.counted([0x02, 0x01, 0x00] + identifier + [0x04] + Self.counted(inner))
    }

    private static func counted(_ bytes: [UInt8]) -> [UInt8] { [UInt8(truncatingIfNeeded: bytes.count)] + bytes }

    static func pem(_ text: String) throws -> KeyFormat {
        let lines = text.split(whereSeparator: \.isNewline).map { ASCII.trimmed($0) }
        guard let start = lines.firstIndex(where: { $0.begins(with: "-----BEGIN ") && $0.ends(with: " KEY-----") }),
            let end = lines[start...].firstIndex(where: { $0.begins(with: "-----END ") }),
            let data = Data(base64Encoded: lines[(start + 1)..<end].joined())
        else { throw failure("the PEM text has no key (BEGIN PRIVATE KEY or BEGIN PUBLIC KEY)") }
        var reader = DERReader(bytes: Array(data)[...])
        guard !lines[start].holds("ENCRYPTED"), var key = reader.read(0x30).map({ DERReader(bytes: $0) }) else {
            throw failure("the PEM text is encrypted or malformed (use an unencrypted PKCS #8 key)")
        }
        if lines[start].holds("PUBLIC") {
            return try KeyFormat(key.read(0x30), isPrivate: false, key.read(0x03)?.dropFirst())
        }
        _ = key.read(0x02)
        if lines[start].holds("EC PRIVATE") { return try KeyFormat(p256[...], isPrivate: true, key.read(0x04)) }
        let identifier = key.read(0x30)
        guard var inner = key.read(0x04).map({ DERReader(bytes: $0) }) else {
            throw failure("the PEM key is malformed")
        }
        if var ec = inner.read(0x30).map({ DERReader(bytes: $0) }) {
            _ = ec.read(0x02)
            return try KeyFormat(identifier, isPrivate: true, ec.read(0x04))
        }
        return try KeyFormat(identifier, isPrivate: true, inner.read(0x04))
    }

    private struct JWK: Decodable {
        let kty: String
        let crv, x, y, d, k: String?
    }

    static func jwk(_ text: String) throws -> KeyFormat {
        guard let key = try? JSONDecoder().decode(JWK.self, from: Data(text.utf8)) else {
            throw failure("the JSON Web Key is not an object with a kty")
        }
        func bytes(_ text: String?) -> [UInt8]? { text.flatMap(Base64URL.bytes) }
        switch (key.kty, key.crv) {
        case ("oct", _):
            guard let secret = bytes(key.k), !secret.isEmpty else { throw failure("the JSON Web Key has no k") }
            return KeyFormat(algorithm: .hmacSHA256, isPrivate: true, bytes: secret)
        case ("OKP", "Ed25519"):
            return try KeyFormat(ed25519[...], isPrivate: key.d != nil, (bytes(key.d) ?? bytes(key.x))?[...])
        case ("EC", "P-256"):
            let point = bytes(key.x).flatMap { x in bytes(key.y).map { [0x04] + x + $0 } }
            return try KeyFormat(p256[...], isPrivate: key.d != nil, (bytes(key.d) ?? point)?[...])
        default: throw failure("the JSON Web Key is not for Ed25519, P-256 or HMAC")
        }
    }

    init(algorithm: SignatureKey.Algorithm, isPrivate: Bool, bytes: [UInt8]) {
        (self.algorithm, self.isPrivate, self.bytes) = (algorithm, isPrivate, bytes)
    }

    private init(_ identifier: ArraySlice<UInt8>?, isPrivate: Bool, _ bytes: ArraySlice<UInt8>?) throws {
        let isEd25519 = identifier?.elementsEqual(Self.ed25519) == true
        guard isEd25519 || identifier?.elementsEqual(Self.p256) == true else {
            throw Self.failure("the key is neither for Ed25519 nor for P-256")
        }
        guard let bytes, bytes.count == (isPrivate || isEd25519 ? 32 : 65) else {
            throw Self.failure("the key has a wrong length (compressed points aren't supported)")
        }
        self.init(algorithm: isEd25519 ? .ed25519 : .ecdsaP256SHA256, isPrivate: isPrivate, bytes: Array(bytes))
    }

    static func failure(_ rule: String) -> HTTPAuthentication.Failure { .init(.misconfigured, rule) }
}

/// Reads elements of DER (X.690) with lengths up to 65,535.
struct DERReader {
    var bytes: ArraySlice<UInt8>

    /// Returns the content of the next element, or nil if it has another tag or is truncated.
    mutating func read(_ tag: UInt8) -> ArraySlice<UInt8>? {
        guard bytes.first == tag, var length = bytes.dropFirst().first.map({ Int($0) }) else { return nil }
        var rest = bytes.dropFirst(2)
        if length >= 0x80 {
            guard (0x81...0x82).contains(length), rest.count >= length - 0x80 else { return nil }
            let digits = rest.prefix(length - 0x80)
            rest = rest.dropFirst(digits.count)
            length = digits.reduce(0) { $0 << 8 | Int($1) }
        }
        guard rest.count >= length else { return nil }
        bytes = rest.dropFirst(length)
        return rest.prefix(length)
    }
}

/// Base64 for URLs, without padding (RFC 4648, 5).
enum Base64URL {
    static func bytes(_ text: String) -> [UInt8]? {
        let usual = text.replacingBytes(of: "-", with: "+").replacingBytes(of: "_", with: "/")
        let padding = String(repeating: "=", count: (4 - usual.utf8.count % 4) % 4)
        return Data(base64Encoded: usual + padding).map { Array($0) }
    }
}
