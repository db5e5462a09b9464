// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// Parses a JSON text in UTF-8 (RFC 8259) in one pass over its bytes.
///
/// Use it for responses without a fixed type. `JSONDecoder` would have to try each kind of value.
///
/// It exists only while ``value(of:)`` has the bytes, and reads them below ``index``, or through ``next``, which checks
/// it.
@safe struct JSONText {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0
    private var depth = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>) { unsafe self.bytes = bytes }

    /// Returns whether a type has no fixed structure: a `JSONValue`, an array or a dictionary of them, or
    /// `ProblemDetails`.
    static func parses(_ type: Any.Type) -> Bool { types.contains(ObjectIdentifier(type)) }

    private static let types = [
        JSONValue.self as Any.Type, ProblemDetails.self, [JSONValue].self, [String: JSONValue].self,
    ].map { ObjectIdentifier($0) }

    /// Parses a type without a fixed structure.
    static func value<Value>(of type: Value.Type, from data: Data) throws -> Value {
        let json = try value(of: data)
        let problem = json.object.map { ProblemDetails(members: $0) }
        if let value = json as? Value ?? json.array as? Value ?? json.object as? Value ?? problem as? Value {
            return value
        }
        let reason = "expected to decode \(type), found \(json.kind)"
        throw DecodingError.typeMismatch(type, .init(codingPath: [], debugDescription: reason))
    }

    /// - Throws: `DecodingError.dataCorrupted` with the rule and the offset, but without the bytes.
    static func value(of data: Data) throws -> JSONValue {
        try unsafe data.withUnsafeBytes { try unsafe value(of: $0.bindMemory(to: UInt8.self)) }
    }

    /// The string if the text is a JSON string, otherwise nil.
    static func string(in data: Data) -> String? {
        let text = data.withoutByteOrderMark
        guard text.first(where: { !JSONBytes.isBlank($0) }) == JSONBytes.quote else { return nil }
        return (try? value(of: text))?.string
    }

    private static func value(of bytes: UnsafeBufferPointer<UInt8>) throws -> JSONValue {
        var text = unsafe JSONText(bytes)
        let value = try text.value()
        text.skipBlanks()
        guard text.next == nil else { throw text.error("there are bytes after the value") }
        return value
    }

    private var next: UInt8? { unsafe index < bytes.count ? bytes[index] : nil }

    private mutating func value() throws -> JSONValue {
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"): return .object(try nested { (text) throws in try text.members() })
        case UInt8(ascii: "["): return .array(try nested { (text) throws in try text.elements() })
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case nil: throw error(Self.isCut)
        default: return try number()
        }
    }

    private mutating func nested<Content>(_ read: (inout JSONText) throws -> Content) throws -> Content {
        guard depth < JSONValue.maximumDepth else {
            throw error("arrays and objects are nested more than \(JSONValue.maximumDepth) levels deep")
        }
        depth += 1
        index += 1
        defer { depth -= 1 }
        return try read(&self)
    }

    private mutating func elements() throws -> [JSONValue] {
        var elements: [JSONValue] = []
        if ends(with: UInt8(ascii: "]")) { return elements }
        while true {
            elements.append(try value())
            if ends(with: UInt8(ascii: "]")) { return elements }
            try expect(UInt8(ascii: ","))
        }
    }

    /// Reads the members of an object, after its opening brace. If a name occurs more than once, the first value counts,
    /// as in `JSONDecoder`.
    private mutating func members() throws -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        if ends(with: UInt8(ascii: "}")) { return members }
        while true {
            skipBlanks()
            let name = try string()
            guard name.isQuicklyCompared else { throw error(Self.isSlow) }
            skipBlanks()
            try expect(UInt8(ascii: ":"))
            let value = try value()
            if members[name] == nil { members[name] = value }
            if ends(with: UInt8(ascii: "}")) { return members }
            try expect(UInt8(ascii: ","))
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws -> JSONValue {
        let end = index + word.utf8CodeUnitCount
        let expected = unsafe UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard unsafe end <= bytes.count, unsafe bytes[index..<end].elementsEqual(expected) else {
            throw error("a value is malformed")
        }
        index = end
        return value
    }

    private mutating func ends(with byte: UInt8) -> Bool {
        skipBlanks()
        guard next == byte else { return false }
        index += 1
        return true
    }

    private mutating func expect(_ byte: UInt8) throws {
        guard next == byte else {
            throw error(next == nil ? Self.isCut : "expected \(Character(Unicode.Scalar(byte)))")
        }
        index += 1
    }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private static let isSlow = "a name has more than 30 consecutive combining characters"
    private static let isCut = "the text ends before the value is complete"

    private func error(_ rule: String) -> DecodingError {
        let reason = "not JSON at byte \(index): \(rule)"
        return .dataCorrupted(
            .init(codingPath: [], debugDescription: reason, underlyingError: InvalidDocument(reason)))
    }
}

extension JSONText {
    /// Refuses a member name that `JSONDecoder` would compare in quadratic time. Finds no other defects.
    ///
    /// - Parameter isJSON5: whether names can also have single quotes or none. Too many combining characters are then
    ///   refused anywhere in the text.
    static func checkNames(of data: Data, isJSON5: Bool = false) throws {
        try unsafe data.withUnsafeBytes { data in
            let bytes = unsafe data.bindMemory(to: UInt8.self)
            guard unsafe mayHoldMarks(bytes) else { return }
            var text = unsafe JSONText(bytes)
            if isJSON5 { return try text.checkMarks() }
            while let start = text.nextString() {
                let end = text.index
                // A shorter name, with its quotes, has at most 30 combining characters of two bytes.
                guard end - start > 62 else { continue }
                text.skipBlanks()
                guard text.next == UInt8(ascii: ":") else { continue }
                text.index = start
                if let name = try? text.string(), !name.isQuicklyCompared { throw text.error(isSlow) }
                text.index = end
            }
        }
    }

    /// Whether a text contains a byte that isn't ASCII, or an escape.
    private static func mayHoldMarks(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        unsafe bytes.reduce(0, |) >= 0x80 || bytes.first("\\", from: 0, to: bytes.count) != nil
    }

    /// Refuses too many consecutive combining characters in the remaining text, raw or as escapes.
    private mutating func checkMarks() throws {
        var output: [UInt8] = []
        while let byte = next {
            index += 1
            if byte == UInt8(ascii: "\\") { try? unescape(to: &output) } else { output.append(byte) }
        }
        let isQuick = String(decoding: output, as: UTF8.self).isQuicklyCompared
        guard isQuick else { throw error("the text has more than 30 consecutive combining characters") }
    }

    /// Moves to the end of the next string, after its quotes. Returns its start, or nil if there is no further string.
    private mutating func nextString() -> Int? {
        guard let start = unsafe bytes.first("\"", from: index, to: bytes.count) else { return nil }
        index = start + 1
        while let quote = unsafe bytes.first("\"", from: index, to: bytes.count) {
            index = quote + 1
            var backslashes = 0
            while unsafe bytes[quote - 1 - backslashes] == UInt8(ascii: "\\") { backslashes += 1 }
            if backslashes.isMultiple(of: 2) { return start }
        }
        return nil
    }

    private mutating func number() throws -> JSONValue {
        let start = index
        if next == UInt8(ascii: "-") { index += 1 }
        let leading = next
        let wholeDigits = skipDigits()
        guard wholeDigits > 0, wholeDigits == 1 || leading != UInt8(ascii: "0") else {
            throw error("a value is malformed")
        }
        var isWhole = true
        if next == UInt8(ascii: ".") {
            (index, isWhole) = (index + 1, false)
            guard skipDigits() > 0 else { throw error("a number is malformed") }
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            (index, isWhole) = (index + 1, false)
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { index += 1 }
            guard skipDigits() > 0 else { throw error("a number is malformed") }
        }
        let text = unsafe String(decoding: bytes[start..<index], as: UTF8.self)
        if isWhole, let whole = Int64(text) { return .int(whole) }
        if isWhole, let whole = UInt64(text) { return .uint(whole) }
        guard let value = Double(text), value.isFinite else { throw error("a number is out of range") }
        // 1.0 and 1e3 are whole numbers, as in `JSONDecoder`.
        return Int64(exactly: value).map { .int($0) } ?? .double(value)
    }

    private mutating func skipDigits() -> Int {
        let start = index
        while let byte = next, (48...57).contains(byte) { index += 1 }
        return index - start
    }

    private mutating func string() throws -> String {
        try expect(UInt8(ascii: "\""))
        let start = index
        while let byte = next, byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
            guard byte >= 0x20 else { throw error("a string contains a control character") }
            index += 1
        }
        return try unsafe validated(bytes[start..<index])
    }

    /// Parses a string that contains escapes. The bytes from `start` to the current index contain none.
    private mutating func escapedString(from start: Int) throws -> String {
        var output = unsafe Array(bytes[start..<index])
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw error("a string contains a control character") }
            index += 1
            if byte == UInt8(ascii: "\\") { try unescape(to: &output) } else { output.append(byte) }
        }
        return try validated(output)
    }

    private mutating func validated(_ bytes: some Collection<UInt8>) throws -> String {
        try expect(UInt8(ascii: "\""))
        guard let text = String(validating: bytes, as: UTF8.self) else { throw error("a string is not UTF-8") }
        return text
    }

    private mutating func unescape(to output: inout [UInt8]) throws {
        guard let byte = next else { throw error("a string is not terminated") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): output.append(byte)
        case UInt8(ascii: "b"): output.append(0x08)
        case UInt8(ascii: "f"): output.append(0x0C)
        case UInt8(ascii: "n"): output.append(0x0A)
        case UInt8(ascii: "r"): output.append(0x0D)
        case UInt8(ascii: "t"): output.append(0x09)
        case UInt8(ascii: "u"): output += String(try scalar()).utf8
        default: throw error("an escape sequence is invalid")
        }
    }

    /// Parses the character that a `\u` escape, or a surrogate pair with two escapes, stands for.
    private mutating func scalar() throws -> Character {
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return Character(scalar) }
        guard (0xD800...0xDBFF).contains(first), next == UInt8(ascii: "\\") else {
            throw error("a surrogate is unpaired")
        }
        index += 1
        try expect(UInt8(ascii: "u"))
        let second = try hexadecimal()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw error("a surrogate is unpaired") }
        return Character(scalar)
    }

    private mutating func hexadecimal() throws -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                throw error("an escape has fewer than four hexadecimal digits")
            }
            (value, index) = (value << 4 | UInt32(digit), index + 1)
        }
        return value
    }
}

extension JSONValue {
    /// The kind, in the words of `JSONDecoder` errors, except that an object isn't called a dictionary.
    fileprivate var kind: String {
        switch self {
        case .null: "null"
        case .bool: "bool"
        case .int, .uint, .double: "number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
