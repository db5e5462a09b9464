// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// The digest that a downloaded file must have. Pass it if you know the SHA-256 digest in advance, for example from a
/// release page.
///
/// ```swift
/// try await client.download(GetVideo(id: 3), to: url, resuming: .fromPart, digest: .sha256("9f86d081…"))
/// ```
public struct ContentDigest: Sendable, Hashable {
    /// The digest in hexadecimal digits in lower case, or in Base64.
    private let text: String

    /// Expects this SHA-256 digest, which you pass in hexadecimal digits or in Base64. If it is malformed, the download
    /// fails with `.invalidRequest` before anything is sent.
    public static func sha256(_ text: String) -> ContentDigest {
        ContentDigest(text: isHexadecimal(text) ? ASCII.lowercased(text) : text)
    }

    private static func isHexadecimal(_ text: String) -> Bool {
        text.utf8.count == 64 && ASCII.allBytes(of: text) { (48...57).contains($0) || (97...102).contains($0 | 0x20) }
    }

    var isMalformed: Bool {
        !Self.isHexadecimal(text) && (text.utf8.count > 44 || Data(base64Encoded: text)?.count != 32)
    }

    func matches(_ hash: [UInt8]) -> Bool {
        text.isSame(as: hexadecimal(hash)) || Data(base64Encoded: text)?.elementsEqual(hash) == true
    }

    /// Returns the SHA-256 digest in `Repr-Digest`, which covers the whole representation (RFC 9530, 2): `sha-256=:…:`.
    /// Digests with other algorithms are ignored, and so is a digest that includes a content coding.
    static func reported(by response: HTTPResponse) -> ContentDigest? {
        guard !response.headers.contains(.contentEncoding), !response.isDecoded else { return nil }
        let members = ASCII.members(of: response.headers.values(for: "Repr-Digest"))
        return members.lazy.filter { $0.begins(with: "sha-256=:") }
            .map { sha256(String($0.split(at: ":", omittingEmpty: false)[1])) }.first { !$0.isMalformed }
    }
}
