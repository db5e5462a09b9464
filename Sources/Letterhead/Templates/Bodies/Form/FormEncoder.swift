// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// An encoder that writes a value's properties as a form's items (`application/x-www-form-urlencoded`).
///
/// ```swift
/// FormEncoder()                       // {tags: [a, b], user: {isNew: false}} → tags[]=a&tags[]=b&user[isNew]=false
/// FormEncoder(arrays: .repeated)      // tags=a&tags=b
/// FormEncoder(keys: .snakeCase)       // user[is_new]=false
/// FormEncoder(nesting: .dots, arrays: .indexed)    // tags[0]=a&tags[1]=b&user.isNew=false
/// FormEncoder(spaces: .plus)          // a+b, and not a%20b
/// ```
///
/// The examples show the names before escaping. `tags[]` becomes `tags%5B%5D`.
///
/// Properties keep the order in which their type encodes them, and a dictionary's keys are sorted. `Data` becomes
/// Base64, and a boolean `true` or `false`. Nil is omitted. To write a value in another way, encode a string in the
/// type's `encode(to:)`.
public struct FormEncoder: HTTPBodyEncoder {
    /// The names of a type's properties. A dictionary's keys never change. For other names, declare `CodingKeys`.
    public enum Keys: Hashable, Sendable {
        case asWritten
        /// `isNew` becomes `is_new`, and `myURLProperty` becomes `my_url_property`.
        case snakeCase
    }

    /// The names of a property within another one. A dictionary's keys are always in brackets.
    public enum Nesting: Hashable, Sendable {
        /// `user[isNew]=false`, as PHP and Rails read it.
        case brackets
        /// `user.isNew=false`, as Spring and ASP.NET Core read it, with `arrays: .indexed`.
        case dots
    }

    /// The names of an array's elements.
    public enum Arrays: Hashable, Sendable {
        /// `tags[]=a&tags[]=b`, as PHP and Rails read it.
        case brackets
        /// `tags=a&tags=b`
        case repeated
        /// `tags[0]=a&tags[1]=b`
        case indexed
    }

    /// The format of dates.
    public enum Dates: Hashable, Sendable {
        /// ISO 8601 in UTC, `2026-01-31T08:00:00Z`.
        case iso8601
        /// Seconds since 1970, with a fraction if the date has one.
        case seconds
    }

    /// The escape for a space.
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

    /// Creates an encoder. Each parameter's default is its type's first case.
    public init(
        keys: Keys = .asWritten, nesting: Nesting = .brackets, arrays: Arrays = .brackets, dates: Dates = .iso8601,
        spaces: Spaces = .percent
    ) {
        (self.keys, self.nesting, self.arrays, self.dates, self.spaces) = (keys, nesting, arrays, dates, spaces)
    }

    /// Returns a value encoded as a form.
    ///
    /// - Throws: `EncodingError` for a value without names at its top level, such as an array, for an infinite number
    ///   or NaN, and for a date that ISO 8601 cannot represent.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data { try form { try $0.encode(value) } }

    /// Returns the form that a closure writes.
    ///
    /// - Parameter set: the bytes that stay unescaped. Default: nil (as in a form, with the encoder's spaces).
    func form(escaping set: EscapeSet? = nil, _ write: (FormValueEncoder) throws -> Void) rethrows -> Data {
        let writer = FormWriter(style: self, set: set ?? (spaces == .plus ? .formPlus : .form))
        try write(FormValueEncoder(writer: writer, name: nil, path: [], key: nil))
        return Data(writer.bytes)
    }
}

/// The bytes of one form. All containers of an encoding append to them. A writer is used only within the call that
/// creates it.
final class FormWriter {
    let style: FormEncoder
    private let set: EscapeSet
    private(set) var bytes: [UInt8] = []

    init(style: FormEncoder, set: EscapeSet) {
        (self.style, self.set) = (style, set)
    }

    func write(_ name: String, _ value: String) {
        let isFirst = bytes.isEmpty
        ByteText.add(atMost: 3 * (name.utf8.count + value.utf8.count) + 2, to: &bytes) { item in
            if !isFirst { item.append("&" as Unicode.Scalar) }
            item.append(name, escaping: set)
            item.append("=" as Unicode.Scalar)
            item.append(value, escaping: set)
        }
    }
}

/// A dictionary's key, or an element's position.
struct FormKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = (String(intValue), intValue) }
}
