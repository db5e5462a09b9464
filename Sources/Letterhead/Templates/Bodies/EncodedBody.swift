// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A body that encodes a value with any encoder when the request is sent. Use ``JSONBody`` for JSON, and ``FormBody``
/// for a form.
///
/// ```swift
/// EncodedBody(settings, encoder: PropertyListEncoder(), contentType: "application/x-plist")
/// ```
///
/// If the encoder throws, sending fails with `.invalidRequest` and the underlying error before anything is sent.
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

/// Encodes a value to a body's bytes: `JSONEncoder`, `PropertyListEncoder`, or a custom encoder for another format.
///
/// Pass an encoder to ``EncodedBody`` or ``JSONBody``. To write one, implement a single function. Sending the request
/// calls it once, and every attempt sends its bytes. Throw an error for a value that you cannot encode.
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

/// A body that encodes a value as JSON (RFC 8259) when the request is sent. Use it for any `Encodable` value. For a few
/// named values without a type, ``RequestTemplate/parameters`` are shorter.
///
/// ```swift
/// JSONBody(user)
/// JSONBody(user, encoder: snakeCase)
/// ```
///
/// If JSON cannot represent a value, such as an infinite number, sending fails with `.invalidRequest` and the
/// underlying `EncodingError` before anything is sent. The body is never empty: even an empty string has two bytes in
/// JSON.
public struct JSONBody: HTTPBody {
    public var additionalHeaders: HTTPHeaders
    /// A closure, so that the body's description doesn't contain the value.
    private let make: @Sendable (any HTTPBodyEncoder) throws -> Data
    fileprivate var encoder: (any HTTPBodyEncoder)?

    /// Creates a body from a value. The encoder names the keys and formats dates. Default: the request's or the
    /// client's encoder (``RequestSettings/encoder``), or else one that sorts the keys and doesn't escape slashes. A
    /// Content-Type among the `additionalHeaders` takes precedence over `contentType`.
    public init(
        _ value: some Encodable & Sendable, encoder: (any HTTPBodyEncoder)? = nil,
        contentType: MediaType = .json, additionalHeaders: HTTPHeaders = [:]
    ) {
        make = { try $0.encode(value) }
        self.encoder = encoder
        self.additionalHeaders = additionalHeaders.describing(contentType)
    }

    /// Returns the JSON. A request calls this once and keeps the bytes.
    public func encode() throws -> Data { try make(encoder ?? JSONEncoder.standard) }
}

extension JSONEncoder {
    /// The encoder for bodies without one. The same value always has the same text.
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
    /// The encoder for each ``JSONBody`` that doesn't set one, also in a compressed body and in multipart parts.
    /// Default: nil (the client encoder, or otherwise one with sorted keys and plain slashes).
    ///
    /// A client applies it when you send the request, and ``StandardRequestBuilder`` when you build it. It doesn't
    /// apply to ``RequestTemplate/parameters``.
    public var encoder: (any HTTPBodyEncoder)? {
        get { self[option: BodyEncoderOption.self] }
        set { self[option: BodyEncoderOption.self] = newValue }
    }
}

extension RequestConfigurable {
    /// Sets the encoder for each ``JSONBody`` that doesn't set one. See ``RequestSettings/encoder``.
    public func encoder(_ encoder: (any HTTPBodyEncoder)?) -> Configured {
        configured { $0.encoder = encoder }
    }
}

extension HTTPBody {
    /// Returns the body with an encoder for each ``JSONBody`` without one. Nil if the body contains no such
    /// ``JSONBody``, or if its bytes are decided.
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
    /// Passes the request encoder to the body.
    mutating func passEncoder() {
        if let encoder, let body = body.taking(encoder) { self.body = body }
    }
}
