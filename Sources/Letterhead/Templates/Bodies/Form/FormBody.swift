// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A body with the names and values of a form (`application/x-www-form-urlencoded`). Use it for sign-in and token
/// endpoints and for HTML forms; to send files, use ``MultipartBody``.
///
/// ```swift
/// FormBody(["grant_type": "password", "scope": scopes])       // in this order
/// FormBody(values)                                            // a dictionary, sorted by name
/// FormBody(encoding: order)                                   // any Encodable
/// FormBody(["q": "a b"], spaces: .plus)                       // q=a+b
/// ```
///
/// Everything except ASCII letters, digits and `*-._` is percent-encoded (URL Standard, 5.2). `spaces`, or else the
/// encoder, determines how a space is written, by default as `%20`. A value of nil is omitted, as in a query. Write `""`
/// for `name=`. If a value cannot be encoded, the request fails with `.invalidRequest` and the underlying
/// `EncodingError`.
public struct FormBody: HTTPBody {
    public var additionalHeaders: HTTPHeaders = [
        .contentType: "application/x-www-form-urlencoded; charset=utf-8"
    ]
    private let content: Content

    private enum Content: Sendable {
        case pairs(FormPairs)
        case made(@Sendable () throws -> Data)
    }

    /// Creates a form from items in order: strings, numbers, booleans, dates, or nested values. Several items may have
    /// the same name, and items with the value nil are omitted.
    public init(
        _ items: KeyValuePairs<String, (any Encodable & Sendable)?>, spaces: FormEncoder.Spaces? = nil,
        encoder: FormEncoder = FormEncoder()
    ) {
        self.init(items.compactMap { item in item.value.map { (item.key, $0) } }, encoder.with(spaces))
    }

    /// Creates a form from query items in order. They are strings already, so only how the encoder writes spaces
    /// matters. An item without a value is written as `name=`.
    public init(
        _ items: [URLQueryItem], spaces: FormEncoder.Spaces? = nil, encoder: FormEncoder = FormEncoder()
    ) {
        content = .pairs(FormPairs(items, encoder.with(spaces)))
    }

    /// Creates a form from a dictionary variable, sorted by name. A literal creates ordered items instead.
    // With further parameters, the compiler would prefer this initializer for some literals.
    @_disfavoredOverload
    public init(_ values: [String: any Encodable & Sendable]) { self.init(dictionary: values) }

    /// Creates a form from a dictionary, sorted by name, with other rules for spaces or values.
    public init(
        dictionary: [String: any Encodable & Sendable], spaces: FormEncoder.Spaces? = nil,
        encoder: FormEncoder = FormEncoder()
    ) {
        self.init(dictionary.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, encoder.with(spaces))
    }

    /// Creates a form from the properties of a value, or from a dictionary. The value must have names at its top level.
    public init(
        encoding value: some Encodable & Sendable, spaces: FormEncoder.Spaces? = nil,
        encoder: FormEncoder = FormEncoder()
    ) {
        let encoder = encoder.with(spaces)
        content = .made { try encoder.encode(value) }
    }

    private init(_ items: [(String, any Encodable & Sendable)], _ encoder: FormEncoder) {
        let texts = items.compactMap { item in (item.1 as? String).map { URLQueryItem(name: item.0, value: $0) } }
        if texts.count == items.count {
            content = .pairs(FormPairs(texts, encoder))
        } else {
            content = .made {
                let writer = FormWriter(encoder, escaping: encoder.escapeSet)
                for (name, value) in items { try writer.write(value, at: FormPath(nil, name: name)) }
                return writer.data
            }
        }
    }

    /// Whether the form has no items; false if this is known only after the values have been encoded.
    public var isEmpty: Bool {
        if case .pairs(let pairs) = content { pairs.isEmpty } else { false }
    }

    /// The number of bytes; nil if it is known only after the values have been encoded.
    public var contentLength: Int? {
        if case .pairs(let pairs) = content { pairs.length } else { nil }
    }

    public func encode() throws -> Data {
        switch content {
        case .pairs(let pairs): pairs.data
        case .made(let make): try make()
        }
    }
}

extension FormBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The media type and the length.
    public var description: String { Redaction.outline(of: self, headers: additionalHeaders) }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(describing: self) }
}

extension QueryParameters {
    /// Creates a query from the properties of a value.
    ///
    /// ```swift
    /// struct Filter: Encodable, Sendable { var state = "open"; var labels = ["a", "b"]; var perPage: Int? }
    /// var query: QueryParameters { QueryParameters(encoding: filter) }   // state=open&labels=a&labels=b
    /// ```
    ///
    /// The encoder determines how values are named and written, and the query how they are escaped. The default is the
    /// form of a query literal, in which an array has one item for each element.
    ///
    /// If the value has no names at its top level, as an array, or if it cannot be encoded, the request is refused with
    /// `.invalidRequest` before anything is sent.
    public init(
        encoding value: some Encodable, encoder: FormEncoder = FormEncoder(arrays: .repeated)
    ) {
        do {
            let text = String(decoding: try encoder.encode(value, escaping: .unreserved), as: UTF8.self)
            if text.isEmpty { self.init() } else { self.init(escaped: text) }
        } catch {
            self.init([Item("\(type(of: value))", refused: HTTPError.summary(of: error))])
        }
    }
}
