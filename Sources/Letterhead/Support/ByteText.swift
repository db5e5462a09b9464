/// A text that is put together byte by byte, where the pieces are many and small: one buffer, no text in between.
package struct ByteText: ~Copyable {
    private var bytes: [UInt8] = []

    /// - Parameter capacity: how many bytes it will have, about.
    package init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// What was appended.
    package var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Appends a text as it is.
    package mutating func append(_ text: String) {
        if text.utf8.withContiguousStorageIfAvailable({ bytes.append(contentsOf: $0) }) == nil {
            bytes.append(contentsOf: text.utf8)
        }
    }

    /// Appends one character of ASCII.
    package mutating func append(_ character: Unicode.Scalar) { bytes.append(UInt8(ascii: character)) }

    /// Appends a text with every byte of the set as `%XX`.
    package mutating func append(_ text: String, escaping set: EscapeSet) {
        var text = text
        text.withUTF8 { piece in
            let escapes = PercentEncoding.count(piece, set)
            if escapes == 0 { return bytes.append(contentsOf: piece) }
            let start = bytes.count
            bytes.append(contentsOf: repeatElement(0, count: piece.count + 2 * escapes))
            bytes.withUnsafeMutableBufferPointer { all in
                _ = PercentEncoding.write(piece, set, to: UnsafeMutableBufferPointer(rebasing: all[start...]))
            }
        }
    }
}
