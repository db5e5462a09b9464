// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// Message authentication codes with SHA-256 (RFC 2104).
enum HMAC {
    static func sha256(_ message: some ContiguousBytes, key: [UInt8]) -> [UInt8] {
        let short = key.count > 64 ? SHA256Hash.hash(key) : key
        let block = short + [UInt8](repeating: 0, count: 64 - short.count)
        var inner = SHA256Hash()
        inner.update(block.map { $0 ^ 0x36 })
        inner.update(message)
        return SHA256Hash.hash(block.map { $0 ^ 0x5C } + inner.finalize())
    }

    static func sha256(_ text: String, key: [UInt8]) -> [UInt8] { sha256(Array(text.utf8), key: key) }

    /// Compares secrets in a time that doesn't depend on their bytes.
    static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.count)
        // Appending to one array avoids an allocation for each byte.
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
