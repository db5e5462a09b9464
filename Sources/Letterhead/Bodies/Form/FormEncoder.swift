public import Foundation

/// An encoder that writes the properties of a value as the items of a form (`application/x-www-form-urlencoded`).
///
/// ```swift
/// FormEncoder()                       // {tags: [a, b], user: {isNew: false}} → tags[]=a&tags[]=b&user[isNew]=0
/// FormEncoder.whatwg                  // like URLSearchParams in browsers
/// FormEncoder(arrays: .repeated)      // tags=a&tags=b
/// FormEncoder(keys: .snakeCase)       // user[is_new]=0
/// FormEncoder(escaping: .unreserved)  // does not escape - _ . ~
/// ```
///
/// The examples show the names before they are escaped: `tags[]` is written as `tags%5B%5D`.
///
/// The properties of a type are written in the order in which the type encodes them. The keys of a dictionary are
/// sorted.
public struct FormEncoder: HTTPBodyEncoder {
    /// The way in which the properties of a type are named. The keys of a dictionary are never changed.
    public enum Keys: Sendable {
        /// The names in the type, unchanged.
        case asWritten
        /// Snake case: `isNew` becomes `is_new`, and `myURLProperty` becomes `my_url_property`.
        case snakeCase
        /// The names that a closure returns.
        case custom(@Sendable (String) -> String)
    }

    /// The way in which the elements of an array are named.
    public enum Arrays: Hashable, Sendable {
        /// `tags[]=a&tags[]=b`
        case brackets
        /// `tags=a&tags=b`
        case repeated
        /// `tags[0]=a&tags[1]=b`
        case indexed
    }

    /// The way in which a nested value is named.
    public enum Nesting: Hashable, Sendable {
        /// `user[name]=ada`
        case brackets
        /// `user.name=ada`
        case dots
    }

    /// The way in which true and false are written.
    public enum Booleans: Hashable, Sendable {
        /// `1` and `0`
        case numbers
        /// `true` and `false`
        case words
    }

    /// The way in which a date is written.
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

    /// The way in which `Data` is written.
    public enum Bytes: Sendable {
        /// Base64 (RFC 4648, 4).
        case base64
        /// The string that a closure returns. If the closure throws, encoding fails.
        case custom(@Sendable (Data) throws -> String)
    }

    /// The way in which nil is written.
    public enum Nils: Hashable, Sendable {
        /// The item is omitted.
        case omitted
        /// `name=`
        case empty
        /// `name=null`
        case null
    }

    /// The way in which a space is written.
    public enum Spaces: Hashable, Sendable {
        /// `%20`
        case percent
        /// `+`
        case plus
    }

    /// The bytes that are not escaped.
    public enum Escaping: Hashable, Sendable {
        /// ASCII letters and digits only.
        case lettersAndDigits
        /// The unreserved characters of RFC 3986, 2.3: ASCII letters, digits and `-._~`.
        case unreserved
        /// ASCII letters, digits and `*-._`, the set in the WHATWG URL Standard, 5.2.
        case whatwg
    }

    /// The way in which the properties of a type are named.
    public var keys: Keys
    /// The way in which the elements of an array are named.
    public var arrays: Arrays
    /// The way in which a nested value is named.
    public var nesting: Nesting
    /// The way in which true and false are written.
    public var booleans: Booleans
    /// The way in which a date is written.
    public var dates: Dates
    /// The way in which `Data` is written.
    public var bytes: Bytes
    /// The way in which nil is written.
    public var nils: Nils
    /// The way in which a space is written.
    public var spaces: Spaces
    /// The bytes that are not escaped.
    public var escaping: Escaping

    /// Creates an encoder. The default of each parameter is the first case of its type.
    public init(
        keys: Keys = .asWritten, arrays: Arrays = .brackets, nesting: Nesting = .brackets,
        booleans: Booleans = .numbers, dates: Dates = .iso8601, bytes: Bytes = .base64, nils: Nils = .omitted,
        spaces: Spaces = .percent, escaping: Escaping = .lettersAndDigits
    ) {
        (self.keys, self.bytes) = (keys, bytes)
        (self.arrays, self.nesting, self.booleans, self.dates) = (arrays, nesting, booleans, dates)
        (self.nils, self.spaces, self.escaping) = (nils, spaces, escaping)
    }

    /// An encoder that escapes names and values like the serializer in the WHATWG URL Standard, 5.2, and writes a space
    /// as `+`.
    public static let whatwg = FormEncoder(spaces: .plus, escaping: .whatwg)

    var escapeSet: EscapeSet {
        switch (escaping, spaces) {
        case (.lettersAndDigits, .percent): .alphanumeric
        case (.lettersAndDigits, .plus): .alphanumericPlus
        case (.unreserved, .percent): .unreserved
        case (.unreserved, .plus): .unreservedPlus
        case (.whatwg, .percent): .formSerializer
        case (.whatwg, .plus): .formSerializerPlus
        }
    }

    /// Returns the name of a property.
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
        let writer = FormWriter(self)
        try writer.write(value, at: nil)
        return writer.data
    }
}
