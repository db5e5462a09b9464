import Foundation

/// Determines the kinds of all values of a JSON or JSON5 text, in one pass over its bytes.
///
/// The result is a `JSONValue` whose strings, numbers and booleans are placeholders. It is compared with what a decoder
/// reads, so this parser accepts more than JSON5 and converts only the names of members.
struct JSONShape {
    private struct Malformed: Error {}

    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0
    private var depth = 0

    /// Returns nil if the structure of the text cannot be determined.
    ///
    /// - Parameter isObject: whether a text without braces contains the members of an object.
    static func value(of data: Data, isObject: Bool) -> JSONValue? {
        // Data with several regions is copied to contiguous memory.
        (data.withContiguousStorageIfAvailable { value(of: $0, isObject: isObject) })
            ?? Array(data).withUnsafeBufferPointer { value(of: $0, isObject: isObject) }
    }

    private static func value(of bytes: UnsafeBufferPointer<UInt8>, isObject: Bool) -> JSONValue? {
        var shape = JSONShape(bytes: bytes)
        shape.skipBlanks()
        if isObject, shape.next != UInt8(ascii: "{") { return try? .object(shape.members()) }
        return try? shape.value()
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func value() throws(Malformed) -> JSONValue {
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard depth < JSONValue.maximumDepth else { return try skipNested() }
            depth += 1
            defer { depth -= 1 }
            index += 1
            return bytes[index - 1] == UInt8(ascii: "{") ? .object(try members()) : .array(try elements())
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            try skipString()
            return .string("")
        default: return try word()
        }
    }

    private mutating func elements() throws(Malformed) -> [JSONValue] {
        var elements: [JSONValue] = []
        while !ends(with: UInt8(ascii: "]")) {
            elements.append(try value())
            if !ends(with: UInt8(ascii: ",")), next != UInt8(ascii: "]") { throw Malformed() }
        }
        return elements
    }

    /// If a name occurs more than once, the first value is used, as in `JSONDecoder`.
    private mutating func members() throws(Malformed) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        while !ends(with: UInt8(ascii: "}")), next != nil {
            let name = try name()
            guard ends(with: UInt8(ascii: ":")) else { throw Malformed() }
            let value = try value()
            if members[name] == nil { members[name] = value }
            if !ends(with: UInt8(ascii: ",")), let next, next != UInt8(ascii: "}") { throw Malformed() }
        }
        return members
    }

    private mutating func name() throws(Malformed) -> String {
        let start = index
        if next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") {
            try skipString()
            return Self.unescaped(bytes[(start + 1)..<(index - 1)])
        }
        skipWord()
        guard index > start else { throw Malformed() }
        return Self.unescaped(bytes[start..<index])
    }

    /// Reads a number, a boolean or null.
    private mutating func word() throws(Malformed) -> JSONValue {
        let start = index
        skipWord()
        switch String(decoding: bytes[start..<index], as: UTF8.self) {
        case "": throw Malformed()
        case "null": return .null
        case "true", "false": return .bool(true)
        case let text: return Self.number(text)
        }
    }

    private static func number(_ text: String) -> JSONValue {
        let digits = text.first == "+" || text.first == "-" ? text.dropFirst() : text[...]
        if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
            return Int64(digits.dropFirst(2), radix: 16) == nil ? .double(0) : .int(0)
        }
        if Int64(text) != nil { return .int(0) }
        if UInt64(text) != nil { return .uint(0) }
        return Double(text).flatMap { Int64(exactly: $0) } == nil ? .double(0) : .int(0)
    }

    /// Skips an array or an object without recursion, because its depth is unlimited.
    private mutating func skipNested() throws(Malformed) -> JSONValue {
        var depth = 0
        repeat {
            skipBlanks()
            switch next {
            case UInt8(ascii: "{"), UInt8(ascii: "["): (depth, index) = (depth + 1, index + 1)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): (depth, index) = (depth - 1, index + 1)
            case UInt8(ascii: "\""), UInt8(ascii: "'"): try skipString()
            case nil: throw Malformed()
            default: index += 1
            }
        } while depth > 0
        return .tooDeep
    }
}

extension JSONShape {
    private mutating func ends(with byte: UInt8) -> Bool {
        skipBlanks()
        guard next == byte else { return false }
        index += 1
        return true
    }

    private mutating func skipWord() {
        while let byte = next, byte > 0x20, !",:]}[{\"'/".utf8.contains(byte), blankLength == 0 { index += 1 }
    }

    private mutating func skipString() throws(Malformed) {
        let quote = bytes[index]
        index += 1
        while let byte = next {
            index += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == quote { return }
        }
        throw Malformed()
    }

    /// Skips white space and comments.
    private mutating func skipBlanks() {
        while let byte = next {
            if blankLength > 0 {
                index += blankLength
            } else if byte == UInt8(ascii: "/"), index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "/") {
                while let byte = next, byte != 0x0A, byte != 0x0D { index += 1 }
            } else if byte == UInt8(ascii: "/"), index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "*") {
                index += 2
                while index < bytes.count, !(bytes[index - 1] == UInt8(ascii: "/") && endsComment) { index += 1 }
            } else {
                return
            }
        }
    }

    /// Whether the byte before the last one is the asterisk that ends a comment.
    private var endsComment: Bool { bytes[index - 2] == UInt8(ascii: "*") }

    /// The number of bytes of the white space at the index; 0 if there is none.
    private var blankLength: Int {
        switch bytes[index] {
        case 0x20, 0x09...0x0D: return 1
        case 0xC2: return matches([0xC2, 0xA0])
        case 0xE2: return max(matches([0xE2, 0x80, 0xA8]), matches([0xE2, 0x80, 0xA9]))
        case 0xEF: return matches([0xEF, 0xBB, 0xBF])
        default: return 0
        }
    }

    private func matches(_ blank: [UInt8]) -> Int { bytes[index...].starts(with: blank) ? blank.count : 0 }

    /// Returns a name without its escapes.
    private static func unescaped(_ literal: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        let text = String(decoding: literal, as: UTF8.self)
        guard literal.contains(UInt8(ascii: "\\")) else { return text }
        var units: [UInt16] = []
        var rest = text.utf16[...]
        while let unit = rest.popFirst() {
            guard unit == 0x5C, let kind = rest.popFirst() else {
                units.append(unit)
                continue
            }
            let count = kind == 0x75 ? 4 : kind == 0x78 ? 2 : 0
            if count > 0, let unit = String(rest.prefix(count)).flatMap({ UInt16($0, radix: 16) }) {
                rest = rest.dropFirst(count)
                units.append(unit)
            } else if let place = Array("bfnrtv0".utf16).firstIndex(of: kind) {
                units.append([0x08, 0x0C, 0x0A, 0x0D, 0x09, 0x0B, 0x00][place])
            } else if kind == 0x0D {
                if rest.first == 0x0A { rest = rest.dropFirst() }
            } else if kind != 0x0A, kind != 0x2028, kind != 0x2029 {
                units.append(kind)
            }
        }
        return String(decoding: units, as: UTF16.self)
    }
}
