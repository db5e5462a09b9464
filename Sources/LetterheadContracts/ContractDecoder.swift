// SPDX-License-Identifier: MIT
import Letterhead

/// The slot from which a value is decoded: a member of an object, an element of an array, or a value on its own.
protocol ContractSlot {
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value
}

struct KeyedSlot<Key: CodingKey>: ContractSlot {
    let container: KeyedDecodingContainer<Key>
    let key: Key

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try container.decode(type, forKey: key) }
}

struct SingleSlot: ContractSlot {
    let container: any SingleValueDecodingContainer

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try container.decode(type) }
}

/// The next element of an array. Each call decodes from a copy of the container, so an element can be read twice.
struct ElementSlot: ContractSlot {
    let container: any UnkeyedDecodingContainer

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        var container = container
        return try container.decode(type)
    }
}

/// A decoder that forwards to the response decoder, and reports to the reading what a type asks for.
struct ContractDecoder: Decoder {
    let base: any Decoder
    let place: ContractPlace
    let reading: ContractReading

    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        reading.requests += 1
        let container = try base.container(keyedBy: type)
        reading.list(try base.container(keyedBy: AnyName.self).allKeys, at: place)
        return KeyedDecodingContainer(ContractMembers(base: container, place: place, reading: reading))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        reading.requests += 1
        return ContractElements(base: try base.unkeyedContainer(), place: place.element, reading: reading)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        reading.requests += 1
        return ContractValue(base: try base.singleValueContainer(), place: place, reading: reading)
    }
}

struct AnyName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// An object as a type sees it. A member counts as optional if the type checks whether it exists.
private struct ContractMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let base: KeyedDecodingContainer<Key>
    let place: ContractPlace
    let reading: ContractReading

    var codingPath: [any CodingKey] { base.codingPath }

    var allKeys: [Key] {
        let keys = base.allKeys
        if Key(stringValue: "\u{0}") != nil {
            reading.note(place.path) { $0.isOpen = true }
        } else {
            // The names are the cases of an enumeration. The type looks which of them exist, as an enumeration with
            // associated values does, so each counts as checked.
            for key in keys { reading.note(member(key).path) { $0.probe() } }
        }
        return keys
    }

    func contains(_ key: Key) -> Bool {
        reading.note(member(key).path) { $0.probe() }
        return base.contains(key)
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        reading.note(member(key).path) { $0.probe() }
        return try base.decodeNil(forKey: key)
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try read(type, key) }

    // The default implementations throw an error for these types.
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try read(type, key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try read(type, key) }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try optional(type, key)
    }

    // The default implementations don't report the type if the member is absent.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optional(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optional(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(type, key) }
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try optional(type, key) }

    func nestedContainer<Name: CodingKey>(
        keyedBy type: Name.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Name> {
        let place = member(key)
        return try reading.nested(at: place, KeyedSlot(container: base, key: key)) {
            let container = try base.nestedContainer(keyedBy: type, forKey: key)
            reading.list(try base.nestedContainer(keyedBy: AnyName.self, forKey: key).allKeys, at: place)
            return KeyedDecodingContainer(ContractMembers<Name>(base: container, place: place, reading: reading))
        }
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        let place = member(key)
        return try reading.nested(at: place, KeyedSlot(container: base, key: key)) {
            ContractElements(
                base: try base.nestedUnkeyedContainer(forKey: key), place: place.element, reading: reading)
        }
    }

    func superDecoder() throws -> any Decoder {
        let place = place.member(AnyName(stringValue: "super"))
        reading.note(place.path) { $0.ask(nil) }
        return ContractDecoder(base: try base.superDecoder(), place: place, reading: reading)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        reading.note(member(key).path) { $0.ask(nil) }
        return ContractDecoder(base: try base.superDecoder(forKey: key), place: member(key), reading: reading)
    }

    private func read<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
        try reading.read(type, at: member(key), from: KeyedSlot(container: base, key: key))
    }

    private func optional<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
        reading.note(member(key).path) { $0.probe(type) }
        return try base.contains(key) && !base.decodeNil(forKey: key) ? read(type, key) : nil
    }

    /// Returns the place of a member. If a type has asked for all names, the names are data, so all members have one
    /// place.
    private func member(_ key: Key) -> ContractPlace { reading.isOpen(place) ? place.anyMember : place.member(key) }
}

private struct ContractElements: UnkeyedDecodingContainer {
    var base: any UnkeyedDecodingContainer
    let place: ContractPlace
    let reading: ContractReading

    var codingPath: [any CodingKey] { base.codingPath }
    var count: Int? { base.count }
    var isAtEnd: Bool { base.isAtEnd }
    var currentIndex: Int { base.currentIndex }

    mutating func decodeNil() throws -> Bool { try base.decodeNil() }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next(type) }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try next(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try next(type) }

    private mutating func next<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try reading.read(type, at: place, from: ElementSlot(container: base))
        _ = try base.decode(Skipped.self)
        return value
    }

    mutating func nestedContainer<Name: CodingKey>(keyedBy type: Name.Type) throws -> KeyedDecodingContainer<Name> {
        let slot = ElementSlot(container: base)
        return try reading.nested(at: place, slot) {
            var copy = base
            reading.list(try copy.nestedContainer(keyedBy: AnyName.self).allKeys, at: place)
            let container = try base.nestedContainer(keyedBy: type)
            return KeyedDecodingContainer(ContractMembers<Name>(base: container, place: place, reading: reading))
        }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let slot = ElementSlot(container: base)
        return try reading.nested(at: place, slot) {
            ContractElements(base: try base.nestedUnkeyedContainer(), place: place.element, reading: reading)
        }
    }

    mutating func superDecoder() throws -> any Decoder {
        ContractDecoder(base: try base.superDecoder(), place: place, reading: reading)
    }
}

private struct ContractValue: SingleValueDecodingContainer {
    let base: any SingleValueDecodingContainer
    let place: ContractPlace
    let reading: ContractReading

    var codingPath: [any CodingKey] { base.codingPath }

    func decodeNil() -> Bool { base.decodeNil() }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try read(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try read(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try read(type) }

    private func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try reading.read(type, at: place, from: SingleSlot(container: base), isNested: true)
    }
}

/// Decodes any element, so that the container moves to the next one.
private struct Skipped: Decodable {
    init(from decoder: any Decoder) {}
}
