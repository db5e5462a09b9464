import Foundation

/// The digest of the public key of a certificate, as it is pinned: the SHA-256 of its SubjectPublicKeyInfo (RFC 7469, 2.4).
enum PublicKeyPin {
    /// Returns a digest as `sha256//` and base 64.
    static func text(of digest: Data) -> String { "sha256//" + digest.base64EncodedString() }

    /// Returns the pin of the first certificate in a text in PEM format; nil if it is malformed.
    static func pin(ofPEM text: String) -> String? {
        let lines = text.split(at: "\n").flatMap { $0.split(at: "\r") }.drop { !$0.begins(with: "-----BEGIN ") }
            .dropFirst()
        let base64 = lines.prefix { !$0.begins(with: "-----END ") }.joined()
        guard let bytes = Data(base64Encoded: base64), let key = publicKey(of: [UInt8](bytes)) else { return nil }
        return Self.text(of: Data(SHA256Hash.hash([UInt8](key))))
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

/// The elements of a value in DER (X.690, 8.1).
private struct DERElements {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Returns the next element if it has this tag: all of its bytes, and its content.
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
