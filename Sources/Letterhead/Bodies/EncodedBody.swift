public import Foundation

/// Any value, encoded by any encoder when the request is sent.
///
/// ```swift
/// EncodedBody(settings, encoder: PropertyListEncoder(), contentType: "application/x-plist")
/// ```
///
/// What the encoder throws fails the load as `.invalidRequest`, with that error underneath; nothing is sent.
public struct EncodedBody: HTTPBody {
    /// The headers that come with it.
    public var additionalHeaders: HTTPHeaders
    private let make: @Sendable () throws -> Data

    /// Makes a body of a value.
    ///
    /// - Parameters:
    ///   - value: what to send.
    ///   - encoder: what turns it into bytes.
    ///   - contentType: what the bytes are.
    ///   - additionalHeaders: further headers; a Content-Type among them wins. Default: none.
    public init(
        _ value: some Encodable & Sendable, encoder: some HTTPBodyEncoder, contentType: MediaType,
        additionalHeaders: HTTPHeaders = [:]
    ) {
        make = { try encoder.encode(value) }
        self.additionalHeaders = additionalHeaders.describing(contentType)
    }

    /// The bytes, made anew.
    ///
    /// - Throws: what the encoder throws.
    public func encode() throws -> Data { try make() }
}

/// Turns values into bytes: `JSONEncoder`, `PropertyListEncoder`, or one of your own for another format.
///
/// Use: hand one to ``EncodedBody`` or ``JSONBody``. Write one: a single function, called when the request is sent, and
/// once more for each repeat. Law: the same value gives the same bytes, and what cannot be encoded throws.
///
/// ```swift
/// struct LinesEncoder: HTTPBodyEncoder {
///     func encode<Value: Encodable>(_ value: Value) throws -> Data { … }
/// }
/// ```
public protocol HTTPBodyEncoder: Sendable {
    /// The bytes of a value.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension JSONEncoder: HTTPBodyEncoder {}
extension PropertyListEncoder: HTTPBodyEncoder {}
