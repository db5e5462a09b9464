// SPDX-License-Identifier: MIT
public import Foundation

/// A body that encodes a value with any encoder when the request is sent. For JSON, use ``JSONBody``; for a form,
/// ``FormBody``.
///
/// ```swift
/// EncodedBody(settings, encoder: PropertyListEncoder(), contentType: "application/x-plist")
/// ```
///
/// If the encoder throws, the request fails with `.invalidRequest` and the underlying error, and nothing is sent.
public struct EncodedBody: HTTPBody {
    public var additionalHeaders: HTTPHeaders
    private let make: @Sendable () throws -> Data

    /// Creates a body from a value. A Content-Type among the `additionalHeaders` takes precedence over `contentType`.
    public init(
        _ value: some Encodable & Sendable, encoder: some HTTPBodyEncoder, contentType: MediaType,
        additionalHeaders: HTTPHeaders = [:]
    ) {
        make = { try encoder.encode(value) }
        self.additionalHeaders = additionalHeaders.describing(contentType)
    }

    public func encode() throws -> Data { try make() }
}

/// A type that encodes a value to the bytes of a body: `JSONEncoder`, `PropertyListEncoder`, or a custom encoder for
/// another format.
///
/// Pass an encoder to ``EncodedBody`` or ``JSONBody``. To write one, implement a single function, which is called when
/// the request is sent, and again for each retry. It throws an error if a value cannot be encoded.
///
/// Law: the same value is always encoded to the same bytes.
///
/// ```swift
/// struct LinesEncoder: HTTPBodyEncoder {
///     func encode<Value: Encodable>(_ value: Value) throws -> Data { … }
/// }
/// ```
public protocol HTTPBodyEncoder: Sendable {
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension JSONEncoder: HTTPBodyEncoder {}
extension PropertyListEncoder: HTTPBodyEncoder {}

/// A body that encodes a value as JSON (RFC 8259) when the request is sent. Use it for any `Encodable` value; for named
/// values that you write in place, ``RequestTemplate/parameters`` are shorter.
///
/// ```swift
/// JSONBody(user)
/// JSONBody(user, encoder: snakeCase)
/// ```
///
/// If JSON cannot represent a value, such as a number that is not finite, the request fails with `.invalidRequest` and
/// the underlying `EncodingError`, and nothing is sent. The body is never empty: even an empty string is encoded as two
/// bytes.
public struct JSONBody: HTTPBody {
    public var additionalHeaders: HTTPHeaders
    private let make: @Sendable () throws -> Data

    /// Creates a body from a value. The encoder determines the names and the order of the keys, and how dates are
    /// written; a plain `JSONEncoder` is the default. A Content-Type among the `additionalHeaders` takes precedence
    /// over `contentType`.
    public init(
        _ value: some Encodable & Sendable, encoder: some HTTPBodyEncoder = JSONEncoder(),
        contentType: MediaType = "application/json; charset=utf-8", additionalHeaders: HTTPHeaders = [:]
    ) {
        make = { try encoder.encode(value) }
        self.additionalHeaders = additionalHeaders.describing(contentType)
    }

    /// Returns the JSON. The value is encoded each time.
    public func encode() throws -> Data { try make() }
}
