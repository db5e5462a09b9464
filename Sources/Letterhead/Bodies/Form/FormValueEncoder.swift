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
