// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

/// Encodes a stub's value, so that the client's decoder reads it back.
enum StubEncoding {
    /// A value's bytes and their media type.
    typealias Encoded = (body: Data, mediaType: String?)

    /// Encodes a value.
    ///
    /// - Parameters:
    ///   - value: an encodable value, `Data`, `String`, `Void`, or an optional with one of these.
    ///   - input: the request. Its decoder determines the format if the loader has no encoder.
    static func encode(_ value: Any, for input: StubInput) throws -> Encoded {
        switch value {
        case is Void: return (Data(), nil)
        case let data as Data: return (data, "application/octet-stream")
        case let text as String: return (Data(text.utf8), "text/plain; charset=utf-8")
        default: break
        }
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional {
            guard let wrapped = mirror.children.first?.value else { return (Data(), nil) }
            return try encode(wrapped, for: input)
        }
        guard let encodable = value as? any Encodable else {
            throw PlainFailure(
                "the stub cannot encode \(type(of: value)), because it is not Encodable: make it Encodable "
                    + "in the tests, or return .json(…) or .status(…)")
        }
        let (encoder, mediaType) = try encoder(for: input)
        return (try encoder.encode(encodable), mediaType)
    }

    private static func encoder(for input: StubInput) throws -> (any HTTPBodyEncoder, String) {
        let decoder = try (input.request.decoder ?? JSONDecoder()).decoder(for: nil)
        let mediaType = input.request.decoder?.mediaTypes.first?.description ?? "application/json"
        if let encoder = input.encoder { return (encoder, mediaType) }
        if let decoder = decoder as? JSONDecoder { return (JSONEncoder(matching: decoder), mediaType) }
        if mediaType == "application/x-plist" { return (PropertyListEncoder(), mediaType) }
        throw PlainFailure(
            "the stub has no encoder for the decoder \(type(of: decoder)): pass one to "
                + "StubLoader(encoder:)")
    }
}

extension JSONEncoder {
    /// Creates an encoder with a decoder's strategies, reversed. A custom strategy for dates or data has no
    /// counterpart, so encoding a value that needs it throws an error. With a custom strategy for keys, keys are
    /// encoded unchanged.
    convenience init(matching decoder: JSONDecoder) {
        self.init()
        outputFormatting = [.sortedKeys]
        switch decoder.dateDecodingStrategy {
        case .deferredToDate: dateEncodingStrategy = .deferredToDate
        case .secondsSince1970: dateEncodingStrategy = .secondsSince1970
        case .millisecondsSince1970: dateEncodingStrategy = .millisecondsSince1970
        case .iso8601: dateEncodingStrategy = .iso8601
        #if canImport(Darwin)
            case .formatted(let formatter): dateEncodingStrategy = .formatted(formatter)
        #endif
        default: dateEncodingStrategy = .custom { _, _ in throw Self.noCounterpart("dateDecodingStrategy") }
        }
        switch decoder.dataDecodingStrategy {
        case .deferredToData: dataEncodingStrategy = .deferredToData
        case .base64: dataEncodingStrategy = .base64
        default: dataEncodingStrategy = .custom { _, _ in throw Self.noCounterpart("dataDecodingStrategy") }
        }
        if case .convertFromSnakeCase = decoder.keyDecodingStrategy { keyEncodingStrategy = .convertToSnakeCase }
        switch decoder.nonConformingFloatDecodingStrategy {
        case .convertFromString(positiveInfinity: let positive, negativeInfinity: let negative, nan: let nan):
            nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: positive, negativeInfinity: negative, nan: nan)
        default: break
        }
    }

    private static func noCounterpart(_ strategy: String) -> PlainFailure {
        PlainFailure(
            "the custom \(strategy) of the client's decoder has no counterpart: pass an encoder to "
                + "StubLoader(encoder:)")
    }
}
