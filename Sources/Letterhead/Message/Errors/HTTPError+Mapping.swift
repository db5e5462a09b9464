import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPError {
    /// Creates an error from any error. An ``HTTPError`` is kept, and receives the response if it has none, and the
    /// request if it is that of ``HTTPValidatorResult/failChain(_:_:)``. Any other error becomes the underlying error,
    /// and determines the code.
    ///
    /// - Parameters:
    ///   - error: the error that was thrown.
    ///   - request: the request that failed.
    ///   - response: the part of the response that had been received. Default: nil.
    public init(_ error: any Error, request: HTTPRequest, response: HTTPResponse? = nil) {
        if let error = error as? HTTPError {
            let lacksResponse = error.response == nil && response != nil
            self =
                !lacksResponse && !error.lacksRequest
                ? error
                : error.with(
                    request: error.lacksRequest ? request : nil, response: lacksResponse ? response : nil)
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

    /// Creates the error of a response that could not be decoded.
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

/// Marks the request of an error whose request is not known yet.
private enum MissingRequestOption: HTTPRequestOption {
    static let defaultOptionValue = true
}

extension HTTPError {
    /// Creates the error of a load whose request and response the retry link fills in.
    init(_ code: Code, filledInLater message: String) {
        var request = HTTPRequest()
        request[option: MissingRequestOption.self] = true
        self.init(code, request: request, message: message)
    }

    /// Whether the request has not been filled in.
    fileprivate var lacksRequest: Bool { request.options.contains(MissingRequestOption.self) }

    /// Returns the error with the request of a result. A failure becomes the underlying error.
    func filled(from result: Result<HTTPResponse, HTTPError>) -> HTTPError {
        guard lacksRequest else { return self }
        switch result {
        case .success(let response): return with(request: response.request)
        case .failure(let failure):
            return HTTPError(
                code, request: failure.request, response: failure.response, underlying: failure, message: message)
        }
    }
}

extension HTTPRequest {
    /// Calls a closure that may throw any error, and converts its error to an ``HTTPError`` of this request.
    ///
    /// Use it in links and loaders, which throw ``HTTPError`` only:
    ///
    /// ```swift
    /// let key = try await request.mappingErrors { try await store.key() }
    /// ```
    ///
    /// - Parameter isolation: the actor on which the closure runs. Default: the actor of the caller.
    /// - Throws: the error of the closure, as ``HTTPError/init(_:request:response:)`` converts it.
    @inline(__always)
    public func mappingErrors<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async throws(HTTPError) -> Value {
        do { return try await body() } catch { throw HTTPError(error, request: self) }
    }
}

extension HTTPBodyError {
    /// The code of the ``HTTPError`` that contains this error.
    fileprivate var code: HTTPError.Code {
        switch self {
        case .invalid, .notInMemory: .invalidRequest
        case .tooLarge, .outOfMemory: .responseTooLarge
        case .alreadyRead, .withheld, .unreadable: .unknown
        }
    }
}
