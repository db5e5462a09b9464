// SPDX-License-Identifier: MIT
/// Percent-encoding with a table, in one pass over the bytes (RFC 3986, 2.1). All escaping in the library uses it.
///
/// The table has a word for each byte, and only places below the number of bytes are read.
package enum PercentEncoding {
    /// Returns the string with every byte in the set as `%XX`, or the string itself if it contains no such byte.
    package static func escape(_ text: String, _ set: EscapeSet) -> String {
        guard text.withBytes({ unsafe $0.contains(where: set.escapes) }) else { return text }
        return ByteText.text(atMost: 3 * text.utf8.count) { $0.append(text, escaping: set) }
    }

    /// Escapes a string that may contain escapes: a well-formed `%XX` is kept, any other `%` becomes `%25`.
    static func escapeLiteral(_ text: String, _ set: EscapeSet) -> String {
        text.withBytes { bytes -> String? in
            guard unsafe bytes.contains(where: set.escapes) else { return nil }
            var output: [UInt8] = []
            output.reserveCapacity(bytes.count + 16)
            for index in bytes.indices {
                let byte = unsafe bytes[index]
                let kept = unsafe isEscape(bytes, at: index)
                if kept || !set.escapes(byte) { output.append(byte) } else { append(byte, to: &output) }
            }
            return String(decoding: output, as: UTF8.self)
        } ?? text
    }

    /// Returns the first characters from a string that may contain escapes. It never splits a character, whether or not
    /// its bytes are escaped.
    static func literalPrefix(_ text: String, _ count: Int) -> String {
        text.withBytes { bytes in
            var end = 0
            for _ in 0..<count where end < bytes.count {
                repeat {
                    unsafe end += isEscape(bytes, at: end) ? 3 : 1
                } while unsafe end < bytes.count && isContinuation(bytes, at: end)
            }
            return unsafe String(decoding: UnsafeBufferPointer(rebasing: bytes[..<end]), as: UTF8.self)
        }
    }

    /// Returns the string with every well-formed `%XX` decoded. Bytes that aren't UTF-8 become U+FFFD.
    package static func unescape(_ text: some StringProtocol) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        return String(decoding: decoded(Array(text.utf8)), as: UTF8.self)
    }

    /// Decodes the names and values in a form. A `+` is decoded as a space. An item without `=` has an empty value.
    package static func formItems(of text: String) -> [(name: String, value: String)] {
        func decode(_ part: Substring) -> String {
            String(decoding: decoded(part.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }), as: UTF8.self)
        }
        return text.split(at: "&").map { item in
            let pair = item.cut(at: "=")
            return (decode(pair?.head ?? item), decode(pair?.tail ?? ""))
        }
    }

    /// Returns the normal form that is the same for all strings that differ only in their escapes (RFC 3986, 6.2.2). In
    /// it, unreserved bytes aren't escaped, and every other byte is `%XX` in upper case.
    package static func normalized(_ bytes: some Sequence<UInt8>) -> String {
        let set = EscapeSet.unreserved
        var output: [UInt8] = []
        for byte in decoded(Array(bytes)) {
            if set.escapes(byte) { append(byte, to: &output) } else { output.append(byte) }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns the bytes with every well-formed `%XX` decoded.
    static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = hexValue(bytes[index + 1]), let low = hexValue(bytes[index + 2])
            {
                output.append(high << 4 | low)
                index += 3
            } else {
                output.append(bytes[index])
                index += 1
            }
        }
        return output
    }

    /// Writes the escaped bytes of a string, and returns their number. Four bytes are stored at a time, but only one or
    /// three count.
    ///
    /// - Parameter target: memory for three times as many bytes as the string has, and for one more.
    static func write(_ text: String, _ set: EscapeSet, to target: UnsafeMutableRawPointer) -> Int {
        text.withBytes { bytes in
            set.withWords { words in
                var position = 0
                for index in bytes.indices {
                    let word = unsafe words[Int(bytes[index])]
                    unsafe target.storeBytes(of: word.littleEndian, toByteOffset: position, as: UInt32.self)
                    position &+= Int(word >> 24)
                }
                return position
            }
        }
    }

    private static func append(_ byte: UInt8, to output: inout [UInt8]) {
        let word = EscapeSet.escape(byte)
        for place in 0..<3 { output.append(UInt8(truncatingIfNeeded: word >> (8 * place))) }
    }

    private static func isEscape(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        unsafe bytes[index] == UInt8(ascii: "%") && index + 2 < bytes.count && hexValue(bytes[index + 1]) != nil
            && hexValue(bytes[index + 2]) != nil
    }

    /// Returns whether a byte, which may be escaped, continues a UTF-8 character.
    private static func isContinuation(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        guard unsafe isEscape(bytes, at: index) else { return unsafe bytes[index] & 0xC0 == 0x80 }
        return unsafe (hexValue(bytes[index + 1]) ?? 0) & 0xC == 0x8
    }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

package struct EscapeSet: Sendable {
    /// The output for each byte: the first byte in the lowest bits, and the number of bytes in the highest eight bits.
    /// A byte thus costs one load and one store, without branches that depend on the string.
    private let words: [UInt32]

    /// Creates a set with all bytes except ASCII letters, digits, and the given characters.
    private init(keeping others: String, spaceAsPlus: Bool = false) {
        words = (UInt8.min...UInt8.max).map { byte in
            switch byte {
            case UInt8(ascii: " ") where spaceAsPlus: UInt32(UInt8(ascii: "+")) | 1 << 24
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: UInt32(byte) | 1 << 24
            default: others.utf8.contains(byte) ? UInt32(byte) | 1 << 24 : Self.escape(byte) | 3 << 24
            }
        }
    }

    @inline(__always)
    func escapes(_ byte: UInt8) -> Bool { words[Int(byte)] >> 24 == 3 }

    @safe func withWords<Result>(_ body: (UnsafeBufferPointer<UInt32>) -> Result) -> Result {
        unsafe words.withUnsafeBufferPointer(body)
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

    /// Escapes what a path cannot contain otherwise (RFC 3986, 3.3). `/` is kept, and the caller handles `%`.
    static let pathLiteral = EscapeSet(keeping: "-._~!$&'()*+,;=:@/")

    /// Escapes what a query or a fragment cannot contain otherwise (RFC 3986, 3.4). The caller handles `%`.
    static let queryLiteral = EscapeSet(keeping: "-._~!$&'()*+,;=:@/?")

    /// Escapes what no part of a URL can contain otherwise (RFC 3986, 2.2). The caller handles `%`.
    static let reserved = EscapeSet(keeping: "-._~:/?#[]@!$&'()*+,;=")

    /// The form encoding (URL Standard, 5.2), with `%20` for a space.
    package static let form = EscapeSet(keeping: "*-._")

    /// The same as ``form``, with `+` for a space.
    static let formPlus = EscapeSet(keeping: "*-._", spaceAsPlus: true)
}
