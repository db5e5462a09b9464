public import Foundation

/// A body that encodes a value with any encoder when the request is sent.
///
/// ```swift
/// EncodedBody(settings, encoder: PropertyListEncoder(), contentType: "application/x-plist")
/// ```
///
/// If the encoder throws, the request fails with `.invalidRequest` and the underlying error, and nothing is sent.
public struct EncodedBody: HTTPBody {
    /// The headers of the body.
    public var additionalHeaders: HTTPHeaders
    private let make: @Sendable () throws -> Data

    /// Creates a body from a value.
    ///
    /// - Parameters:
    ///   - value: the value to send.
    ///   - encoder: encodes the value.
    ///   - contentType: the media type of the encoded bytes.
    ///   - additionalHeaders: further headers. A Content-Type among them takes precedence. Default: empty.
    public init(
        _ value: some Encodable & Sendable, encoder: some HTTPBodyEncoder, contentType: MediaType,
        additionalHeaders: HTTPHeaders = [:]
    ) {
        make = { try encoder.encode(value) }
        self.additionalHeaders = additionalHeaders.describing(contentType)
    }

    /// Returns the encoded bytes. The value is encoded each time.
    ///
    /// - Throws: the error of the encoder.
    public func encode() throws -> Data { try make() }
}

/// A type that encodes a value to the bytes of a body: `JSONEncoder`, `PropertyListEncoder`, or a custom encoder for
/// another format.
///
/// To use an encoder, pass it to ``EncodedBody`` or ``JSONBody``. To write one, implement a single function, which is
/// called when the request is sent, and again for each retry.
///
/// Laws:
///
/// - The same value is always encoded to the same bytes.
/// - If a value cannot be encoded, the function throws an error.
///
/// ```swift
/// struct LinesEncoder: HTTPBodyEncoder {
///     func encode<Value: Encodable>(_ value: Value) throws -> Data { … }
/// }
/// ```
public protocol HTTPBodyEncoder: Sendable {
    /// Returns the bytes of a value.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension JSONEncoder: HTTPBodyEncoder {}
extension PropertyListEncoder: HTTPBodyEncoder {}

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
