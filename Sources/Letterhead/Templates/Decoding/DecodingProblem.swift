// SPDX-License-Identifier: MIT
package import LetterheadFoundation

extension HTTPError {
    init(ofDecoding error: any Error, as type: Any.Type, response: HTTPResponse) {
        let isTooLarge = (error as? HTTPBodyError)?.code == .responseTooLarge
        if error is HTTPError || error is CancellationError || isTooLarge {
            self.init(error, request: response.request, response: response)
        } else {
            let decoder = try? (response.request.decoder ?? JSONDecoder()).decoder(for: response.headers.mediaType)
            let problem = DecodingProblem(
                error, type: type, in: response.body.buffered, decoder: decoder, for: response.request)
            let isForeign = problem.isOfText && decoder is JSONDecoder
            self.init(
                .cannotDecodeResponse, request: response.request, response: response, underlying: error,
                message: problem.description + (isForeign ? response.foreignBody(for: response.request) : ""))
        }
    }
}

extension HTTPBodyDecoder {
    /// Describes why a part of a response, such as an event, could not be decoded.
    package func problem(
        _ error: any Error, decoding type: Any.Type, from data: Data, for request: HTTPRequest?
    ) -> String {
        DecodingProblem(error, type: type, in: data, decoder: self, for: request).description
    }
}

/// The message for a document that could not be decoded: the type, the path and the reason. For JSON, it also contains
/// where the text is malformed, or how the document writes a missing name.
struct DecodingProblem: CustomStringConvertible {
    /// The largest number of bytes. A larger document isn't parsed again for the message.
    private static let longestDocument = 1 << 20

    private let error: any Error
    private let type: Any.Type
    private let data: Data?
    private let decoder: JSONDecoder?
    /// The request that the response belongs to, for its redaction. Nil if unknown.
    private let request: HTTPRequest?

    init(
        _ error: any Error, type: Any.Type, in data: Data?, decoder: (any HTTPBodyDecoder)?, for request: HTTPRequest?
    ) {
        (self.type, self.request) = (type, request)
        self.decoder = decoder as? JSONDecoder
        self.data = data.flatMap { $0.count > Self.longestDocument ? nil : $0.withoutByteOrderMark }
        self.error = self.decoder?.located(error, type: type, in: self.data) ?? error
    }

    var isOfText: Bool {
        if case DecodingError.dataCorrupted(let context) = error { context.codingPath.isEmpty } else { false }
    }

    var description: String {
        "decoding \(type): \(place ?? HTTPError.summary(of: error))\(found ?? "")\(remedy ?? "")"
    }

    /// The malformed or unknown value, and the reason that the decoder reports. Nil if the request or a name on the
    /// path is secret.
    private var found: String? {
        guard case DecodingError.dataCorrupted(let context) = error, request?.isSecret != true else { return nil }
        let redaction = request?.redaction ?? .standard
        let isSecret = context.codingPath.contains {
            redaction.isSecret(parameter: $0.stringValue) || Redaction.standard.isSecret(parameter: $0.stringValue)
        }
        guard let value = context.unknown?.value ?? value(at: context.codingPath)?.string else { return nil }
        let found = ", found \(redaction.words(isSecret ? Redaction.placeholder : value, upTo: 64))"
        guard !isSecret, context.unknown == nil, !context.debugDescription.isEmpty else { return found }
        return found + " (the decoder reports \(redaction.words(context.debugDescription, upTo: 100)))"
    }

    /// The offset, and the rule that a malformed text violates.
    private var place: String? {
        guard case DecodingError.dataCorrupted(let context) = error, isOfText, decoder != nil, let data else {
            return nil
        }
        do { _ = try JSONText.value(of: data) } catch { return HTTPError.summary(of: error) }
        // Foundation reports a number that is out of range like this, without its path.
        return context.debugDescription.holds("not valid JSON")
            ? "a number in the document doesn't fit into its type, such as 1.5 into Int" : nil
    }

    /// The value at a path in the document. A decoder may convert member names.
    private func value(at path: [any CodingKey]) -> JSONValue? {
        guard decoder != nil, let data, var value = try? JSONText.value(of: data) else { return nil }
        for step in path {
            let next = step.intValue.flatMap { value[$0] } ?? value.object?.member(step.stringValue)?.value
            guard let next else { return nil }
            value = next
        }
        return value
    }

    private var remedy: String? {
        guard let decoder, request?.isSecret != true else { return nil }
        switch error {
        case DecodingError.typeMismatch(let type, let context) where type == Double.self:
            let isDate = value(at: context.codingPath)?.string?.utf8.dropFirst(4).first == UInt8(ascii: "-")
            return isDate ? " (if it is a date, set dateDecodingStrategy of the decoder to .iso8601)" : nil
        case DecodingError.keyNotFound(let key, let context):
            // The names differ only in case style.
            guard let name = value(at: context.codingPath)?.object?.member(key.stringValue)?.key else { return nil }
            let isConverted = if case .useDefaultKeys = decoder.keyDecodingStrategy { false } else { true }
            let remedy =
                name.utf8.contains(UInt8(ascii: "_")) && !isConverted
                ? "set keyDecodingStrategy of the decoder to .convertFromSnakeCase" : "declare CodingKeys"
            return ", but the object contains \(Redaction.standard.words(name, upTo: 64)): \(remedy)"
        default: return nil
        }
    }
}

extension JSONDecoder {
    /// The error that Foundation throws for an ISO 8601 date omits the member name. Decoding again, with a closure that
    /// decodes dates in the same way, finds it.
    fileprivate func located(_ error: any Error, type: Any.Type, in data: Data?) -> (any Error)? {
        guard case DecodingError.dataCorrupted(let context) = error, case .iso8601 = dateDecodingStrategy, let data,
            context.debugDescription.holds("ISO8601"), let type = type as? any Decodable.Type, !allowsJSON5,
            Swift.type(of: self) == JSONDecoder.self
        else { return nil }
        let copy = JSONDecoder()
        (copy.keyDecodingStrategy, copy.dataDecodingStrategy) = (keyDecodingStrategy, dataDecodingStrategy)
        (copy.nonConformingFloatDecodingStrategy, copy.userInfo) = (nonConformingFloatDecodingStrategy, userInfo)
        copy.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            if let date = try? Date(text, strategy: .iso8601) { return date }
            throw DecodingError.dataCorruptedError(in: container, debugDescription: context.debugDescription)
        }
        do { _ = try copy.decode(type, from: data) } catch { return error }
        return nil
    }
}

extension [String: JSONValue] {
    /// Returns the member with a name, or otherwise the first one that differs only by case, `_` and `-`.
    fileprivate func member(_ name: String) -> (key: String, value: JSONValue)? {
        if let value = self[name] { return (name, value) }
        let bare = Redaction.bare(name.utf8)
        return filter { Redaction.bare($0.key.utf8) == bare }.min { $0.key < $1.key }
    }
}
