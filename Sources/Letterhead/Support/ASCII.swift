// SPDX-License-Identifier: MIT
/// Comparisons and character classes that must not depend on a locale (RFC 9110, 5.6.2).
package enum ASCII {
    /// Returns whether two strings are equal, ignoring the case of ASCII letters.
    @inline(__always)
    package static func equalIgnoringCase(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && isSameIgnoringCase(left, right)
    }

    @inline(never)
    private static func isSameIgnoringCase(_ left: String, _ right: String) -> Bool {
        left.withBytes { left in
            right.withBytes { right in
                for place in left.indices where unsafe left[place] != right[place] {
                    guard unsafe lowercased(left[place]) == lowercased(right[place]) else { return false }
                }
                return true
            }
        }
    }

    /// Returns an ASCII letter in lower case, and any other byte unchanged.
    @inline(__always)
    package static func lowercased(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte | 0x20 : byte }

    package static func lowercased(_ text: String) -> String {
        if allBytes(of: text, fit: { !(65...90).contains($0) }) { return text }
        return String(decoding: text.utf8.map { lowercased($0) }, as: UTF8.self)
    }

    package static func uppercased(_ text: String) -> String {
        String(decoding: text.utf8.map { (97...122).contains($0) ? $0 - 32 : $0 }, as: UTF8.self)
    }

    /// Returns the string in lower case if all bytes are ASCII, and an empty string otherwise. The result can be
    /// compared with literals and be a dictionary key, because there is nothing in it to normalize.
    package static func keyword(_ text: some StringProtocol) -> String {
        let text = String(text)
        return isASCII(text) ? lowercased(text) : ""
    }

    /// Returns the members in a comma-separated list (RFC 9110, 5.6.1) without empty ones. The list may span several
    /// fields.
    package static func members(of fields: [String]) -> [String] {
        fields.flatMap { $0.split(at: ",") }.map { trimmed($0) }.filter { !$0.isEmpty }
    }

    /// Returns the string in quotation marks, with backslash escapes (RFC 9110, 5.6.4).
    package static func quoted(_ text: String) -> String {
        "\"" + text.replacingBytes(of: "\\", with: "\\\\").replacingBytes(of: "\"", with: "\\\"") + "\""
    }

    /// Returns whether a string is a token: at least one character, and only ones that ``isTokenCharacter(_:)``
    /// accepts.
    package static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && allBytes(of: String(text), standIn: tokens)
    }

    package static func isASCII(_ text: String) -> Bool { allBytes(of: text) { $0 < 0x80 } }

    package static func isPrintable(_ text: String) -> Bool { allBytes(of: text) { (0x21...0x7E).contains($0) } }

    @inline(__always)
    package static func allBytes(of text: String, fit: (UInt8) -> Bool) -> Bool {
        text.withBytes { bytes in
            for place in bytes.indices where unsafe !fit(bytes[place]) { return false }
            return true
        }
    }

    /// Returns whether a string is a valid header field value (RFC 9110, 5.5): tabs are its only control characters.
    package static func isFieldValue(_ text: String) -> Bool { allBytes(of: text, standIn: fieldValues) }

    /// Returns whether a table has a `.` for each byte of a string.
    ///
    /// All bytes are inspected without a branch for each, which is faster: strings are short, and few are refused.
    @inline(__always)
    private static func allBytes(of text: String, standIn table: StaticString) -> Bool {
        let marks = unsafe table.utf8Start
        let found = text.withBytes { unsafe $0.reduce(UInt8(ascii: ".")) { unsafe $0 | marks[Int($1)] } }
        return found == UInt8(ascii: ".")
    }

    /// Returns whether a byte is allowed in a token (RFC 9110, 5.6.2).
    @inline(__always)
    package static func isTokenCharacter(_ byte: UInt8) -> Bool {
        unsafe tokens.utf8Start[Int(byte)] == UInt8(ascii: ".")
    }

    // One character for each byte, so every byte is a valid offset. A `.` is allowed in a token. A byte costs one load,
    // without a branch on its class.
    private static let tokens: StaticString = """
        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
        x.x.....xx..x..x..........xxxxxx\
        x..........................xxx..\
        ...........................x.x.x\
        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
        """

    // The same table for header field values: each byte with a `.` is allowed in one.
    private static let fieldValues: StaticString = """
        xxxxxxxxx.xxxxxxxxxxxxxxxxxxxxxx\
        ................................\
        ................................\
        ...............................x\
        ................................\
        ................................\
        ................................\
        ................................
        """

    /// Returns the string without leading and trailing spaces and tabs (OWS of RFC 9110, 5.6.3).
    package static func trimmed(_ text: some StringProtocol) -> String {
        let text = String(text)
        let hasBlanks = text.withBytes { bytes in
            unsafe bytes.first.map(isBlank) ?? false || bytes.last.map(isBlank) ?? false
        }
        return hasBlanks ? cut(text) : text
    }

    private static func cut(_ text: String) -> String {
        text.withBytes { bytes in
            var (start, end) = (0, bytes.count)
            while start < end, unsafe isBlank(bytes[start]) { start += 1 }
            while start < end, unsafe isBlank(bytes[end - 1]) { end -= 1 }
            return unsafe String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<end]), as: UTF8.self)
        }
    }

    @inline(__always)
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
