/// Any JSON value, for documents whose shape belongs to somebody else: cursors, sort keys, filters.
///
/// Whole numbers keep every digit that 64 bits hold. Literals make one: `["after": nil, "size": 20]`. A document that is
/// decoded may be nested 64 levels deep.
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number.
    case int(Int64)
    /// A whole number above the largest `Int64`.
    case uint(UInt64)
    /// Any other number.
    case double(Double)
    /// A text.
    case string(String)
    /// A list.
    case array([JSONValue])
    /// Members by name; a document has no order.
    case object([String: JSONValue])

    /// The member of an object; nil when it is none, or has no such member. Setting makes an object of anything else.
    public subscript(name: String) -> JSONValue? {
        get { if case .object(let members) = self { members[name] } else { nil } }
        set {
            var members: [String: JSONValue] = if case .object(let members) = self { members } else { [:] }
            members[name] = newValue
            self = .object(members)
        }
    }

    /// Sets the member at the end of a path of names, making the objects on the way.
    mutating func set(_ value: JSONValue, at path: some Collection<String>) {
        guard let name = path.first else { return self = value }
        var member = self[name] ?? .object([:])
        member.set(value, at: path.dropFirst())
        self[name] = member
    }
}

extension JSONValue {
    /// How many levels of arrays and objects a document that is read may have, so that neither its time nor the stack
    /// that it needs depends on who wrote it.
    static let maximumDepth = 64
}

extension JSONValue: Codable {
    /// Decodes any JSON value.
    ///
    /// A response that is decoded as a `JSONValue` by a plain `JSONDecoder`, and ``ProblemDetails``, are parsed in one
    /// pass over the bytes.
    ///
    /// - Throws: `DecodingError`, also for a value that is more than 64 levels deep in its document.
    public init(from decoder: any Decoder) throws {
        // Strings and objects first: each kind that fails costs an error with the whole path to the value.
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = Self.number(in: container) {
            self = value
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else {
            self = try Self.nested(in: container)
        }
    }

    private static func number(in container: any SingleValueDecodingContainer) -> JSONValue? {
        if let value = try? container.decode(Int64.self) { return .int(value) }
        guard let value = try? container.decode(Double.self) else { return nil }
        return (value >= 0x1p63 ? try? container.decode(UInt64.self) : nil).map { .uint($0) } ?? .double(value)
    }

    private static func nested(in container: any SingleValueDecodingContainer) throws -> JSONValue {
        let depth = container.codingPath.count
        guard depth < maximumDepth else {
            let rule = "a JSONValue is more than \(maximumDepth) levels deep in its document"
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: container.codingPath, debugDescription: rule, underlyingError: InvalidDocument(rule)))
        }
        /// nil for a value of another kind; what is wrong inside the value is thrown.
        func value<Value: Decodable>(_ type: Value.Type) throws -> Value? {
            do { return try container.decode(type) } catch let error as DecodingError {
                guard case .typeMismatch(_, let context) = error, context.codingPath.count <= depth else { throw error }
                return nil
            }
        }
        if let members = try value([String: JSONValue].self) { return .object(members) }
        if let elements = try value([JSONValue].self) { return .array(elements) }
        if let value = try? container.decode(UInt64.self) { return .uint(value) }
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "this is not a JSON value")
    }

    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .uint(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// `null`.
    public init(nilLiteral: ()) { self = .null }
    /// A boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A list.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object; of a repeated name the last counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}

extension JSONValue: QueryValue {
    /// Appends a text, a number or a boolean, and each element of a list.
    ///
    /// Null and objects have no form in a query. A request that has one in its query is `.invalidRequest`, naming the item;
    /// a Swift nil is left out.
    public func append(to query: inout QueryParameters, name: String) {
        switch self {
        case .null: query.append(QueryParameters.Item(name, refused: "JSON null has no form in a query; leave it out"))
        case .object: query.append(QueryParameters.Item(name, refused: "a JSON object has no form in a query"))
        case .bool(let value): value.append(to: &query, name: name)
        case .int(let value): value.append(to: &query, name: name)
        case .uint(let value): value.append(to: &query, name: name)
        case .double(let value): value.append(to: &query, name: name)
        case .string(let value): value.append(to: &query, name: name)
        case .array(let value): for element in value { element.append(to: &query, name: name) }
        }
    }
}
