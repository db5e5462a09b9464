/// Comparisons and character classes that must not depend on a locale (RFC 9110, 5.6.2).
package enum ASCII {
    /// Whether two texts are the same but for the case of ASCII letters.
    @inline(__always)
    package static func equalIgnoringCase(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && isSameIgnoringCase(left, right)
    }

    private static func isSameIgnoringCase(_ left: String, _ right: String) -> Bool {
        var (left, right) = (left, right)
        return left.withUTF8 { left in
            right.withUTF8 { right in left.indices.allSatisfy { lowercased(left[$0]) == lowercased(right[$0]) } }
        }
    }

    /// An ASCII letter in lower case, any other byte as it is.
    @inline(__always)
    package static func lowercased(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte | 0x20 : byte }

    /// The text with its ASCII letters in lower case.
    package static func lowercased(_ text: String) -> String {
        if allBytes(of: text, fit: { !(65...90).contains($0) }) { return text }
        return String(decoding: text.utf8.map { lowercased($0) }, as: UTF8.self)
    }

    /// Whether a text is a token: at least one character, each of them one that ``isTokenCharacter(_:)`` allows.
    package static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && allBytes(of: text) { isTokenCharacter($0) }
    }

    /// Whether every byte of a text fits.
    @inline(__always)
    package static func allBytes(of text: some StringProtocol, fit: (UInt8) -> Bool) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { bytes in
            for byte in bytes where !fit(byte) { return false }
            return true
        } ?? text.utf8.allSatisfy(fit)
    }

    /// Whether a byte may stand in a token (RFC 9110, 5.6.2).
    package static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122: true
        case 0x21, 0x23, 0x24, 0x25, 0x26, 0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// The text without spaces and tabs at its ends (OWS of RFC 9110, 5.6.3).
    package static func trimmed(_ text: String) -> String {
        var text = text
        return text.withUTF8 { bytes -> String? in
            var (start, end) = (0, bytes.count)
            while start < end, isBlank(bytes[start]) { start += 1 }
            while start < end, isBlank(bytes[end - 1]) { end -= 1 }
            return end - start == bytes.count
                ? nil : String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<end]), as: UTF8.self)
        } ?? text
    }

    @inline(__always)
    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
