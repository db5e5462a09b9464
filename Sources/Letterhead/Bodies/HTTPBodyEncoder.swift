public import Foundation

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
