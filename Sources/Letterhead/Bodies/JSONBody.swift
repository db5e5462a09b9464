public import Foundation

/// Any value as JSON (RFC 8259), encoded when the request is sent.
///
/// ```swift
/// JSONBody(user)
/// JSONBody(user, encoder: snakeCase)
/// ```
///
/// It is never empty: an empty text is two bytes of JSON. A value that JSON cannot hold, such as a number that is not
/// finite, fails the load as `.invalidRequest` with the `EncodingError` underneath; nothing is sent.
public struct JSONBody: HTTPBody {
    /// The headers that come with it.
    public var additionalHeaders: HTTPHeaders
    private let make: @Sendable () throws -> Data

    /// Makes a body of a value.
    ///
    /// - Parameters:
    ///   - value: what to send.
    ///   - encoder: what turns it into JSON; keys, dates and order are its strategies. Default: a plain `JSONEncoder`.
    ///   - contentType: what it is called. Default: `application/json; charset=utf-8`.
    ///   - additionalHeaders: further headers; a Content-Type among them wins. Default: none.
    public init(
        _ value: some Encodable & Sendable, encoder: some HTTPBodyEncoder = JSONEncoder(),
        contentType: MediaType = "application/json; charset=utf-8", additionalHeaders: HTTPHeaders = [:]
    ) {
        make = { try encoder.encode(value) }
        self.additionalHeaders = additionalHeaders.describing(contentType)
    }

    /// The JSON, made anew.
    ///
    /// - Throws: the `EncodingError` of the encoder.
    public func encode() throws -> Data { try make() }
}
