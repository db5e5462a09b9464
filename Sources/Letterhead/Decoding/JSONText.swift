import Foundation

/// Parses a JSON text (RFC 8259) in one pass over its bytes.
///
/// With `JSONDecoder` alone, the kind of a value is found by trying to decode each kind. The errors of the failed
/// attempts cost quadratic time in the depth. This parser determines the kind from the first byte of a value.
struct JSONText {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let isPartial: Bool
    private var index = 0
    private var depth = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>, isPartial: Bool) {
        (self.bytes, self.isPartial) = (bytes, isPartial)
    }

    /// Parses a complete text in UTF-8.
    ///
    /// - Parameters:
    ///   - data: the text.
    ///   - isPartial: whether only parts of the document will be used. An array or object that is nested too deep is
    ///     then replaced by ``JSONValue/tooDeep``, and a malformed string or number by ``JSONValue/malformed``. Only
    ///     the use of that value is an error. Any other violation, such as a malformed `true` or an unterminated
    ///     string, is still thrown.
    /// - Throws: `DecodingError.dataCorrupted` with the rule and the offset, but without the bytes.
    static func value(of data: Data, isPartial: Bool = false) throws -> JSONValue {
        // Data with several regions is copied to contiguous memory.
        try (data.withContiguousStorageIfAvailable { try value(of: $0, isPartial: isPartial) })
            ?? Array(data).withUnsafeBufferPointer { try value(of: $0, isPartial: isPartial) }
    }

    private static func value(of bytes: UnsafeBufferPointer<UInt8>, isPartial: Bool) throws -> JSONValue {
        var text = JSONText(bytes, isPartial: isPartial)
        let value = try text.value()
        text.skipBlanks()
        guard text.next == nil else { throw text.error("there are bytes after the value") }
        return value
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func value() throws -> JSONValue {
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"): return try nested { (text) throws in .object(try text.members()) }
        case UInt8(ascii: "["): return try nested { (text) throws in .array(try text.elements()) }
        case UInt8(ascii: "\""): return try scalar { (text) throws in .string(try text.string()) }
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try scalar { (text) throws in try text.number() }
        }
    }

    private mutating func scalar(_ read: (inout JSONText) throws -> JSONValue) throws -> JSONValue {
        let start = index
        do {
            return try read(&self)
        } catch {
            guard isPartial else { throw error }
            index = start
            guard try skipScalar() else { throw error }
            return .malformed
        }
    }

    private mutating func nested(_ read: (inout JSONText) throws -> JSONValue) throws -> JSONValue {
        guard depth < JSONValue.maximumDepth else {
            if isPartial { return try skipNested() }
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

    /// If a name occurs more than once, the first value is used, as in `JSONDecoder`.
    private mutating func members() throws -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        if ends(with: UInt8(ascii: "}")) { return members }
        while true {
            skipBlanks()
            let name = try string()
            guard !JSONNames.isTooLong(name) else { throw error(JSONNames.rule) }
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
        let expected = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard end <= bytes.count, bytes[index..<end].elementsEqual(expected) else {
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
        guard next == byte else { throw error("expected \(Character(Unicode.Scalar(byte)))") }
        index += 1
    }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private func error(_ rule: String) -> DecodingError {
        let reason = "not JSON at byte \(index): \(rule)"
        return .dataCorrupted(
            .init(codingPath: [], debugDescription: reason, underlyingError: InvalidDocument(reason)))
    }
}

extension JSONText {
    /// Skips a malformed string or number. Returns false if it is not terminated or is not a scalar.
    private mutating func skipScalar() throws -> Bool {
        let start = index
        guard next == UInt8(ascii: "\"") else {
            while let byte = next, byte > 0x20, !",:]}[{\"".utf8.contains(byte) { index += 1 }
            return index > start
        }
        index += 1
        while let byte = next {
            index += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { return true }
        }
        return false
    }

    /// Skips an array or an object without recursion, because its depth is unlimited.
    private mutating func skipNested() throws -> JSONValue {
        var depth = 0
        repeat {
            switch next {
            case UInt8(ascii: "{"), UInt8(ascii: "["): (depth, index) = (depth + 1, index + 1)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): (depth, index) = (depth - 1, index + 1)
            case UInt8(ascii: "\""):
                guard try skipScalar() else { throw error("a string is not terminated") }
            case nil: throw error("an array or object is not terminated")
            default: index += 1
            }
        } while depth > 0
        return .tooDeep
    }
}

extension JSONText {
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
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
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
        return try validated(bytes[start..<index])
    }

    /// Parses a string that contains escapes. The bytes from `start` to the current index contain none.
    private mutating func escapedString(from start: Int) throws -> String {
        var output = Array(bytes[start..<index])
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

    /// Parses the character of a `\u` escape, or of the two escapes of a surrogate pair.
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
