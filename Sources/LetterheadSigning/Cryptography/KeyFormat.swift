// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// The key bytes: a private seed or scalar, a public point, or a secret.
struct KeyFormat {
    let algorithm: SignatureKey.Algorithm
    let isPrivate: Bool
    let bytes: [UInt8]

    /// The key as PKCS #8 or SubjectPublicKeyInfo, which every library reads.
    var der: [UInt8] { Self.layout(algorithm, isPrivate).header + bytes }

    /// - Throws: a failure if the number of bytes is wrong, or if the key can't be used safely.
    init(_ algorithm: SignatureKey.Algorithm, isPrivate: Bool, _ bytes: [UInt8]) throws {
        guard algorithm == .hmacSHA256 ? !bytes.isEmpty : bytes.count == Self.layout(algorithm, isPrivate).count else {
            throw Failure(.misconfigured, "the key has a wrong length (compressed points aren't supported)")
        }
        switch (algorithm, isPrivate) {
        case (.ecdsaP256SHA256, true):
            // Libraries accept a number of any size, and have no public key for some of them.
            guard bytes.contains(where: { $0 != 0 }), Hexadecimal.text(bytes) < Self.order else {
                throw Failure(.misconfigured, "the private key is not between 1 and the order of P-256")
            }
        case (.ed25519, false):
            // With a key of a small order, one signature fits many messages. The highest bit is cleared, because it is
            // only the sign of the other coordinate.
            guard !Self.smallOrders.contains(Hexadecimal.text(bytes.dropLast() + [bytes[31] & 0x7F])) else {
                throw Failure(
                    .misconfigured, "the public key has a small order, so one signature would fit many messages")
            }
        default: break
        }
        (self.algorithm, self.isPrivate, self.bytes) = (algorithm, isPrivate, bytes)
    }

    init(pem text: String) throws {
        let lines = text.split(whereSeparator: \.isNewline).map { ASCII.trimmed($0) }
        guard let start = lines.firstIndex(where: { $0.begins(with: "-----BEGIN ") && $0.ends(with: " KEY-----") }),
            let end = lines[start...].firstIndex(where: { $0.begins(with: "-----END ") }),
            let data = Data(base64Encoded: lines[(start + 1)..<end].joined())
        else { throw Failure(.misconfigured, "the PEM text has no key (BEGIN PRIVATE KEY or BEGIN PUBLIC KEY)") }
        let (der, isPrivate) = (Array(data), !lines[start].holds("PUBLIC"))
        let algorithm: SignatureKey.Algorithm = der.contains(Self.curve) ? .ecdsaP256SHA256 : .ed25519
        let layout = Self.layout(algorithm, isPrivate)
        // The last bytes before the key are the same in PKCS #8 and in the older form of OpenSSL (SEC 1).
        guard algorithm == .ecdsaP256SHA256 || der.contains(Self.ed25519),
            let place = der.firstRange(of: layout.header.suffix(3))
        else {
            throw Failure(.misconfigured, "the PEM text isn't an unencrypted key for Ed25519 or P-256 (use PKCS #8)")
        }
        try self.init(algorithm, isPrivate: isPrivate, Array(der[place.upperBound...].prefix(layout.count)))
    }

    init(jwk text: String) throws {
        let key = (try? JSONDecoder().value(of: [String: JSONValue].self, from: Data(text.utf8))) ?? [:]
        func bytes(_ name: String) -> [UInt8] { key[name]?.string.flatMap(Base64URL.bytes) ?? [] }
        let isPrivate = key["d"] != nil
        switch (key["kty"]?.string, key["crv"]?.string) {
        case ("oct", _): try self.init(.hmacSHA256, isPrivate: true, bytes("k"))
        case ("OKP", "Ed25519"): try self.init(.ed25519, isPrivate: isPrivate, bytes(isPrivate ? "d" : "x"))
        case ("EC", "P-256"):
            try self.init(
                .ecdsaP256SHA256, isPrivate: isPrivate, isPrivate ? bytes("d") : [4] + bytes("x") + bytes("y"))
        default: throw Failure(.misconfigured, "the JSON Web Key is not for Ed25519, P-256 or HMAC")
        }
    }

    /// The order of P-256 (SEC 2, 2.4.2).
    private static let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"

    /// The points of Ed25519 with an order of at most 8, without their signs. These are 0, 1 and -1, the numbers for 0
    /// and 1 that aren't reduced, and two more.
    private static let smallOrders = [
        "00" + String(repeating: "00", count: 31), "01" + String(repeating: "00", count: 31),
        "ec" + String(repeating: "ff", count: 30) + "7f", "ed" + String(repeating: "ff", count: 30) + "7f",
        "ee" + String(repeating: "ff", count: 30) + "7f",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    ]

    /// The object identifiers of Ed25519 (RFC 8410) and of the curve P-256 (RFC 5480).
    private static let ed25519: [UInt8] = [6, 3, 0x2B, 0x65, 0x70]
    private static let curve: [UInt8] = [6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7]

    /// Returns the bytes that precede the key in DER (X.690), and the number of key bytes.
    private static func layout(_ algorithm: SignatureKey.Algorithm, _ isPrivate: Bool) -> (header: [UInt8], count: Int)
    {
        let p256 = [0x30, 0x13, 6, 7, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1] + curve
        return switch (algorithm, isPrivate) {
        case (.ed25519, true): ([0x30, 0x2E, 2, 1, 0, 0x30, 5] + ed25519 + [4, 0x22, 4, 0x20], 32)
        case (.ed25519, false): ([0x30, 0x2A, 0x30, 5] + ed25519 + [3, 0x21, 0], 32)
        case (_, true): ([0x30, 0x41, 2, 1, 0] + p256 + [4, 0x27, 0x30, 0x25, 2, 1, 1, 4, 0x20], 32)
        case (_, false): ([0x30, 0x59] + p256 + [3, 0x42, 0], 65)
        }
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
