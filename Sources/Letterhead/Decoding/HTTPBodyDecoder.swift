public import Foundation

/// Makes values of the bytes of a response: `JSONDecoder`, `PropertyListDecoder`, or one of your own.
///
/// Use: give one to a client, or to one endpoint with ``RequestTemplate/decoder(_:)``; date and key strategies are the
/// decoder's:
///
/// ```swift
/// let decoder = JSONDecoder()
/// decoder.dateDecodingStrategy = .iso8601
/// let client = HTTPClient(environment: .production, decoder: decoder)
/// ```
///
/// ``RequestTemplate/decode(_:)`` calls it, never on the main actor, after the status was accepted. Write one for another
/// format: one function. Law: it keeps nothing between calls.
public protocol HTTPBodyDecoder: Sendable {
    /// The media types that it reads; they are asked for in `Accept` when a request says nothing. Default: none.
    var mediaTypes: [MediaType] { get }

    /// Makes a value of a type.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value

    /// Who decodes a body of a media type. Default: this decoder, whatever the type.
    func decoder(for mediaType: MediaType?) throws -> any HTTPBodyDecoder
}

extension HTTPBodyDecoder {
    /// None in particular.
    public var mediaTypes: [MediaType] { [] }

    /// This decoder.
    public func decoder(for mediaType: MediaType?) throws -> any HTTPBodyDecoder { self }
}

extension JSONDecoder: HTTPBodyDecoder {
    /// `application/json`, and problem details.
    public var mediaTypes: [MediaType] { [.json, .problemJSON] }
}

extension PropertyListDecoder: HTTPBodyDecoder {
    /// `application/x-plist`.
    public var mediaTypes: [MediaType] { ["application/x-plist"] }

    /// Returns this decoder with a check in front of it: a property list that is nested more than 512 levels deep, or that
    /// refers to one collection more than once, is an error. Foundation's parser would overflow the stack, or never end.
    public func decoder(for mediaType: MediaType?) throws -> any HTTPBodyDecoder {
        CheckedPropertyListDecoder(decoder: self)
    }
}

/// A decoder of property lists that looks at their structure first.
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

/// The decoder of a request's response.
enum ResponseDecoderOption: HTTPRequestOption {
    /// The client's.
    static let defaultOptionValue: (any HTTPBodyDecoder)? = nil
}

extension HTTPRequest {
    /// The decoder for the response. Default: nil, the client's, and without a client a plain `JSONDecoder`.
    public var decoder: (any HTTPBodyDecoder)? {
        get { self[option: ResponseDecoderOption.self] }
        set { self[option: ResponseDecoderOption.self] = newValue }
    }
}

/// Whether a decoder will read the response.
enum IsDecodedOption: HTTPRequestOption {
    static let defaultOptionValue = false
}

extension HTTPRequest {
    /// Whether a decoder will read the response, so that its media types are worth asking for.
    var isDecoded: Bool {
        get { self[option: IsDecodedOption.self] }
        set { self[option: IsDecodedOption.self] = newValue }
    }
}

extension HTTPRequestOptions {
    /// See ``HTTPRequest/decoder``.
    public var decoder: (any HTTPBodyDecoder)? {
        get { self[ResponseDecoderOption.self] }
        set { self[ResponseDecoderOption.self] = newValue }
    }
}
