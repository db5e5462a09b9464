// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// Unpredictable bytes from the system random source.
package enum RandomBytes {
    @Sendable package static func system(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Returns bytes as text for URLs, without padding (RFC 4648, 5).
    package static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
            .replacingBytes(of: "+", with: "-").replacingBytes(of: "/", with: "_").replacingBytes(of: "=", with: "")
    }
}
