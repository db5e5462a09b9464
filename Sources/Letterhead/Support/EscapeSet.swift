/// A set of bytes that are escaped. In its text form, each byte has a character: `.` is kept, `x` becomes `%XX`.
package struct EscapeSet: Sendable {
    /// The output for each byte: the first byte in the lowest bits, and the number of bytes in the highest eight bits.
    /// A byte thus costs one load and one store, without branches that depend on the string.
    private var words: [UInt32]

    init(table: StaticString) {
        words = table.withUTF8Buffer { marks in
            marks.enumerated().map { byte, mark in
                mark == UInt8(ascii: ".") ? UInt32(byte) | 1 << 24 : Self.escape(UInt8(byte)) | 3 << 24
            }
        }
    }

    /// Returns whether a byte is escaped.
    @inline(__always)
    package func escapes(_ byte: UInt8) -> Bool { words[Int(byte)] >> 24 == 3 }

    /// The same set with `+` for a space, as in forms.
    private var spaceAsPlus: EscapeSet {
        var set = self
        set.words[Int(UInt8(ascii: " "))] = UInt32(UInt8(ascii: "+")) | 1 << 24
        return set
    }

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
    package static let unreserved = EscapeSet(
        table: """
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxx..x..........xxxxxx\
            x..........................xxxx.\
            x..........................xxx.x\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            """)

    /// The bytes that a path cannot contain unescaped (RFC 3986, 3.3). `/` is kept, and `%` is handled separately.
    package static let pathLiteral = EscapeSet(
        table: """
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            x.xx.x......................x.xx\
            ...........................xxxx.\
            x..........................xxx.x\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            """)

    /// The bytes that a query or a fragment cannot contain unescaped (RFC 3986, 3.4). `%` is handled separately.
    package static let queryLiteral = EscapeSet(
        table: """
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            x.xx.x......................x.x.\
            ...........................xxxx.\
            x..........................xxx.x\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            """)

    /// Everything except ASCII letters and digits: the strictest form encoding.
    package static let alphanumeric = EscapeSet(
        table: """
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxxxxx..........xxxxxx\
            x..........................xxxxx\
            x..........................xxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            """)

    /// The set of the WHATWG serializer for `application/x-www-form-urlencoded` (URL Standard, 5.2).
    package static let formSerializer = EscapeSet(
        table: """
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxx.xx..x..........xxxxxx\
            x..........................xxxx.\
            x..........................xxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            """)

    /// Everything except ASCII letters and digits, with `+` for a space.
    package static let alphanumericPlus = alphanumeric.spaceAsPlus

    /// The set of the WHATWG serializer, with `+` for a space, as in its specification.
    package static let formSerializerPlus = formSerializer.spaceAsPlus

    /// The same as ``unreserved``, with `+` for a space.
    package static let unreservedPlus = unreserved.spaceAsPlus
}
