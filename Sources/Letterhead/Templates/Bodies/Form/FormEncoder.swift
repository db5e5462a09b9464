// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// An encoder that writes the properties of a value as the items of a form (`application/x-www-form-urlencoded`).
///
/// ```swift
/// FormEncoder()                       // {tags: [a, b], user: {isNew: false}} → tags[]=a&tags[]=b&user[isNew]=0
/// FormEncoder(arrays: .repeated)      // tags=a&tags=b
/// FormEncoder(keys: .snakeCase)       // user[is_new]=0
/// FormEncoder(spaces: .plus)          // a+b, and not a%20b
/// ```
///
/// The examples show the names before they are escaped: `tags[]` is written as `tags%5B%5D`.
///
/// The properties of a type are written in the order in which the type encodes them. The keys of a dictionary are
/// sorted. `Data` is written in Base64. Everything except ASCII letters and digits is escaped.
public struct FormEncoder: HTTPBodyEncoder {
    /// How the properties of a type are named. The keys of a dictionary are never changed.
    public enum Keys: Sendable {
        /// The names in the type, unchanged.
        case asWritten
        /// Snake case: `isNew` becomes `is_new`, and `myURLProperty` becomes `my_url_property`.
        case snakeCase
        /// The names that a closure returns.
        case custom(@Sendable (String) -> String)
    }

    /// How the elements of an array are named.
    public enum Arrays: Hashable, Sendable {
        /// `tags[]=a&tags[]=b`
        case brackets
        /// `tags=a&tags=b`
        case repeated
        /// `tags[0]=a&tags[1]=b`
        case indexed
    }

    /// How true and false are written.
    public enum Booleans: Hashable, Sendable {
        /// `1` and `0`
        case numbers
        /// `true` and `false`
        case words
    }

    /// How a date is written.
    public enum Dates: Sendable {
        /// ISO 8601 in UTC, `2026-01-31T08:00:00Z`.
        case iso8601
        /// Seconds since 1970, with a fraction if there is one.
        case seconds
        /// Whole milliseconds since 1970.
        case milliseconds
        /// The string that a closure returns. If the closure throws, encoding fails.
        case custom(@Sendable (Date) throws -> String)
    }

    /// How nil is written.
    public enum Nils: Hashable, Sendable {
        /// The item is omitted.
        case omitted
        /// `name=`
        case empty
        /// `name=null`
        case null
    }

    /// How a space is written.
    public enum Spaces: Hashable, Sendable {
        /// `%20`
        case percent
        /// `+`
        case plus
    }

    public var keys: Keys
    public var arrays: Arrays
    public var booleans: Booleans
    public var dates: Dates
    public var nils: Nils
    public var spaces: Spaces

    /// Creates an encoder. The default of each parameter is the first case of its type.
    public init(
        keys: Keys = .asWritten, arrays: Arrays = .brackets, booleans: Booleans = .numbers, dates: Dates = .iso8601,
        nils: Nils = .omitted, spaces: Spaces = .percent
    ) {
        (self.keys, self.arrays, self.booleans) = (keys, arrays, booleans)
        (self.dates, self.nils, self.spaces) = (dates, nils, spaces)
    }

    var escapeSet: EscapeSet { spaces == .plus ? .alphanumericPlus : .alphanumeric }

    @inline(__always)
    func name(of key: some CodingKey) -> String {
        switch keys {
        case .asWritten: key.stringValue
        case .snakeCase: SnakeCase.convert(key.stringValue)
        case .custom(let convert): convert(key.stringValue)
        }
    }

    func with(_ spaces: Spaces?) -> FormEncoder {
        guard let spaces else { return self }
        var changed = self
        changed.spaces = spaces
        return changed
    }

    /// Returns a value encoded as a form.
    ///
    /// - Throws: `EncodingError` for a value without names at its top level, such as an array, for a number that is not
    ///   finite, and for a date that ISO 8601 cannot represent; or the error of a custom closure.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        try encode(value, escaping: escapeSet)
    }

    func encode<Value: Encodable>(_ value: Value, escaping set: EscapeSet) throws -> Data {
        let writer = FormWriter(self, escaping: set)
        try writer.write(value, at: nil)
        return writer.data
    }
}

/// An encoder whose containers write directly to the form.
struct FormValueEncoder: Encoder {
    let writer: FormWriter
    let path: FormPath?

    var codingPath: [any CodingKey] { path.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(FormKeyedContainer(writer: writer, path: path))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { FormUnkeyedContainer(writer: writer, path: path) }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension FormValueEncoder: SingleValueEncodingContainer {
    func encodeNil() throws { try writer.writeNil(at: path) }

    func encode<Value: Encodable>(_ value: Value) throws { try writer.write(value, at: path) }
}

/// The properties of a value.
struct FormKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let writer: FormWriter
    let path: FormPath?

    var codingPath: [any CodingKey] { path.codingPath }

    func encodeNil(forKey key: Key) throws { try writer.writeNil(at: within(key)) }

    func encode(_ value: String, forKey key: Key) throws { writer.pair(path, key: writer.style.name(of: key), value) }

    func encode(_ value: Int, forKey key: Key) throws {
        writer.pair(path, key: writer.style.name(of: key), String(value))
    }

    func encode(_ value: Bool, forKey key: Key) throws {
        writer.pair(path, key: writer.style.name(of: key), value.text(writer.style))
    }

    func encode(_ value: Double, forKey key: Key) throws {
        // The error of a number that is not finite needs the path.
        guard value.isFinite else { return try writer.write(value, at: within(key)) }
        writer.pair(path, key: writer.style.name(of: key), value.finiteText)
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try writer.write(value, at: within(key)) }

    // Each scalar type has a method. Otherwise the default method of the protocol for this type, which omits nil, would
    // be preferred to the generic method.
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try write(value, key, encode) }
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try write(value, key, encode) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try write(value, key, encode) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try write(value, key, encode) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try write(value, key, encode) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try write(value, key, encode) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try write(value, key, encode) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try write(value, key, encode) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try write(value, key, encode) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try write(value, key, encode) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try write(value, key, encode) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try write(value, key, encode) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try write(value, key, encode) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try write(value, key, encode) }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws { try write(value, key, encode) }

    @inline(__always)
    private func write<Value: Encodable>(
        _ value: Value?, _ key: Key, _ encode: (Value, Key) throws -> Void
    ) throws {
        if let value { try encode(value, key) } else { try encodeNil(forKey: key) }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(FormKeyedContainer<NestedKey>(writer: writer, path: within(key)))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        FormUnkeyedContainer(writer: writer, path: within(key))
    }

    func superEncoder() -> any Encoder { FormValueEncoder(writer: writer, path: FormPath(path, name: "super")) }

    func superEncoder(forKey key: Key) -> any Encoder { FormValueEncoder(writer: writer, path: within(key)) }

    private func within(_ key: Key) -> FormPath {
        if case .asWritten = writer.style.keys { return FormPath(path, .key(key)) }
        return FormPath(path, name: writer.style.name(of: key))
    }
}

/// The elements of an array.
struct FormUnkeyedContainer: UnkeyedEncodingContainer {
    let writer: FormWriter
    let path: FormPath?
    private(set) var count = 0

    init(writer: FormWriter, path: FormPath?) {
        (self.writer, self.path) = (writer, path)
    }

    var codingPath: [any CodingKey] { path.codingPath }

    mutating func encodeNil() throws { try writer.writeNil(at: next()) }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        guard path != nil else { throw writer.nameless(value) }
        try writer.write(value, at: next())
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(FormKeyedContainer<NestedKey>(writer: writer, path: next()))
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        FormUnkeyedContainer(writer: writer, path: next())
    }

    mutating func superEncoder() -> any Encoder { FormValueEncoder(writer: writer, path: next()) }

    private mutating func next() -> FormPath {
        defer { count += 1 }
        return FormPath(path, .index(count))
    }
}
