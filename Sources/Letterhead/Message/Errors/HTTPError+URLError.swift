// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    public import Foundation
    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    extension URLError {
        /// Creates a `URLError` from an error, for code that expects one.
        ///
        /// - The `failingURL` is the request URL, and the error itself is in `userInfo[NSUnderlyingErrorKey]`.
        /// - Converting back with ``HTTPError/init(_:request:response:)`` results in an error with the same code if
        ///   Foundation has a code for it.
        /// - A status that isn't accepted, and a response that a validator refuses, is `.badServerResponse`.
        ///
        /// Foundation prints the whole `failingURL`, including query values. To log an error without secrets, log the
        /// ``HTTPError``.
        public init(_ error: HTTPError) {
            var details: [String: Any] = [NSUnderlyingErrorKey: error, NSLocalizedDescriptionKey: error.description]
            details[NSURLErrorFailingURLErrorKey] = try? error.request.url()
            self.init(error.urlErrorCode, userInfo: details)
        }
    }

    extension HTTPError {
        /// The error for code that expects a `URLError`. See `URLError.init(_:)`.
        public var urlError: URLError { URLError(self) }

        fileprivate var urlErrorCode: URLError.Code {
            if let code = (underlying as? URLError)?.code { return code }
            if let code = (underlying as? any CodedByFoundation)?.urlErrorCode.flatMap(URLError.Code.init) {
                return code
            }
            return switch code {
            case .cancelled, .resetInProgress: .cancelled
            case .invalidRequest: request.hasHTTPScheme ? .badURL : .unsupportedURL
            case .cannotConnect, .proxyRefused: .cannotConnectToHost
            case .insecureConnection: .secureConnectionFailed
            case .connectionLost: .networkConnectionLost
            case .cannotAuthenticate: .userAuthenticationRequired
            case .timedOut: .timedOut
            // After the head, Foundation reports the loss of the connection.
            case .invalidResponse: response == nil ? .badServerResponse : .networkConnectionLost
            case .responseTooLarge: .dataLengthExceedsMaximum
            case .cannotDecodeResponse: .cannotDecodeContentData
            case .unacceptableStatus, .validationFailed, .retriesExhausted, .emptyResponse, .reportedFailure:
                .badServerResponse
            case .tooManyRedirects: .httpTooManyRedirects
            case .cannotSaveResponse: .cannotWriteToFile
            default: .unknown
            }
        }
    }
#endif

/// An underlying error for which Foundation has a more specific code than ``HTTPError/Code``.
protocol CodedByFoundation: Error {
    /// The raw value of a `URLError.Code`, or nil if Foundation has none.
    var urlErrorCode: Int? { get }
}
