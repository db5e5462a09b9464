// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// Any JSON value. Use it for documents without a fixed type, such as cursors, sort keys and filters.
///
/// ```swift
/// var json = try await client.send(Get<JSONValue>("orders"))
/// let id = json["items"][0]["id"].int
/// json["filter"]["size"] = 20          // creates the object "filter" if it does not exist
/// print(json["filter"])                // {"size":20}
/// ```
///
/// If you know the members, declare a `Decodable` type instead. Literals create values: `["after": nil, "size": 20]`.
///
/// - A missing value is null. An accessor, such as `int`, is nil if the value has a different kind.
/// - Signed and unsigned 64-bit integers are exact.
/// - Numbers with the same value are equal, so `2` equals `2.0`. A document that is written and read again equals the
///   original.
/// - A decoded document may be nested 64 levels deep.
public enum JSONValue: Sendable {
    /// `null`, which also represents a missing value.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number.
    case int(Int64)
    /// A whole number above the largest `Int64`.
    case uint(UInt64)
    /// Any other number.
    case double(Double)
    /// A string, without quotation marks and escapes.
    case string(String)
    /// The elements of an array, in order.
    case array([JSONValue])
    /// The members of an object, which have no order.
    case object([String: JSONValue])

    /// A member of an object. Null if the object doesn't have the member, or if the value isn't an object.
    ///
    /// Setting a member replaces a value of any other kind with an object.
    public subscript(name: String) -> JSONValue {
        get { object?[name] ?? .null }
        _modify {
            var members: [String: JSONValue] = if case .object(let members) = self { members } else { [:] }
            // Nothing else refers to the members now, so they are not copied.
            self = .null
            defer { self = .object(members) }
            yield &members[name, default: .null]
        }
    }

    /// An element of an array. Null if the index is out of bounds, or if the value isn't an array.
    public subscript(index: Int) -> JSONValue {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return .null }
        return elements[index]
    }

    /// Removes a member of an object. By contrast, setting the member to nil writes null.
    public mutating func removeValue(forName name: String) {
        guard case .object(var members) = self else { return }
        self = .null
        members[name] = nil
        self = .object(members)
    }
}

extension JSONValue {
    /// Creates a JSON value from any `Encodable` value, for example for a member of ``RequestParameters``:
    /// `["filter": try JSONValue(encoding: filter)]`.
    ///
    /// - Throws: the encoder error, or `DecodingError` for a value that is nested more than 64 levels deep.
    public init(encoding value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws {
        self = try JSONText.value(of: encoder.encode(value))
    }
}

extension JSONValue: Hashable {
    /// A number without a fraction. Equal numbers have the same value here, also if they are stored in different cases.
    private var whole: Int128? {
        switch self {
        case .int(let number): Int128(number)
        case .uint(let number): Int128(number)
        case .double(let number): Int128(exactly: number)
        default: nil
        }
    }

    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.string(let left), .string(let right)): left.isSame(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        default: left.whole.map { $0 == right.whole } ?? false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .bool(let value): hasher.combine(value)
        case .string(let text): hasher.combine(bytesOf: text)
        case .array(let elements): hasher.combine(elements)
        case .object(let members): hasher.combine(members)
        case .double(let number) where whole == nil: hasher.combine(number)
        case .null, .int, .uint, .double: hasher.combine(whole)
        }
    }
}

extension JSONValue {
    /// The text, or nil for other kinds of values.
    public var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The whole number, or nil for other kinds of values and for a number that an `Int` cannot represent.
    public var int: Int? { whole.flatMap { Int(exactly: $0) } }

    /// The number, rounded if it has more than 53 significant bits, or nil for other kinds of values.
    public var double: Double? {
        switch self {
        case .int(let number): Double(number)
        case .uint(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }

    /// The boolean, or nil for other kinds of values. Numbers aren't converted.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The elements of an array, or nil for other kinds of values.
    public var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    /// The members of an object, or nil for other kinds of values.
    public var object: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }
}

extension JSONValue: CustomStringConvertible {
    /// The value as JSON on one line, with sorted names. JSON has no infinite numbers and no NaN, so they are written
    /// as strings.
    public var description: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }
}

extension JSONValue: Codable {
    /// How deeply a document may be nested. It limits the time and the stack that a document can require.
    static let maximumDepth = 64

    /// Any member name, for testing whether a value is an object.
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Finds the kind by trying each one. A response that is a `JSONValue` itself is parsed without this.
    ///
    /// - Throws: `DecodingError`, also for a value that is nested more than 64 levels deep in its document.
    public init(from decoder: any Decoder) throws {
        // The error of a failed attempt contains the entire path, so its cost grows with the depth. Containers come
        // first: a level then costs at most one failed attempt. Members are decoded as a dictionary, because a key
        // strategy would change their names in a container.
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if (try? decoder.unkeyedContainer()) != nil {
            try Self.checkDepth(at: decoder.codingPath)
            self = .array(try container.decode([JSONValue].self))
        } else if (try? decoder.container(keyedBy: Name.self)) != nil {
            try Self.checkDepth(at: decoder.codingPath)
            self = .object(try container.decode([String: JSONValue].self))
        } else if let value = Self.scalar(in: container) {
            self = value
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "this is not a JSON value")
        }
    }

    private static func scalar(in container: any SingleValueDecodingContainer) -> JSONValue? {
        if let value = try? container.decode(String.self) { return .string(value) }
        if let value = try? container.decode(Int64.self) { return .int(value) }
        if let value = try? container.decode(UInt64.self) { return .uint(value) }
        if let value = try? container.decode(Double.self) { return .double(value) }
        return (try? container.decode(Bool.self)).map { .bool($0) }
    }

    private static func checkDepth(at path: [any CodingKey]) throws {
        guard path.count >= maximumDepth else { return }
        let rule = "a JSONValue is nested more than \(maximumDepth) levels deep in its document"
        throw DecodingError.dataCorrupted(
            .init(codingPath: path, debugDescription: rule, underlyingError: InvalidDocument(rule)))
    }

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
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .int(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object. If a name occurs more than once, the last value is used.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}

extension JSONValue: QueryElements {
    var elements: (any QueryValue)? { if case .array(let elements) = self { elements } else { nil } }
}

extension JSONValue: QueryValue {
    /// Appends a string, a number or a boolean, or each element of an array.
    ///
    /// A query cannot contain null and objects: the request fails with `.invalidRequest`, and the error names the item.
    /// A Swift nil is omitted.
    public func append(to query: inout QueryParameters, name: String) {
        switch self {
        case .null:
            query.append(QueryParameters.Item(name, refused: "a query item cannot be JSON null (to omit it, use nil)"))
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
