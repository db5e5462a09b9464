public import Foundation

/// A body that encodes a value as JSON (RFC 8259) when the request is sent.
///
/// ```swift
/// JSONBody(user)
/// JSONBody(user, encoder: snakeCase)
/// ```
///
/// The body is never empty: even an empty string is encoded as two bytes. If JSON cannot represent a value, such as a
/// number that is not finite, the request fails with `.invalidRequest` and the underlying `EncodingError`, and nothing
/// is sent.
public struct JSONBody: HTTPBody {
    /// The headers of the body.
    public var additionalHeaders: HTTPHeaders
    private let make: @Sendable () throws -> Data

    /// Creates a body from a value.
    ///
    /// - Parameters:
    ///   - value: the value to send.
    ///   - encoder: encodes the value. The settings of the encoder determine the names and the order of the keys, and
    ///     how dates are written. Default: a new `JSONEncoder`.
    ///   - contentType: the media type. Default: `application/json; charset=utf-8`.
    ///   - additionalHeaders: further headers. A Content-Type among them takes precedence. Default: empty.
    public init(
        _ value: some Encodable & Sendable, encoder: some HTTPBodyEncoder = JSONEncoder(),
        contentType: MediaType = "application/json; charset=utf-8", additionalHeaders: HTTPHeaders = [:]
    ) {
        make = { try encoder.encode(value) }
        self.additionalHeaders = additionalHeaders.describing(contentType)
    }

    /// Returns the JSON. The value is encoded each time.
    ///
    /// - Throws: the `EncodingError` of the encoder.
    public func encode() throws -> Data { try make() }
}
