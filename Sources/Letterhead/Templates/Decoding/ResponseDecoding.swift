// SPDX-License-Identifier: MIT
public import LetterheadFoundation

enum UnknownCharsetOption: HTTPRequestOption {
    static let defaultOptionValue: String.Encoding? = nil
}

extension RequestSettings {
    /// The encoding for text in a charset that the library doesn't support. Default: nil (decoding such a response as a
    /// `String` fails with `.cannotDecodeResponse`).
    ///
    /// It also applies to text that isn't UTF-8 if the response declares no charset.
    public var unknownCharset: String.Encoding? {
        get { self[option: UnknownCharsetOption.self] }
        set { self[option: UnknownCharsetOption.self] = newValue }
    }
}

extension RequestConfigurable {
    /// Sets the encoding for text in a charset that the library doesn't support:
    /// `Get<String>("page").unknownCharset(.isoLatin1)`.
    ///
    /// It also applies if the response declares no charset and isn't UTF-8. See ``RequestSettings/unknownCharset``.
    public func unknownCharset(_ encoding: String.Encoding?) -> Configured {
        configured { $0.unknownCharset = encoding }
    }
}

enum ResponseDecoding {
    /// Decodes the body of a response. The constraint guarantees that the conformance may be used outside of any actor.
    static func decode<Value: Decodable>(_ type: Value.Type, from response: HTTPResponse) async throws -> Value {
        let data = try await response.body.data()
        guard data.isEmpty || isData(type) || isText(type) else {
            return try decoder(of: response).value(of: type, from: data)
        }
        return try value(type, withoutDecoding: data, of: response)
    }

    private static func value<Value>(
        _ type: Value.Type, withoutDecoding data: Data, of response: HTTPResponse
    ) throws -> Value {
        if data.isEmpty, let none = (type as? any EmptyRepresentable.Type)?.empty as? Value { return none }
        if isData(type), let value = data as? Value { return value }
        if isText(type), let value = try text(data, of: response) as? Value { return value }
        throw HTTPError(
            .emptyResponse, request: response.request, response: response,
            message: "the body is empty, and \(type) requires one (to allow an empty body, make Response optional)")
    }

    /// Returns the value for a type without a usable conformance to `Decodable`: the response, `Void`, or an optional
    /// of them.
    static func value<Value>(_ type: Value.Type, withoutDecoding response: HTTPResponse) throws -> Value {
        if let value = response as? Value ?? () as? Value { return value }
        let rule =
            type is any Decodable.Type
            ? "the template does not know that \(type) is Decodable (in a generic template, require Decodable, and if "
                + "an actor isolates the conformance, declare the model nonisolated)"
            : "\(type) is not Decodable, so the template must implement decode(_:)"
        throw HTTPError(.cannotDecodeResponse, request: response.request, response: response, message: rule)
    }

    static func usesDecoder(for type: Any.Type) -> Bool {
        !isData(type) && !isText(type) && type is any Decodable.Type
    }

    private static func isData(_ type: Any.Type) -> Bool { type == Data.self || type == Data?.self }

    private static func isText(_ type: Any.Type) -> Bool { type == String.self || type == String?.self }

    private static func decoder(of response: HTTPResponse) throws -> any HTTPBodyDecoder {
        let decoder = response.request.decoder ?? JSONDecoder()
        // It reads every media type, so the header isn't parsed.
        if Swift.type(of: decoder) == JSONDecoder.self { return decoder }
        do {
            return try decoder.decoder(for: response.headers.mediaType)
        } catch let error as HTTPBodyError {
            throw HTTPError(
                .cannotDecodeResponse, request: response.request, response: response, underlying: error,
                message: error.description)
        }
    }

    /// Decodes the body as text in the response charset. Without one, the text is UTF-8, or otherwise in the encoding
    /// that ``RequestSettings/unknownCharset`` sets. A JSON string of a JSON media type is decoded.
    private static func text(_ data: Data, of response: HTTPResponse) throws -> String {
        func error(_ rule: String) -> HTTPError {
            HTTPError(.cannotDecodeResponse, request: response.request, response: response, message: rule)
        }
        let mediaType = response.headers.mediaType
        if mediaType?.isJSON == true, let string = JSONText.string(in: data) { return string }
        let (charset, other) = (mediaType?["charset"], response.request.unknownCharset)
        guard let encoding = TextEncoding.encoding(of: charset ?? "utf-8") ?? other else {
            let name = Redaction.visible(String((charset ?? "").unicodeScalars.prefix(40)))
            throw error(
                "the response's charset \(name) is not supported (set unknownCharset(.utf8), or decode Data)")
        }
        let decoded = String(data: data, encoding: encoding)
        guard let text = decoded ?? (charset == nil ? other.flatMap { String(data: data, encoding: $0) } : nil) else {
            throw error(
                charset == nil
                    ? "the body is not UTF-8, and the response declares no charset (set unknownCharset to its encoding, "
                        + "such as .isoLatin1, or decode Data)"
                    : "the body is malformed in the response's charset (decode Data)")
        }
        // Comparing strings would normalize them.
        let scalars = text.unicodeScalars
        return scalars.first == "\u{FEFF}" ? String(scalars.dropFirst()) : text
    }
}

extension HTTPResponse {
    /// Decodes the body with the request decoder or, if there is none, the client decoder.
    ///
    /// ```swift
    /// let user = try await client.send(HTTPRequest("https://api.example.com/users/ada")).decode(User.self)
    /// ```
    ///
    /// - `Data` and `String` need no decoder. A `String` is the text of the body, or the value of a JSON string if the
    ///   media type is JSON.
    /// - An optional type is nil for an empty body.
    /// - The status isn't checked.
    /// - Decoding never runs on the main actor. A value that isn't `Sendable`, such as an instance of a class, is sent
    ///   to the actor of the caller.
    ///
    /// - Throws: ``HTTPError`` with `.cannotDecodeResponse`, `.emptyResponse`, or the code of an error while receiving
    ///   a streamed body. `CancellationError` if the calling task was cancelled.
    @concurrent
    public func decode<Value: Decodable & SendableMetatype>(_ type: Value.Type) async throws -> sending Value {
        do {
            return try await ResponseDecoding.decode(type, from: self)
        } catch {
            throw HTTPError(ofDecoding: error, as: type, response: self).orCancellation
        }
    }
}

extension HTTPError {
    /// Decodes the error body to the ``RequestTemplate/Failure`` type that a template declares. Returns nil without a
    /// response, and for a body that is empty or cannot be decoded.
    ///
    /// ```swift
    /// catch let error as HTTPError { show(error.failure(of: CreateUser.self)?.title) }
    /// ```
    public func failure<Template: RequestTemplate>(of template: Template.Type) -> Template.Failure? {
        decoded(Template.Failure.self)
    }

    /// Decodes the error body to a type. Returns nil without a response, and for a body that is empty or cannot be
    /// decoded.
    ///
    /// Use it for templates without a ``RequestTemplate/Failure`` type, such as ``Get``, and for plain requests.
    public func failure<Value: Decodable>(as type: Value.Type) -> Value? { decoded(type) }

    /// The problem details in the error body (RFC 9457). Nil if the media type isn't `application/problem+json`, or if
    /// the JSON is malformed or nested more than 64 levels deep.
    ///
    /// Each access parses the body. For a status that isn't accepted, the body holds at most its first 1 MiB.
    public var problem: ProblemDetails? {
        guard let type = mediaType, type.essence == MediaType.problemJSON.essence else { return nil }
        guard let data = response?.body.buffered, !data.isEmpty else { return nil }
        return try? JSONDecoder().value(of: ProblemDetails.self, from: data)
    }

    private var mediaType: MediaType? { response?.headers.mediaType }

    private func decoded<Value: Decodable>(_ type: Value.Type) -> Value? {
        guard let response, let data = response.body.buffered, !data.isEmpty else { return nil }
        let decoder = try? (response.request.decoder ?? JSONDecoder()).decoder(for: mediaType)
        return try? (decoder ?? JSONDecoder()).value(of: type, from: data)
    }
}

private protocol EmptyRepresentable {
    static var empty: Any { get }
}

extension Optional: EmptyRepresentable {
    fileprivate static var empty: Any { Wrapped?.none as Any }
}

/// An error that an API describes in the format of RFC 9457. Read it from ``HTTPError/problem``.
public struct ProblemDetails: Sendable, Hashable {
    /// A URI that identifies the kind of problem. Default: `about:blank` (the status describes the problem).
    public var type: String
    /// A short summary, which is the same for every problem of this kind. Nil if the body has none.
    public var title: String?
    /// The status that the server wrote into the body. An intermediary may have changed the status of the response
    /// itself.
    public var status: Int?
    /// An explanation of this occurrence, for people. Nil if the body has none.
    public var detail: String?
    /// A URI that identifies this occurrence.
    public var instance: String?
    /// All other members, which the API defines, by name.
    public var extensions: [String: JSONValue]
}

extension ProblemDetails: Decodable {
    /// Decodes the members. A member counts as absent if its type differs from the one in the RFC.
    public init(from decoder: any Decoder) throws {
        // Decoded as JSON values, so that no key strategy changes the names of extensions.
        self.init(members: try decoder.singleValueContainer().decode([String: JSONValue].self))
    }

    init(members: [String: JSONValue]) {
        var members = members
        type = members.removeValue(forKey: "type")?.string ?? "about:blank"
        title = members.removeValue(forKey: "title")?.string
        status = members.removeValue(forKey: "status")?.int
        detail = members.removeValue(forKey: "detail")?.string
        instance = members.removeValue(forKey: "instance")?.string
        extensions = members
    }
}
