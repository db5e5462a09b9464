// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// An encoder that writes properties as form items (`application/x-www-form-urlencoded`).
///
/// ```swift
/// FormEncoder()                       // {tags: [a, b], user: {isNew: false}} → tags[]=a&tags[]=b&user[isNew]=false
/// FormEncoder(.repeatedNames)         // tags=a&tags=b
/// FormEncoder(.snakeCase)             // user[is_new]=false
/// FormEncoder([.dots, .indices])      // tags[0]=a&tags[1]=b&user.isNew=false
/// FormEncoder(.plus)                  // a+b, and not a%20b
/// ```
///
/// The examples show the names before escaping. `tags[]` becomes `tags%5B%5D`.
///
/// - Properties keep the order in which their type encodes them, and dictionary keys are sorted.
/// - `Data` is written as Base64.
/// - A boolean is written as `true` or `false`.
/// - Nil is omitted.
///
/// To write a value in a different way, encode a string in the `encode(to:)` of its type.
public struct FormEncoder: HTTPBodyEncoder {
    /// How names, dates and spaces are written. By default, nested names are in brackets as PHP and Rails read them,
    /// property names are unchanged, a date is ISO 8601 in UTC (`2026-01-31T08:00:00Z`), and a space is `%20`.
    public struct Options: OptionSet, Hashable, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Writes the property `isNew` as `is_new`, and `myURLProperty` as `my_url_property`. Dictionary keys never
        /// change. For other names, declare `CodingKeys`.
        public static let snakeCase = Options(rawValue: 1)
        /// Writes nested properties with dots: `user.isNew=false`. Spring and ASP.NET Core read it, together with
        /// ``indices``. Dictionary keys stay in brackets.
        public static let dots = Options(rawValue: 2)
        /// Writes array names without brackets: `tags=a&tags=b`.
        public static let repeatedNames = Options(rawValue: 4)
        /// Writes an index for each element: `tags[0]=a&tags[1]=b`. It takes precedence over ``repeatedNames``.
        public static let indices = Options(rawValue: 8)
        /// Writes a date in seconds since 1970, with a fraction if it has one.
        public static let secondsSince1970 = Options(rawValue: 16)
        /// Writes a space as `+` instead of `%20`, as HTML forms do.
        public static let plus = Options(rawValue: 32)
    }

    /// How names, dates and spaces are written. Default: no option.
    public var options: Options

    /// Creates an encoder. Combine several options in a list, such as `[.dots, .indices]`.
    public init(_ options: Options = []) { self.options = options }

    /// Returns a value encoded as a form.
    ///
    /// - Throws: `EncodingError` for a value without names at its top level, such as an array, for an infinite number
    ///   or NaN, and for a date that ISO 8601 cannot represent.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data { try form { try $0.encode(value) } }

    /// Returns the form that a closure writes.
    ///
    /// - Parameter set: the bytes that are escaped. Default: nil (as in a form, with spaces as the options require).
    func form(escaping set: EscapeSet? = nil, _ write: (FormValueEncoder) throws -> Void) rethrows -> Data {
        let writer = FormWriter(options: options, set: set ?? (options.contains(.plus) ? .formPlus : .form))
        try write(FormValueEncoder(writer: writer, name: nil, path: [], key: nil))
        return Data(writer.bytes)
    }
}

/// The bytes of one form. All encoding containers append to them. A writer is used only within the call that creates
/// it.
final class FormWriter {
    let options: FormEncoder.Options
    private let set: EscapeSet
    private(set) var bytes: [UInt8] = []

    init(options: FormEncoder.Options, set: EscapeSet) {
        (self.options, self.set) = (options, set)
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

/// A dictionary key, or an element position.
struct FormKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = (String(intValue), intValue) }
}
