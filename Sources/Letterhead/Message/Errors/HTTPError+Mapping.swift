// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPError {
    /// Creates an error from any error, with the part of the response that had been received. An ``HTTPError`` is kept,
    /// and receives the response if it has none. The error of ``HTTPValidatorResult/failChain(_:_:)`` receives the request
    /// and the response. Any other error becomes the underlying error, and determines the code.
    public init(_ error: any Error, request: HTTPRequest, response: HTTPResponse? = nil) {
        if let error = error as? HTTPError {
            self = error.response == nil && response != nil ? error.with(response: response) : error
        } else if let error = error as? ChainFailure {
            self.init(error.code, request: request, response: response, message: error.message)
        } else {
            let code = Self.code(for: error)
            // URLSession throws this error when it needs the body a second time, so the first bytes may have been sent.
            let isSent = (error as? URLError)?.code == .requestBodyStreamExhausted
            self.init(
                code, request: request, response: response, underlying: error,
                message: Self.summary(of: error) + Self.hint(at: error, in: response),
                mayHaveBeenSent: isSent ? true : nil)
        }
    }

    init(ofDecoding error: any Error, response: HTTPResponse) {
        if error is HTTPError || error is CancellationError {
            self.init(error, request: response.request, response: response)
        } else {
            self.init(
                .cannotDecodeResponse, request: response.request, response: response, underlying: error,
                message: Self.summary(of: error))
        }
    }

    /// Returns a text with the media type of the response, for the message, if the body is not valid JSON and the media
    /// type is not JSON, as for the HTML page of a proxy; otherwise an empty string.
    private static func hint(at error: any Error, in response: HTTPResponse?) -> String {
        guard case DecodingError.dataCorrupted(let context) = error, context.codingPath.isEmpty,
            let type = response?.headers.mediaType, !type.isJSON
        else { return "" }
        return "; the response is \(type.essence.prefix(64))"
    }

    private static func code(for error: any Error) -> Code {
        switch error {
        case is CancellationError: .cancelled
        case is EncodingError: .invalidRequest
        case let error as HTTPBodyError: error.code
        case is DecodingError: .cannotDecodeResponse
        case let error as URLError: code(for: error.code)
        default: .unknown
        }
    }

    private static func code(for code: URLError.Code) -> Code {
        switch code {
        case .cancelled, .userCancelledAuthentication: .cancelled
        case .badURL, .unsupportedURL, .requestBodyStreamExhausted: .invalidRequest
        case .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile: .invalidRequest
        case .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet, .cannotLoadFromNetwork,
            .internationalRoamingOff, .callIsActive, .dataNotAllowed:
            .cannotConnect
        case .networkConnectionLost: .connectionLost
        case .httpTooManyRedirects: .tooManyRedirects
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
            .insecureConnection
        case .userAuthenticationRequired: .cannotAuthenticate
        case .timedOut: .timedOut
        case .badServerResponse, .cannotParseResponse, .zeroByteResource, .resourceUnavailable,
            .redirectToNonExistentLocation:
            .invalidResponse
        case .dataLengthExceedsMaximum: .responseTooLarge
        case .cannotCreateFile, .cannotOpenFile, .cannotCloseFile, .cannotWriteToFile, .cannotRemoveFile,
            .cannotMoveFile:
            .cannotSaveResponse
        case .cannotDecodeRawData, .cannotDecodeContentData, .downloadDecodingFailedMidStream,
            .downloadDecodingFailedToComplete:
            .cannotDecodeResponse
        default: .unknown
        }
    }
}

/// The error of a validator that names only a code and a message. The request and the response are added where the error
/// is thrown.
struct ChainFailure: Error {
    let code: HTTPError.Code
    let message: String
}

extension HTTPRequest {
    /// Runs code that may throw any error on the actor of the caller, and converts its error to an ``HTTPError`` of
    /// this request with ``HTTPError/init(_:request:response:)``. Use it in links and loaders, which throw
    /// ``HTTPError`` only:
    ///
    /// ```swift
    /// let key = try await request.mappingErrors { try await store.key() }
    /// ```
    @inline(__always)
    public func mappingErrors<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async throws(HTTPError) -> Value {
        do { return try await body() } catch { throw HTTPError(error, request: self) }
    }
}

extension HTTPBodyError {
    fileprivate var code: HTTPError.Code {
        switch self {
        case .invalid, .notInMemory: .invalidRequest
        case .tooLarge, .outOfMemory: .responseTooLarge
        case .alreadyRead, .withheld, .unreadable: .unknown
        }
    }
}

/// An error whose description contains no secrets, so that messages and logs may include it.
package protocol SafelyDescribed: Error, CustomStringConvertible {}

extension HTTPBodyError: SafelyDescribed {}

extension HTTPError {
    /// Describes an error without secrets.
    ///
    /// Coding errors are described by path and reason, without values. Errors of Foundation and of the system are
    /// described by code or system message. For the errors of other components, only `LocalizedError.errorDescription`
    /// is meant to be shown. An error without such a description is described by the name of its type and, for an enum,
    /// of its case.
    static func summary(of error: any Error) -> String {
        switch error {
        case let error as HTTPError: error.message.isEmpty ? "\(error.code)" : "\(error.code): \(error.message)"
        case let error as DecodingError: error.summary
        case let error as EncodingError: error.summary
        case let error as URLError: "the network reports URLError \(error.code.rawValue)"
        case let error as POSIXError: "the system reports \(String(cString: strerror(error.code.rawValue)))"
        case let error as CocoaError: "Foundation reports CocoaError \(error.code.rawValue)"
        case is CancellationError: "the task was cancelled"
        case let error as any SafelyDescribed: error.description
        case let error as any LocalizedError: error.errorDescription.map(shown) ?? name(of: error)
        default: name(of: error)
        }
    }

    /// Truncates and redacts the description of an error of another component. The format of the description is
    /// unknown.
    private static func shown(_ text: String) -> String {
        let redaction = Redaction.standard
        return Redaction.visible(redaction.redactURLs(redaction.redactJSON(String(text.unicodeScalars.prefix(500)))))
    }

    /// Returns the name of the type, and for an enum the case without its values.
    private static func name(of error: any Error) -> String {
        let type = String(describing: Swift.type(of: error))
        let isCustom = Swift.type(of: error) is any CustomStringConvertible.Type
        let mirror = Mirror(reflecting: error)
        guard mirror.displayStyle == .enum, !isCustom else { return type }
        let name = mirror.children.first.map { $0.label ?? "" } ?? String(describing: error)
        return !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } ? "\(type).\(name)" : type
    }
}

extension EncodingError {
    /// A message with the path of the value that could not be encoded.
    fileprivate var summary: String {
        switch self {
        case .invalidValue(_, let context):
            "the body cannot be encoded: invalid value at "
                + context.codingPath.place
        @unknown default: "the body cannot be encoded"
        }
    }
}

extension DecodingError {
    /// The path in the document, the expected type, and the kind of value that was found. It never contains the value.
    var summary: String {
        switch self {
        case .keyNotFound(let key, let context):
            "\((context.codingPath + [key]).place): expected a value, found no such member"
        case .typeMismatch(let type, let context):
            "\(context.codingPath.place): expected \(type), found \(context.kindFound ?? "something else")"
        case .valueNotFound(let type, let context): "\(context.codingPath.place): expected \(type), found null"
        case .dataCorrupted(let context) where context.underlyingError is InvalidDocument:
            (context.codingPath.isEmpty ? "" : context.codingPath.suffix(3).place + ": ")
                + "\(context.underlyingError ?? InvalidDocument(""))"
        case .dataCorrupted(let context):
            context.codingPath.isEmpty ? "the data is malformed" : "\(context.codingPath.place): the value is malformed"
        @unknown default: "the data cannot be decoded"
        }
    }
}

extension DecodingError.Context {
    /// The kind of JSON value that the decoder names. The decoder's description may contain the value, so it is only
    /// searched for known words.
    fileprivate var kindFound: String? {
        guard let found = debugDescription.range(of: "found ", options: .backwards) else { return nil }
        let words = debugDescription[found.upperBound...].split { !$0.isLetter }.prefix(2)
        let kinds = [
            "string": "string", "number": "number", "bool": "boolean", "boolean": "boolean", "null": "null",
            "dictionary": "object", "array": "array",
        ]
        return words.lazy.compactMap { kinds[String($0).lowercased()] }.first
    }
}

extension [any CodingKey] {
    /// The path in Swift syntax: `items[3].id`.
    var place: String {
        var text = ""
        for key in self {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + key.segment
            }
        }
        return text.isEmpty ? "the top level" : text
    }
}

extension CodingKey {
    /// One component of the path. Keys of a dictionary may come from the server, so control characters are escaped and
    /// the key is truncated to 64 characters.
    fileprivate var segment: String {
        let scalars = stringValue.unicodeScalars
        return Redaction.visible(scalars.count > 64 ? String(scalars.prefix(64)) + "…" : stringValue)
    }
}
