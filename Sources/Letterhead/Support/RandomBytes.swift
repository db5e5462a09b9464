import Foundation

/// Bytes that nobody can guess, from the system's own source.
package enum RandomBytes {
    /// As many as asked for.
    @Sendable package static func system(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Bytes as text for URLs, without padding (RFC 4648, 5).
    package static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
