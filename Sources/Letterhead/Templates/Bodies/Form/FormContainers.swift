// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// Encodes a value with its name in the form. At the top level, the name is nil.
struct FormValueEncoder: Encoder, SingleValueEncodingContainer {
    let writer: FormWriter
    let name: String?
    /// The path and the last key, joined only when needed.
    let path: [any CodingKey]
    let key: (any CodingKey)?

    var codingPath: [any CodingKey] { key.map { path + [$0] } ?? path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(FormProperties(parent: outer))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { FormElements(parent: outer) }

    /// The same encoder as the parent of nested values, with the key in its path.
    private var outer: FormValueEncoder { FormValueEncoder(writer: writer, name: name, path: codingPath, key: nil) }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() throws {
        if name == nil { throw nameless(String?.none) }
    }

    /// Writes a value: a scalar as an item, a dictionary sorted by key, and any other value with its own `encode(to:)`.
    @inline(__always)
    func encode<Value: Encodable>(_ value: Value) throws {
        if let text = try text(of: value) {
            guard let name else { throw nameless(value) }
            writer.write(name, text)
        } else if let dictionary = value as? any SortedForm {
            try outer.encode(dictionary.sorted)
        } else {
            try value.encode(to: self)
        }
    }

    /// Writes named values in order, and omits nil values.
    func encode(_ items: some Sequence<(String, (any Encodable)?)>) throws {
        for (name, value) in items { if let value { try member(FormKey(stringValue: name), name).encode(value) } }
    }

    func property(_ key: some CodingKey) -> FormValueEncoder {
        let text = writer.options.contains(.snakeCase) ? Self.snakeCase(key.stringValue) : key.stringValue
        guard writer.options.contains(.dots), let name else { return member(key, text) }
        return FormValueEncoder(writer: writer, name: "\(name).\(text)", path: path, key: key)
    }

    func element(_ index: Int) -> FormValueEncoder {
        let suffix =
            if writer.options.contains(.indices) { "[\(index)]" } else {
                writer.options.contains(.repeatedNames) ? "" : "[]"
            }
        return FormValueEncoder(
            writer: writer, name: (name ?? "") + suffix, path: path, key: FormKey(intValue: index))
    }

    private func member(_ key: some CodingKey, _ text: String) -> FormValueEncoder {
        FormValueEncoder(writer: writer, name: name.map { "\($0)[\(text)]" } ?? text, path: path, key: key)
    }

    /// Returns the error for a value without a name at the top level.
    func nameless(_ value: Any?) -> EncodingError {
        error(value as Any, "A form needs names: encode a type with properties, or a dictionary.")
    }

    private func error(_ value: Any, _ rule: String) -> EncodingError {
        .invalidValue(value, EncodingError.Context(codingPath: codingPath, debugDescription: rule))
    }
}

extension FormValueEncoder {
    /// Returns a scalar as text. Nil for any other value.
    @inline(__always)
    private func text<Value: Encodable>(of value: Value) throws -> String? {
        switch value {
        case let text as String: text
        case let flag as Bool: flag ? "true" : "false"
        case let number as any BinaryInteger: number.description
        case let number as Double: try finite(number)
        case let number as Float: try finite(number)
        case let number as Decimal where number.isFinite: number.description
        case let number as Decimal: throw error(number, "The number is not finite.")
        case let date as Date where writer.options.contains(.secondsSince1970): try finite(date.timeIntervalSince1970)
        case let date as Date: try internetTime(date)
        case let data as Data: data.base64EncodedString()
        case let url as URL: url.absoluteString
        default: nil
        }
    }

    /// Returns a string that parses to the same number. A whole number in the range of `Int64` has all its digits and
    /// no fraction.
    private func finite(_ number: some BinaryFloatingPoint & LosslessStringConvertible) throws -> String {
        guard number.isFinite else { throw error(number, "The number is not finite.") }
        return Int64(exactly: number).map { String($0) } ?? String(number)
    }

    private func internetTime(_ date: Date) throws -> String {
        if let text = date.internetTime { return text }
        // The error contains the number instead of the date, because describing such a date would crash.
        throw error(date.timeIntervalSince1970, "The date is not in the years 0...9999.")
    }

    /// Returns a name with its words in lower case, joined by underscores: `myURLProperty` becomes `my_url_property`.
    ///
    /// A word begins at an upper-case letter after a lower-case letter or a digit, and at the last of several
    /// upper-case letters before a lower-case letter, as in `JSONEncoder`.
    private static func snakeCase(_ name: String) -> String {
        let characters = Array(name)
        return characters.indices.map { place in
            let before = place > 0 ? characters[place - 1] : "_"
            let isBeforeLowercase = place + 1 < characters.count && characters[place + 1].isLowercase
            let beginsWord =
                characters[place].isUppercase && before != "_" && (!before.isUppercase || isBeforeLowercase)
            return (beginsWord ? "_" : "") + characters[place].lowercased()
        }.joined()
    }
}

struct FormProperties<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let parent: FormValueEncoder

    var codingPath: [any CodingKey] { parent.codingPath }

    func encodeNil(forKey key: Key) {}

    // Inlined, so that the compiler knows the type of a scalar.
    @inline(__always)
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try parent.property(key).encode(value) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        parent.property(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        parent.property(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { parent.property(FormKey(stringValue: "super")) }

    func superEncoder(forKey key: Key) -> any Encoder { parent.property(key) }
}

struct FormElements: UnkeyedEncodingContainer {
    let parent: FormValueEncoder
    var count = 0

    var codingPath: [any CodingKey] { parent.codingPath }

    mutating func encodeNil() { count += 1 }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        guard parent.name != nil else { throw parent.nameless(value) }
        try next().encode(value)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }

    mutating func superEncoder() -> any Encoder { next() }

    private mutating func next() -> FormValueEncoder {
        defer { count += 1 }
        return parent.element(count)
    }
}

/// A dictionary with strings or numbers as keys. It is sorted, because dictionaries have a different order in each
/// process.
private protocol SortedForm {
    var sorted: [(String, (any Encodable)?)] { get }
}

extension Dictionary: SortedForm where Key: CodingKeyRepresentable, Value: Encodable {
    fileprivate var sorted: [(String, (any Encodable)?)] {
        map { ($0.key.codingKey.stringValue, $0.value) }.sorted { $0.0 < $1.0 }
    }
}
