/// A set of bytes that are escaped.
package struct EscapeSet: Sendable {
    /// The output for each byte: the first byte in the lowest bits, and the number of bytes in the highest eight bits.
    /// A byte thus costs one load and one store, without branches that depend on the string.
    private let words: [UInt32]

    /// Creates a set of all bytes except ASCII letters, digits, and the given characters.
    private init(keeping others: String, spaceAsPlus: Bool = false) {
        words = (UInt8.min...UInt8.max).map { byte in
            switch byte {
            case UInt8(ascii: " ") where spaceAsPlus: UInt32(UInt8(ascii: "+")) | 1 << 24
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: UInt32(byte) | 1 << 24
            default: others.utf8.contains(byte) ? UInt32(byte) | 1 << 24 : Self.escape(byte) | 3 << 24
            }
        }
    }

    /// Returns whether a byte is escaped.
    @inline(__always)
    package func escapes(_ byte: UInt8) -> Bool { words[Int(byte)] >> 24 == 3 }

    /// Calls a closure with the 256 words.
    func withWords<Result>(_ body: (UnsafeBufferPointer<UInt32>) -> Result) -> Result {
        words.withUnsafeBufferPointer(body)
    }

    /// Returns `%XX` with the percent sign in the lowest bits.
    static func escape(_ byte: UInt8) -> UInt32 {
        UInt32(UInt8(ascii: "%")) | UInt32(hexDigit(byte >> 4)) << 8 | UInt32(hexDigit(byte & 15)) << 16
    }

    private static func hexDigit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
    }
}

extension EscapeSet {
    /// Everything except `ALPHA DIGIT - . _ ~` (RFC 3986, 2.3): for a single value anywhere in a URL.
    package static let unreserved = EscapeSet(keeping: "-._~")

    /// The bytes that a path cannot contain unescaped (RFC 3986, 3.3). `/` is kept, and `%` is handled separately.
    package static let pathLiteral = EscapeSet(keeping: "-._~!$&'()*+,;=:@/")

    /// The bytes that a query or a fragment cannot contain unescaped (RFC 3986, 3.4). `%` is handled separately.
    package static let queryLiteral = EscapeSet(keeping: "-._~!$&'()*+,;=:@/?")

    /// Everything except ASCII letters and digits: the strictest form encoding.
    package static let alphanumeric = EscapeSet(keeping: "")

    /// The same as ``alphanumeric``, with `+` for a space.
    package static let alphanumericPlus = EscapeSet(keeping: "", spaceAsPlus: true)
}
