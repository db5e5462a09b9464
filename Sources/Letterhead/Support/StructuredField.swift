/// The values of structured fields (RFC 9651): items, lists and dictionaries.
package enum StructuredField {
    /// A value without parameters (RFC 9651, 3.3).
    package enum Bare: Hashable, Sendable {
        /// A number of at most 15 digits.
        case integer(Int64)
        /// A number with at most 12 digits before and 3 after the decimal point, in thousandths.
        case decimal(thousandths: Int64)
        case string(String)
        case token(String)
        case bytes([UInt8])
        case boolean(Bool)
        /// Seconds since 1970.
        case date(Int64)
        case displayString(String)
    }

    /// Parameters in order. A key occurs once (RFC 9651, 3.1.2).
    package typealias Parameters = [Pair<Bare>]

    /// A key and its value.
    package struct Pair<Value: Hashable & Sendable>: Hashable, Sendable {
        package var key: String
        package var value: Value

        package init(_ key: String, _ value: Value) { (self.key, self.value) = (key, value) }
    }

    /// A value with parameters.
    package struct Item: Hashable, Sendable {
        package var value: Bare
        package var parameters: Parameters

        package init(_ value: Bare, _ parameters: Parameters = []) {
            (self.value, self.parameters) = (value, parameters)
        }
    }

    /// A member of a list or of a dictionary.
    package enum Member: Hashable, Sendable {
        case item(Item)
        case innerList([Item], Parameters)
    }

    /// Parses an item. Returns nil if the string is not an item.
    package static func item(_ text: String) -> Item? {
        parse(text) { parser throws(StructuredFieldParser.Malformed) in try parser.item() }
    }

    /// Parses the lines of a list field. Returns nil if the field is malformed; it must then be ignored (RFC 9651, 4.2).
    package static func list(_ lines: [String]) -> [Member]? {
        parse(lines.joined(separator: ", ")) { parser throws(StructuredFieldParser.Malformed) in try parser.list() }
    }

    /// Parses the lines of a dictionary field. Returns nil if the field is malformed.
    package static func dictionary(_ lines: [String]) -> [Pair<Member>]? {
        parse(lines.joined(separator: ", ")) { parser throws(StructuredFieldParser.Malformed) in
            try parser.dictionary()
        }
    }

    /// The largest number of bytes that are parsed.
    package static let longest = 1 << 16

    private static func parse<Value>(
        _ text: String, _ read: (inout StructuredFieldParser) throws(StructuredFieldParser.Malformed) -> Value
    ) -> Value? {
        guard text.utf8.count <= longest else { return nil }
        var parser = StructuredFieldParser(text)
        do throws(StructuredFieldParser.Malformed) {
            parser.skipSpaces()
            let value = try read(&parser)
            parser.skipSpaces()
            return parser.isAtEnd ? value : nil
        } catch {
            return nil
        }
    }
}
