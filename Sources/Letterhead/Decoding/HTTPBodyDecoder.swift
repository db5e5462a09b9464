public import Foundation

/// Decodes values from the bytes of a response: `JSONDecoder`, `PropertyListDecoder`, or a custom decoder.
///
/// Pass a decoder to a client, or to one endpoint with ``RequestTemplate/decoder(_:)``. Date and key strategies are
/// settings of the decoder:
///
/// ```swift
/// let decoder = JSONDecoder()
/// decoder.dateDecodingStrategy = .iso8601
/// let client = HTTPClient(environment: .production, decoder: decoder)
/// ```
///
/// ``RequestTemplate/decode(_:)`` calls the decoder after the status was accepted, never on the main actor. To support
/// another format, implement ``decode(_:from:)``. Law: a decoder keeps no state between calls.
public protocol HTTPBodyDecoder: Sendable {
    /// The media types that the decoder supports. They are sent in `Accept` if the request does not set it. Default:
    /// none.
    var mediaTypes: [MediaType] { get }

    /// Decodes a value of a type.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value

    /// Returns the decoder for a body of a media type. Default: this decoder, for every type.
    func decoder(for mediaType: MediaType?) throws -> any HTTPBodyDecoder
}

extension HTTPBodyDecoder {
    /// An empty list.
    public var mediaTypes: [MediaType] { [] }

    /// Returns this decoder.
    public func decoder(for mediaType: MediaType?) throws -> any HTTPBodyDecoder { self }
}

extension JSONDecoder: HTTPBodyDecoder {
    /// The types `application/json` and `application/problem+json`.
    public var mediaTypes: [MediaType] { [.json, .problemJSON] }
}

extension PropertyListDecoder: HTTPBodyDecoder {
    /// The type `application/x-plist`.
    public var mediaTypes: [MediaType] { ["application/x-plist"] }

    /// Returns a decoder that checks the structure of a property list first. These are errors: more than 512 levels,
    /// several references to one collection, strings and data that are far larger than the document when they are
    /// decoded, and XML in an encoding other than UTF-8, ASCII or ISO 8859-1. Without the check, a list that is too
    /// deep or has repeated references could overflow the stack of Foundation's parser, or the parser might never end.
    public func decoder(for mediaType: MediaType?) throws -> any HTTPBodyDecoder {
        CheckedPropertyListDecoder(decoder: self)
    }
}

/// A property list decoder that checks the structure first.
private struct CheckedPropertyListDecoder: HTTPBodyDecoder {
    let decoder: PropertyListDecoder

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        do { try PropertyListStructure.check(data) } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: error.description, underlyingError: error))
        }
        return try decoder.decode(type, from: data)
    }
}

extension HTTPBodyDecoder {
    /// The value of `Accept` for responses that this decoder reads; nil if it declares no media types.
    var accept: String? { mediaTypes.isEmpty ? nil : mediaTypes.map(\.description).joined(separator: ", ") }
}

enum ResponseDecoderOption: HTTPRequestOption {
    static let defaultOptionValue: (any HTTPBodyDecoder)? = nil
}

extension RequestSettings {
    /// The decoder for the response. Default: nil (the decoder of the client, or a plain `JSONDecoder` without a
    /// client).
    public var decoder: (any HTTPBodyDecoder)? {
        get { self[option: ResponseDecoderOption.self] }
        set { self[option: ResponseDecoderOption.self] = newValue }
    }
}
