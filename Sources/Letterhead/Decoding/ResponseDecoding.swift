import Foundation

/// Converts a response to a value. All conversions happen here, depending on the requested type.
enum ResponseDecoding {
    static func decode<Value>(_ type: Value.Type, from response: HTTPResponse) async throws -> Value {
        if let value = withoutBody(type, of: response) { return value }
        let data = try await response.body.data()
        return try decode(type, from: data, of: response)
    }

    /// Returns the value of a type that needs no body: the response itself, or `Void`.
    private static func withoutBody<Value>(_ type: Value.Type, of response: HTTPResponse) -> Value? {
        // A Decodable type is neither of the two, and this check is faster than the two casts. Data is the most
        // frequent case of all, and comparing types is faster still.
        if type == Data.self || type is any Decodable.Type { return nil }
        return response as? Value ?? () as? Value
    }

    /// Returns whether values of a type are decoded by a decoder, and not by the library itself.
    static func usesDecoder(for type: Any.Type) -> Bool {
        if type == Data.self || type == String.self { return false }
        if let optional = type as? any EmptyRepresentable.Type { return usesDecoder(for: optional.wrapped) }
        return type is any Decodable.Type
    }

    /// Returns whether values of a type can be created from a response.
    static func canDecode<Value>(_ type: Value.Type) -> Bool {
        if type == Data.self || type is any Decodable.Type || type == HTTPResponse.self || type == Void.self {
            return true
        }
        if let optional = type as? any EmptyRepresentable.Type { return canDecodeWrapped(optional.wrapped) }
        // A response is also a value of types such as `any Sendable`.
        return HTTPResponse(request: HTTPRequest(), status: .ok) is Value
    }

    private static func canDecodeWrapped(_ type: Any.Type) -> Bool {
        func open<Value>(_ type: Value.Type) -> Bool { canDecode(type) }
        return _openExistential(type, do: open)
    }

    private static func decode<Value>(_ type: Value.Type, from data: Data, of response: HTTPResponse) throws -> Value {
        if type == Data.self, let value = data as? Value { return value }
        if let optional = type as? any EmptyRepresentable.Type {
            if data.isEmpty, let none = optional.empty as? Value { return none }
            if !usesDecoder(for: type),
                let value = try decodeWrapped(optional.wrapped, from: data, of: response) as? Value
            {
                return value
            }
        }
        if type == String.self, let value = try text(data, of: response) as? Value { return value }
        guard let decodable = type as? any Decodable.Type else {
            throw HTTPError(
                .cannotDecodeResponse, request: response.request, response: response,
                message: "\(type) is not Decodable; implement decode(_:) in the template")
        }
        guard !data.isEmpty else {
            throw HTTPError(
                .emptyResponse, request: response.request, response: response,
                message: "the body is empty, and \(type) requires one; make Response optional to allow an empty body")
        }
        let mediaType = response.headers.mediaType
        let decoder = try decoder(for: mediaType, of: response)
        guard let value = try decoder.value(of: decodable, from: data) as? Value else {
            throw HTTPError(
                .cannotDecodeResponse, request: response.request, response: response,
                message: "the decoder returned a value that is not a \(type)")
        }
        return value
    }

    private static func decoder(
        for mediaType: MediaType?, of response: HTTPResponse
    ) throws -> any HTTPBodyDecoder {
        do {
            return try (response.request.decoder ?? JSONDecoder()).decoder(for: mediaType)
        } catch let error as HTTPBodyError {
            throw HTTPError(
                .cannotDecodeResponse, request: response.request, response: response, underlying: error,
                message: error.description)
        }
    }

    private static func decodeWrapped(_ type: Any.Type, from data: Data, of response: HTTPResponse) throws -> Any {
        func open<Value>(_ type: Value.Type) throws -> Any { try decode(type, from: data, of: response) }
        return try _openExistential(type, do: open)
    }

    /// Decodes the body as text in the charset of the response, or as UTF-8 if the response declares no charset.
    private static func text(_ data: Data, of response: HTTPResponse) throws -> String {
        let charset = response.headers.mediaType?["charset"] ?? "utf-8"
        guard let encoding = TextEncoding.encoding(of: charset), let text = String(data: data, encoding: encoding)
        else {
            throw HTTPError(
                .cannotDecodeResponse, request: response.request, response: response,
                message: "the body cannot be decoded in the charset of the response (UTF-8 if none is declared)")
        }
        // A comparison of strings would normalize them.
        let scalars = text.unicodeScalars
        return scalars.first == "\u{FEFF}" ? String(scalars.dropFirst()) : text
    }
}

/// A type that has a value for an empty body: an optional.
private protocol EmptyRepresentable {
    static var empty: Any { get }
    static var wrapped: Any.Type { get }
}

extension Optional: EmptyRepresentable {
    fileprivate static var empty: Any { Wrapped?.none as Any }
    fileprivate static var wrapped: Any.Type { Wrapped.self }
}

extension HTTPBodyDecoder {
    /// Decodes a body without a UTF-8 byte order mark, which JSON texts should not contain but some do (RFC 8259, 8.1).
    func value<Value: Decodable>(of type: Value.Type, from body: Data) throws -> Value {
        if let decoder = self as? JSONDecoder { return try decoder.decodeDocument(type, from: body) }
        let hasMark = body.first == 0xEF && body.starts(with: [0xEF, 0xBB, 0xBF])
        return try decode(type, from: hasMark ? Data(body.dropFirst(3)) : body)
    }
}
