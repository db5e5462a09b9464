/// Any JSON value, for documents without a fixed type: cursors, sort keys, filters.
///
/// Signed and unsigned 64-bit integers are represented exactly. Literals create values: `["after": nil, "size": 20]`. A
/// decoded document may be nested 64 levels deep.
public enum JSONValue: Sendable, Hashable {
    /// The value `null`.
    case null
    /// The value `true` or `false`.
    case bool(Bool)
    /// A whole number.
    case int(Int64)
    /// A whole number above the largest `Int64`.
    case uint(UInt64)
    /// Any other number.
    case double(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object. Its members are not ordered.
    case object([String: JSONValue])

    /// The member of an object; nil for other kinds of values, and for a name that does not exist. Setting a member
    /// replaces any other kind of value with an object.
    public subscript(name: String) -> JSONValue? {
        get { if case .object(let members) = self { members[name] } else { nil } }
        set {
            var members: [String: JSONValue] = if case .object(let members) = self { members } else { [:] }
            members[name] = newValue
            self = .object(members)
        }
    }

    /// Sets the member at the end of a path of names, and creates missing objects along the path.
    mutating func set(_ value: JSONValue, at path: some Collection<String>) {
        guard let name = path.first else { return self = value }
        var member = self[name] ?? .object([:])
        member.set(value, at: path.dropFirst())
        self[name] = member
    }
}

extension JSONValue {
    /// The maximum depth of arrays and objects in a decoded document. It limits the time and the stack size that a
    /// document can require.
    static let maximumDepth = 64

    /// The replacement for a value that is nested too deep. No JSON text contains this number.
    static let tooDeep = JSONValue.double(-.infinity)

    /// The replacement for a malformed value. No JSON text contains this number.
    static let malformed = JSONValue.double(.infinity)

    /// The reason why the value cannot be used: it is, or contains, a value that the parser skipped. It is nil if the
    /// value can be used.
    var skipped: String? {
        switch self {
        case .tooDeep: return Self.depthRule
        case .malformed: return "a string or a number in a JSONValue is malformed"
        case .array(let elements):
            for element in elements { if let rule = element.skipped { return rule } }
        case .object(let members):
            for member in members.values { if let rule = member.skipped { return rule } }
        default: break
        }
        return nil
    }

    fileprivate static let depthRule = "a JSONValue is nested more than \(maximumDepth) levels deep in its document"
}

extension JSONValue: Codable {
    /// Decodes any JSON value.
    ///
    /// A plain `JSONDecoder` for a response parses the document once in linear time, and takes each `JSONValue` from
    /// the result. For a subclass of `JSONDecoder` and a decoder that allows JSON5, the kinds of all values are
    /// determined once, so that each value is decoded as the right kind at the first attempt. All other decoders, and a
    /// subclass that decodes other data than it receives, have to try each kind of value, which is slower at each level.
    ///
    /// - Throws: `DecodingError`, also for a value that is nested more than 64 levels deep in its document.
    public init(from decoder: any Decoder) throws {
        if let tree = JSONTree.current, let value = try tree.value(for: decoder) {
            if tree.isExact {
                self = value
                return
            }
            if let value = try Self.decoded(as: value, in: decoder.singleValueContainer()) {
                self = value
                return
            }
        }
        // Each failed attempt creates an error with the entire path of the value. Strings are therefore tried before
        // numbers and booleans, and objects before arrays.
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

    /// Decodes a value of a kind. Returns nil for a value of another kind. Throws errors inside the value.
    private static func decoded(
        as kind: JSONValue, in container: any SingleValueDecodingContainer
    ) throws -> JSONValue? {
        switch kind {
        case .null: container.decodeNil() ? .null : nil
        case .bool: (try? container.decode(Bool.self)).map { .bool($0) }
        case .string: (try? container.decode(String.self)).map { .string($0) }
        case .int: (try? container.decode(Int64.self)).map { .int($0) } ?? number(in: container)
        case .uint: (try? container.decode(UInt64.self)).map { .uint($0) } ?? number(in: container)
        // A value that is nested too deep is refused by its depth.
        case .double: kind == .tooDeep ? nil : number(in: container)
        case .array: try value([JSONValue].self, in: container).map { .array($0) }
        case .object: try value([String: JSONValue].self, in: container).map { .object($0) }
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
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: container.codingPath, debugDescription: depthRule,
                    underlyingError: InvalidDocument(depthRule)))
        }
        if let members = try value([String: JSONValue].self, in: container) { return .object(members) }
        if let elements = try value([JSONValue].self, in: container) { return .array(elements) }
        if let value = try? container.decode(UInt64.self) { return .uint(value) }
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "this is not a JSON value")
    }

    /// Returns nil for a value of another kind. Throws errors inside the value.
    private static func value<Value: Decodable>(
        _ type: Value.Type, in container: any SingleValueDecodingContainer
    ) throws -> Value? {
        do { return try container.decode(type) } catch let error as DecodingError {
            guard case .typeMismatch(_, let context) = error, context.codingPath.count <= container.codingPath.count
            else { throw error }
            return nil
        }
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
    /// Creates `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Creates a boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a whole number.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// Creates a number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object. If a name occurs more than once, the last value is used.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}

extension JSONValue: QueryValue {
    /// Appends a string, a number or a boolean, or each element of an array.
    ///
    /// null and objects cannot be written in a query: the request fails with `.invalidRequest`, and the error names the
    /// item. A Swift nil is omitted.
    public func append(to query: inout QueryParameters, name: String) {
        switch self {
        case .null:
            query.append(QueryParameters.Item(name, refused: "a query item cannot be JSON null; use nil to omit it"))
        case .object: query.append(QueryParameters.Item(name, refused: "a query item cannot be a JSON object"))
        case .bool(let value): value.append(to: &query, name: name)
        case .int(let value): value.append(to: &query, name: name)
        case .uint(let value): value.append(to: &query, name: name)
        case .double(let value): value.append(to: &query, name: name)
        case .string(let value): value.append(to: &query, name: name)
        case .array(let value): for element in value { element.append(to: &query, name: name) }
        }
    }
}
