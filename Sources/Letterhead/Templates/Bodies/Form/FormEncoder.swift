// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// An encoder that writes the properties of a value as the items of a form (`application/x-www-form-urlencoded`).
///
/// ```swift
/// FormEncoder()                       // {tags: [a, b], user: {isNew: false}} → tags[]=a&tags[]=b&user[isNew]=false
/// FormEncoder(arrays: .repeated)      // tags=a&tags=b
/// FormEncoder(nesting: .dots)         // user.isNew=false
/// FormEncoder(keys: .snakeCase)       // user[is_new]=false
/// FormEncoder(spaces: .plus)          // a+b, and not a%20b
/// ```
///
/// The examples show the names before they are escaped: `tags[]` is written as `tags%5B%5D`.
///
/// The properties of a type are written in the order in which the type encodes them. The keys of a dictionary are
/// sorted. `Data` is written in Base64, a boolean as `true` or `false`, and nil is omitted.
public struct FormEncoder: HTTPBodyEncoder {
    /// How the properties of a type are named. The keys of a dictionary are never changed. For other names, declare
    /// `CodingKeys`.
    public enum Keys: Hashable, Sendable {
        case asWritten
        /// `isNew` becomes `is_new`, and `myURLProperty` becomes `my_url_property`.
        case snakeCase
    }

    /// How a value within another value is named.
    public enum Nesting: Hashable, Sendable {
        /// `user[name]=ada`, as PHP and Rails read it.
        case brackets
        /// `user.name=ada`, as Spring and ASP.NET read it, usually with `arrays: .indexed`.
        case dots
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

    /// How a date is written. For another format, encode a string.
    public enum Dates: Hashable, Sendable {
        /// ISO 8601 in UTC, `2026-01-31T08:00:00Z`.
        case iso8601
        /// Seconds since 1970, with a fraction if there is one.
        case seconds
        /// Whole milliseconds since 1970.
        case milliseconds
    }

    /// How a space is written.
    public enum Spaces: Hashable, Sendable {
        /// `%20`
        case percent
        /// `+`
        case plus
    }

    public var keys: Keys
    public var nesting: Nesting
    public var arrays: Arrays
    public var dates: Dates
    public var spaces: Spaces

    /// Creates an encoder. The default of each parameter is the first case of its type.
    public init(
        keys: Keys = .asWritten, nesting: Nesting = .brackets, arrays: Arrays = .brackets, dates: Dates = .iso8601,
        spaces: Spaces = .percent
    ) {
        (self.keys, self.nesting, self.arrays) = (keys, nesting, arrays)
        (self.dates, self.spaces) = (dates, spaces)
    }

    var escapeSet: EscapeSet { spaces == .plus ? .formPlus : .form }

    @inline(__always)
    func name(of key: some CodingKey) -> String {
        keys == .asWritten ? key.stringValue : SnakeCase.convert(key.stringValue)
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
    ///   finite, and for a date that ISO 8601 cannot represent.
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
    func encodeNil() throws {
        if path == nil { throw writer.nameless(String?.none) }
    }

    func encode<Value: Encodable>(_ value: Value) throws { try writer.write(value, at: path) }
}

/// The properties of a value.
struct FormKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let writer: FormWriter
    let path: FormPath?

    var codingPath: [any CodingKey] { path.codingPath }

    func encodeNil(forKey key: Key) {}

    func encode(_ value: String, forKey key: Key) throws { writer.pair(path, key: writer.style.name(of: key), value) }

    func encode(_ value: Int, forKey key: Key) throws {
        writer.pair(path, key: writer.style.name(of: key), String(value))
    }

    func encode(_ value: Bool, forKey key: Key) throws {
        writer.pair(path, key: writer.style.name(of: key), value.text)
    }

    func encode(_ value: Double, forKey key: Key) throws {
        // The error of a number that is not finite needs the path.
        guard value.isFinite else { return try writer.write(value, at: within(key)) }
        writer.pair(path, key: writer.style.name(of: key), value.finiteText)
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try writer.write(value, at: within(key)) }

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
        if writer.style.keys == .asWritten { return FormPath(path, .key(key)) }
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

    mutating func encodeNil() { count += 1 }

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
