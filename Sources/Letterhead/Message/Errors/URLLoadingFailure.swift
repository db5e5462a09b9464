// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    import Foundation
    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// A networking error of Foundation, translated to the code and the message of an ``HTTPError``.
    struct URLLoadingFailure {
        private let error: URLError

        /// Returns nil if the error isn't a `URLError`.
        init?(_ error: any Error) {
            guard let error = error as? URLError else { return nil }
            self.error = error
        }

        var summary: String { "\(cause) (URLError \(error.code.rawValue))" }

        /// True if some bytes of the request may have been sent, or nil if that isn't known. `URLSession` throws this
        /// error when it needs the body a second time.
        var mayHaveBeenSent: Bool? { error.code == .requestBodyStreamExhausted ? true : nil }

        var code: HTTPError.Code {
            switch error.code {
            case .cancelled, .userCancelledAuthentication: .cancelled
            case .badURL, .unsupportedURL, .requestBodyStreamExhausted: .invalidRequest
            case .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile: .invalidRequest
            case .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet,
                .cannotLoadFromNetwork,
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

        private var cause: String {
            switch error.code {
            case .timedOut: "the request timed out"
            case .cancelled: "the request was cancelled"
            case .badURL, .unsupportedURL: "the URL is malformed, or its scheme is not supported"
            case .requestBodyStreamExhausted: "the body can be sent only once"
            case .cannotFindHost, .dnsLookupFailed: "the host name cannot be resolved"
            case .cannotConnectToHost: "the server could not be reached"
            case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive,
                .cannotLoadFromNetwork:
                "there is no connection to the network"
            case .networkConnectionLost: "the connection was lost"
            case .httpTooManyRedirects: "there are too many redirects"
            case .userAuthenticationRequired: "the server requires credentials"
            case .userCancelledAuthentication: "the request for credentials was cancelled"
            case .secureConnectionFailed: "the TLS handshake failed"
            case .serverCertificateHasBadDate, .serverCertificateNotYetValid:
                "the server's certificate has expired, or is not valid yet"
            case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot:
                "the server's certificate is not trusted"
            case .clientCertificateRejected, .clientCertificateRequired: "the client's certificate was not accepted"
            case .appTransportSecurityRequiresSecureConnection: "App Transport Security requires https"
            case .badServerResponse, .cannotParseResponse, .zeroByteResource: "the response is malformed"
            case .resourceUnavailable, .redirectToNonExistentLocation: "the resource is not available"
            case .dataLengthExceedsMaximum: "the response is too large"
            case .fileDoesNotExist: "the file does not exist"
            case .fileIsDirectory: "the file is a directory"
            case .noPermissionsToReadFile: "permission to read the file was denied"
            case .cannotCreateFile, .cannotOpenFile, .cannotCloseFile, .cannotWriteToFile, .cannotRemoveFile,
                .cannotMoveFile:
                "the file could not be written"
            case .cannotDecodeRawData, .cannotDecodeContentData, .downloadDecodingFailedMidStream,
                .downloadDecodingFailedToComplete:
                "the content coding of the response is malformed"
            default: "the network failed"
            }
        }
    }
#else
    /// Without networking in Foundation, no error is a `URLError`.
    struct URLLoadingFailure {
        let summary = ""
        let code = HTTPError.Code.unknown
        let mayHaveBeenSent: Bool? = nil

        init?(_ error: any Error) { return nil }
    }
#endif
