import Foundation

/// A type that can be created from a parsed JSON document, without a `Decoder`.
protocol JSONDocument: Decodable {
    /// Creates the value from a parsed document.
    init(json: JSONValue) throws
}

extension JSONValue: JSONDocument {
    init(json: JSONValue) { self = json }
}

extension Array: JSONDocument where Element == JSONValue {
    init(json: JSONValue) throws {
        guard case .array(let elements) = json else { throw json.mismatch([JSONValue].self, "array") }
        self = elements
    }
}

extension Dictionary: JSONDocument where Key == String, Value == JSONValue {
    init(json: JSONValue) throws {
        guard case .object(let members) = json else { throw json.mismatch([String: JSONValue].self, "object") }
        self = members
    }
}

extension JSONValue {
    fileprivate func mismatch(_ type: Any.Type, _ kind: String) -> DecodingError {
        .typeMismatch(
            type, .init(codingPath: [], debugDescription: "Expected to decode \(kind) but found \(self.kind) instead."))
    }

    private var kind: String {
        switch self {
        case .null: "null"
        case .bool: "bool"
        case .int, .uint, .double: "number"
        case .string: "a string"
        case .array: "an array"
        case .object: "a dictionary"
        }
    }
}

extension JSONDecoder {
    /// Decodes a ``JSONDocument`` with ``JSONText``, and any other type with this decoder. A ``JSONTree`` then provides
    /// the `JSONValue`s inside. A subclass, or a decoder whose settings change the JSON syntax, decodes all types
    /// itself.
    func decodeDocument<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        // Foundation mistakes UTF-32 with a byte order mark for UTF-16.
        var data = JSONTextEncoding.utf8(data)
        if allowsJSON5, let last = data.last, last != UInt8(ascii: "}"), last != UInt8(ascii: "]") {
            // Foundation reads the digits of a number to the byte after them, even if that is after the end of the data.
            data.append(UInt8(ascii: " "))
        }
        try JSONNames.check(data, everywhere: allowsJSON5)
        // A subclass may decode differently, and these settings change the JSON syntax.
        guard Self.self == JSONDecoder.self, !allowsJSON5, !assumesTopLevelDictionary else {
            return try JSONTree.decode(type, from: data, with: self, isExact: false)
        }
        if let document = type as? any JSONDocument.Type,
            let value = try document.init(json: JSONText.value(of: data)) as? Value
        {
            return value
        }
        return try JSONTree.decode(type, from: data, with: self, isExact: true)
    }
}
