import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPError {
    /// Makes an error of any error: an ``HTTPError`` stays what it is, any other is underneath, with the code that fits.
    ///
    /// - Parameters:
    ///   - error: what was thrown.
    ///   - request: the request during which it was thrown.
    ///   - response: what had arrived of the response. Default: nil.
    public init(_ error: any Error, request: HTTPRequest, response: HTTPResponse? = nil) {
        if let error = error as? HTTPError {
            self = error.response == nil && response != nil ? error.with(response: response) : error
        } else {
            self.init(
                Self.code(for: error), request: request, response: response, underlying: error,
                message: Self.summary(of: error) + Self.hint(at: error, in: response))
        }
    }

    /// What the response calls itself, where that tells why it cannot be decoded: the page of a proxy, for one.
    private static func hint(at error: any Error, in response: HTTPResponse?) -> String {
        guard case DecodingError.dataCorrupted(let context) = error, context.codingPath.isEmpty,
            let type = response?.headers[.contentType].flatMap({ MediaType($0) }), !type.isJSON
        else { return "" }
        return "; the response is \(type.essence.prefix(64))"
    }

    private static func code(for error: any Error) -> Code {
        switch error {
        case is CancellationError: .cancelled
        case is EncodingError, is BodyNotInMemory, is InvalidBody: .invalidRequest
        case is DecodingError: .cannotDecodeResponse
        case is BodyTooLarge: .responseTooLarge
        case let error as URLError: code(for: error.code)
        default: .unknown
        }
    }

    private static func code(for code: URLError.Code) -> Code {
        switch code {
        case .cancelled, .userCancelledAuthentication: .cancelled
        case .badURL, .unsupportedURL, .requestBodyStreamExhausted: .invalidRequest
        case .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed, .notConnectedToInternet,
            .httpTooManyRedirects, .redirectToNonExistentLocation, .cannotLoadFromNetwork, .internationalRoamingOff,
            .callIsActive, .dataNotAllowed:
            .cannotConnect
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
            .insecureConnection
        case .userAuthenticationRequired: .cannotAuthenticate
        case .timedOut: .timedOut
        case .badServerResponse, .cannotParseResponse, .zeroByteResource, .resourceUnavailable,
            .dataLengthExceedsMaximum:
            .invalidResponse
        case .cannotDecodeRawData, .cannotDecodeContentData, .downloadDecodingFailedMidStream,
            .downloadDecodingFailedToComplete:
            .cannotDecodeResponse
        default: .unknown
        }
    }

    /// What an error says, as far as it can be repeated: coding errors by path and reason, never by value.
    static func summary(of error: any Error) -> String {
        switch error {
        case let error as DecodingError: error.summary
        case let error as EncodingError: error.summary
        case let error as URLError: "the network reports \(error.code.rawValue)"
        case is CancellationError: "the task was cancelled"
        case let error as InvalidBody: error.description
        case let error as BodyNotInMemory: error.description
        case let error as BodyAlreadyRead: error.description
        case let error as BodyWithheld: error.description
        case let error as BodyTooLarge: error.description
        default: String(describing: type(of: error))
        }
    }
}

extension EncodingError {
    /// Where in the value the encoder stopped.
    fileprivate var summary: String {
        switch self {
        case .invalidValue(_, let context):
            "the body cannot encode the value at "
                + context.codingPath.place
        @unknown default: "the body cannot be encoded"
        }
    }
}
