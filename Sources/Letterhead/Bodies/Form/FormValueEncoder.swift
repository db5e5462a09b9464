/// What a value is encoded to: containers that write straight into the form.
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
