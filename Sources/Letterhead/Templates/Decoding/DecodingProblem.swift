// SPDX-License-Identifier: MIT
import LetterheadFoundation

extension HTTPError {
    /// Creates the error of a response that could not be decoded as a type.
    init(ofDecoding error: any Error, as type: Any.Type, response: HTTPResponse) {
        if error is HTTPError || error is CancellationError {
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

/// The message for a document that could not be decoded: the type, the path and the reason, and, for JSON, where the text
/// is malformed or how a missing name is written in the document.
struct DecodingProblem: CustomStringConvertible {
    /// The largest document that is parsed again for the message, in bytes.
    private static let longestDocument = 1 << 20

    private let error: any Error
    private let type: Any.Type
    private let data: Data?
    private let decoder: JSONDecoder?
    /// The request of the response, whose secrets are not shown; nil if it is not known.
    private let request: HTTPRequest?

    init(
        _ error: any Error, type: Any.Type, in data: Data?, decoder: (any HTTPBodyDecoder)?, for request: HTTPRequest?
    ) {
        (self.error, self.type, self.request) = (error, type, request)
        self.decoder = decoder as? JSONDecoder
        self.data = data.flatMap { $0.count > Self.longestDocument ? nil : $0.withoutByteOrderMark }
    }

    /// Whether the text as a whole is malformed.
    var isOfText: Bool {
        if case DecodingError.dataCorrupted(let context) = error { context.codingPath.isEmpty } else { false }
    }

    var description: String {
        "decoding \(type): \(place ?? HTTPError.summary(of: error))\(found ?? "")\(otherName ?? "")"
    }

    /// The value that is no case of an enum, unless the request or a name on the path to the value is secret.
    private var found: String? {
        guard case DecodingError.dataCorrupted(let context) = error, let value = context.unknown?.value,
            request?.isSecret != true
        else { return nil }
        let redaction = request?.redaction ?? .standard
        let isSecret = context.codingPath.contains {
            redaction.isSecret(parameter: $0.stringValue) || Redaction.standard.isSecret(parameter: $0.stringValue)
        }
        return ", found \(redaction.words(isSecret ? Redaction.placeholder : value, upTo: 64))"
    }

    /// The offset and the rule that a malformed text violates.
    private var place: String? {
        guard isOfText, decoder != nil, let data else { return nil }
        do { _ = try JSONText.value(of: data) } catch { return HTTPError.summary(of: error) }
        return nil
    }

    /// A name that differs from a missing one only by its case style, and the remedy.
    private var otherName: String? {
        guard case DecodingError.keyNotFound(let key, let context) = error, let decoder, let data,
            request?.isSecret != true,
            var object = try? JSONText.value(of: data)
        else { return nil }
        for step in context.codingPath {
            let next = step.intValue.flatMap { object.array?.dropFirst(max(0, $0)).first }
            guard let next = next ?? object.object?.member(step.stringValue)?.value else { return nil }
            object = next
        }
        guard let name = object.object?.member(key.stringValue)?.key else { return nil }
        let isConverted = if case .useDefaultKeys = decoder.keyDecodingStrategy { false } else { true }
        let remedy =
            name.utf8.contains(UInt8(ascii: "_")) && !isConverted
            ? "set keyDecodingStrategy of the decoder to .convertFromSnakeCase" : "declare CodingKeys"
        return "; the object contains \(Redaction.standard.words(name, upTo: 64)): \(remedy)"
    }
}

extension [String: JSONValue] {
    /// Returns the member of a name, or else the first one whose name differs by case, `_` and `-` only.
    fileprivate func member(_ name: String) -> (key: String, value: JSONValue)? {
        if let value = self[name] { return (name, value) }
        let bare = Redaction.bare(name.utf8)
        return filter { Redaction.bare($0.key.utf8) == bare }.min { $0.key < $1.key }
    }
}
