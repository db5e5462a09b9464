extension HTTPError {
    /// The kind of an error. The set is open: custom loaders can define further codes.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let rawValue: String

        /// Creates a custom code.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name of the code.
        public var description: String { rawValue }
    }
}

extension HTTPError.Code {
    /// The request was cancelled by its task or by a reset.
    public static let cancelled = Self(rawValue: "cancelled")
    /// The request breaks a rule, or its body could not be encoded. Usually nothing was sent; see
    /// ``HTTPError/mayHaveBeenSent``.
    public static let invalidRequest = Self(rawValue: "invalidRequest")
    /// The server could not be reached: its name was not found, it refused the connection, no route exists, or the
    /// connection ended during the TLS handshake.
    public static let cannotConnect = Self(rawValue: "cannotConnect")
    /// The connection was lost after it had been established.
    public static let connectionLost = Self(rawValue: "connectionLost")
    /// TLS failed: the certificate is not trusted, has expired or belongs to another host, no common version exists, or
    /// the server refused the certificate of the client. The underlying error contains the words of the TLS library.
    public static let insecureConnection = Self(rawValue: "insecureConnection")
    /// The request could not be signed. The underlying error tells why: an `HTTPAuthentication.Failure`, or the
    /// error of a provider.
    public static let cannotAuthenticate = Self(rawValue: "cannotAuthenticate")
    /// A time limit was exceeded. The message names the limit and the phase.
    public static let timedOut = Self(rawValue: "timedOut")
    /// The response violates HTTP or is truncated.
    public static let invalidResponse = Self(rawValue: "invalidResponse")
    /// The response is larger than its limit.
    public static let responseTooLarge = Self(rawValue: "responseTooLarge")
    /// The body could not be decoded.
    public static let cannotDecodeResponse = Self(rawValue: "cannotDecodeResponse")
    /// The status is not one of the accepted statuses. The error carries the response.
    public static let unacceptableStatus = Self(rawValue: "unacceptableStatus")
    /// A validator refused the response. The underlying error is the validator's.
    public static let validationFailed = Self(rawValue: "validationFailed")
    /// A body was expected, but the response has none.
    public static let emptyResponse = Self(rawValue: "emptyResponse")
    /// After at least one retry, a validator requested another retry that was not possible: for example because the
    /// maximum number of retries was reached or the retry budget was used up.
    public static let retriesExhausted = Self(rawValue: "retriesExhausted")
    /// The maximum number of redirects was exceeded, or the redirects form a loop.
    public static let tooManyRedirects = Self(rawValue: "tooManyRedirects")
    /// The pages of a page sequence form a loop, or there are too many pages or too many empty pages in a row.
    public static let paginationLoop = Self(rawValue: "paginationLoop")
    /// A reset of the chain is in progress.
    public static let resetInProgress = Self(rawValue: "resetInProgress")
    /// The response could not be written to its file.
    public static let cannotSaveResponse = Self(rawValue: "cannotSaveResponse")
    /// Any other failure; see the underlying error.
    public static let unknown = Self(rawValue: "unknown")
}
