// SPDX-License-Identifier: MIT
import Foundation

/// Converts a response to the response type of a template.
enum ResponseDecoding {
    /// Decodes the body. The constraint guarantees that the conformance may be used outside of any actor.
    static func decode<Value: Decodable>(_ type: Value.Type, from response: HTTPResponse) async throws -> Value {
        let data = try await response.body.data()
        if data.isEmpty, let none = (type as? any EmptyRepresentable.Type)?.empty as? Value { return none }
        if isData(type), let value = data as? Value { return value }
        if isText(type), let value = try text(data, of: response) as? Value { return value }
        guard !data.isEmpty else {
            throw HTTPError(
                .emptyResponse, request: response.request, response: response,
                message: "the body is empty, and \(type) requires one; make Response optional to allow an empty body")
        }
        return try decoder(of: response).value(of: type, from: data)
    }

    /// Returns the value of a type that has no usable conformance to `Decodable`: the response, `Void`, or an optional
    /// of them.
    static func value<Value>(_ type: Value.Type, withoutDecoding response: HTTPResponse) throws -> Value {
        if let value = response as? Value ?? () as? Value { return value }
        let rule =
            type is any Decodable.Type
            ? "the conformance of \(type) to Decodable is isolated to an actor; declare the model nonisolated, or, in a "
                + "generic template, require Decodable"
            : "\(type) is not Decodable; implement decode(_:) in the template"
        throw HTTPError(.cannotDecodeResponse, request: response.request, response: response, message: rule)
    }

    /// Returns whether values of a type are decoded by a decoder, and not by the library itself.
    static func usesDecoder(for type: Any.Type) -> Bool {
        !isData(type) && !isText(type) && type is any Decodable.Type
    }

    private static func isData(_ type: Any.Type) -> Bool { type == Data.self || type == Data?.self }

    private static func isText(_ type: Any.Type) -> Bool { type == String.self || type == String?.self }

    private static func decoder(of response: HTTPResponse) throws -> any HTTPBodyDecoder {
        do {
            return try (response.request.decoder ?? JSONDecoder()).decoder(for: response.headers.mediaType)
        } catch let error as HTTPBodyError {
            throw HTTPError(
                .cannotDecodeResponse, request: response.request, response: response, underlying: error,
                message: error.description)
        }
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
}

extension Optional: EmptyRepresentable {
    fileprivate static var empty: Any { Wrapped?.none as Any }
}

/// The description of an error, in the format of RFC 9457.
public struct ProblemDetails: Sendable, Hashable {
    /// A URI that identifies the kind of problem. Default: `about:blank` (the status describes the problem).
    public var type: String
    /// A short summary, which is the same for every problem of this kind.
    public var title: String?
    /// The status, copied to the body by the server.
    public var status: Int?
    /// An explanation of this occurrence.
    public var detail: String?
    /// A URI that identifies this occurrence.
    public var instance: String?
    /// The additional members.
    public var extensions: [String: JSONValue]
}

extension ProblemDetails: Decodable {
    /// Decodes the members. A member whose type differs from the type in the RFC counts as absent.
    public init(from decoder: any Decoder) throws {
        // The members are decoded as JSON values, so that no key strategy changes the names of extensions.
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
