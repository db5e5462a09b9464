import Foundation

/// The parsing algorithms of RFC 9651, 4.2. Work is linear in the number of bytes, and nothing is nested deeper than an
/// inner list.
struct StructuredFieldParser {
    /// The string violates the grammar.
    struct Malformed: Error {}

    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { index == bytes.count }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    mutating func skipSpaces() { while next == UInt8(ascii: " ") { index += 1 } }

    private mutating func skipBlanks() { while next == UInt8(ascii: " ") || next == 0x09 { index += 1 } }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(Malformed) {
        guard take(character) else { throw Malformed() }
    }

    // MARK: Containers

    mutating func list() throws(Malformed) -> [StructuredField.Member] {
        var members: [StructuredField.Member] = []
        while !isAtEnd {
            members.append(try member())
            guard try separator() else { break }
        }
        return members
    }

    mutating func dictionary() throws(Malformed) -> [StructuredField.Pair<StructuredField.Member>] {
        var members: [StructuredField.Pair<StructuredField.Member>] = []
        var places: [String: Int] = [:]
        while !isAtEnd {
            let key = try key()
            let value = take("=") ? try member() : .item(.init(.boolean(true), try parameters()))
            if let place = places[key] {
                members[place].value = value
            } else {
                places[key] = members.count
                members.append(.init(key, value))
            }
            guard try separator() else { break }
        }
        return members
    }

    /// Reads a comma. Returns false at the end of the field; a comma at the end is malformed.
    private mutating func separator() throws(Malformed) -> Bool {
        skipBlanks()
        if isAtEnd { return false }
        try expect(",")
        skipBlanks()
        if isAtEnd { throw Malformed() }
        return true
    }

    private mutating func member() throws(Malformed) -> StructuredField.Member {
        guard take("(") else { return .item(try item()) }
        var items: [StructuredField.Item] = []
        while !isAtEnd {
            skipSpaces()
            if take(")") { return .innerList(items, try parameters()) }
            items.append(try item())
            guard next == UInt8(ascii: " ") || next == UInt8(ascii: ")") else { throw Malformed() }
        }
        throw Malformed()
    }

    mutating func item() throws(Malformed) -> StructuredField.Item {
        let value = try bareItem()
        return StructuredField.Item(value, try parameters())
    }

    private mutating func parameters() throws(Malformed) -> StructuredField.Parameters {
        guard next == UInt8(ascii: ";") else { return [] }
        var parameters: StructuredField.Parameters = []
        var places: [String: Int] = [:]
        while take(";") {
            skipSpaces()
            let key = try key()
            let value = take("=") ? try bareItem() : .boolean(true)
            if let place = places[key] {
                parameters[place].value = value
            } else {
                places[key] = parameters.count
                parameters.append(.init(key, value))
            }
        }
        return parameters
    }

    private mutating func key() throws(Malformed) -> String {
        guard let first = next, Self.isLower(first) || first == UInt8(ascii: "*") else { throw Malformed() }
        let start = index
        while let byte = next, Self.isKeyCharacter(byte) { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    // MARK: Bare items

    private mutating func bareItem() throws(Malformed) -> StructuredField.Bare {
        guard let next else { throw Malformed() }
        switch next {
        case UInt8(ascii: "-"), 0x30...0x39: return try number()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "*"), 0x41...0x5A, 0x61...0x7A: return .token(token())
        case UInt8(ascii: ":"): return .bytes(try byteSequence())
        case UInt8(ascii: "?"): return .boolean(try boolean())
        case UInt8(ascii: "@"): return .date(try date())
        case UInt8(ascii: "%"): return .displayString(try displayString())
        default: throw Malformed()
        }
    }

    private mutating func number() throws(Malformed) -> StructuredField.Bare {
        let isNegative = take("-")
        let whole = digits()
        guard (1...15).contains(whole.count) else { throw Malformed() }
        let sign: Int64 = isNegative ? -1 : 1
        guard take(".") else { return .integer(sign * whole.value) }
        let fraction = digits()
        guard whole.count <= 12, (1...3).contains(fraction.count) else { throw Malformed() }
        let scale: Int64 = [0, 100, 10, 1][fraction.count]
        return .decimal(thousandths: sign * (whole.value * 1000 + fraction.value * scale))
    }

    /// Reads digits. The value is exact for at most 18 of them.
    private mutating func digits() -> (value: Int64, count: Int) {
        let start = index
        var value: Int64 = 0
        while let byte = next, (0x30...0x39).contains(byte) {
            if index - start < 18 { value = value * 10 + Int64(byte - 0x30) }
            index += 1
        }
        return (value, index - start)
    }

    private mutating func string() throws(Malformed) -> String {
        index += 1
        var text: [UInt8] = []
        while let byte = next {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = next, escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") else {
                    throw Malformed()
                }
                index += 1
                text.append(escaped)
            case 0x20...0x7E: text.append(byte)
            default: throw Malformed()
            }
        }
        throw Malformed()
    }

    private mutating func token() -> String {
        let start = index
        while let byte = next, ASCII.isTokenCharacter(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "/") {
            index += 1
        }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func byteSequence() throws(Malformed) -> [UInt8] {
        index += 1
        let start = index
        while let byte = next, byte != UInt8(ascii: ":") { index += 1 }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        try expect(":")
        let missing = (4 - text.utf8.count % 4) % 4
        guard let data = Data(base64Encoded: text + String(repeating: "=", count: missing)) else { throw Malformed() }
        return Array(data)
    }

    private mutating func boolean() throws(Malformed) -> Bool {
        index += 1
        if take("1") { return true }
        try expect("0")
        return false
    }

    private mutating func date() throws(Malformed) -> Int64 {
        index += 1
        guard case .integer(let seconds) = try number() else { throw Malformed() }
        return seconds
    }

    private mutating func displayString() throws(Malformed) -> String {
        index += 1
        try expect("\"")
        var text: [UInt8] = []
        while let byte = next {
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else { throw Malformed() }
                return string
            case UInt8(ascii: "%"): text.append(try hexDigit() << 4 | hexDigit())
            case 0x20...0x7E: text.append(byte)
            default: throw Malformed()
            }
        }
        throw Malformed()
    }

    private mutating func hexDigit() throws(Malformed) -> UInt8 {
        guard let byte = next else { throw Malformed() }
        index += 1
        switch byte {
        case 0x30...0x39: return byte - 0x30
        case 0x61...0x66: return byte - 0x61 + 10
        default: throw Malformed()
        }
    }

    private static func isLower(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }

    private static func isKeyCharacter(_ byte: UInt8) -> Bool {
        isLower(byte) || (0x30...0x39).contains(byte) || "_-.*".utf8.contains(byte)
    }
}
