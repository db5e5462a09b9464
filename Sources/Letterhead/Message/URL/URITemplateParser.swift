// SPDX-License-Identifier: MIT

/// The rule that a malformed template violates (RFC 6570, 2), and the position.
struct URITemplateDefect: Error {
    /// The offset in bytes where the rule is broken.
    let offset: Int
    /// The offset in bytes where expanding ends: the start of the literal or the expression that is malformed.
    let start: Int
    let rule: String

    var description: String { "the URI template is malformed at offset \(offset): \(rule)" }
}

enum URITemplatePart: Sendable {
    case literal(String)
    case expression(URITemplateExpression)
}

/// An expression in braces (RFC 6570, 2.2).
struct URITemplateExpression: Sendable {
    struct Variable: Sendable {
        var name: String
        /// How many characters of the value are used, as in `{name:3}`. Nil means all.
        var limit: Int?
        var isExploded = false
    }

    /// The properties of the operator in an expression (RFC 6570, appendix A).
    struct Operation: Sendable {
        var first = ""
        var separator = ","
        /// The text that follows a name if its value is empty, or nil if names aren't written.
        var ifEmpty: String?
        var keepsReserved = false
        /// Whether the expansion belongs to the path, unless it follows a question mark.
        var isInPath = true

        init() {}

        init?(_ byte: UInt8) {
            switch byte {
            case UInt8(ascii: "+"): keepsReserved = true
            case UInt8(ascii: "#"): (first, keepsReserved, isInPath) = ("#", true, false)
            case UInt8(ascii: "."): (first, separator) = (".", ".")
            case UInt8(ascii: "/"): (first, separator) = ("/", "/")
            case UInt8(ascii: ";"): (first, separator, ifEmpty) = (";", ";", "")
            case UInt8(ascii: "?"): (first, separator, ifEmpty, isInPath) = ("?", "&", "=", false)
            case UInt8(ascii: "&"): (first, separator, ifEmpty, isInPath) = ("&", "&", "=", false)
            default: return nil
            }
        }
    }

    let offset: Int
    var operation = Operation()
    var variables: [Variable] = []
}

// MARK: Parsing

struct URITemplateParser {
    private let bytes: [UInt8]
    private var index = 0
    private var start = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    mutating func parse() -> ([URITemplatePart], URITemplateDefect?) {
        var parts: [URITemplatePart] = []
        do throws(URITemplateDefect) {
            while let byte = next {
                start = index
                parts.append(
                    byte == UInt8(ascii: "{") ? .expression(try expression()) : .literal(try literal()))
            }
            return (parts, nil)
        } catch {
            return (parts, error)
        }
    }

    private func defect(_ rule: String) -> URITemplateDefect {
        URITemplateDefect(offset: index, start: start, rule: rule)
    }

    private mutating func literal() throws(URITemplateDefect) -> String {
        while let byte = next, byte != UInt8(ascii: "{") {
            if byte == UInt8(ascii: "}") { throw defect("there is a \"}\" without a \"{\"") }
            if byte == UInt8(ascii: "%") {
                try skipEscape()
                continue
            }
            guard byte >= 0x80 || byte > 0x20 && byte != 0x7F && !"\"<>\\^`|".utf8.contains(byte) else {
                throw defect("the character must be percent-encoded")
            }
            index += 1
        }
        return PercentEncoding.escapeLiteral(String(decoding: bytes[start..<index], as: UTF8.self), .reserved)
    }

    private mutating func expression() throws(URITemplateDefect) -> URITemplateExpression {
        index += 1
        var expression = URITemplateExpression(offset: start)
        if let byte = next, let operation = URITemplateExpression.Operation(byte) {
            expression.operation = operation
            index += 1
        } else if let byte = next, "=,!@|".utf8.contains(byte) {
            throw defect("the operator is reserved")
        }
        while true {
            expression.variables.append(try variable())
            let end = next
            guard end == UInt8(ascii: ",") || end == UInt8(ascii: "}") else {
                throw defect(end == nil ? "the \"}\" is missing" : "a variable is followed by neither \",\" nor \"}\"")
            }
            index += 1
            if end == UInt8(ascii: "}") { return expression }
        }
    }

    private mutating func variable() throws(URITemplateDefect) -> URITemplateExpression.Variable {
        let first = index
        var isDotAllowed = false
        while let byte = next {
            if byte == UInt8(ascii: "%") {
                try skipEscape()
            } else if Self.isNameByte(byte) || byte == UInt8(ascii: ".") && isDotAllowed {
                index += 1
            } else {
                break
            }
            isDotAllowed = byte != UInt8(ascii: ".")
        }
        guard isDotAllowed else {
            throw defect("the name of a variable consists of letters, digits, \"_\", escapes, and dots between them")
        }
        var variable = URITemplateExpression.Variable(name: String(decoding: bytes[first..<index], as: UTF8.self))
        if next == UInt8(ascii: "*") {
            index += 1
            variable.isExploded = true
        } else if next == UInt8(ascii: ":") {
            index += 1
            variable.limit = try limit()
        }
        return variable
    }

    private mutating func limit() throws(URITemplateDefect) -> Int {
        var limit = 0
        while let byte = next, (0x30...0x39).contains(byte), limit < 1000, limit > 0 || byte > 0x30 {
            limit = 10 * limit + Int(byte - 0x30)
            index += 1
        }
        guard limit > 0 else { throw defect("the length after \":\" is not a number from 1 to 9999") }
        return limit
    }

    private mutating func skipEscape() throws(URITemplateDefect) {
        guard index + 2 < bytes.count, Self.isHexDigit(bytes[index + 1]), Self.isHexDigit(bytes[index + 2]) else {
            throw defect("the \"%\" is not followed by two hexadecimal digits")
        }
        index += 3
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == UInt8(ascii: "_")
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
    }
}

// MARK: Expanding

extension URITemplateExpression {
    /// Returns the text that the expression expands to (RFC 6570, 3.2.1).
    func expanded(_ values: URITemplate.Values) throws(URITemplateDefect) -> String {
        var members: [String] = []
        for variable in variables {
            guard let value = values[variable: variable.name] else { continue }
            members.append(try text(of: variable, value))
        }
        return members.isEmpty ? "" : operation.first + members.joined(separator: operation.separator)
    }

    private func text(of variable: Variable, _ value: URITemplateValue) throws(URITemplateDefect) -> String {
        let separator = operation.separator
        switch value {
        case .single(let text):
            return named(variable.name, escape(variable.limit.map { prefix(of: text, $0) } ?? text))
        case .list where variable.limit != nil, .pairs where variable.limit != nil:
            throw defect("\(variable.name) has a length, but its value is a list or pairs")
        case .list(let list) where variable.isExploded:
            return list.map { named(variable.name, escape($0)) }.joined(separator: separator)
        case .list(let list):
            return named(variable.name, list.map(escape).joined(separator: ","))
        case .pairs(let pairs) where variable.isExploded:
            return pairs.map { name, value in
                value.isEmpty ? escape(name) + (operation.ifEmpty ?? "=") : "\(escape(name))=\(escape(value))"
            }.joined(separator: separator)
        case .pairs(let pairs):
            return named(variable.name, pairs.map { "\(escape($0.name)),\(escape($0.value))" }.joined(separator: ","))
        case .refused(let rule):
            throw defect("\(variable.name) cannot be written: \(rule)")
        }
    }

    private func defect(_ rule: String) -> URITemplateDefect {
        URITemplateDefect(offset: offset, start: offset, rule: rule)
    }

    /// Returns a value after its name, if the operator writes names.
    private func named(_ name: String, _ value: String) -> String {
        guard let ifEmpty = operation.ifEmpty else { return value }
        return value.isEmpty ? name + ifEmpty : "\(name)=\(value)"
    }

    private func prefix(of text: String, _ count: Int) -> String {
        operation.keepsReserved
            ? PercentEncoding.literalPrefix(text, count) : String(text.unicodeScalars.prefix(count))
    }

    private func escape(_ text: String) -> String {
        operation.keepsReserved
            ? PercentEncoding.escapeLiteral(text, .reserved) : PercentEncoding.escape(text, .unreserved)
    }
}
