public import Foundation

/// Names and values as an HTML form sends them, `application/x-www-form-urlencoded`.
///
/// ```swift
/// FormBody(["grant_type": "password", "scope": scopes])       // in the order written, repeats included
/// FormBody(encoding: order)                                   // any Encodable
/// FormBody(["q": "a b"], spaces: .plus)                       // q=a+b
/// ```
///
/// Everything but ASCII letters and digits is escaped, unless the encoder says otherwise. An item without a value is
/// `name=`. What cannot be encoded fails the load as `.invalidRequest`, with the `EncodingError` underneath.
public struct FormBody: HTTPBody {
    /// The headers that come with it.
    public var additionalHeaders: HTTPHeaders = [
        .contentType: "application/x-www-form-urlencoded; charset=utf-8"
    ]
    private let content: Content

    private enum Content: Sendable {
        case pairs(FormPairs)
        case made(@Sendable () throws -> Data)
    }

    /// Makes a form of items in the order written.
    ///
    /// - Parameters:
    ///   - items: texts, numbers, booleans, dates, or values with values within; nil is `name=`.
    ///   - spaces: how a space is written. Default: as the encoder has it, `%20`.
    ///   - encoder: how values are named and written.
    public init(
        _ items: KeyValuePairs<String, (any Encodable & Sendable)?>, spaces: FormEncoder.Spaces? = nil,
        encoder: FormEncoder = FormEncoder()
    ) {
        self.init(items.map { ($0.key, $0.value) }, encoder.with(spaces))
    }

    /// Makes a form of query items, in their order.
    ///
    /// - Parameters:
    ///   - items: names and values; one without a value is `name=`.
    ///   - spaces: how a space is written. Default: as the encoder has it, `%20`.
    ///   - encoder: how values are written.
    public init(
        _ items: [URLQueryItem], spaces: FormEncoder.Spaces? = nil, encoder: FormEncoder = FormEncoder()
    ) {
        content = .pairs(FormPairs(items, encoder.with(spaces)))
    }

    /// Makes a form of a dictionary, sorted by name.
    ///
    /// - Parameters:
    ///   - dictionary: the items.
    ///   - spaces: how a space is written. Default: as the encoder has it, `%20`.
    ///   - encoder: how values are named and written.
    public init(
        dictionary: [String: any Encodable & Sendable], spaces: FormEncoder.Spaces? = nil,
        encoder: FormEncoder = FormEncoder()
    ) {
        self.init(dictionary.sorted { $0.key < $1.key }.map { ($0.key, Optional($0.value)) }, encoder.with(spaces))
    }

    /// Makes a form of the properties of a value.
    ///
    /// - Parameters:
    ///   - value: what has names at its top: a type with properties, or a dictionary.
    ///   - spaces: how a space is written. Default: as the encoder has it, `%20`.
    ///   - encoder: how values are named and written.
    public init(
        encoding value: some Encodable & Sendable, spaces: FormEncoder.Spaces? = nil,
        encoder: FormEncoder = FormEncoder()
    ) {
        let encoder = encoder.with(spaces)
        content = .made { try encoder.encode(value) }
    }

    private init(_ items: [(String, (any Encodable & Sendable)?)], _ encoder: FormEncoder) {
        let texts = items.compactMap { item in
            ((item.1 ?? "") as? String).map { URLQueryItem(name: item.0, value: $0) }
        }
        if texts.count == items.count {
            content = .pairs(FormPairs(texts, encoder))
        } else {
            content = .made {
                let writer = FormWriter(encoder)
                for (name, value) in items {
                    let value: any Encodable & Sendable = value ?? ""
                    try writer.write(value, at: FormPath(nil, name: name))
                }
                return writer.data
            }
        }
    }

    /// Whether there are no items.
    public var isEmpty: Bool {
        if case .pairs(let pairs) = content { pairs.isEmpty } else { false }
    }

    /// How many bytes it has; nil when that is known only when the values are encoded.
    public var contentLength: Int? {
        if case .pairs(let pairs) = content { pairs.length } else { nil }
    }

    /// The form.
    ///
    /// - Throws: `EncodingError` for a value that cannot be encoded.
    public func encode() throws -> Data {
        switch content {
        case .pairs(let pairs): pairs.data
        case .made(let make): try make()
        }
    }
}

extension FormBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The beginning of the form, with the values of secret names redacted.
    public var description: String { Redaction.standard.text(of: self, headers: additionalHeaders) }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// The redacted text only, so that no dump prints a secret.
    public var customMirror: Mirror { Mirror(describing: self) }
}

extension QueryParameters {
    /// Makes a query of the properties of a value.
    ///
    /// ```swift
    /// struct Filter: Encodable, Sendable { var state = "open"; var labels = ["a", "b"]; var perPage: Int? }
    /// var query: QueryParameters { QueryParameters(encoding: filter) }   // state=open&labels=a&labels=b
    /// ```
    ///
    /// A value that has no names at its top, such as an array, or that cannot be encoded, has the request refused with
    /// `.invalidRequest` before anything is sent.
    ///
    /// - Parameters:
    ///   - value: a value with properties, or a dictionary.
    ///   - encoder: how values are named and written; the query itself decides how they are escaped. Default: as a query
    ///     literal writes them: arrays repeat their name, booleans are words, nil is left out.
    public init(
        encoding value: some Encodable, encoder: FormEncoder = FormEncoder(arrays: .repeated, booleans: .words)
    ) {
        var encoder = encoder
        (encoder.spaces, encoder.escaping) = (.percent, .unreserved)
        do {
            let text = String(decoding: try encoder.encode(value), as: UTF8.self)
            if text.isEmpty { self.init() } else { self.init(escaped: text) }
        } catch {
            self.init([Item("\(type(of: value))", refused: HTTPError.summary(of: error))])
        }
    }
}
