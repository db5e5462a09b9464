// SPDX-License-Identifier: MIT

extension HTTPError {
    /// Converts any error to an ``HTTPError``. Use it in a custom loader or link that catches errors of other types.
    ///
    /// - An ``HTTPError`` stays unchanged, and gets the response if it has none.
    /// - An error from ``HTTPValidatorResult/failChain(_:_:)`` gets the request and the response.
    /// - Any other error becomes the underlying error, and its type determines the code: `.cancelled` for a
    ///   `CancellationError`, `.invalidRequest` for an `EncodingError`, `.cannotDecodeResponse` for a `DecodingError`,
    ///   and a code with the same meaning for an ``HTTPBodyError`` or a `URLError`. For any other type, the code is
    ///   `.unknown`.
    ///
    /// - Parameters:
    ///   - error: the error to convert.
    ///   - request: the request that failed.
    ///   - response: the response, or the part of it that has arrived. Default: nil (none has).
    public init(_ error: any Error, request: HTTPRequest, response: HTTPResponse? = nil) {
        if let error = error as? HTTPError {
            self = error.response == nil && response != nil ? error.with(response: response) : error
        } else if let error = error as? ChainFailure {
            self.init(error.code, request: request, response: response, message: error.message)
        } else {
            let code = Self.code(for: error)
            let mayHaveBeenSent = URLLoadingFailure(error)?.mayHaveBeenSent
            self.init(
                code, request: request, response: response, underlying: error,
                message: Self.summary(of: error) + Self.hint(at: error, in: response, to: request),
                mayHaveBeenSent: mayHaveBeenSent)
        }
    }

    /// Returns an addition to the message if a response body couldn't be parsed at all: its media type and its first
    /// bytes. They show, for example, that a proxy returned a page.
    private static func hint(at error: any Error, in response: HTTPResponse?, to request: HTTPRequest) -> String {
        guard case DecodingError.dataCorrupted(let context) = error, context.codingPath.isEmpty else { return "" }
        return response?.foreignBody(for: request) ?? ""
    }

    private static func code(for error: any Error) -> Code {
        switch error {
        case is CancellationError: .cancelled
        case is EncodingError: .invalidRequest
        case let error as HTTPBodyError: error.code
        case is DecodingError: .cannotDecodeResponse
        default: URLLoadingFailure(error)?.code ?? .unknown
        }
    }
}

/// A validator error that has only a code and a message. The throwing code adds the request and the response.
struct ChainFailure: Error {
    let code: HTTPError.Code
    let message: String
}

extension HTTPRequest {
    /// Runs code on the calling actor, and converts any error to an ``HTTPError`` of this request. Use it in links and
    /// loaders, because they throw only ``HTTPError``:
    ///
    /// ```swift
    /// let key = try await request.withHTTPErrors { try await store.key() }
    /// ```
    ///
    /// For a value from a callback, write its type, because the compiler doesn't infer it from nested closures:
    ///
    /// ```swift
    /// let (key, age): (String, Int) = try await request.withHTTPErrors {
    ///     try await withCheckedThrowingContinuation { continuation in
    ///         store.find { key, age, error in
    ///             guard let key, let age else { return continuation.resume(throwing: error ?? NoKey()) }
    ///             continuation.resume(returning: (key, age))
    ///         }
    ///     }
    /// }
    /// ```
    @inline(__always)
    public func withHTTPErrors<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async throws(HTTPError) -> Value {
        do { return try await body() } catch { throw HTTPError(error, request: self) }
    }
}

extension HTTPBodyError {
    var code: HTTPError.Code {
        switch self {
        case .invalid, .notInMemory: .invalidRequest
        case .tooLarge, .outOfMemory: .responseTooLarge
        case .alreadyRead, .withheld, .unreadable: .unknown
        }
    }
}
