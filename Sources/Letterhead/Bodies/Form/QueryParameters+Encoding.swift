import Foundation

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
