// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// A buffer that joins many small pieces to a string, without intermediate strings.
///
/// Only closures receive it, while its memory exists, and ``take(_:)`` checks each write.
@safe struct ByteText: ~Copyable {
    private let bytes: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    private init(_ bytes: UnsafeMutableBufferPointer<UInt8>) { unsafe self.bytes = bytes }

    /// Returns the string that a closure appends.
    ///
    /// - Parameter capacity: the largest number of bytes. Appending more is a programming error.
    static func text(atMost capacity: Int, _ append: (inout ByteText) -> Void) -> String {
        // One more byte, because an escape is stored as four bytes but only three count.
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity + 1) { memory in
            var text = unsafe ByteText(memory)
            append(&text)
            return unsafe String(decoding: UnsafeBufferPointer(rebasing: memory[..<text.count]), as: UTF8.self)
        }
    }

    /// Returns the bytes that a closure appends.
    static func bytes(atMost capacity: Int, _ append: (inout ByteText) -> Void) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: capacity + 1) { memory, count in
            var text = unsafe ByteText(memory)
            append(&text)
            count = text.count
        }
    }

    /// Adds the bytes that a closure appends to an array, which the closure must not read.
    static func add(atMost capacity: Int, to bytes: inout [UInt8], _ append: (inout ByteText) -> Void) {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity + 1) { memory in
            var text = unsafe ByteText(memory)
            append(&text)
            unsafe bytes.append(contentsOf: memory[..<text.count])
        }
    }

    @inline(__always)
    func ends(in character: Unicode.Scalar) -> Bool { unsafe count > 0 && bytes[count - 1] == UInt8(ascii: character) }

    @inline(__always)
    mutating func append(_ text: String) {
        text.withBytes { unsafe append($0) }
    }

    @inline(__always)
    mutating func append(_ piece: UnsafeBufferPointer<UInt8>) {
        guard let source = piece.baseAddress else { return }
        unsafe take(piece.count).update(from: source, count: piece.count)
        count += piece.count
    }

    @inline(__always)
    mutating func append(_ character: Unicode.Scalar) {
        unsafe take(1).pointee = UInt8(ascii: character)
        count += 1
    }

    mutating func append(_ number: Int) {
        if number < 0 { append("-" as Unicode.Scalar) }
        var rest = number.magnitude
        let start = count
        repeat {
            unsafe take(1).pointee = UInt8(ascii: "0") + UInt8(rest % 10)
            count += 1
            rest /= 10
        } while rest > 0
        var digits = unsafe UnsafeMutableBufferPointer(rebasing: bytes[start..<count])
        unsafe digits.reverse()
    }

    /// Appends a string with each byte in the set as `%XX`. It appends at most three bytes for each byte.
    @inline(__always)
    mutating func append(_ text: String, escaping set: EscapeSet) {
        unsafe count += PercentEncoding.write(text, set, to: take(3 * text.utf8.count))
    }

    /// Returns the address for the next bytes, after checking that they fit into the memory.
    @inline(__always)
    private func take(_ length: Int) -> UnsafeMutablePointer<UInt8> {
        precondition(unsafe count + length < bytes.count, "a text is longer than its declared capacity")
        return unsafe bytes.baseAddress.unsafelyUnwrapped + count
    }
}

/// String encodings by their charset names in media types.
enum TextEncoding {
    /// Returns the encoding for a name, ignoring its case. Returns nil for an unknown name, and for an encoding that
    /// Foundation doesn't have on this platform.
    static func encoding(of name: String) -> String.Encoding? {
        known(ASCII.keyword(name)).flatMap { String(data: Data(), encoding: $0) == nil ? nil : $0 }
    }

    private static func known(_ name: String) -> String.Encoding? {
        switch name {
        case "utf-8", "utf8": .utf8
        case "us-ascii", "ascii": .ascii
        case "iso-8859-1", "latin1": .isoLatin1
        case "iso-8859-2", "latin2": .isoLatin2
        case "windows-1250": .windowsCP1250
        case "windows-1251": .windowsCP1251
        case "windows-1252": .windowsCP1252
        case "windows-1253": .windowsCP1253
        case "windows-1254": .windowsCP1254
        case "utf-16": .utf16
        case "utf-16le": .utf16LittleEndian
        case "utf-16be": .utf16BigEndian
        case "utf-32": .utf32
        case "shift_jis": .shiftJIS
        case "iso-2022-jp": .iso2022JP
        case "euc-jp": .japaneseEUC
        default: nil
        }
    }
}
