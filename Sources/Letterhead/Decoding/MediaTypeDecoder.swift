public import Foundation

/// Decodes by the media type of the response, for example JSON and property lists.
///
/// ```swift
/// let decoder = MediaTypeDecoder([(.json, JSONDecoder()), ("application/x-plist", PropertyListDecoder())])
/// ```
///
/// `Accept` lists the types in this order. A type that ends in `+json` is decoded as JSON if no decoder has that type.
/// A response without a type is decoded by the first decoder. Any other type is an error, which contains the type.
public struct MediaTypeDecoder: HTTPBodyDecoder {
    private let decoders: [(type: MediaType, decoder: any HTTPBodyDecoder)]

    /// Creates a decoder from several decoders, the preferred one first.
    public init(_ decoders: [(type: MediaType, decoder: any HTTPBodyDecoder)]) { self.decoders = decoders }

    /// The types of all decoders, in order.
    public var mediaTypes: [MediaType] { decoders.map(\.type) }

    /// Decodes with the first decoder.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try decoder(for: nil).decode(type, from: data)
    }

    /// Returns the decoder for a media type.
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
