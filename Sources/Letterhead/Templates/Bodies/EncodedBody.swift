// SPDX-License-Identifier: MIT
public import LetterheadFoundation

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
/// the request is sent. Every attempt sends these bytes. It throws an error if a value cannot be encoded.
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
    /// A closure, so that a description of the body does not contain the value.
    private let make: @Sendable (any HTTPBodyEncoder) throws -> Data
    fileprivate var encoder: (any HTTPBodyEncoder)?

    /// Creates a body from a value. The encoder determines the names of the keys, and how dates are written. Default:
    /// the request's or the client's encoder (``RequestSettings/encoder``), or else one that sorts the keys and does not
    /// escape slashes. A Content-Type among the `additionalHeaders` takes precedence over `contentType`.
    public init(
        _ value: some Encodable & Sendable, encoder: (any HTTPBodyEncoder)? = nil,
        contentType: MediaType = "application/json; charset=utf-8", additionalHeaders: HTTPHeaders = [:]
    ) {
        make = { try $0.encode(value) }
        self.encoder = encoder
        self.additionalHeaders = additionalHeaders.describing(contentType)
    }

    /// Returns the JSON. A request calls it once, and keeps the bytes.
    public func encode() throws -> Data { try make(encoder ?? JSONEncoder.standard) }
}

extension JSONEncoder {
    /// The encoder of bodies that have no other: the same value is always the same text.
    static let standard: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
}

enum BodyEncoderOption: HTTPRequestOption {
    static let defaultOptionValue: (any HTTPBodyEncoder)? = nil
}

extension RequestSettings {
    /// The encoder of each ``JSONBody`` that is created without one, also in a compressed body and in the parts of a form.
    /// A client applies it when the request is sent, and ``StandardRequestBuilder`` when the request is built. It does
    /// not apply to ``RequestTemplate/parameters``. Default: nil (the client's encoder, or else sorted keys and plain
    /// slashes).
    public var encoder: (any HTTPBodyEncoder)? {
        get { self[option: BodyEncoderOption.self] }
        set { self[option: BodyEncoderOption.self] = newValue }
    }
}

extension RequestConfigurable {
    /// Sets the encoder of a ``JSONBody`` that has none; see ``RequestSettings/encoder``.
    public func encoder(_ encoder: (any HTTPBodyEncoder)?) -> Configured {
        configured { $0.encoder = encoder }
    }
}

extension HTTPBody {
    /// Returns the body with an encoder for each ``JSONBody`` in it that has none; nil if there is no such body, or if its
    /// bytes are decided.
    func taking(_ encoder: any HTTPBodyEncoder) -> (any HTTPBody)? {
        switch self {
        case var json as JSONBody where json.encoder == nil:
            json.encoder = encoder
            return json
        case let once as EncodedOnce: return once.isDecided ? nil : once.base.taking(encoder).map { EncodedOnce($0) }
        case let steady as any SteadyBody: return steady.mapBodies { $0.taking(encoder) ?? $0 }
        default: return nil
        }
    }
}

extension HTTPRequest {
    /// Passes the encoder of the request to its body.
    mutating func passEncoder() {
        if let encoder, let body = body.taking(encoder) { self.body = body }
    }
}
