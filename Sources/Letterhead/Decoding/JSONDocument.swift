import Foundation

/// A type that is made of JSON as a whole, whatever its shape, and so needs no `Decoder`.
protocol JSONDocument: Decodable {
    /// Makes the value of a parsed document.
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
    /// Decodes a type that is JSON as a whole by the parser of one pass; any other, and with settings that change what
    /// JSON is, as usual.
    func decodeDocument<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        // A subclass may decode in another way.
        guard let document = type as? any JSONDocument.Type, Self.self == JSONDecoder.self, !allowsJSON5,
            !assumesTopLevelDictionary, let value = try document.init(json: JSONText.value(of: data)) as? Value
        else { return try decode(type, from: data) }
        return value
    }
}
