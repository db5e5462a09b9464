// SPDX-License-Identifier: MIT
public import LetterheadFoundation

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
public typealias JSONBody = EncodedBody

/// A body that encodes a value when the request is sent: as JSON, under the name ``JSONBody``, or with any encoder and
/// its media type. Use ``FormBody`` for a form.
///
/// ```swift
/// EncodedBody(settings, encoder: PropertyListEncoder(), contentType: "application/x-plist")
/// ```
///
/// If the encoder throws, sending fails with `.invalidRequest` and the underlying error before anything is sent.
public struct EncodedBody: HTTPBody {
    /// The Content-Type of the body, and the additional headers that you passed.
    public var additionalHeaders: HTTPHeaders
    /// A closure, so that the description of the body doesn't contain the value.
    private let make: @Sendable (any HTTPBodyEncoder) throws -> Data
    fileprivate var encoder: (any HTTPBodyEncoder)?

    /// Creates a JSON body from a value. The encoder names the keys and formats dates. Default: the encoder of the
    /// request or the client (``RequestSettings/encoder``), or else one that sorts the keys and doesn't escape slashes.
    /// A Content-Type among the `additionalHeaders` takes precedence over `contentType`.
    public init(
        _ value: some Encodable & Sendable, encoder: JSONEncoder? = nil, contentType: MediaType = .json,
        additionalHeaders: HTTPHeaders = [:]
    ) {
        make = { try $0.encode(value) }
        self.encoder = encoder
        self.additionalHeaders = additionalHeaders.describing(contentType)
    }

    /// Creates a body from a value, in the format of any encoder. A Content-Type among the `additionalHeaders` takes
    /// precedence over `contentType`.
    public init(
        _ value: some Encodable & Sendable, encoder: any HTTPBodyEncoder, contentType: MediaType,
        additionalHeaders: HTTPHeaders = [:]
    ) {
        self.init(value, contentType: contentType, additionalHeaders: additionalHeaders)
        self.encoder = encoder
    }

    /// Returns the encoded value. A request calls this once and keeps the bytes.
    public func encode() throws -> Data { try make(encoder ?? JSONEncoder.standard) }
}

/// Encodes a value to the bytes of a body: `JSONEncoder`, `PropertyListEncoder`, or a custom encoder for a different
/// format.
///
/// Pass an encoder to ``EncodedBody`` with its media type. To write one, implement a single function. Sending the
/// request calls it once, and every attempt sends the same bytes.
///
/// ```swift
/// struct LinesEncoder: HTTPBodyEncoder {
///     func encode<Value: Encodable>(_ value: Value) throws -> Data { … }
/// }
/// ```
public protocol HTTPBodyEncoder: Sendable {
    /// Returns the bytes for a value. If it throws, the request fails with `.invalidRequest`, and nothing is sent.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension JSONEncoder: HTTPBodyEncoder {}
extension PropertyListEncoder: HTTPBodyEncoder {}

extension JSONEncoder {
    /// The encoder for bodies without one. It sorts the keys, so that the same value always has the same text.
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
        case var body as EncodedBody where body.encoder == nil:
            body.encoder = encoder
            return body
        case let once as EncodedOnce: return once.isDecided ? nil : once.base.taking(encoder).map { EncodedOnce($0) }
        case let steady as any SteadyBody: return steady.mapBodies { $0.taking(encoder) ?? $0 }
        default: return nil
        }
    }
}

extension HTTPRequest {
    mutating func passEncoder() {
        if let encoder, let body = body.taking(encoder) { self.body = body }
    }
}
