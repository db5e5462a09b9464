// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// The boundary between parts (RFC 2046, 5.1.1).
enum MultipartBoundary {
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// Returns 160 random bits as 32 letters and digits, which never need quoting.
    static func random(using generator: inout some RandomNumberGenerator) -> String {
        var text = ""
        text.reserveCapacity(32)
        for _ in 0..<4 {
            var bits = generator.next()
            for _ in 0..<8 {
                text.unicodeScalars.append(Unicode.Scalar(alphabet[Int(bits & 31)]))
                bits >>= 5
            }
        }
        return text
    }

    /// Returns the rule that a boundary violates; nil if it is valid.
    static func brokenRule(of boundary: String) -> String? {
        if boundary.isEmpty { return "the boundary is empty" }
        if boundary.utf8.count > 70 { return "the boundary has more than 70 characters" }
        if boundary.ends(with: " ") { return "the boundary ends with a space" }
        if !boundary.utf8.allSatisfy({ isAllowed($0) }) {
            return "the boundary has a character other than letters, digits, space and '()+_,-./:=? (RFC 2046, 5.1.1)"
        }
        return nil
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...58, 65...90, 97...122, 0x20, 0x27, 0x28, 0x29, 0x2B, 0x2C, 0x2D, 0x2E, 0x2F, 0x3D, 0x3F, 0x5F: true
        default: false
        }
    }
}

/// Searches content that arrives in pieces for lines that begin like a delimiter.
struct BoundaryScanner: Sendable {
    private let delimiter: [UInt8]
    /// The end of the previous pieces, long enough for a split delimiter and the byte before it.
    private var tail: [UInt8] = [0x0A]

    init(boundary: String) { delimiter = Array("--\(boundary)".utf8) }

    /// Returns whether a delimiter ends in this piece. The pieces of a part must be passed in order.
    mutating func finds(in piece: Data) -> Bool {
        let seam = tail + piece.prefix(delimiter.count)
        tail = piece.count < delimiter.count ? seam.suffix(delimiter.count) : Array(piece.suffix(delimiter.count))
        return seam.withUnsafeBytes { isHit(in: $0) } || piece.withUnsafeBytes { isHit(in: $0) }
    }

    /// Returns whether a delimiter follows a line break. Many parsers accept a lone CR or LF as a line break.
    private func isHit(in bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count > delimiter.count, let base = bytes.baseAddress else { return false }
        var index = 1
        while index <= bytes.count - delimiter.count,
            let dash = memchr(base + index, Int32(UInt8(ascii: "-")), bytes.count - delimiter.count + 1 - index)
        {
            index = UnsafeRawPointer(dash) - base
            let before = bytes[index - 1]
            if before == 0x0A || before == 0x0D, memcmp(dash, delimiter, delimiter.count) == 0 { return true }
            index += 1
        }
        return false
    }
}
