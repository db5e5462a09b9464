public import Foundation

/// How values become the names and values of a form (`application/x-www-form-urlencoded`).
///
/// ```swift
/// FormEncoder()                       // {tags: [a, b], user: {isNew: false}} → tags[]=a&tags[]=b&user[isNew]=0, escaped
/// FormEncoder.whatwg                  // as a browser's URLSearchParams writes it
/// FormEncoder(arrays: .repeated)      // tags=a&tags=b
/// FormEncoder(keys: .snakeCase)       // user[is_new]=0
/// FormEncoder(escaping: .unreserved)  // leaves - _ . ~ as they are
/// ```
///
/// The properties of a type stand in the order in which it encodes them, the keys of a dictionary are sorted.
public struct FormEncoder: HTTPBodyEncoder {
    /// How the properties of a type are named. The keys of a dictionary are never changed.
    public enum Keys: Sendable {
        /// As the type names them.
        case asWritten
        /// `isNew` is `is_new`, and `myURLProperty` is `my_url_property`.
        case snakeCase
        /// As a closure names them.
        case custom(@Sendable (String) -> String)
    }

    /// How an element of an array is named.
    public enum Arrays: Hashable, Sendable {
        /// `tags[]=a&tags[]=b`
        case brackets
        /// `tags=a&tags=b`
        case repeated
        /// `tags[0]=a&tags[1]=b`
        case indexed
    }

    /// How a value within a value is named.
    public enum Nesting: Hashable, Sendable {
        /// `user[name]=ada`
        case brackets
        /// `user.name=ada`
        case dots
    }

    /// How true and false are written.
    public enum Booleans: Hashable, Sendable {
        /// `1` and `0`
        case numbers
        /// `true` and `false`
        case words
    }

    /// How a point in time is written.
    public enum Dates: Sendable {
        /// In UTC as ISO 8601, `2026-01-31T08:00:00Z`.
        case iso8601
        /// In seconds since 1970, with a fraction when there is one.
        case seconds
        /// In whole milliseconds since 1970.
        case milliseconds
        /// As a closure writes it. What it throws fails the encoding.
        case custom(@Sendable (Date) throws -> String)
    }

    /// How `Data` is written.
    public enum Bytes: Sendable {
        /// In Base64 (RFC 4648, 4).
        case base64
        /// As a closure writes it. What it throws fails the encoding.
        case custom(@Sendable (Data) throws -> String)
    }

    /// What becomes of nil.
    public enum Nils: Hashable, Sendable {
        /// It is left out.
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

    /// Which bytes stay as they are.
    public enum Escaping: Hashable, Sendable {
        /// ASCII letters and digits only.
        case lettersAndDigits
        /// The unreserved characters of RFC 3986, 2.3: ASCII letters, digits and `-._~`.
        case unreserved
        /// ASCII letters, digits and `*-._`, the set of the WHATWG's URL standard, 5.2.
        case whatwg
    }

    /// How the properties of a type are named.
    public var keys: Keys
    /// How an element of an array is named.
    public var arrays: Arrays
    /// How a value within a value is named.
    public var nesting: Nesting
    /// How true and false are written.
    public var booleans: Booleans
    /// How a point in time is written.
    public var dates: Dates
    /// How `Data` is written.
    public var bytes: Bytes
    /// What becomes of nil.
    public var nils: Nils
    /// How a space is written.
    public var spaces: Spaces
    /// Which bytes stay as they are.
    public var escaping: Escaping

    /// Makes an encoder; what is not said is as the first case of each choice has it.
    public init(
        keys: Keys = .asWritten, arrays: Arrays = .brackets, nesting: Nesting = .brackets,
        booleans: Booleans = .numbers, dates: Dates = .iso8601, bytes: Bytes = .base64, nils: Nils = .omitted,
        spaces: Spaces = .percent, escaping: Escaping = .lettersAndDigits
    ) {
        (self.keys, self.bytes) = (keys, bytes)
        (self.arrays, self.nesting, self.booleans, self.dates) = (arrays, nesting, booleans, dates)
        (self.nils, self.spaces, self.escaping) = (nils, spaces, escaping)
    }

    /// The serialiser of the WHATWG's URL standard, 5.2: its set of characters, spaces as `+`.
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

    /// The name of a property.
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

    /// The form of a value.
    ///
    /// - Throws: `EncodingError` for a value that has no names at its top, such as an array, and for a number that is not
    ///   finite.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        let writer = FormWriter(self)
        try writer.write(value, at: nil)
        return writer.data
    }
}
