extension HTTPError {
    /// What happened; an open set, so that loaders of your own can have codes of their own.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let rawValue: String

        /// Makes a code of your own.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name of the code.
        public var description: String { rawValue }
    }
}

extension HTTPError.Code {
    /// The load was cancelled: by its task, or by a reset.
    public static let cancelled = Self(rawValue: "cancelled")
    /// The request breaks a rule, or its body could not be made; nothing was sent.
    public static let invalidRequest = Self(rawValue: "invalidRequest")
    /// The server could not be reached: no such name, refused, no route.
    public static let cannotConnect = Self(rawValue: "cannotConnect")
    /// The connection was lost after it had been made.
    public static let connectionLost = Self(rawValue: "connectionLost")
    /// TLS failed: a certificate that is not trusted, expired, or for another host; no common version.
    public static let insecureConnection = Self(rawValue: "insecureConnection")
    /// The request could not be signed. The error underneath describes why by its type: `HTTPAuthentication.Failure`,
    /// `OAuth2.Failure`, or the error that a provider threw.
    public static let cannotAuthenticate = Self(rawValue: "cannotAuthenticate")
    /// A time limit passed; the message says which, and in which phase.
    public static let timedOut = Self(rawValue: "timedOut")
    /// The server's answer breaks HTTP or was cut short.
    public static let invalidResponse = Self(rawValue: "invalidResponse")
    /// The response is larger than was allowed.
    public static let responseTooLarge = Self(rawValue: "responseTooLarge")
    /// The body could not be decoded.
    public static let cannotDecodeResponse = Self(rawValue: "cannotDecodeResponse")
    /// The status is none that counts as success; the response is in the error.
    public static let unacceptableStatus = Self(rawValue: "unacceptableStatus")
    /// A validator failed the load; its own error is underneath.
    public static let validationFailed = Self(rawValue: "validationFailed")
    /// A body was expected and none came.
    public static let emptyResponse = Self(rawValue: "emptyResponse")
    /// A validator asked for another retry after the last one that was allowed.
    public static let retriesExhausted = Self(rawValue: "retriesExhausted")
    /// Redirects go on and on, or in a circle.
    public static let tooManyRedirects = Self(rawValue: "tooManyRedirects")
    /// The pages of a walk repeat.
    public static let paginationLoop = Self(rawValue: "paginationLoop")
    /// A reset of the chain is under way.
    public static let resetInProgress = Self(rawValue: "resetInProgress")
    /// The response could not be written to its file.
    public static let cannotSaveResponse = Self(rawValue: "cannotSaveResponse")
    /// Something else; see the error underneath.
    public static let unknown = Self(rawValue: "unknown")
}
