/// A text that is put together byte by byte, where the pieces are many and small: one buffer, no text in between.
package struct ByteText: ~Copyable {
    private let bytes: UnsafeMutableBufferPointer<UInt8>
    /// How many bytes were appended.
    package private(set) var count = 0

    private init(_ bytes: UnsafeMutableBufferPointer<UInt8>) { self.bytes = bytes }

    /// The text that is appended.
    ///
    /// - Parameter capacity: how many bytes it has at most; appending more is a mistake in the caller.
    package static func text(atMost capacity: Int, _ append: (inout ByteText) -> Void) -> String {
        // A byte more, because an escape is stored as four bytes of which three count.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity + 1) { memory in
            var text = ByteText(memory)
            append(&text)
            return String(decoding: UnsafeBufferPointer(rebasing: memory[..<text.count]), as: UTF8.self)
        }
    }

    /// Writes to memory that is there, and says how many bytes; it must have room for one more.
    package static func write(to memory: UnsafeMutableBufferPointer<UInt8>, _ append: (inout ByteText) -> Void) -> Int {
        var text = ByteText(memory)
        append(&text)
        return text.count
    }

    /// Whether the character was appended last.
    @inline(__always)
    package func ends(in character: Unicode.Scalar) -> Bool { count > 0 && bytes[count - 1] == UInt8(ascii: character) }

    /// Appends a text as it is.
    @inline(__always)
    package mutating func append(_ text: String) {
        text.withBytes { append($0) }
    }

    /// Appends bytes as they are.
    @inline(__always)
    package mutating func append(_ piece: UnsafeBufferPointer<UInt8>) {
        guard let source = piece.baseAddress else { return }
        take(piece.count).update(from: source, count: piece.count)
        count += piece.count
    }

    /// Appends one character of ASCII.
    @inline(__always)
    package mutating func append(_ character: Unicode.Scalar) {
        take(1).pointee = UInt8(ascii: character)
        count += 1
    }

    /// Appends a number in decimal digits.
    package mutating func append(_ number: Int) {
        if number < 0 { append("-" as Unicode.Scalar) }
        var rest = number.magnitude
        let start = count
        repeat {
            take(1).pointee = UInt8(ascii: "0") + UInt8(rest % 10)
            count += 1
            rest /= 10
        } while rest > 0
        var digits = UnsafeMutableBufferPointer(rebasing: bytes[start..<count])
        digits.reverse()
    }

    /// Appends a text with every byte of the set as `%XX`: three times as many bytes at most.
    @inline(__always)
    package mutating func append(_ text: String, escaping set: EscapeSet) {
        count += PercentEncoding.write(text, set, to: take(3 * text.utf8.count))
    }

    /// Where the next bytes go.
    @inline(__always)
    private func take(_ length: Int) -> UnsafeMutablePointer<UInt8> {
        precondition(count + length < bytes.count, "a text is longer than it was said to be")
        return bytes.baseAddress.unsafelyUnwrapped + count
    }
}
