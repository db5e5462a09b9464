public import Foundation

/// Decodes by the media type that the response says: JSON here, a property list there.
///
/// ```swift
/// let decoder = MediaTypeDecoder([(.json, JSONDecoder()), ("application/x-plist", PropertyListDecoder())])
/// ```
///
/// `Accept` names the types in this order. A type that ends in `+json` is JSON's when no decoder has it; a response that
/// names no type goes to the first decoder; any other type is an error, naming it.
public struct MediaTypeDecoder: HTTPBodyDecoder {
    private let decoders: [(type: MediaType, decoder: any HTTPBodyDecoder)]

    /// Makes a decoder of several, the preferred one first.
    public init(_ decoders: [(type: MediaType, decoder: any HTTPBodyDecoder)]) { self.decoders = decoders }

    /// The types in order.
    public var mediaTypes: [MediaType] { decoders.map(\.type) }

    /// Decodes with the first decoder.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try decoder(for: nil).decode(type, from: data)
    }

    /// The decoder of a type.
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
