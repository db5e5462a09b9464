/// Which bytes of a text are escaped: one character a byte, `.` stays, `x` becomes `%XX`.
package struct EscapeSet: Sendable {
    /// For each byte what is written for it, the first in the lowest bits, and in the highest eight how many these are.
    /// So a byte costs one load and one store, and no branch depends on the text.
    private var words: [UInt32]

    init(table: StaticString) {
        words = table.withUTF8Buffer { marks in
            marks.enumerated().map { byte, mark in
                mark == UInt8(ascii: ".") ? UInt32(byte) | 1 << 24 : Self.escape(UInt8(byte)) | 3 << 24
            }
        }
    }

    /// Whether a byte is escaped.
    @inline(__always)
    package func escapes(_ byte: UInt8) -> Bool { words[Int(byte)] >> 24 == 3 }

    /// The same set with `+` for a space, as forms may write it.
    private var spaceAsPlus: EscapeSet {
        var set = self
        set.words[Int(UInt8(ascii: " "))] = UInt32(UInt8(ascii: "+")) | 1 << 24
        return set
    }

    /// The 256 words.
    func withWords<Result>(_ body: (UnsafeBufferPointer<UInt32>) -> Result) -> Result {
        words.withUnsafeBufferPointer(body)
    }

    /// `%XX`, the percent sign in the lowest bits.
    static func escape(_ byte: UInt8) -> UInt32 {
        UInt32(UInt8(ascii: "%")) | UInt32(hexDigit(byte >> 4)) << 8 | UInt32(hexDigit(byte & 15)) << 16
    }

    private static func hexDigit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
    }
}

extension EscapeSet {
    /// Everything but `ALPHA DIGIT - . _ ~` (RFC 3986, 2.3): one value, wherever it stands in a URL.
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

    /// What may stand in a path as it is (RFC 3986, 3.3), with `/`; `%` is looked at apart.
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

    /// What may stand in a query or a fragment as it is (RFC 3986, 3.4); `%` is looked at apart.
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

    /// What no URL contains on the wire: control characters, spaces and everything outside ASCII; `%` stays.
    package static let unprintable = EscapeSet(
        table: """
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            x...............................\
            ................................\
            ...............................x\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            """)

    /// Everything but ASCII letters and digits: the strictest form encoding.
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

    /// The set of the WHATWG serialiser of `application/x-www-form-urlencoded` (URL Standard, 5.2).
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

    /// Everything but ASCII letters and digits, a space as `+`.
    package static let alphanumericPlus = alphanumeric.spaceAsPlus

    /// The set of the WHATWG serialiser, a space as `+`, as that serialiser writes it.
    package static let formSerializerPlus = formSerializer.spaceAsPlus

    /// The same as ``unreserved``, with `+` for a space.
    package static let unreservedPlus = unreserved.spaceAsPlus
}
