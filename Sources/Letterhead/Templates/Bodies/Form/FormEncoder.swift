// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// An encoder that writes the properties of a value as the items of a form (`application/x-www-form-urlencoded`).
///
/// ```swift
/// FormEncoder()                       // {tags: [a, b], user: {isNew: false}} → tags[]=a&tags[]=b&user[isNew]=false
/// FormEncoder(arrays: .repeated)      // tags=a&tags=b
/// FormEncoder(keys: .snakeCase)       // user[is_new]=false
/// FormEncoder(spaces: .plus)          // a+b, and not a%20b
/// ```
///
/// The examples show the names before they are escaped: `tags[]` is written as `tags%5B%5D`.
///
/// The properties of a type are written in the order in which the type encodes them. The keys of a dictionary are
/// sorted. `Data` is written in Base64, a boolean as `true` or `false`, and nil is omitted. To write a value in another
/// way, encode a string in the type's `encode(to:)`.
public struct FormEncoder: HTTPBodyEncoder {
    /// How the properties of a type are named. The keys of a dictionary are never changed. For other names, declare
    /// `CodingKeys`.
    public enum Keys: Hashable, Sendable {
        case asWritten
        /// `isNew` becomes `is_new`, and `myURLProperty` becomes `my_url_property`.
        case snakeCase
    }

    /// How the elements of an array are named.
    public enum Arrays: Hashable, Sendable {
        /// `tags[]=a&tags[]=b`, as PHP and Rails read it.
        case brackets
        /// `tags=a&tags=b`
        case repeated
        /// `tags[0]=a&tags[1]=b`
        case indexed
    }

    /// How a date is written.
    public enum Dates: Hashable, Sendable {
        /// ISO 8601 in UTC, `2026-01-31T08:00:00Z`.
        case iso8601
        /// Seconds since 1970, with a fraction if there is one.
        case seconds
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
    public var dates: Dates
    public var spaces: Spaces

    /// Creates an encoder. The default of each parameter is the first case of its type.
    public init(
        keys: Keys = .asWritten, arrays: Arrays = .brackets, dates: Dates = .iso8601, spaces: Spaces = .percent
    ) {
        (self.keys, self.arrays, self.dates, self.spaces) = (keys, arrays, dates, spaces)
    }

    /// Returns a value encoded as a form.
    ///
    /// - Throws: `EncodingError` for a value without names at its top level, such as an array, for a number that is not
    ///   finite, and for a date that ISO 8601 cannot represent.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data { try form { try $0.encode(value) } }

    /// Returns the form that a closure writes.
    ///
    /// - Parameter set: how names and values are escaped. Default: nil (as a form, with the encoder's spaces).
    func form(escaping set: EscapeSet? = nil, _ write: (FormValueEncoder) throws -> Void) rethrows -> Data {
        let writer = FormWriter(style: self, set: set ?? (spaces == .plus ? .formPlus : .form))
        try write(FormValueEncoder(writer: writer, name: nil, path: [], key: nil))
        return Data(writer.bytes)
    }
}

/// The bytes of one form, to which all containers of an encoding append. A writer is used only within the call that
/// creates it.
final class FormWriter {
    let style: FormEncoder
    private let set: EscapeSet
    private(set) var bytes: [UInt8] = []

    init(style: FormEncoder, set: EscapeSet) {
        (self.style, self.set) = (style, set)
    }

    func write(_ name: String, _ value: String) {
        let capacity = 3 * (name.utf8.count + value.utf8.count) + 3
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { memory in
            let count = ByteText.write(to: memory) { item in
                if !bytes.isEmpty { item.append("&" as Unicode.Scalar) }
                item.append(name, escaping: set)
                item.append("=" as Unicode.Scalar)
                item.append(value, escaping: set)
            }
            bytes.append(contentsOf: memory[..<count])
        }
    }
}

/// A key of a dictionary, or the position of an element.
struct FormKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = (String(intValue), intValue) }
}
