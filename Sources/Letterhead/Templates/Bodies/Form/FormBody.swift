// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A form as a request body: names and values (`application/x-www-form-urlencoded`).
///
/// ```swift
/// FormBody(["grant_type": "password", "scope": scopes])       // in this order
/// FormBody(values)                                            // a dictionary, sorted by name
/// FormBody(encoding: order)                                   // any Encodable
/// FormBody(["q": "a b"], encoder: FormEncoder(.plus))         // q=a+b
/// ```
///
/// Use it for sign-in and token endpoints and for HTML forms. To send files, use ``MultipartBody``.
///
/// - Everything except ASCII letters, digits and `*-._` is percent-encoded (URL Standard, 5.2). The encoder writes a
///   space as `%20` by default.
/// - A nil value is omitted, as in a query. Write `""` for `name=`.
/// - Creating the form encodes the values. If a value cannot be encoded, sending fails with `.invalidRequest` and the
///   underlying `EncodingError`.
public struct FormBody: HTTPBody, SteadyBody {
    /// The Content-Type of a form in UTF-8. Change it if the server expects a different one.
    public var additionalHeaders: HTTPHeaders = [
        .contentType: "application/x-www-form-urlencoded; charset=utf-8"
    ]
    private let form: Result<Data, any Error>

    /// Creates a form from items in order: strings, numbers, booleans, dates, or nested values. Several items may have
    /// the same name, and nil values are omitted.
    public init(
        _ items: KeyValuePairs<String, (any Encodable)?>, encoder: FormEncoder = FormEncoder()
    ) {
        form = Result { try encoder.form { try $0.encode(items.lazy.map { ($0.key, $0.value) }) } }
    }

    /// Creates a form from query items in order. An item without a value becomes `name=`.
    public init(_ items: [URLQueryItem], encoder: FormEncoder = FormEncoder()) {
        form = .success(encoder.form { for item in items { $0.writer.write(item.name, item.value ?? "") } })
    }

    /// Creates a form from a dictionary variable, sorted by name. A literal creates ordered items instead. To use a
    /// custom encoder, call ``init(encoding:encoder:)``.
    // With further parameters, the compiler would prefer this initializer for some literals.
    @_disfavoredOverload
    public init(_ values: [String: any Encodable]) {
        let items = values.sorted { $0.key < $1.key }
        form = Result { try FormEncoder().form { try $0.encode(items.lazy.map { ($0.key, $0.value) }) } }
    }

    /// Creates a form from any `Encodable` value with properties, or from a dictionary. The value must have names at
    /// its top level.
    public init(encoding value: some Encodable, encoder: FormEncoder = FormEncoder()) {
        form = Result { try encoder.encode(value) }
    }

    /// Whether the form has no items.
    public var isEmpty: Bool { contentLength == 0 }

    /// The number of bytes. Nil if a value cannot be encoded.
    public var contentLength: Int? { try? form.get().count }

    public func encode() throws -> Data { try form.get() }
}

extension FormBody: CustomStringConvertible, CustomReflectable {
    /// The media type and the length.
    public var description: String { Redaction.outline(of: self, headers: additionalHeaders) }
    public var customMirror: Mirror { Mirror(describing: self) }
}

extension QueryParameters {
    /// Creates a query from the properties of a value.
    ///
    /// ```swift
    /// struct Filter: Encodable, Sendable { var state = "open", labels = ["a", "b"], perPage: Int? }
    /// var query: QueryParameters { QueryParameters(encoding: filter) }   // state=open&labels=a&labels=b
    /// ```
    ///
    /// The encoder names and formats the values, and the query escapes them. By default, an array has one item for each
    /// element, as in a query literal.
    ///
    /// Sending fails with `.invalidRequest` if the value cannot be encoded, or has no names at its top level, such as
    /// an array.
    public init(
        encoding value: some Encodable, encoder: FormEncoder = FormEncoder(.repeatedNames)
    ) {
        do {
            let text = String(decoding: try encoder.form(escaping: .unreserved) { try $0.encode(value) }, as: UTF8.self)
            if text.isEmpty { self.init() } else { self.init(escaped: text) }
        } catch {
            self.init([Item("\(type(of: value))", refused: HTTPError.summary(of: error))])
        }
    }
}
