// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// Decodes values from response bytes: `JSONDecoder`, `PropertyListDecoder`, or a custom decoder.
///
/// ```swift
/// let decoder = JSONDecoder()
/// decoder.dateDecodingStrategy = .iso8601
/// let client = HTTPClient(environment: .production, decoder: decoder)
/// ```
///
/// ## Use a decoder
///
/// Set date and key strategies on the decoder, and pass it to a client, or to one endpoint with
/// ``RequestConfigurable/decoder(_:)``. ``RequestTemplate/decode(_:)`` calls it after the status check, never on the
/// main actor. To choose a decoder by the response media type, use ``MediaTypeDecoder``.
///
/// With a `JSONDecoder`, a member name with more than 30 consecutive combining characters is `.cannotDecodeResponse`,
/// because comparing such names takes quadratic time. With `allowsJSON5`, so are these characters in any other text. A
/// custom decoder receives all bodies.
///
/// ## Implement a decoder
///
/// To support a different format, implement ``decode(_:from:)``. Law: a decoder keeps no state between calls.
public protocol HTTPBodyDecoder: Sendable {
    /// The supported media types, sent in `Accept` if the request doesn't set it. Default: none.
    var mediaTypes: [MediaType] { get }

    /// Decodes a value from a complete body. A thrown error becomes the underlying error of a `.cannotDecodeResponse`.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value

    /// Returns the decoder for a media type. Default: this decoder, for every type.
    func decoder(for mediaType: MediaType?) throws -> any HTTPBodyDecoder
}

extension HTTPBodyDecoder {
    public var mediaTypes: [MediaType] { [] }

    public func decoder(for mediaType: MediaType?) throws -> any HTTPBodyDecoder { self }
}

extension JSONDecoder: HTTPBodyDecoder {
    /// `application/json` and `application/problem+json`.
    ///
    /// Set `allowsJSON5` only for servers that you trust, because a malformed JSON5 text can crash the process.
    public var mediaTypes: [MediaType] { [.json, .problemJSON] }
}

extension PropertyListDecoder: HTTPBodyDecoder {
    public var mediaTypes: [MediaType] { ["application/x-plist"] }
}

extension HTTPBodyDecoder {
    /// The value of `Accept` for this decoder, or nil if it declares no media types.
    var accept: String? { mediaTypes.isEmpty ? nil : mediaTypes.map(\.description).joined(separator: ", ") }
}

extension HTTPRequest {
    /// Sets `Accept` (RFC 9110, 12.5.1) to the media types of the decoder that will read the response. It does nothing
    /// if the request or its client sets the header. An environment or body header replaces it.
    ///
    /// Only this function decides the value, once for each request whose response a decoder reads. `HTTPClient.adopt`
    /// calls it for a client, `Load.begin` without a client, and ``HTTPRetryStrategy`` for an alternate.
    ///
    /// - Parameter standard: the value for a request that sets no decoder. Nil if the client decoder has no media
    ///   types.
    mutating func accept(orElse standard: String?) {
        if let types = decoder.map(\.accept) ?? standard { headers.append(fallback: .accept, types) }
    }
}

extension HTTPBodyDecoder {
    /// Decodes a body without a UTF-8 byte order mark, which JSON texts should not contain but some do (RFC 8259, 8.1).
    package func value<Value: Decodable>(of type: Value.Type, from body: Data) throws -> Value {
        guard let decoder = self as? JSONDecoder else { return try decode(type, from: body.withoutByteOrderMark) }
        let text = body.jsonInUTF8.withoutByteOrderMark
        if decoder.allowsJSON5 || decoder.assumesTopLevelDictionary {
            // Foundation reads a number to the byte after it, even if that is after the end of the text, and traps on a
            // name that is not UTF-8.
            guard let valid = String(validating: text, as: UTF8.self) else {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "the JSON is not UTF-8"))
            }
            try JSONText.checkNames(of: text, isJSON5: decoder.allowsJSON5)
            return try decoder.decode(type, from: Data((valid + " ").utf8))
        }
        // A subclass may decode differently.
        if Swift.type(of: decoder) == JSONDecoder.self, JSONText.parses(type) {
            return try JSONText.value(of: type, from: text)
        }
        try JSONText.checkNames(of: text)
        return try decoder.decode(type, from: text)
    }
}

extension Data {
    var withoutByteOrderMark: Data {
        first == 0xEF && starts(with: [0xEF, 0xBB, 0xBF]) ? Data(dropFirst(3)) : self
    }

    /// A JSON text in UTF-8. In a text in UTF-16 or UTF-32, the first two bytes contain a zero or a byte order mark.
    fileprivate var jsonInUTF8: Data {
        guard count > 1 else { return self }
        let (first, second) = (self[startIndex], self[startIndex + 1])
        guard first >= 0xFE || first == 0 || second == 0 else { return self }
        let isBig = first == 0 || first == 0xFE
        let isWide = starts(with: [0, 0]) || prefix(4).dropFirst(2).elementsEqual([0, 0])
        let encoding: String.Encoding =
            isWide
            ? isBig ? .utf32BigEndian : .utf32LittleEndian : isBig ? .utf16BigEndian : .utf16LittleEndian
        return String(data: self, encoding: encoding).map { Data($0.utf8) } ?? self
    }
}

enum ResponseDecoderOption: HTTPRequestOption {
    static let defaultOptionValue: (any HTTPBodyDecoder)? = nil
}

extension RequestSettings {
    /// The decoder for the response. Default: nil (the client decoder, or a plain `JSONDecoder` without a client).
    public var decoder: (any HTTPBodyDecoder)? {
        get { self[option: ResponseDecoderOption.self] }
        set { self[option: ResponseDecoderOption.self] = newValue }
    }
}

/// Chooses a decoder by the response media type. Use it if the endpoints that you call respond in several formats, such
/// as JSON and property lists.
///
/// ```swift
/// let decoder = MediaTypeDecoder([(.json, JSONDecoder()), ("application/x-plist", PropertyListDecoder())])
/// ```
///
/// - `Accept` lists the types in this order.
/// - A type that ends in `+json` is decoded as JSON if no decoder has that type.
/// - The first decoder decodes a response without a type.
/// - Any other type is an error that names the type.
public struct MediaTypeDecoder: HTTPBodyDecoder {
    private let decoders: [(type: MediaType, decoder: any HTTPBodyDecoder)]

    /// Creates a decoder from several decoders, the preferred one first.
    public init(_ decoders: [(type: MediaType, decoder: any HTTPBodyDecoder)]) { self.decoders = decoders }

    /// The media types of all decoders, in order.
    public var mediaTypes: [MediaType] { decoders.map(\.type) }

    /// Decodes a value with the first decoder, as for a response without a media type.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try decoder(for: nil).value(of: type, from: data)
    }

    /// Returns the decoder for a media type.
    ///
    /// - Throws: ``HTTPBodyError/unreadable(mediaType:)`` if no decoder reads the type.
    public func decoder(for mediaType: MediaType?) throws -> any HTTPBodyDecoder {
        guard let mediaType else {
            guard let first = decoders.first?.decoder else { throw HTTPBodyError.unreadable(mediaType: nil) }
            return try first.decoder(for: nil)
        }
        let exact = decoders.first { $0.type.essence == mediaType.essence }
        let json = mediaType.isJSON ? decoders.first { $0.type.isJSON } : nil
        guard let match = exact ?? json else { throw HTTPBodyError.unreadable(mediaType: mediaType.essence) }
        return try match.decoder.decoder(for: mediaType)
    }
}
