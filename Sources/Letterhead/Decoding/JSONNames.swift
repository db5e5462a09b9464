import Foundation

/// Refuses names of members that could not be compared in linear time.
///
/// Strings are compared by canonical equivalence. Normalizing a sequence of combining characters takes quadratic time in
/// its length, so a single name of 160 KB would take many seconds. No text in use has more than 30 combining characters in
/// sequence (UAX #15, "Stream-Safe Text Format"). Values are not compared and, except in JSON5, not limited.
enum JSONNames {
    static let rule = "the name of a member has more than \(longestSequence) consecutive combining characters"

    private static let longestSequence = 30
    /// A shorter name cannot have a longer sequence: each combining character has at least two bytes.
    private static let harmlessCount = 2 * longestSequence

    /// Checks all names of a document in UTF-8, in one pass. The syntax of the document is not checked.
    ///
    /// - Parameter everywhere: whether the whole text is checked, because its names need no quotation marks (JSON5).
    static func check(_ document: Data, everywhere: Bool = false) throws {
        let isHarmless: Bool? = document.withContiguousStorageIfAvailable { bytes in
            guard bytes.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: "\\") }) else { return true }
            return everywhere ? !hasLongSequence(scalars(bytes)) : !hasLongName(bytes)
        }
        guard isHarmless == false else { return }
        throw DecodingError.dataCorrupted(
            .init(codingPath: [], debugDescription: rule, underlyingError: InvalidDocument(rule)))
    }

    /// Whether a name has a sequence of combining characters that is too long.
    static func isTooLong(_ name: String) -> Bool {
        name.utf8.count > harmlessCount && hasLongSequence(name.unicodeScalars)
    }

    private static func hasLongSequence(_ scalars: some Sequence<Unicode.Scalar>) -> Bool {
        var length = 0
        for scalar in scalars {
            length = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : length + 1
            if length > longestSequence { return true }
        }
        return false
    }

    private static func hasLongName(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "\"") else {
                index += 1
                continue
            }
            let start = index + 1
            index = start
            while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
                index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
            }
            let end = min(index, bytes.count)
            index += 1
            guard end - start > harmlessCount, isFollowedByColon(index, bytes) else { continue }
            if hasLongSequence(scalars(UnsafeBufferPointer(rebasing: bytes[start..<end]))) { return true }
        }
        return false
    }

    private static func isFollowedByColon(_ position: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var index = position
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
        return index < bytes.count && bytes[index] == UInt8(ascii: ":")
    }

    /// Returns the characters of a string literal. An escape of a UTF-16 code unit (`\u`) is decoded. Any other escape
    /// is replaced by a backslash, which is not a combining character.
    private static func scalars(_ literal: UnsafeBufferPointer<UInt8>) -> String.UnicodeScalarView {
        guard literal.contains(UInt8(ascii: "\\")) else {
            return String(decoding: literal, as: UTF8.self).unicodeScalars
        }
        var units: [UInt16] = []
        var rest = String(decoding: literal, as: UTF8.self).utf16[...]
        while let unit = rest.popFirst() {
            guard unit == 0x5C, let kind = rest.popFirst() else {
                units.append(unit)
                continue
            }
            let digits = kind == 0x75 ? String(rest.prefix(4)) : nil
            guard let digits, let escaped = UInt16(digits, radix: 16) else {
                units.append(0x5C)
                continue
            }
            rest = rest.dropFirst(4)
            units.append(escaped)
        }
        return String(decoding: units, as: UTF16.self).unicodeScalars
    }
}
