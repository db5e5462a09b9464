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
